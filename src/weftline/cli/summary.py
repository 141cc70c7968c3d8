"""The one summary that ``up`` ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weftline.cli.show import fabric_table, files_line, print_witnesses, proof_table, simulation_rows, two_columns

if TYPE_CHECKING:
    from rich.console import Console

    from weftline.app.up import Reported


def print_summary(reported: Reported, console: Console) -> None:
    """Print fabric, routes, proofs, job, files and the path of the report."""
    proved = reported.rendered.proved
    built, routes = proved.routed.built, proved.routed.routes
    fabric = built.fabric
    console.print(f"{fabric.name}: {built.checked.technology.name}, {fabric.shape}", style="bold")
    console.print(fabric_table(built))
    console.print(f"routes   {routes.engine}: {routes.entries:,} entries in {len(fabric.switch_node):,} tables")
    console.print(proof_table(proved.report))
    print_witnesses(console, proved.report)
    console.print(two_columns({**simulation_rows(reported.simulated), **_job_rows(reported)}))
    console.print()
    if reported.rendered.is_written:
        console.print(f"files    {files_line(reported.rendered)}")
    else:
        console.print("files    none: a required claim is not proved", style="bold red")
    console.print(f"report   {reported.report}")


def _job_rows(reported: Reported) -> dict[str, str]:
    from weftline.app.report.page import job_cards

    prediction = reported.simulated.prediction
    if prediction is None:
        return {"job": "none declared; add one under jobs: to see step time and cost"}
    return {card["label"]: card["value"] for card in job_cards(prediction)}
