"""What each command prints: a table or a sentence for a person, one JSON document for a program."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from weftline.cli.layout import (
    files_line,
    list_differences,
    make_table,
    print_fabric,
    print_next_steps,
    print_proofs,
    print_rows,
    print_trimmed,
    simulation_rows,
)
from weftline.cli.output import clean, gather_problems, make_console, print_json, print_warnings
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weftline.app.adopt import Adopted, Compared
    from weftline.app.build import Built
    from weftline.app.cables import Cabling
    from weftline.app.certify import Certified
    from weftline.app.explain import Explanation
    from weftline.app.pipeline import Routed
    from weftline.app.render import Rendered
    from weftline.app.simulate import Simulated
    from weftline.app.trace import Traced
    from weftline.app.up import Reported
    from weftline.model.proof import ProofReport

SEVERITIES = ("error", "warning", "note")
"""Worst first."""


def show_starter(path: Path, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Say what was written and what to do next."""
    if as_json:
        from weftline.app.views.start import view_starter

        print_json(view_starter(path))
    elif not quiet:
        make_console(no_color=no_color).print(f"wrote {path}\nnext: weftline check {path}, then weftline up {path}")
    return EXIT_DONE


def show_checked(built: Built, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Say that a declaration holds and what it resolves to."""
    from weftline.app.views.check import view_checked, view_resolved

    if as_json:
        print_json(view_checked(built))
        return EXIT_DONE
    print_warnings(built.checked.warnings)
    if not quiet:
        print_rows(make_console(no_color=no_color), view_resolved(built))
    make_console(no_color=no_color).print(f"{built.checked.workspace.declaration}: no problem found")
    return EXIT_DONE


def show_built(built: Built, *, as_json: bool, no_color: bool) -> int:
    """Print the counts of the fabric by tier."""
    if as_json:
        from weftline.app.views.fabric import view_fabric

        print_json(view_fabric(built))
        return EXIT_DONE
    print_warnings(built.checked.warnings)
    print_fabric(make_console(no_color=no_color), built)
    return EXIT_DONE


def show_cabling(cabling: Cabling, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Print the cabling list, or say where it was written."""
    if as_json:
        from weftline.app.views.cables import view_cabling

        print_json(view_cabling(cabling))
    elif cabling.path is None:
        sys.stdout.write(cabling.text)
    elif not quiet:
        make_console(no_color=no_color).print(f"wrote {cabling.path}: {cabling.links} links")
    return EXIT_DONE


def show_routes(routed: Routed, *, as_json: bool, no_color: bool) -> int:
    """Print the engine and the size of the tables."""
    from weftline.app.views.fabric import view_routes

    view = view_routes(routed)
    if as_json:
        print_json(view)
        return EXIT_DONE
    keys = ("engine", "guarantee", "switches", "destinations", "entries", "groups", "digest")
    rows = {key: view[key] for key in keys}
    by_lane = routed.routes.destinations_by_lane
    if routed.routes.steps is not None:
        rows["lanes"] = f"{len(by_lane)}, by the class of the path and the ports that a packet comes in and leaves by"
    elif len(by_lane) > 1:
        shares = ", ".join(f"{count:,}" for count in by_lane)
        rows["lanes"] = f"{len(by_lane)}, with {shares} destinations"
    print_rows(make_console(no_color=no_color), rows)
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
    console = make_console(no_color=no_color)
    print_trimmed(console, table)
    if traced.routed.routes.lane_count > 1 and traced.routed.routes.steps is None:
        lane, lanes = traced.path.lane, traced.routed.routes.lane_count
        console.print(f"on lane {lane} of 0 to {lanes - 1}, for traffic that takes the service level of its path")
    return EXIT_DONE


def show_proofs(report: ProofReport, *, as_json: bool, no_color: bool) -> int:
    """Print every proof; the exit status says whether the required ones hold."""
    if as_json:
        from weftline.app.views.proof import view_report

        print_json(view_report(report))
    else:
        console = make_console(no_color=no_color)
        print_proofs(console, report, in_full=True)
        print_next_steps(console, report)
    return EXIT_DONE if report.is_accepted else EXIT_NO


def show_certified(certified: Certified, *, as_json: bool, no_color: bool) -> int:
    """Print every proof and where the certificates stand."""
    if as_json:
        from weftline.app.views.proof import view_certified

        print_json(view_certified(certified))
        return EXIT_DONE if certified.report.is_accepted and not certified.unproved else EXIT_NO
    status = show_proofs(certified.report, as_json=False, no_color=no_color)
    console = make_console(no_color=no_color)
    if certified.unproved:
        console.print(f"no certificates were written: not proved: {', '.join(certified.unproved)}")
        return EXIT_NO
    console.print(f"{certified.files} files, {certified.size:,} bytes of certificates in {certified.folder}")
    return status


def show_rendered(rendered: Rendered, *, as_json: bool, no_color: bool) -> int:
    """Print which files stand where."""
    from weftline.app.views.artifact import view_rendered

    if as_json:
        print_json(view_rendered(rendered))
        return EXIT_DONE if rendered.is_written else EXIT_NO
    console = make_console(no_color=no_color)
    if not rendered.is_written:
        print_proofs(console, rendered.proved.report)
        print_next_steps(console, rendered.proved.report)
        console.print("nothing was rendered: a required claim is not proved; --force writes all the same")
        return EXIT_NO
    console.print(files_line(rendered))
    return EXIT_DONE


def show_simulations(simulated: Sequence[Simulated], *, as_json: bool, no_color: bool) -> None:
    """Print the time, the bus bandwidth, the bound and the assumptions; of a second run what differs stands below."""
    if as_json:
        from weftline.app.views.load import view_simulation

        view = view_simulation(simulated[0])
        if len(simulated) > 1:
            view["against"] = view_simulation(simulated[1])
        print_json(view)
        return
    console = make_console(no_color=no_color)
    first = simulation_rows(simulated[0])
    print_rows(console, first)
    for other in simulated[1:]:
        console.print("with the files given by --against:", style="bold")
        print_rows(console, {name: row for name, row in simulation_rows(other).items() if row != first.get(name)})
    for text in dict.fromkeys(text for one in simulated for text in one.result.assumptions):
        console.print(f"assumes: {text}", style="dim")


def show_report(reported: Reported, *, as_json: bool, no_color: bool) -> int:
    """Say where the report stands."""
    if as_json:
        from weftline.app.views.up import view_page

        print_json(view_page(reported))
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
        from weftline.app.views.failure import view_explanation

        print_json(view_explanation(explanation))
        return EXIT_DONE
    from rich.markdown import Markdown

    console = make_console(no_color=no_color)
    if not quiet:
        console.print(explanation.code, style="bold")
    print_trimmed(console, Markdown(explanation.text))
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
    keys = ("hosts", "endpoints", "extra_endpoints", "switches", "links", "shape", "shape_reason", "tables_reason")
    print_rows(console, {key: view[key] for key in keys})
    console.print(f"\n{_count_problems(adopted)}")
    worst_first = sorted(adopted.problems, key=lambda problem: SEVERITIES.index(problem.severity))
    for line in gather_problems(worst_first):
        console.print(clean(line))
    console.print()
    print_proofs(console, adopted.report)
    if not adopted.are_programmed:
        console.print("next: give the tables that the switches hold with --tables FILE, to prove those instead")
    return status


def _count_problems(adopted: Adopted) -> str:
    counts = [(name, sum(problem.severity == name for problem in adopted.problems)) for name in SEVERITIES]
    found = [f"{count:,} {name}{'s' if count > 1 else ''}" for name, count in counts if count]
    return ", ".join(found) if found else "no problem found"


def show_differences(compared: Compared, *, as_json: bool, no_color: bool) -> int:
    """Print every difference by name."""
    from weftline.app.views.adoption import view_compared

    if as_json:
        print_json(view_compared(compared))
    else:
        console = make_console(no_color=no_color)
        console.print(_count_differences(compared))
        for line in list_differences(compared.differences):
            console.print(clean(line))
    return EXIT_NO if compared.differences else EXIT_DONE


def _count_differences(compared: Compared) -> str:
    counts: dict[str, int] = {}
    for difference in compared.differences:
        counts[difference.kind] = counts.get(difference.kind, 0) + 1
    total = sum(counts.values())
    words = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    return f"{total:,} difference{'s' if total > 1 else ''}: {words}" if total else "no difference"
