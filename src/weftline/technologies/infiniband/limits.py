"""What one InfiniBand subnet can address, with the arithmetic."""

from __future__ import annotations

from weftline.errors import Problem
from weftline.formats.lid import MAX_UNICAST
from weftline.model.design import ResolvedSpec, TierPart
from weftline.technologies.infiniband.refusals import list_refusals

MAX_TABLE_PORT = 254
"""A linear forwarding table holds one byte per LID, and 255 means 'no route'. IBTA vol 1, 14.2.5.10."""


def count_problems(design: ResolvedSpec, endpoints: int, switches: int) -> tuple[Problem, ...]:
    """Judge what one subnet must address; each plane is a subnet of its own, so the limit holds per plane."""
    planes = design.spec.topology.planes
    lmc = design.spec.routing.lmc
    per_plane = -(-endpoints // planes)
    switches_per_plane = -(-switches // planes)
    lids = per_plane * 2**lmc + switches_per_plane
    arithmetic = f"{per_plane:,} endpoints * 2^{lmc} + {switches_per_plane:,} switches = {lids:,} LIDs"
    where = "the subnet" if planes == 1 else f"each of the {planes} planes"
    problems: list[Problem] = []
    if lids > MAX_UNICAST:
        problems.append(
            Problem(
                "capability.too-many-lids",
                f"an InfiniBand subnet has {MAX_UNICAST:,} unicast LIDs, and {where} needs {arithmetic}",
                _propose(lmc, planes, endpoints, switches),
                design.places.get("hosts.count"),
            )
        )
    for key, tier in _tiers(design).items():
        cap = tier.part.linear_fdb_cap
        if cap is not None and lids + 1 > cap:
            problems.append(
                Problem(
                    "capability.table-too-small",
                    f"the forwarding table of {tier.name} holds {cap:,} LIDs, counted from 0 (LinearFDBCap), "
                    f"and {where} needs {arithmetic}",
                    "choose a switch with a larger table, more planes, or several subnets",
                    design.places.get(key),
                )
            )
        if tier.ports > MAX_TABLE_PORT:
            problems.append(
                Problem(
                    "capability.too-many-ports",
                    f"{tier.name} has {tier.ports} ports, and a forwarding table entry names ports 1 to "
                    f"{MAX_TABLE_PORT}",
                    "choose a switch with fewer ports",
                    design.places.get(key),
                )
            )
    if design.has_split_ports:
        message = f"split ports of {design.leaf.name} are numbered endpoints first, then whole ports, by the plan alone"
        hint = "before tables are loaded, hold the numbers against what the switch in split mode reports"
        where = design.places.get("topology.trunk_gbps")
        problems.append(Problem("capability.split-ports", message, hint, where, severity="warning"))
    return (*problems, *list_refusals(design))


def _tiers(design: ResolvedSpec) -> dict[str, TierPart]:
    """List each switch part once, by the key that chose it."""
    tiers = {"topology.leaf": design.leaf, "topology.spine": design.spine, "topology.core": design.core}
    return {key: tier for key, tier in tiers.items() if tier.name not in _earlier(tiers, key)}


def _earlier(tiers: dict[str, TierPart], key: str) -> set[str]:
    return {tiers[other].name for other in list(tiers)[: list(tiers).index(key)]}


def _propose(lmc: int, planes: int, endpoints: int, switches: int) -> str:
    if lmc and -(-endpoints // planes) + -(-switches // planes) <= MAX_UNICAST:
        return "set routing.lmc to 0, so that one LID per endpoint fits, or split the fabric into planes or subnets"
    return (
        "split the fabric into planes (topology.planes, with NICs of several ports), each a subnet of its own, "
        "or declare several subnets"
    )
