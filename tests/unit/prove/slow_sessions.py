"""The slow twin of ``join_sessions``: each cable end by end, each neighbour by itself, each way an entry of a dict."""

from __future__ import annotations

from typing import TypeAlias

from weftline.errors import Place
from weftline.model.isolation import MANAGEMENT
from weftline.model.observed_routing import ObservedNeighbour
from weftline.model.separation import PortRef, SeparationFiles
from weftline.prove.tenancy.ground import DEFAULT_VRF, Routing, Table, call_vrf, is_shut
from weftline.prove.tenancy.placement import Placement

Pairs: TypeAlias = dict[PortRef, tuple[Routing, Routing]]
Told: TypeAlias = tuple[bool, str, Place | None]


def list_ways(files: SeparationFiles, placement: Placement) -> tuple[dict[tuple[str, str], Told], set[str]]:
    """List each way between two tables, by their names: whether it is certain, and why; and what is in doubt."""
    facing, doubts = pair_interfaces(files, placement)
    cabled: dict[tuple[Table, Table], Routing] = {}
    for near, far in facing.values():
        cabled.setdefault((near.table, far.table), near)
    claims: dict[tuple[Table, Table], ObservedNeighbour] = {}
    for ground in placement.grounds.values():
        for vrf, routers in ground.routers.items():
            table = (ground.device.name, vrf)
            for neighbour in (one for router in routers for one in router.neighbours):
                found = find_far(neighbour.name, table, facing, placement, cabled)
                claims.update({(table, other): neighbour for other in found})
                if not found and set(placement.in_table.get(table, {})) - {MANAGEMENT}:
                    doubts.add(f"{name(table)} takes routes of {neighbour.name}, whatever it sends")
    ways: dict[tuple[str, str], Told] = {}
    for a, b in {**cabled, **{(b, a): near for (a, b), near in cabled.items()}}:
        interface = cabled.get((a, b)) or cabled[b, a]
        ways[name(a), name(b)] = (False, f"{name(a)} is cabled to {name(b)}", interface.tell().where)
    for (a, b), mine in claims.items():
        other = claims.get((b, a))
        sifted = [one for one in (mine, other) if one is not None and (one.filter_in or one.filter_out)]
        said = f"{name(a)} exchanges routes with {name(b)}"
        ways[name(a), name(b)] = (other is not None and not sifted, said, mine.where)
        if other is None:
            interface = cabled.get((b, a)) or cabled.get((a, b))
            where = None if interface is None else interface.tell().where
            ways[name(b), name(a)] = (False, f"{name(b)} is cabled to {name(a)}", where)
    return {pair: told for pair, told in ways.items() if pair[0] != pair[1]}, doubts


def name(table: Table) -> str:
    """Name a table."""
    return f"{call_vrf(table[1])} of {table[0]}"


def find_far(
    called: str, table: Table, facing: Pairs, placement: Placement, cabled: dict[tuple[Table, Table], Routing]
) -> list[Table]:
    """Find whom a neighbour may be: who is at the other end of that port, else who has that address."""
    pair = facing.get((table[0], called))
    if pair is not None:
        return [pair[1].table]
    found = [
        routing.table
        for ground in placement.grounds.values()
        for routing in ground.routing.values()
        if called in [said.value.partition("/")[0] for said in routing.port.addresses] and routing.table[0] != table[0]
    ]
    near = [other for other in found if (table, other) in cabled or (other, table) in cabled]
    return near or found


def pair_interfaces(files: SeparationFiles, placement: Placement) -> tuple[Pairs, set[str]]:
    """Pair what routes at both ends of each cable by what the names have beyond those of the ports."""
    found: Pairs = {}
    lost: list[str] = []
    for link in files.links:
        sides = [list_routings(placement, end) for end in (link.a, link.b)]
        if sides[0] is None or sides[1] is None:
            lost.append(link.name)
            continue
        for suffix, near in sides[0].items():
            far = sides[1].get(suffix)
            if far is not None:
                found[near.table[0], near.port.name] = (near, far)
                found[far.table[0], far.port.name] = (far, near)
    more = f", one of {len(lost):,}" if len(lost) > 1 else ""
    return found, {f"no file says how both ends of {one} are configured{more}" for one in lost[:1]}


def list_routings(placement: Placement, end: PortRef | None) -> dict[str, Routing] | None:
    """List what routes at a port: itself or its bundle, and what is upon that; None where no file has the port."""
    ground = None if end is None else placement.grounds.get(end[0])
    if end is None or ground is None or all(port.name != end[1] for port in ground.device.ports):
        return None
    ports = {port.name: port for port in reversed(ground.device.ports)}
    base = ports[end[1]]
    if is_shut(base):
        return {}
    if base.bundle is not None:
        base = ports.get(base.bundle.value, base)
    found: dict[str, Routing] = {}
    for port in (base, *[one for one in ground.device.ports if one.name.rpartition(".")[0] == base.name]):
        spoken = [one for router in ground.device.routers for one in router.neighbours if one.name == port.name]
        routing = ground.routing.get(port.name)
        if routing is None and spoken and (port.bundle is None or port.bundle.value not in ports):
            routing = Routing(port, (ground.device.name, DEFAULT_VRF), ())
        if routing is not None and not is_shut(port):
            found[port.name.removeprefix(base.name)] = routing
    return found
