"""What each command prints: a table or a sentence for a person, one JSON document for a program."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from weftline.cli.output import MAX_PRINTED, describe_problem, make_console, print_json
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, RenderableType

    from weftline.app.adopt import Adopted, Compared
    from weftline.app.build import Built
    from weftline.app.cables import Cabling
    from weftline.app.check import Checked
    from weftline.app.explain import Explanation
    from weftline.app.pipeline import Routed
    from weftline.app.render import Rendered
    from weftline.app.simulate import Simulated
    from weftline.app.trace import Traced
    from weftline.app.up import Reported
    from weftline.errors import Problem
    from weftline.model.proof import ProofReport

VERDICT_STYLE = {"proved": "bold green", "refuted": "bold red", "unknown": "bold yellow"}


def show_starter(path: Path, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Say what was written and what to do next."""
    if as_json:
        print_json({"schema": "weftline/starter/1", "declaration": str(path)})
    elif not quiet:
        make_console(no_color=no_color).print(f"wrote {path}\nnext: weftline check {path}, then weftline up {path}")
    return EXIT_DONE


def show_checked(checked: Checked, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Say that a declaration holds and what it resolves to."""
    from weftline.app.views.check import view_checked, view_resolved

    if as_json:
        print_json(view_checked(checked))
        return EXIT_DONE
    print_warnings(checked.warnings)
    if not quiet:
        make_console(no_color=no_color).print(two_columns(view_resolved(checked)))
    make_console(no_color=no_color).print(f"{checked.workspace.declaration}: no problem found")
    return EXIT_DONE


def show_built(built: Built, *, as_json: bool, no_color: bool) -> int:
    """Print the counts of the fabric by tier."""
    if as_json:
        from weftline.app.views.fabric import view_fabric

        print_json(view_fabric(built))
        return EXIT_DONE
    print_warnings(built.checked.warnings)
    make_console(no_color=no_color).print(fabric_table(built))
    return EXIT_DONE


def show_cabling(cabling: Cabling, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Print the cabling list, or say where it was written."""
    if as_json:
        print_json(cabling.view)
    elif cabling.path is None:
        sys.stdout.write(cabling.text)
    elif not quiet:
        make_console(no_color=no_color).print(f"wrote {cabling.path}: {cabling.view['links']} links")
    return EXIT_DONE


def show_routes(routed: Routed, *, as_json: bool, no_color: bool) -> int:
    """Print the engine and the size of the tables."""
    from weftline.app.views.fabric import view_routes

    view = view_routes(routed)
    if as_json:
        print_json(view)
        return EXIT_DONE
    keys = ("engine", "guarantee", "switches", "destinations", "entries", "groups", "digest")
    make_console(no_color=no_color).print(two_columns({key: view[key] for key in keys}))
    return EXIT_DONE


def show_path(traced: Traced, *, as_json: bool, no_color: bool) -> int:
    """Print a path, a line each hop."""
    from weftline.app.views.path import view_path

    view = view_path(traced)
    if as_json:
        print_json(view)
        return EXIT_DONE
    table = make_table(("hop", "node", "in", "out", "why"), right=(0,))
    for number, hop in enumerate(traced.path.hops):
        ports = ("" if port is None else str(port) for port in (hop.in_port, hop.out_port))
        table.add_row(str(number), hop.node, *ports, hop.why)
    make_console(no_color=no_color).print(table)
    return EXIT_DONE


def show_proofs(report: ProofReport, *, as_json: bool, no_color: bool) -> int:
    """Print every proof; the exit status says whether the required ones hold."""
    if as_json:
        from weftline.app.views.proof import view_report

        print_json(view_report(report))
    else:
        console = make_console(no_color=no_color)
        console.print(proof_table(report))
        print_witnesses(console, report)
    return EXIT_DONE if report.is_accepted else EXIT_NO


def show_rendered(rendered: Rendered, *, as_json: bool, no_color: bool) -> int:
    """Print which files stand where."""
    from weftline.app.views.artifact import view_rendered

    if as_json:
        print_json(view_rendered(rendered))
        return EXIT_DONE if rendered.is_written else EXIT_NO
    console = make_console(no_color=no_color)
    if not rendered.is_written:
        console.print(proof_table(rendered.proved.report))
        print_witnesses(console, rendered.proved.report)
        console.print("nothing was rendered: a required claim is not proved; --force writes all the same")
        return EXIT_NO
    console.print(files_line(rendered))
    return EXIT_DONE


def show_simulation(simulated: Simulated, *, as_json: bool, no_color: bool) -> int:
    """Print the time, the bus bandwidth, the bound and the assumptions."""
    if as_json:
        from weftline.app.views.load import view_simulation

        print_json(view_simulation(simulated))
        return EXIT_DONE
    console = make_console(no_color=no_color)
    console.print(two_columns(simulation_rows(simulated)))
    for text in simulated.result.assumptions:
        console.print(f"assumes: {text}", style="dim")
    return EXIT_DONE


def show_report(reported: Reported, *, as_json: bool, no_color: bool) -> int:
    """Say where the report stands."""
    if as_json:
        print_json({"schema": "weftline/report/1", "report": str(reported.report)})
    else:
        make_console(no_color=no_color).print(f"report: {reported.report}")
    return EXIT_DONE if reported.rendered.proved.report.is_accepted else EXIT_NO


def show_up(reported: Reported, *, as_json: bool, no_color: bool) -> int:
    """Print the one summary of ``up``."""
    if as_json:
        from weftline.app.views.up import view_up

        print_json(view_up(reported))
    else:
        from weftline.cli.summary import print_summary

        print_summary(reported, make_console(no_color=no_color))
    return EXIT_DONE if reported.rendered.proved.report.is_accepted else EXIT_NO


def show_explanation(explanation: Explanation, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Print what a code means."""
    if as_json:
        print_json({"schema": "weftline/explanation/1", "code": explanation.code, "text": explanation.text})
        return EXIT_DONE
    from rich.markdown import Markdown

    console = make_console(no_color=no_color)
    if not quiet:
        console.print(explanation.code, style="bold")
    console.print(Markdown(explanation.text))
    return EXIT_DONE


def show_adopted(adopted: Adopted, *, as_json: bool, no_color: bool) -> int:
    """Print what a dump holds, what is wrong with it, and the proofs; outliers only."""
    from weftline.app.views.adoption import view_adopted

    view = view_adopted(adopted)
    status = EXIT_DONE if adopted.is_accepted else EXIT_NO
    if as_json:
        print_json(view)
        return status
    console = make_console(no_color=no_color)
    keys = ("hosts", "extra_endpoints", "endpoints", "switches", "links", "shape", "shape_reason", "tables_reason")
    console.print(two_columns({key: view[key] for key in keys}))
    for problem in adopted.problems[:MAX_PRINTED]:
        console.print(f"{problem.severity}: {describe_problem(problem)}", markup=False)
    if len(adopted.problems) > MAX_PRINTED:
        console.print(f"and {len(adopted.problems) - MAX_PRINTED} more; --json prints them all")
    console.print(proof_table(adopted.report))
    print_witnesses(console, adopted.report)
    return status


def show_differences(compared: Compared, *, as_json: bool, no_color: bool) -> int:
    """Print every difference by name."""
    from weftline.app.views.adoption import view_compared

    if as_json:
        print_json(view_compared(compared))
    else:
        console = make_console(no_color=no_color)
        for difference in compared.differences:
            console.print(f"{difference.kind}: {difference.message}", markup=False)
        console.print("no difference" if not compared.differences else f"{len(compared.differences)} differences")
    return EXIT_NO if compared.differences else EXIT_DONE


def print_warnings(problems: Iterable[Problem]) -> None:
    """Print warnings on stderr."""
    for problem in problems:
        sys.stderr.write(f"{problem.severity}: {describe_problem(problem)}\n")


def two_columns(rows: Mapping[str, object]) -> RenderableType:
    """Lay out names and values."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in rows.items():
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        table.add_row(str(name).replace("_", " "), shown)
    return table


def make_table(headings: tuple[str, ...], right: tuple[int, ...] = ()):  # noqa: ANN201  (rich is imported late)
    """Make an empty table in the house style."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index in right else "left", overflow="fold")
    return table


def fabric_table(built: Built) -> RenderableType:
    """Lay out the fabric by tier."""
    counts, design = built.counts, built.checked.design
    table = make_table(("tier", "devices", "part", "cables down", "GPUs"), right=(1, 3, 4))
    runs = {"core": "spine_core", "spine": "leaf_spine", "leaf": "host_leaf"}
    parts = {"core": design.core.name, "spine": design.spine.name, "leaf": design.leaf.name}
    for tier, run in runs.items():
        if counts.switches[tier]:
            table.add_row(tier, f"{counts.switches[tier]:,}", parts[tier], f"{counts.cables[run]:,}", "")
    table.add_row("host", f"{counts.hosts:,}", design.host_name, "", f"{counts.gpus:,}")
    return table


def proof_table(report: ProofReport) -> RenderableType:
    """Lay out claims, verdicts and bounds."""
    from rich.text import Text

    table = make_table(("claim", "verdict", "bound", "what was judged"))
    for proof in report.proofs:
        bound = "" if proof.bound is None else f"{proof.bound:,.6g} {proof.bound_name}"
        name = proof.claim if proof.required else f"{proof.claim} (not required)"
        table.add_row(name, Text(str(proof.verdict), VERDICT_STYLE[proof.verdict]), bound, proof.statement)
    return table


def print_witnesses(console: Console, report: ProofReport) -> None:
    """Print the witness of each claim that is not proved."""
    for proof in report.proofs:
        if proof.witness is not None:
            console.print(f"{proof.claim}: {proof.witness.summary}", markup=False)


def files_line(rendered: Rendered) -> str:
    """Say how many files of which vendors stand where."""
    by_vendor: dict[str, int] = {}
    for artifact in rendered.artifacts.artifacts if rendered.artifacts else ():
        by_vendor[artifact.vendor] = by_vendor.get(artifact.vendor, 0) + 1
    kinds = ", ".join(f"{count} {vendor}" for vendor, count in sorted(by_vendor.items()))
    return f"{sum(by_vendor.values())} files ({kinds}) in {rendered.folder}"


def simulation_rows(simulated: Simulated) -> dict[str, str]:
    """Gather the figures of a simulation."""
    from weftline.units import format_busbw, format_time_us

    result = simulated.result
    return {
        "simulated": simulated.title,
        "finished after": format_time_us(result.total_us),
        "lower bound": f"{format_time_us(result.bound_low_us)} ({result.bound_name})",
        "bus bandwidth": format_busbw(simulated.busbw_gbytes_per_s),
        "flows": f"{simulated.flows:,}",
        "fidelity": result.fidelity,
    }
