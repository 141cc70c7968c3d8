"""Sessions: tables that exchange all their routes with a table of a neighbour, and neighbours that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter

import numpy as np

from weftline.kernels.column import I64
from weftline.model.isolation import MANAGEMENT
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import ObservedNeighbour
from weftline.model.separation import SeparationFiles, SwitchLink
from weftline.prove.tenancy.forwarding import Crossings, Graph, Mask
from weftline.prove.tenancy.ground import DEFAULT_VRF, DeviceGround, Routing, Step, Table, is_shut
from weftline.prove.tenancy.placement import Placement

_NAME = attrgetter("name")
CABLE = -1
"""The reason of a way that no session, but a cable leads along."""


@dataclass(slots=True)
class Site:
    """The interfaces of one device that route, by name; a table is told by the point where it looks packets up."""

    ground: DeviceGround
    plain: dict[str, int]
    """Table of those whose packets no other interface takes, and that are not known to be down."""
    other: dict[str, int] = field(default_factory=dict[str, int])
    """Table of those others that are cabled."""
    far: dict[str, int] = field(default_factory=dict[str, int])
    """Table of the interface at the other end of the cable."""


def join_sessions(files: SeparationFiles, placement: Placement, graph: Graph) -> tuple[str, ...]:
    """Join tables of neighbours, and return what is in doubt.

    A session that both sides have, without a filter, certainly carries every route; of one side alone, with a filter,
    or of a cable between routing ports without any session nobody here can tell.
    """
    sites = {name: _open_site(ground, graph) for name, ground in placement.grounds.items()}
    lost = [link.name for link in files.links if not _pair_interfaces(link, sites, graph)]
    more = f", one of {len(lost):,}" if len(lost) > 1 else ""
    doubts = [f"no file says how both ends of {lost[0]} are configured{more}"] if lost else []
    claims = Claims(placement, sites, graph)
    for site in sites.values():
        doubts.extend(claims.add_device(site))
    graph.crossings = claims.cross()
    return tuple(doubts)


def _open_site(ground: DeviceGround, graph: Graph) -> Site:
    """List the ports of a device that are paired by their names alone, as nearly all are."""
    looks = {vrf: graph.table((ground.device.name, vrf))[0] for vrf in sorted(ground.vrf_names)}
    plain = dict.fromkeys(ground.spoken, looks[DEFAULT_VRF])
    for name, one in ground.routing.items():
        plain[name] = looks[one.table[1]]
    for names in (plain.keys() - ground.ports.keys(), ground.bundled, ground.parts, ground.shut):
        for name in names:
            plain.pop(name, None)
    return Site(ground, plain)


def _pair_interfaces(link: SwitchLink, sites: Mapping[str, Site], graph: Graph) -> bool:
    """Pair the routing interfaces at both ends of a cable; False where files do not say how one is configured."""
    a, b = link.a, link.b
    if a is None or b is None:
        return False
    here, there = sites.get(a[0]), sites.get(b[0])
    if here is None or there is None:
        return False
    near, far = here.plain.get(a[1]), there.plain.get(b[1])
    if near is not None and far is not None:
        here.far[a[1]] = far
        there.far[b[1]] = near
        return True
    return _pair_all(here, a[1], there, b[1], graph)


def _pair_all(here: Site, a: str, there: Site, b: str, graph: Graph) -> bool:
    """Pair whatever routes at two ports: the ports or their bundles, and equal interfaces upon them."""
    mine, others = _list_routings(here.ground, a), _list_routings(there.ground, b)
    if mine is None or others is None:
        return False
    for suffix, near in mine.items():
        far = others.get(suffix)
        if far is not None:
            here.other[near.port.name] = there.far[far.port.name] = graph.table(near.table)[0]
            there.other[far.port.name] = here.far[near.port.name] = graph.table(far.table)[0]
    return True


def _list_routings(ground: DeviceGround, name: str) -> dict[str, Routing] | None:
    """List the routing interfaces of a port by what their name has beyond the port's; None where nothing is known."""
    if name not in ground.ports:
        return None
    if is_shut(ground.ports[name]):
        return {}
    return dict(_walk_carriers(ground, ground.carriers(name)))


def _walk_carriers(ground: DeviceGround, carriers: tuple[ObservedPort, ...]) -> Iterator[tuple[str, Routing]]:
    for port in carriers:
        routing = ground.find_routing(port.name)
        if routing is not None and not is_shut(port):
            yield port.name.removeprefix(carriers[0].name), routing


