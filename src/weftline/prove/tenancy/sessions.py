"""Sessions: tables that exchange all their routes with a table of a neighbour, and neighbours that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.model.isolation import MANAGEMENT
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import ObservedNeighbour
from weftline.model.separation import PortRef, SeparationFiles
from weftline.prove.tenancy.forwarding import Graph
from weftline.prove.tenancy.ground import DeviceGround, Routing, Step, Table, call_vrf, is_shut
from weftline.prove.tenancy.placement import Placement


def join_sessions(files: SeparationFiles, placement: Placement, graph: Graph) -> tuple[str, ...]:
    """Join tables of neighbours, and return what is in doubt.

    A session that both sides have, without a filter, certainly carries every route; of one side alone, with a filter,
    or of a cable between routing ports without any session nobody here can tell.
    """
    doubts: list[str] = []
    homes = _list_homes(placement)
    claims: dict[tuple[Table, Table], ObservedNeighbour] = {}
    cabled: dict[tuple[Table, Table], Routing] = {}
    facing = _pair_interfaces(files, placement, doubts)
    for near, far in facing.values():
        cabled.setdefault((near.table, far.table), near)
    for ground in placement.grounds.values():
        for name, spoken in ground.neighbours.items():
            for vrf, neighbour in spoken:
                table = (ground.device.name, vrf)
                far = _find_far(name, table, facing, homes, cabled)
                for other in far:
                    claims[table, other] = neighbour
                if not far and any(owner != MANAGEMENT for owner in placement.in_table.get(table, ())):
                    doubts.append(f"{call_vrf(vrf)} of {ground.device.name} takes routes of {name}, whatever it sends")
    _add_ways(graph, claims, cabled)
    return tuple(doubts)


def _add_ways(
    graph: Graph, claims: dict[tuple[Table, Table], ObservedNeighbour], cabled: dict[tuple[Table, Table], Routing]
) -> None:
    known: dict[Table, tuple[int, str]] = {}

    def tell(table: Table) -> tuple[int, str]:
        if table not in known:
            known[table] = (graph.table(table)[0], f"{call_vrf(table[1])} of {table[0]}")
        return known[table]

    def join(a: Table, b: Table) -> None:
        near = cabled.get((a, b)) or cabled.get((b, a))
        (here, name), (there, other) = tell(a), tell(b)
        step = Step(f"{name} is cabled to {other}", None if near is None else near.tell().where)
        graph.join(here, there, step, is_certain=False)

    for (a, b), mine in claims.items():
        other = claims.get((b, a))
        is_sure = other is not None and not _is_sifted(mine) and not _is_sifted(other)
        (here, name), (there, far) = tell(a), tell(b)
        graph.join(here, there, Step(f"{name} exchanges routes with {far}", mine.where), is_certain=is_sure)
        if other is None:
            join(b, a)
    for a, b in cabled:
        if (a, b) not in claims and (b, a) not in claims:
            join(a, b)
            if (b, a) not in cabled:
                join(b, a)


def _is_sifted(neighbour: ObservedNeighbour) -> bool:
    return neighbour.filter_in is not None or neighbour.filter_out is not None


def _list_homes(placement: Placement) -> dict[str, list[Table]]:
    """Map each address of a routing interface to its tables; tenants may use one address twice."""
    homes: dict[str, list[Table]] = {}
    for ground in placement.grounds.values():
        for routing in ground.routing.values():
            for said in routing.port.addresses:
                tables = homes.setdefault(said.value.partition("/")[0], [])
                if routing.table not in tables:
                    tables.append(routing.table)
    return homes


def _find_far(
    name: str,
    table: Table,
    facing: dict[PortRef, tuple[Routing, Routing]],
    homes: dict[str, list[Table]],
    cabled: dict[tuple[Table, Table], Routing],
) -> list[Table]:
    """Find the tables that a neighbour may stand for: those at the other end of a cable first."""
    pair = facing.get((table[0], name))
    if pair is not None:
        return [pair[1].table]
    found = [other for other in homes.get(name, ()) if other[0] != table[0]]
    near = [other for other in found if (table, other) in cabled or (other, table) in cabled]
    return near or found


def _pair_interfaces(
    files: SeparationFiles, placement: Placement, doubts: list[str]
) -> dict[PortRef, tuple[Routing, Routing]]:
    """Pair the routing interfaces at both ends of each cable: the ports themselves, and equal ones upon them."""
    found: dict[PortRef, tuple[Routing, Routing]] = {}
    lost: list[str] = []
    for link in files.links:
        sides = [_list_routings(placement.grounds, end) for end in (link.a, link.b)]
        if link.a is None or link.b is None or sides[0] is None or sides[1] is None:
            lost.append(link.name)
            continue
        for suffix in sides[0].keys() & sides[1].keys():
            near, far = sides[0][suffix], sides[1][suffix]
            found[near.table[0], near.port.name] = (near, far)
            found[far.table[0], far.port.name] = (far, near)
    if lost:
        more = f", one of {len(lost):,}" if len(lost) > 1 else ""
        doubts.append(f"no file says how both ends of {lost[0]} are configured{more}")
    return found


def _list_routings(grounds: dict[str, DeviceGround], end: PortRef | None) -> dict[str, Routing] | None:
    """List the routing interfaces of a port by what their name has beyond the port's; None where nothing is known."""
    ground = None if end is None else grounds.get(end[0])
    if end is None or ground is None or end[1] not in ground.ports:
        return None
    if is_shut(ground.ports[end[1]]):
        return {}
    carriers = ground.carriers(end[1])
    if len(carriers) != 1:
        return dict(_walk_carriers(ground, carriers))
    routing = ground.routing.get(carriers[0].name)
    return {} if routing is None or is_shut(carriers[0]) else {"": routing}


def _walk_carriers(ground: DeviceGround, carriers: tuple[ObservedPort, ...]) -> Iterator[tuple[str, Routing]]:
    for port in carriers:
        routing = ground.routing.get(port.name)
        if routing is not None and not is_shut(port):
            yield port.name.removeprefix(carriers[0].name), routing
