"""Speakers: which sessions the files of switches bring up, and which networks each switch tells of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from weftline.admit.prefix import BITS, Prefix, is_inside, parse_prefix
from weftline.errors import Place
from weftline.kernels.column import I8, I32, NIL
from weftline.model.fabric import Fabric
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import (
    DEFAULT_VRF,
    ObservedNeighbour,
    ObservedRouteMap,
    ObservedRouter,
    ObservedRule,
)
from weftline.model.said import Said
from weftline.model.separation import PortRef
from weftline.prove.tenancy.cabling import find_ports
from weftline.prove.tenancy.ground import is_shut, name_vrf

OTHER_PROTOCOLS = ("router ospf", "router isis", "router rip", "router eigrp")
Rule: TypeAlias = tuple[Prefix, int, int, bool]
"""A prefix, the lengths within it that a rule takes, and whether it permits them."""
FindPort: TypeAlias = Callable[[int], "PortRef | None"]


@dataclass(frozen=True, slots=True)
class Told:
    """A network that a switch tells of, and the place that says so."""

    prefix: Prefix
    where: Place | None


@dataclass(slots=True)
class Speaker:
    """One switch by its files."""

    device: ObservedDevice
    router: ObservedRouter
    ports: dict[str, ObservedPort]
    neighbours: dict[str, ObservedNeighbour]
    told: list[Told] = field(default_factory=list[Told])

    def home_of(self, name: str) -> str:
        """Name the VRF of an interface."""
        return name_vrf(self.ports[name].vrf)


@dataclass(frozen=True, eq=False)
class Speakers:
    """All switches; S rows, E ends of sessions."""

    by_row: tuple[Speaker | None, ...]
    session_ptr: I32
    session_row: I32
    """The switch at the other end."""
    session_far: I32
    """Its port."""
    number: I32
    """The number of each switch as a small index."""
    width: I32
    mixes: I8
    silent: dict[int, tuple[str, Place | None]]
    """Cabled ports between switches without a session: why, and where."""
    doubts: tuple[str, ...]
    count: int
    """Sessions."""


def read_speakers(fabric: Fabric, devices: Sequence[ObservedDevice]) -> Speakers:
    """Read who speaks with whom; what nobody here can follow is a doubt, and leaves all open. O(ports)."""
    known = {device.name: device for device in devices if device.role == "switch"}
    doubts: list[str] = []
    names = [fabric.node_name[int(node)] for node in fabric.switch_node]
    rows = [_read_speaker(name, known.get(name), doubts) for name in names]
    carries = any(device.tunnel is not None for device in known.values())
    ends, silent = _join(fabric, rows, find_ports(fabric, tuple(known.values())), carries=carries, doubts=doubts)
    order = np.lexsort((ends[:, 2], ends[:, 0]))
    ends = ends[order]
    index: dict[int, int] = {}
    numbers = [NIL if row is None or row.router.number is None else row.router.number.value for row in rows]
    return Speakers(
        by_row=tuple(rows),
        session_ptr=np.searchsorted(ends[:, 0], np.arange(len(rows) + 1)).astype(np.int32),
        session_row=np.ascontiguousarray(ends[:, 1]),
        session_far=np.ascontiguousarray(ends[:, 3]),
        number=np.array([index.setdefault(one, len(index)) for one in numbers], dtype=np.int32),
        width=np.array([_width_of(row) for row in rows], dtype=np.int32),
        mixes=np.array([_mixes(row) for row in rows], dtype=np.int8),
        silent=silent,
        doubts=tuple(doubts),
        count=len(ends) // 2,
    )


def _width_of(row: Speaker | None) -> int:
    """A width that no line says is 1: what devices do by themselves differs."""
    return 1 if row is None or row.router.width is None else row.router.width.value


def _mixes(row: Speaker | None) -> bool:
    return row is not None and row.router.mixes_paths is not None and row.router.mixes_paths.value


def _read_speaker(name: str, device: ObservedDevice | None, doubts: list[str]) -> Speaker | None:
    routers = [] if device is None else [one for one in device.routers if one.vrf in {"", DEFAULT_VRF}]
    numbers = {one.number.value for one in routers if one.number is not None}
    speaking = [one for one in routers if one.neighbours or one.networks or one.redistributed]
    if device is None or len(numbers) != 1 or len(speaking) > 1:
        doubts.append(f"no file says by which number {name} routes, or several do")
        return None
    router = next(iter(speaking or routers))
    if router.number is None:
        doubts.append(f"no line says by which number {name} routes ({router.where})")
        return None
    own = (f"{name} {words}" for words in _list_doubts(device, router))
    doubts.extend(own)
    speaker = Speaker(
        device, router, {port.name: port for port in device.ports}, {one.name: one for one in router.neighbours}
    )
    speaker.told.extend(_list_told(speaker, doubts))
    return speaker


def _list_doubts(device: ObservedDevice, router: ObservedRouter) -> Iterator[str]:
    """List what makes a switch settle otherwise than by its sessions and numbers alone."""
    for kind, _ in device.unread:
        if kind.startswith((*OTHER_PROTOCOLS, "router bgp", "router.bgp")):
            yield f"has lines that nobody here follows ({kind})"
    if router.originates_default is not None and router.originates_default.value:
        yield f"originates a default route ({router.originates_default.where})"
    for said in (*router.imported_vrfs, *router.leaks):
        yield f"takes routes of another VRF ({said.where})"
    for vrf in device.vrfs:
        if vrf.name in {"", DEFAULT_VRF} and vrf.static_routes:
            yield f"has a static route ({vrf.static_routes[0].where})"
    passing = {one.name for one in device.route_maps if one.passes_all}
    for one in router.neighbours:
        if one.filter_in is not None or (one.filter_out is not None and one.filter_out.value not in passing):
            yield f"sifts the routes of {one.name} ({one.where})"
        if one.allows_own_number is not None and one.allows_own_number.value:
            yield f"takes routes with its own number ({one.allows_own_number.where})"


def _list_told(speaker: Speaker, doubts: list[str]) -> list[Told]:
    """List the networks that a switch tells of, the widest first.

    Those of its interfaces are told of as far as they pass, aggregates of these, and listed ones that it has itself.
    """
    found = list(_list_redistributed(speaker, doubts))
    own = {prefix for _, prefix in _list_connected(speaker)}
    for said in speaker.router.networks:
        prefix = parse_prefix(said.value)
        if prefix is None:
            doubts.append(f"{speaker.device.name} tells of '{said.value[:40]}', which is no network ({said.where})")
        elif said.value in speaker.router.aggregates:
            if any(is_inside(one.prefix, prefix) and one.prefix != prefix for one in found):
                found.append(Told(prefix, said.where))
        elif prefix in own:
            found.append(Told(prefix, said.where))
    return sorted(found, key=lambda one: one.prefix[1] - one.prefix[2])


def _list_connected(speaker: Speaker) -> Iterator[tuple[Said[str], Prefix]]:
    for port in speaker.device.ports:
        if name_vrf(port.vrf) == DEFAULT_VRF and not is_shut(port):
            for address in port.addresses:
                prefix = parse_prefix(address.value)
                if prefix is not None and prefix[0] == 4:
                    yield address, prefix


def _list_redistributed(speaker: Speaker, doubts: list[str]) -> Iterator[Told]:
    """List the networks of interfaces as far as they pass."""
    maps = {one.name: one for one in speaker.device.route_maps}
    for said in speaker.router.redistributed:
        kind, _, sieve = said.value.partition(" via ")
        if kind not in {"connected", "direct"} or (sieve and not _is_known(maps.get(sieve))):
            doubts.append(f"{speaker.device.name} tells of routes that no file lists: '{said.value}' ({said.where})")
            continue
        lists = _list_rules(speaker.device, maps[sieve]) if sieve else None
        for address, prefix in _list_connected(speaker):
            if lists is None or any(_passes(prefix, rules) for rules in lists):
                yield Told(prefix, address.where)


def _is_known(one: ObservedRouteMap | None) -> bool:
    return one is not None and one.is_plain


def _list_rules(device: ObservedDevice, one: ObservedRouteMap) -> list[list[Rule]]:
    """List the rules of each list of prefixes that a route map permits."""
    names = {said.value for said in one.lists}
    return [
        [read for rule in sorted(sieve.rules, key=lambda rule: rule.order) if (read := _read_rule(rule)) is not None]
        for sieve in device.filters
        if sieve.name in names
    ]


def _read_rule(rule: ObservedRule) -> Rule | None:
    words = rule.source.split()
    prefix = parse_prefix(words[0]) if words else None
    if prefix is None:
        return None
    own = _length(prefix)
    low, high = own, own
    for word, text in zip(words[1::2], words[2::2], strict=False):
        value = int(text) if text.isdecimal() and len(text) < 4 else NIL
        low, high = (value, BITS[prefix[0]] if high == own else high) if word == "ge" else (low, value)
    return prefix, low, high, rule.action == "permit"


def _length(prefix: Prefix) -> int:
    return BITS[prefix[0]] - (prefix[2] - prefix[1]).bit_length()


def _passes(prefix: Prefix, rules: list[Rule]) -> bool:
    length = _length(prefix)
    return next((ok for outer, low, high, ok in rules if low <= length <= high and is_inside(prefix, outer)), False)


def _join(
    fabric: Fabric, rows: list[Speaker | None], find: FindPort, *, carries: bool, doubts: list[str]
) -> tuple[I32, dict[int, tuple[str, Place | None]]]:
    """Pair the neighbours of both ends of each cable; neighbours on no cable are in doubt."""
    row_of = fabric.switch_row[fabric.port_node]
    peer = fabric.port_peer
    between = np.flatnonzero((row_of != NIL) & (peer != NIL))
    between = between[row_of[peer[between]] != NIL]
    name_of: dict[int, str] = {}
    for port in between.tolist():
        ref = find(port)
        if ref is not None:
            name_of[port] = ref[1]
    ends: list[tuple[int, int, int, int]] = []
    silent: dict[int, tuple[str, Place | None]] = {}
    met: set[tuple[int, str]] = set()
    for port in between.tolist():
        far = int(peer[port])
        a, b = int(row_of[port]), int(row_of[far])
        met.add((a, name_of.get(port, "")))
        why = _silence(rows[a], name_of.get(port), rows[b], carries=carries)
        if why is None and _silence(rows[b], name_of.get(far), rows[a], carries=carries) is None:
            ends.append((a, b, port, far))
        elif why is not None:
            silent[port] = why
    for row, speaker in enumerate(rows):
        for name, one in () if speaker is None else speaker.neighbours.items():
            if (row, name) not in met:
                words = "which is on no cable between switches"
                doubts.append(f"{one.where}: the neighbour {name[:40]}, {words}, may tell of anything")
    return np.array(ends, dtype=np.int32).reshape(-1, 4), silent


def _silence(
    near: Speaker | None, name: str | None, far: Speaker | None, *, carries: bool
) -> tuple[str, Place | None] | None:
    """Say why one end does not bring up its session; None where it does."""
    if near is None or far is None or name is None or name not in near.ports:
        return "no file has the port", None
    port, one = near.ports[name], near.neighbours.get(name)
    if is_shut(port):
        return f"{name} is shut", port.where
    if one is None:
        return f"there is no neighbour on {name}", near.router.where
    why = _misfit(near, one, far, carries=carries)
    return None if why is None else (why, one.where)


def _misfit(near: Speaker, one: ObservedNeighbour, far: Speaker, *, carries: bool) -> str | None:
    """Say what of a neighbour does not fit the other end."""
    families = {said.value for said in one.families}
    if "ipv4" not in families or (carries and "evpn" not in families):
        return f"{one.name} carries {', '.join(sorted(families)) or 'nothing'} only"
    own, other = near.router.number, far.router.number
    if own is None or other is None or own.value == other.value:
        return f"the numbers of both ends of {one.name} are not two"
    is_external = one.is_external is not None and one.is_external.value
    if one.number is None:
        return None if is_external else f"{one.name} expects no number"
    return None if one.number.value == other.value else f"{one.name} expects {one.number.value}, not {other.value}"
