"""The JSON of everything that ``up`` made, and of the report alone."""

from __future__ import annotations

from weftline.app.up import Reported
from weftline.app.views.artifact import view_rendered
from weftline.app.views.fabric import view_fabric, view_routes
from weftline.app.views.load import view_simulation
from weftline.app.views.proof import view_bundle, view_report


def view_up(reported: Reported) -> dict[str, object]:
    """Gather the views of every stage."""
    proved = reported.rendered.proved
    proofs, artifacts = view_report(proved.report), view_rendered(reported.rendered)
    return {
        "schema": "weftline/up/1",
        "fabric": view_fabric(proved.routed.built),
        "routes": view_routes(proved.routed),
        "proofs": proofs["proofs"],
        "accepted": proofs["accepted"],
        "simulation": view_simulation(reported.simulated),
        "artifacts": artifacts["artifacts"],
        "artifacts_folder": artifacts["folder"],
        "report": str(reported.report),
        **({} if reported.certified is None else {"certificates": view_bundle(reported.certified)}),
    }


def view_page(reported: Reported) -> dict[str, object]:
    """Show where the report stands."""
    return {"schema": "weftline/report/1", "report": str(reported.report)}