class Claims:
    """Which table says that it has a session with which, one row for each neighbour that is known."""

    def __init__(self, placement: Placement, sites: Mapping[str, Site], graph: Graph) -> None:
        """Take the devices, all their cables paired."""
        self._placement = placement
        self._sites = sites
        self._graph = graph
        self._near: list[int] = []
        self._far: list[int] = []
        self._by: list[ObservedNeighbour] = []

    def add_device(self, site: Site) -> Iterator[str]:
        """Add the neighbours of one device, and name those that nobody knows."""
        for vrf, routers in site.ground.routers.items():
            table = (site.ground.device.name, vrf)
            look = self._graph.table(table)[0]
            for router in routers:
                far = list(map(site.far.get, map(_NAME, router.neighbours)))
                for neighbour, known in zip(router.neighbours, far, strict=True) if None in far else ():
                    found = self._find_far(neighbour.name, table, look) if known is None else (known,)
                    self._add(look, found, [neighbour] * len(found))
                    if not found and any(one != MANAGEMENT for one in self._placement.in_table.get(table, ())):
                        yield f"{self._graph.names[look]} takes routes of {neighbour.name}, whatever it sends"
                if None not in far:
                    self._add(look, far, router.neighbours)

    def _add(self, near: int, far: Sequence[int | None], by: Iterable[ObservedNeighbour]) -> None:
        self._near.extend([near] * len(far))
        self._far.extend(far)  # type: ignore[arg-type]
        self._by.extend(by)

    def _find_far(self, name: str, table: Table, look: int) -> list[int]:
        """Find the tables that an address may stand for: those at the other end of a cable first."""
        found = [self._graph.table(other)[0] for other in self._homes.get(name, ()) if other[0] != table[0]]
        if len(found) < 2:
            return found
        near = [other for other in found if (look, other) in self._cabled or (other, look) in self._cabled]
        return near or found

    @cached_property
    def _homes(self) -> dict[str, list[Table]]:
        """Map each address of a routing interface to its tables; tenants may use one address twice."""
        homes: dict[str, list[Table]] = {}
        for ground in self._placement.grounds.values():
            for routing in ground.routing.values():
                for said in routing.port.addresses:
                    tables = homes.setdefault(said.value.partition("/")[0], [])
                    if routing.table not in tables:
                        tables.append(routing.table)
        return homes

    @cached_property
    def _cabled(self) -> dict[tuple[int, int], tuple[Site, str]]:
        """Map tables with a cable between them to the first interface that has it."""
        found: dict[tuple[int, int], tuple[Site, str]] = {}
        for site in self._sites.values():
            for name, near, far in zip(site.far, _list_near(site), site.far.values(), strict=True):
                found.setdefault((near, far), (site, name))
        return found

    def cross(self) -> Crossings:
        """Make the ways: there and back for each pair of tables that a session or a cable joins."""
        points = max(len(self._graph.ways), 1)
        pair, last = _find_last(_join_keys(self._near, self._far, points))
        back = _turn(pair, points)
        is_mutual = _has(pair, back)
        is_open = np.array([one.filter_in is None and one.filter_out is None for one in self._by], np.bool_)[last]
        is_sure = is_mutual & is_open
        is_sure[is_mutual] &= is_open[np.searchsorted(pair, back[is_mutual])]
        # where one side alone speaks of the other, or neither, the way back is as little known
        quiet = self._list_quiet(pair, points)
        key = np.concatenate([pair, back[~is_mutual], np.union1d(quiet, _turn(quiet, points))])
        reason = np.concatenate([last, np.full(len(key) - len(pair), CABLE)])
        is_certain = np.concatenate([is_sure, np.zeros(len(key) - len(pair), np.bool_)])
        row = np.argsort(key)
        start, to = np.divmod(key[row], points)
        row, start, to = row[start != to], start[start != to], to[start != to]
        why = reason[row]
        return Crossings(start, to, is_certain[row], lambda at: self._tell(int(start[at]), int(to[at]), int(why[at])))

    def _list_quiet(self, pair: I64, points: int) -> I64:
        """List the tables that cables join of which no session speaks, cable by cable."""
        sites = self._sites.values()
        near = list(chain.from_iterable(map(_list_near, sites)))
        cable = _join_keys(near, list(chain.from_iterable([site.far.values() for site in sites])), points)
        return cable[~(_has(pair, cable) | _has(pair, _turn(cable, points)))]

    def _tell(self, a: int, b: int, reason: int) -> Step:
        """Say why a table leads to another."""
        near, far = self._graph.names[a], self._graph.names[b]
        if reason != CABLE:
            return Step(f"{near} exchanges routes with {far}", self._by[reason].where)
        site, name = self._cabled.get((a, b)) or self._cabled.get((b, a)) or (None, "")
        routing = None if site is None else site.ground.find_routing(name)
        return Step(f"{near} is cabled to {far}", None if routing is None else routing.tell().where)


def _list_near(site: Site) -> Iterator[int]:
    """List the tables of all interfaces that are cabled."""
    known = {**site.plain, **site.other} if site.other else site.plain
    return map(known.__getitem__, site.far)


def _join_keys(near: Sequence[int], far: Sequence[int], points: int) -> I64:
    return np.array(near, np.int64) * points + np.array(far, np.int64)


def _turn(key: I64, points: int) -> I64:
    """Turn pairs of tables round."""
    start, to = np.divmod(key, points)
    return to * points + start


def _find_last(key: I64) -> tuple[I64, I64]:
    """Find which pairs there are, sorted, and where each is said last, which counts."""
    pair, before = np.unique(key[::-1], return_index=True)
    return pair, len(key) - 1 - before


def _has(pair: I64, key: I64) -> Mask:
    """Tell which of some pairs are among others, which are sorted."""
    at = np.searchsorted(pair, key)
    found = np.zeros(len(key), np.bool_)
    inside = at < len(pair)
    found[inside] = pair[at[inside]] == key[inside]
    return found
