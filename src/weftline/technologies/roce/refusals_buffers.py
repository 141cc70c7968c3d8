"""What a declaration asks of buffers and watchdog that the switches cannot give: refused with the arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Problem
from weftline.headroom import find_floor
from weftline.model.design import ResolvedSpec, RunPart, TierPart
from weftline.model.headroom_table import ProfileRow
from weftline.model.spec import AUTO
from weftline.technologies.roce.buffers import choose_model, total_bytes
from weftline.technologies.roce.headrooms import find_row
from weftline.technologies.roce.mtu import host_mtu
from weftline.technologies.roce.queues import longest_pause_ms


def list_buffer_refusals(design: ResolvedSpec) -> tuple[Problem, ...]:
    """List what stands against the buffers of a declaration."""
    return (*_judge_model(design), *_judge_table(design), *_judge_watchdog(design))


def _list_runs(design: ResolvedSpec) -> list[tuple[str, TierPart, RunPart]]:
    """List each tier with the cables that it has."""
    return [
        *((key, design.leaf, run) for key, run in design.leaf_runs.items()),
        *((key, design.spine, run) for key, run in design.switch_runs.items()),
    ]


def _judge_model(design: ResolvedSpec) -> Iterator[Problem]:
    """Refuse a buffer model that a tier cannot have, or of which too little is known."""
    wanted = design.spec.roce.buffers.model
    where = design.places.get("roce.buffers.model")
    for tier in {tier.name: tier for tier in (design.leaf, design.spine)}.values():
        if wanted == AUTO or choose_model(design, tier) == wanted:
            continue
        message = f"buffers of {tier.name} cannot be divided by the model {wanted}"
        if wanted == "dynamic":
            hint = "no source says that its chip computes headroom; write traditional"
        elif total_bytes(design, tier) is None:
            hint = "no source says how large its buffer is: give roce.buffers.total_bytes"
        else:
            hint = "no source says what headroom its chip needs: give roce.headroom_table"
        yield Problem("capability.buffer-model", message, hint, where)


def _judge_table(design: ResolvedSpec) -> Iterator[Problem]:
    """Hold the rows that are used against the floor under every headroom."""
    if design.headroom_rows is None:
        return
    where = design.places.get("roce.headroom_table")
    seen: set[tuple[float, float]] = set()
    for run, tier, part in _list_runs(design):
        if (tier.rate_gbps, part.length_m) in seen:
            continue
        seen.add((tier.rate_gbps, part.length_m))
        row = find_row(design, tier, part.length_m)
        if row is None:
            known = [f"{one.cable_m} m" for one in design.headroom_rows if one.speed_mbps == tier.rate_gbps * 1000]
            message = f"the headroom table has no row for {tier.rate_gbps:g} Gb/s at {part.length_m:g} m (cables.{run})"
            hint = f"it has {', '.join(known) or 'none of that rate'}; take the table of your platform"
            yield Problem("capability.headroom-table", message, hint, where)
        else:
            yield from _judge_row(design, row, part.length_m)


def _judge_row(design: ResolvedSpec, row: ProfileRow, length_m: float) -> Iterator[Problem]:
    frame = host_mtu(design)
    floor = find_floor(row.speed_mbps, length_m, frame)
    if floor is None:
        return
    sums = f"{floor.cable:,.0f} B on the cable there and back + {frame:,} B of a frame"
    if row.xoff < floor.certain:
        message = f"xoff is {row.xoff:,} B at {length_m:g} m, below the floor: {sums} = {floor.certain:,.0f} B"
        hint = "packets are lost whatever the peer does: correct the table"
        yield Problem("capability.headroom-table", message, hint, row.where)
    elif floor.standard is not None and row.xoff < floor.standard:
        message = (
            f"xoff is {row.xoff:,} B at {length_m:g} m, and a peer that takes the time of IEEE 802.3, 31B.3.7 needs "
            f"{sums} + {floor.response or 0:,} B = {floor.standard:,.0f} B"
        )
        hint = "it holds only with peers that obey faster"
        yield Problem("capability.headroom-table", message, hint, row.where, severity="warning")


def _judge_watchdog(design: ResolvedSpec) -> Iterator[Problem]:
    section = design.spec.roce.watchdog
    if section.detect_ms == AUTO or not section.enabled:
        return
    longest = max(longest_pause_ms(design, tier) for tier in (design.leaf, design.spine, design.core))
    if section.detect_ms <= longest:
        message = (
            f"roce.watchdog.detect_ms is {section.detect_ms}, and a pause without any fault can last {longest:,.0f} ms"
        )
        hint = "write more, or auto: a watchdog that acts on honest pauses loses packets"
        yield Problem("spec.watchdog", message, hint, design.places.get("roce.watchdog.detect_ms"))
