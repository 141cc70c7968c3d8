"""Everything in one go: from a declaration to files and a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from weftline.app.balance import measure
from weftline.app.certify import Certified, certify_rendered
from weftline.app.files import write_text
from weftline.app.pipeline import Progress, run_to_proofs, silent
from weftline.app.rehearse import recall
from weftline.app.render import Rendered, render_proved
from weftline.app.report.page import ReportInput, render_report
from weftline.app.simulate import LoadChoice, Simulated, simulate_routed
from weftline.model.spread import LoadSpread
from weftline.prove.spread import SpreadChoice

MOST_MEASURED = 16_384
"""Endpoints up to which the report shows how loads spread; above, ``weftline balance`` does."""
FEW_SHIFTS, PERMUTATIONS = 512, 100
FLOWS_OF_SHIFTS, FLOWS_OF_PERMUTATIONS = 700_000, 300_000
"""Flows that are led for it, so that it takes a second or two on any fabric."""


@dataclass(frozen=True, slots=True)
class Reported:
    """What ``up`` made."""

    rendered: Rendered
    simulated: Simulated
    report: Path
    certified: Certified | None = None
    """None where nobody asked for certificates."""


def bring_up(
    place: Path, out: Path | None, progress: Progress = silent, *, certificates: Path | None = None
) -> Reported:
    """Compile, route, prove, simulate, render and report; device files appear only when the claims hold.

    With a folder for ``certificates`` it gets what an auditor needs to check the claims.
    """
    proved = run_to_proofs(place, progress)
    simulated = simulate_routed(proved.routed, LoadChoice(), progress)
    rendered = render_proved(proved, out, progress=progress)
    certified = None if certificates is None else certify_rendered(rendered, certificates, progress)
    return replace(_write(rendered, simulated, out, progress), certified=certified)


def write_report(place: Path, out: Path | None, progress: Progress = silent) -> Reported:
    """Write the report only; device files are rendered into it, not to disk."""
    proved = run_to_proofs(place, progress)
    simulated = simulate_routed(proved.routed, LoadChoice(), progress)
    rendered = render_proved(proved, out, progress=progress, to_disk=False)
    return _write(rendered, simulated, out, progress)


def _write(rendered: Rendered, simulated: Simulated, out: Path | None, progress: Progress) -> Reported:
    spread = _measure(rendered, progress)
    progress("drawing the report", None)
    folder = out or rendered.proved.routed.built.checked.workspace.folder
    reason = "" if rendered.artifacts else "a required claim is not proved."
    failures = recall(rendered.proved.routed)
    page = render_report(
        ReportInput(rendered.proved, simulated, rendered.artifacts, "artifacts", reason, failures, spread)
    )
    path = folder / "report.html"
    write_text(path, page)
    return Reported(rendered, simulated, path)


def _measure(rendered: Rendered, progress: Progress) -> LoadSpread | None:
    """Measure how loads spread, over all shifts of a small fabric and some of a larger one."""
    routed = rendered.proved.routed
    endpoints = max(len(routed.built.fabric.endpoint_port), 1)
    if endpoints > MOST_MEASURED:
        return None
    shifts, pairs = FLOWS_OF_SHIFTS // endpoints, FLOWS_OF_PERMUTATIONS // endpoints
    return measure(routed, SpreadChoice(min(FEW_SHIFTS, shifts), min(PERMUTATIONS, pairs)), progress).spread
