"""How nouns look on a terminal of 80 columns: tables, lists of names and values, gathered names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from weftline.cli.output import clean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from weftline.app.build import Built
    from weftline.app.load_times import LoadTimes
    from weftline.app.render import Rendered
    from weftline.app.simulate import Sent, Simulated
    from weftline.model.difference import Difference
    from weftline.model.proof import Proof, ProofReport, Witness

VERDICT_STYLE = {"proved": "bold green", "refuted": "bold red", "unknown": "bold yellow"}
NEXT_STEPS = {
    "reach": "--json shows every hop of the witness; the engine updown reaches whatever is connected",
    "deadlock": "choose the engine updown, or auto: its tables hold no such cycle",
    "balance": "whole units and more uplinks balance better; claims.balance_threshold: {bound:g} would allow this",
}
MIN_GATHERED = 4
"""So many differences that read alike stand under one line."""
_NUMBERED = re.compile(r"^(.*?)(\d+)$")


def print_rows(console: Console, rows: Mapping[str, object]) -> None:
    """Print names and values, the values in one column; long values fold under themselves."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        table.add_row(name.replace("_", " "), clean(shown))
    print_trimmed(console, table)


def print_trimmed(console: Console, table: RenderableType) -> None:
    """Print a table without the blanks at the ends of its lines, which a terminal would wrap and a copy would keep."""
    from rich.segment import Segment, Segments

    options = console.options.update(no_wrap=False)
    for line in console.render_lines(table, options, pad=False):
        segments = list(line)
        while segments and not segments[-1].text.strip():
            segments.pop()
        if segments:
            last = segments[-1]
            segments[-1] = Segment(last.text.rstrip(), last.style)
        console.print(Segments([*segments, Segment("\n")]), end="")


