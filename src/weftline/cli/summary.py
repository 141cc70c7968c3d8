"""The one summary that ``up`` ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weftline.cli.layout import files_line, print_fabric, print_next_steps, print_proofs, print_rows, simulation_rows

if TYPE_CHECKING:
    from rich.console import Console

    from weftline.app.up import Reported


def print_summary(reported: Reported, console: Console) -> None:
    """Print fabric, routes, proofs, job, files and the path of the report."""
    proved = reported.rendered.proved
    built, routes = proved.routed.built, proved.routed.routes
    fabric = built.fabric
    console.print(f"{fabric.name}: {built.checked.technology.name}, {fabric.shape}", style="bold")
    print_fabric(console, built)
    lanes = f", {routes.lane_count} lanes" if routes.lane_count > 1 else ""
    tables = f"{routes.entries:,} entries in {len(fabric.switch_node):,} tables"
    console.print(f"\nroutes   {routes.engine}: {tables}{lanes}\n")
    print_proofs(console, proved.report)
    print_next_steps(console, proved.report)
    for proof in proved.report.proofs:
        if "equal-split" in proof.statement:
            console.print(f"{proof.claim} is that of an equal split over ports; hashing single flows can exceed it")
    console.print()
    print_rows(console, _load_rows(reported))
    console.print()
    if reported.rendered.is_written:
        console.print(f"files    {files_line(reported.rendered)}")
    else:
        console.print("files    none: a required claim is not proved; weftline prove says why", style="bold red")
        if reported.rendered.has_earlier:
            console.print(f"         {reported.rendered.folder} still holds the files of an earlier, proved design")
    if (bundle := reported.certified) is not None:
        why = f"none: not proved: {', '.join(bundle.unproved)}"
        console.print(
            f"bundle   {why if bundle.unproved else f'{bundle.files} files of certificates in {bundle.folder}'}"
        )
    console.print(f"report   {reported.report}")


def _load_rows(reported: Reported) -> dict[str, object]:
    """Gather what was simulated and, where a job is declared, what it means; no figure twice."""
    from weftline.app.report.page import job_cards

    rows, prediction = simulation_rows(reported.simulated), reported.simulated.prediction
    if prediction is None:
        return {**rows, "job": "none declared; add one under jobs: to see step time and cost"}
    kept = {name: row for name, row in rows.items() if name not in {"finished after", "bus bandwidth"}}
    missing = [text for text in prediction.assumptions if text.startswith("step time is unknown")]
    why = {"why unknown": missing[0]} if missing else {}
    return {**kept, **{card["label"]: card["value"] for card in job_cards(prediction)}, **why}
