"""Exchange: the graph of tables, made of what each takes from and gives to others on its device and by EVPN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from weftline.admit.prefix import Prefix, parse_prefix
from weftline.formats.route_target import ANY, RouteTarget
from weftline.model.isolation import MANAGEMENT
from weftline.model.said import Said
from weftline.model.separation import SeparationFiles
from weftline.prove.tenancy.announcing import Lead, TableRoutes, read_routes
from weftline.prove.tenancy.forwarding import Graph, Way
from weftline.prove.tenancy.ground import DEFAULT_VRF, DeviceGround, Step, Table, call_vrf
from weftline.prove.tenancy.placement import Placement
from weftline.prove.tenancy.prefixes import PrefixIndex
from weftline.prove.tenancy.sessions import join_sessions

UNDERLAY = "/underlay"
"""Owner of the default VRF: the addresses of switches and of the ends of tunnels."""
OUTSIDE = "/outside"
"""Owner of everything that only a default route leads to."""


@dataclass(frozen=True, slots=True)
class Roads:
    """The graph, and what stands in doubt about it."""

    graph: Graph
    bits: Mapping[str, int]
    index: PrefixIndex
    doubts: tuple[str, ...]


def build_roads(files: SeparationFiles, placement: Placement) -> Roads:
    """Build the graph of all tables of all devices."""
    owners = sorted({end.owner for end in files.ends})
    bits = {owner: 1 << number for number, owner in enumerate((*owners, UNDERLAY, OUTSIDE))}
    builder = _Builder(placement, bits)
    for ground in placement.grounds.values():
        builder.add_device(ground)
    builder.join_wildcards()
    doubts = [*builder.doubts, *join_sessions(files, placement, builder.graph)]
    return Roads(builder.graph, bits, builder.index, tuple(dict.fromkeys(doubts)))


class _Builder:
    def __init__(self, placement: Placement, bits: Mapping[str, int]) -> None:
        self.placement = placement
        self.bits = bits
        self.graph = Graph()
        self.doubts: list[str] = []
        self.exported: dict[int, dict[RouteTarget, int]] = {}
        self.wild: dict[int, int] = {}
        self.unnumbered = self._find_unnumbered()
        """Bits of owners none of whose subnets is known."""
        self.index = PrefixIndex(self._list_subnets())

    def owners_of(self, table: Table) -> int:
        found = 0
        for owner in self.placement.in_table.get(table, ()):
            found |= self.bits[owner]
        return found | (self.bits[UNDERLAY] if table[1] == DEFAULT_VRF else 0)

    def _list_subnets(self) -> Iterator[tuple[Prefix, int]]:
        for ground in self.placement.grounds.values():
            for routing in ground.routing.values():
                bits = self.owners_of(routing.table) if routing.subnets else 0
                for prefix, _ in routing.subnets:
                    yield prefix, bits
            tunnel = ground.device.tunnel
            prefix = None if tunnel is None or tunnel.source is None else parse_prefix(tunnel.source.value)
            if prefix is not None:
                yield prefix, self.bits[UNDERLAY]

    def _find_unnumbered(self) -> int:
        held = {
            routing.table
            for ground in self.placement.grounds.values()
            for routing in ground.routing.values()
            if routing.subnets
        }
        everyone = numbered = 0
        for table in self.placement.in_table:
            everyone |= self.owners_of(table)
        for table in held:
            numbered |= self.owners_of(table)
        return everyone & ~numbered

    def add_device(self, ground: DeviceGround) -> None:
        """Add the tables of one device."""
        exchange = _find_exchange(ground)
        tunnel = _list_tunnel_addresses(ground)
        routes = {
            (ground.device.name, vrf): read_routes(ground, (ground.device.name, vrf))
            for vrf in sorted(ground.vrf_names)
        }
        for table, known in routes.items():
            look, hold, hand = self.graph.table(table)
            self.graph.ends[hand] = self.owners_of(table)
            for said in tunnel.get(table, ()):
                self._add_tunnel(table, hold, said)
            if self._matters(table):
                self.doubts.extend(known.doubts)
            for lead in (*known.leads, *known.announced):
                self._add_lead(table, lead, look if lead.is_given is False else hold)
            self._add_leaks(ground, table, look)
        self._add_targets(ground, routes, exchange)

    def _matters(self, table: Table) -> bool:
        return any(owner != MANAGEMENT for owner in self.placement.in_table.get(table, ()))

    def _add_lead(self, table: Table, lead: Lead, at: int) -> None:
        """Add what a prefix does in its own table."""
        if lead.is_default:
            out = self.graph.point("out", (table, lead.step.says), "everywhere")
            self.graph.ends[out] = self.bits[OUTSIDE]
            self.graph.join(at, out, lead.step)
        if lead.vrf is not None:
            other = self.graph.table((table[0], lead.vrf))[0]
            self._add_covered(at, other, lead, is_certain=True)

    def _add_tunnel(self, table: Table, hold: int, said: Said[str]) -> None:
        """Say that a table which has the address of the tunnel's end leads to the underlay."""
        point = self.graph.point("tunnel", table, "end of a tunnel")
        self.graph.ends[point] = self.bits[UNDERLAY]
        words = f"{call_vrf(table[1])} of {table[0]} has the tunnel's own address {said.value}"
        self.graph.join(hold, point, Step(words, said.where))

    def _add_covered(self, a: int, b: int, lead: Lead, *, is_certain: bool) -> None:
        """Lead packets on whose target the prefix covers; of owners without known subnets nobody can tell."""
        if lead.is_default:
            self.graph.join(a, b, lead.step, is_certain=is_certain)
            return
        self.graph.add(a, Way(b, self.index.find(lead.prefix), is_certain, lead.step, lead.prefix))
        self.graph.add(a, Way(b, self.unnumbered, is_certain=False, step=lead.step))

    def _add_leaks(self, ground: DeviceGround, table: Table, look: int) -> None:
        for router in ground.routers.get(table[1], ()):
            for said in router.imported_vrfs:
                other = (table[0], said.value)
                step = Step(f"{call_vrf(table[1])} of {table[0]} takes over the routes of VRF {said.value}", said.where)
                other_look, other_hold, _ = self.graph.table(other)
                self.graph.join(look, other_hold, step)
                self.graph.join(look, other_look, step, is_certain=False)
            for said in router.leaks:
                step = Step(f"{call_vrf(table[1])} of {table[0]} takes over routes: {said.value[:80]}", said.where)
                named = [name for name in said.value.split() if name in ground.vrf_names and name != table[1]]
                for name in named:
                    self.graph.join(look, self.graph.table((table[0], name))[0], step, is_certain=False)
                if not named and self._matters(table):
                    self.doubts.append(step.says)

    def _add_targets(
        self, ground: DeviceGround, routes: Mapping[Table, TableRoutes], exchange: tuple[bool, bool]
    ) -> None:
        """Join tables by route targets: on the device itself, and with others where it speaks EVPN."""
        device = ground.device.name
        is_spoken, is_sure = exchange
        local: dict[RouteTarget, list[tuple[Table, int, bool, Step]]] = {}
        for table, known in routes.items():
            if known.exports:
                given = self._add_given(ground, table, known)
                for one in known.exports:
                    local.setdefault(one.target, []).append((table, given, one.is_certain, one.step))
                    if is_spoken:
                        point = self._target_point(one.target)
                        self.graph.join(point, given, one.step, is_certain=one.is_certain and is_sure)
        wild: dict[int, list[RouteTarget]] = {}
        for target in local:
            wild.setdefault(target.number, []).append(target)
        for table, known in routes.items():
            hold = self.graph.table(table)[1]
            for one in known.imports:
                met = wild.get(one.target.number, ()) if one.target.admin == ANY else (one.target,)
                others = [(target, *way) for target in met for way in local.get(target, ()) if way[0] != table]
                for target, _, given, is_certain, step in others:
                    point = self.graph.point("local", (device, table[1], target), str(target))
                    self.graph.join(hold, point, one.step, is_certain=one.is_certain)
                    self.graph.join(point, given, step, is_certain=is_certain)
                if is_spoken:
                    wanted = one.target
                    point = self._wild_point(wanted.number) if wanted.admin == ANY else self._target_point(wanted)
                    self.graph.join(hold, point, one.step, is_certain=one.is_certain and is_sure)

    def _target_point(self, target: RouteTarget) -> int:
        point = self.graph.point("target", target, f"{target.admin}:{target.number}")
        self.exported.setdefault(target.number, {})[target] = point
        return point

    def _wild_point(self, number: int) -> int:
        self.wild[number] = self.graph.point("wild", number, f"*:{number}")
        return self.wild[number]

    def join_wildcards(self) -> None:
        """Let an import of any number take every target with it."""
        for number, point in self.wild.items():
            for target in self.exported.get(number, {}).values():
                self.graph.join(point, target)

    def _add_given(self, ground: DeviceGround, table: Table, known: TableRoutes) -> int:
        """Add the point of the routes that a table gives to others."""
        look, _, hand = self.graph.table(table)
        given = self.graph.point("given", table, f"routes of {call_vrf(table[1])} of {table[0]}")
        self.graph.join(given, hand, is_certain=known.gives_subnets)
        for lead in (*known.leads, *known.announced):
            if lead.is_given is not False:
                self._add_covered(given, look, lead, is_certain=lead.is_given is True)
        for router in ground.routers.get(table[1], ()):
            for said in router.imported_vrfs:
                # a leaked route may be announced on; devices differ, and so do their releases
                step = Step(
                    f"{call_vrf(table[1])} of {table[0]} may announce what it takes from {said.value}", said.where
                )
                self.graph.join(given, self.graph.table((table[0], said.value))[0], step, is_certain=False)
        return given


def _list_tunnel_addresses(ground: DeviceGround) -> dict[Table, list[Said[str]]]:
    """List where tables other than the default VRF have the address of the device's tunnel."""
    source = None if ground.device.tunnel is None else ground.device.tunnel.source
    prefix = None if source is None else parse_prefix(source.value.partition("/")[0])
    found: dict[Table, list[Said[str]]] = {}
    for routing in ground.routing.values() if prefix is not None else ():
        if prefix is not None and routing.table[1] != DEFAULT_VRF and routing.may_hold(prefix):
            for said in routing.port.addresses:
                if parse_prefix(said.value.partition("/")[0]) == prefix:
                    found.setdefault(routing.table, []).append(said)
    return found


def _find_exchange(ground: DeviceGround) -> tuple[bool, bool]:
    """Tell whether a device speaks EVPN with anybody, and whether with one neighbour nothing is sifted."""
    is_spoken = False
    for routers in ground.routers.values():
        for router in routers:
            for neighbour in router.neighbours:
                if "evpn" in [family.value for family in neighbour.families]:
                    if neighbour.filter_in is None and neighbour.filter_out is None:
                        return True, True
                    is_spoken = True
    return is_spoken, False