def make_table(headings: tuple[str, ...], right: tuple[int, ...] = ()) -> Table:
    """Make an empty table in the house style."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index in right else "left", overflow="fold")
    return table


def print_fabric(console: Console, built: Built) -> None:
    """Print the fabric by tier."""
    counts, design = built.counts, built.checked.design
    table = make_table(("tier", "devices", "part", "cables down", "GPUs"), right=(1, 3, 4))
    runs = {"core": "spine_core", "spine": "leaf_spine", "leaf": "host_leaf"}
    parts = {"core": design.core.name, "spine": design.spine.name, "leaf": design.leaf.name}
    for tier, run in runs.items():
        if counts.switches[tier]:
            table.add_row(tier, f"{counts.switches[tier]:,}", parts[tier], f"{counts.cables[run]:,}", "")
    table.add_row("host", f"{counts.hosts:,}", design.host_name, "", f"{counts.gpus:,}")
    print_trimmed(console, table)
    among = {"leaf_leaf": "between leaves", "between_groups": "between groups"}
    sideways = [f"{counts.cables[run]:,} {words}" for run, words in among.items() if counts.cables.get(run)]
    if sideways:
        console.print(f"of the cables, {' and '.join(sideways)}")
    words = f"{counts.endpoints:,} endpoints, {counts.links:,} links, {sum(counts.cables.values()):,} cables"
    extra = f"; apart from these {counts.extra_endpoints:,} extra endpoints" if counts.extra_endpoints else ""
    console.print(f"{words}{extra}")


def print_proofs(console: Console, report: ProofReport, *, in_full: bool = False) -> None:
    """Print claims, verdicts and bounds, and the witness of each that is not proved; in full also what was judged."""
    from rich.text import Text

    table = make_table(("claim", "verdict", "bound"))
    for proof in report.proofs:
        bound = f"{proof.bound_text}{_allowance(proof)}" if proof.bound_text else ""
        name = proof.claim if proof.required else f"{proof.claim} (not required)"
        table.add_row(name, Text(str(proof.verdict), VERDICT_STYLE[proof.verdict]), bound)
    print_trimmed(console, table)
    if in_full:
        console.print()
        print_rows(console, {proof.claim: _claimed(proof) for proof in report.proofs})
    if any(proof.witness is not None for proof in report.proofs):
        console.print()
    for proof in report.proofs:
        if proof.witness is not None:
            console.print(clean(f"{proof.claim} is {proof.verdict}: {proof.witness.summary}"))
            for line in _list_steps(proof.witness) if in_full else ():
                console.print(clean(line))


def _list_steps(witness: Witness) -> Iterator[str]:
    """Write the reasons of a witness that leads from one to the next, each with its place in a file."""
    told = cast("Sequence[object]", witness.detail.get("path", ()))
    steps = [cast("Mapping[str, object]", step) for step in told if isinstance(step, Mapping)]
    for number, step in enumerate(steps, start=1):
        line = f":{step['line']}" if "line" in step else ""
        path = f" {step['path']}" if "path" in step else ""
        where = f" ({step['file']}{line}{path})" if step.get("file") else ""
        yield f"  {number}. {step.get('says', '')}{where}"


def print_next_steps(console: Console, report: ProofReport) -> None:
    """Say what a declaration could change for each required claim that is not proved."""
    for proof in report.proofs:
        if proof.required and proof.verdict == "refuted" and proof.claim in NEXT_STEPS:
            bound = 0.0 if proof.bound is None else float(proof.bound)
            console.print(f"next: {NEXT_STEPS[proof.claim].format(bound=bound)}")


def _allowance(proof: Proof) -> str:
    """Say what was allowed, where a threshold ruled."""
    allowed = proof.detail.get("threshold")
    return "" if allowed is None else f", allowed {float(allowed):,.6g}"


def _claimed(proof: Proof) -> str:
    """Say what was judged, so that a refuted claim does not read as if it held."""
    return f"claimed: {proof.statement}" if proof.verdict == "refuted" else proof.statement


def files_line(rendered: Rendered) -> str:
    """Say how many files of which vendors stand where."""
    by_vendor: dict[str, int] = {}
    for artifact in rendered.artifacts.artifacts if rendered.artifacts else ():
        by_vendor[artifact.vendor] = by_vendor.get(artifact.vendor, 0) + 1
    kinds = ", ".join(f"{count} {vendor}" for vendor, count in sorted(by_vendor.items()))
    return f"{sum(by_vendor.values())} files ({kinds}) in {rendered.folder}"


def simulation_rows(simulated: Simulated) -> dict[str, object]:
    """Gather the figures of a simulation."""
    from weftline.units import format_busbw, format_time_us

    result = simulated.result
    rows: dict[str, object] = {
        "simulated" if simulated.has_loads else "estimated": simulated.title,
        "stopped after" if _is_cut_short(simulated) else "finished after": format_time_us(result.total_us),
        "lower bound": f"{format_time_us(result.bound_low_us)} ({result.bound_name})",
        "bus bandwidth": format_busbw(simulated.busbw_gbytes_per_s),
        "flows": simulated.flows,
        "fidelity": _tell_fidelity(simulated),
    }
    rows |= _reduction_rows(simulated)
    if simulated.sent is not None:
        rows |= packet_rows(simulated.sent)
    if len(simulated.loads) > 1:
        for number, times in enumerate(simulated.loads, 1):
            rows[f"load {number}"] = _load_line(times)
    return rows if simulated.has_loads else {name: row for name, row in rows.items() if name != "flows"}


def _is_cut_short(simulated: Simulated) -> bool:
    return simulated.sent is not None and simulated.sent.packets.result.ending != "done"


def _reduction_rows(simulated: Simulated) -> dict[str, object]:
    """Gather the trees of each load that was to be reduced in the network, or why there are none."""
    from weftline.app.reduction import tell_limits, tell_trees

    rows: dict[str, object] = {}
    found = [(number, one.reduction) for number, one in enumerate(simulated.loads, 1) if one.reduction is not None]
    for number, reduction in found:
        which = f" of load {number}" if len(simulated.loads) > 1 else ""
        rows[f"aggregation{which}"] = tell_trees(reduction, simulated.fabric)
        if reduction.is_planned:
            rows[f"limits{which}"] = tell_limits(reduction)
    return rows


def _tell_fidelity(simulated: Simulated) -> str:
    if simulated.sent is not None:
        packets = simulated.sent.packets.result
        return f"packet: {packets.hops:,} packet hops, every queue, pause and loss"
    fidelity = simulated.result.fidelity
    return f"{fidelity}: no headers, no loss, no queueing" if simulated.has_loads else fidelity


def packet_rows(sent: Sent) -> dict[str, object]:
    """Gather how packets fared: the ending, losses, pauses and marks, and what held the critical path."""
    from weftline.app.packets import has_credits, tell_cost, tell_ending, tell_loss
    from weftline.units import format_time_us

    packets, result = sent.packets, sent.packets.result
    lanes = result.lanes
    rows: dict[str, object] = {
        "ending": tell_ending(packets, sent.fabric),
        "lossless": tell_loss(packets, sent.fabric),
        "packets": f"{result.dropped:,} dropped, {result.again:,} sent again, {int(lanes.marks.sum()):,} marked",
    }
    if has_credits(packets):
        rows["credits"] = f"none left for {_longest_hold(sent)} at most"
    else:
        rows["pauses"] = f"{int(lanes.pauses.sum()):,} frames; held back for {_longest_hold(sent)} at most"
    if packets.disturbance is not None:
        rows["faults"] = "\n".join((*packets.disturbance.told, tell_cost(packets)))
    if packets.held_by:
        first = packets.held_by[0]
        rows["held by"] = f"{first.name}: messages of the critical path waited {format_time_us(first.wait_us)} there"
    return rows


def _longest_hold(sent: Sent) -> str:
    from weftline.app.packets import PS_PER_US
    from weftline.units import format_time_us

    lanes = sent.packets.result.lanes
    return format_time_us(float((lanes.held_ps + lanes.starved_ps).max(initial=0)) / PS_PER_US)


def _load_line(times: LoadTimes) -> str:
    """Say how one load fared among the others."""
    from weftline.units import format_busbw, format_time_us

    said = f"{times.load.title}: not over"
    if times.finish_us is not None:
        said = f"{times.load.title}: over after {format_time_us(times.finish_us)}"
    if times.busbw_gbytes_per_s is not None:
        said += f", {format_busbw(times.busbw_gbytes_per_s)}"
    median, late = format_time_us(times.median_us), format_time_us(times.p99_us)
    return f"{said}; a message takes {median}, one of a hundred more than {late}"


def list_differences(differences: Sequence[Difference]) -> Iterator[str]:
    """Write differences, a line each; many that read alike but for their name stand under one line, every one named."""
    groups: dict[tuple[str, str], list[str]] = {}
    for difference in differences:
        rest = difference.message.removeprefix(difference.subject)
        groups.setdefault((difference.kind, rest), []).append(difference.subject)
    for (kind, rest), names in groups.items():
        if len(names) >= MIN_GATHERED and rest.startswith(" "):
            yield f"{kind}: {len(names):,}, each of which{rest}:"
            yield from (f"  {run}" for run in gather_names(names))
        else:
            yield from (f"{kind}: {name if rest.startswith(' ') else ''}{rest}" for name in names)


def gather_names(names: Iterable[str]) -> list[str]:
    """Gather names; a run of numbers becomes its first and last, as ``host-0003 to host-0007``."""
    runs: list[tuple[str, str]] = []
    for name in names:
        if runs and _follows(runs[-1][1], name):
            runs[-1] = (runs[-1][0], name)
        else:
            runs.append((name, name))
    return [first if first == last else f"{first} to {last}" for first, last in runs]


def _follows(one: str, other: str) -> bool:
    first, second = _NUMBERED.match(one), _NUMBERED.match(other)
    if first is None or second is None or first[1] != second[1] or len(first[2]) != len(second[2]):
        return False
    return len(first[2]) < 19 and int(first[2]) + 1 == int(second[2])
