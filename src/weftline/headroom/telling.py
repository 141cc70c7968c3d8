"""Arithmetic in words: the lines that a report or a finding prints under a figure."""

from __future__ import annotations

from weftline.model.headroom import HeadroomFloor, HeadroomRow, NicHeadroom, PoolPlan, SwitchHeadroom, TableDoubt, Term


def tell_switch(found: SwitchHeadroom) -> tuple[str, ...]:
    """Write out how the headroom of a switch port came about, one line per term."""
    return (
        *_list_terms(found.terms),
        f"in flight {found.in_flight:,.0f} B",
        f"occupancy 1 + {found.small_share:.5f} * ({found.cells_per_small:g} - 1) = {found.occupancy:.4f}",
        f"{found.lossless_mtu:,} + {found.in_flight:,.0f} * {found.occupancy:.4f} = {found.rounded_from:,.0f} B",
        f"xoff {found.xoff:,} B, xon {found.xon:,} B, size {found.size:,} B",
    )


def tell_nic(found: NicHeadroom) -> tuple[str, ...]:
    """Write out how the headroom of a NIC came about, one line per term."""
    return (*_list_terms(found.terms), f"headroom {found.xoff:,.0f} B, buffer at least {found.buffer:,} B")


def tell_floor(floor: HeadroomFloor) -> str:
    """Write the floor under a headroom as a sum."""
    return f"{floor.cable:,.0f} B on the cable there and back + a frame of {floor.frame:,} B = {floor.certain:,.0f} B"


def tell_doubt(doubt: TableDoubt) -> str:
    """Say in one sentence what is hard to believe in a row of a table."""
    row, against = doubt.row, doubt.against
    if isinstance(against, HeadroomFloor):
        return f"{_name(row)}: {row.xoff:,} B is below {tell_floor(against)}"
    if doubt.kind == "said-twice":
        return f"{_name(row)}: {row.xoff:,} B, and {against.xoff:,} B in another row"
    than = "for a shorter cable" if doubt.kind == "falls-with-length" else "at a lower speed"
    return f"{_name(row)}: {row.xoff:,} B is less than the {against.xoff:,} B {than} ({_name(against)})"


def tell_pools(plan: PoolPlan) -> tuple[str, ...]:
    """Write out how the buffer of a chip is divided, and how many groups may pause at once."""
    every = plan.paused_at_once == plan.group_count
    count = "all" if every else f"up to {plan.paused_at_once:,} of"
    return (
        *_list_terms(plan.terms),
        f"left to share {plan.shared_pool:,} B",
        f"lossless for {count} {plan.group_count:,} groups pausing at once",
    )


def _list_terms(terms: tuple[Term, ...]) -> list[str]:
    return [f"{term.name} {term.amount:,.0f} B" + (f" ({term.how})" if term.how else "") for term in terms]


def _name(row: HeadroomRow) -> str:
    return f"{row.speed_mbps / 1000:g}G at {row.cable_m:g} m"
