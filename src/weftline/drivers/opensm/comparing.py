"""What a subnet holds, against what was rendered for it: every difference by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from weftline.drivers.opensm.lanes import read_lanes, read_weights, wants_lanes
from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL, U8
from weftline.model.driver import MAX_LISTED, ManagerState, Readback, Rendered, StateDifference, StateKind, SubnetState
from weftline.model.fabric import NodeKind
from weftline.model.intent import NO_PORT, FactValue, ForwardingTable

FULL = 0x8000
OPEN_KEYS = (0xFFFF,)
"""What OpenSM gives to every port that it does not enforce: a full member of the default partition."""
ATTRIBUTES = {
    0x11: "NodeInfo", 0x12: "SwitchInfo", 0x15: "PortInfo", 0x16: "P_KeyTable", 0x17: "SLtoVLMappingTable",
    0x18: "VLArbitrationTable", 0x19: "LinearForwardingTable",
    0x20: "SMInfo",
}  # fmt: skip
MEMBERSHIPS: Mapping[str, tuple[tuple[int, ...], str]] = {
    "full": ((FULL,), "is_first"),
    "limited": ((0,), "is_first_of_limited"),
    "both": ((0, FULL), "is_first"),  # OpenSM gives the limited key the first place
}
"""Marks on the key of a member, and the fact that says whether the key comes first."""
Place = tuple[int, int]


@dataclass(slots=True)
class _Log:
    compared: dict[StateKind, int] = field(default_factory=dict[StateKind, int])
    differing: dict[StateKind, int] = field(default_factory=dict[StateKind, int])
    found: list[StateDifference] = field(default_factory=list[StateDifference])

    def count(self, kind: StateKind, many: int = 1) -> None:
        self.compared[kind] = self.compared.get(kind, 0) + many

    def differ(self, kind: StateKind, subject: str, rendered: str, running: str) -> None:
        self.differing[kind] = self.differing.get(kind, 0) + 1
        if self.differing[kind] <= MAX_LISTED:
            self.found.append(StateDifference(kind, subject, rendered, running))


@dataclass(frozen=True, eq=False)
class _Plane:
    """The part of a fabric that one subnet is, by node id and port number as devices say them."""

    rendered: Rendered
    state: SubnetState
    manager: int
    """Port id of the subnet manager, which says which of the separate parts of the plane this is."""

    @cached_property
    def ports(self) -> dict[int, Place]:
        """Each lit port of the plane that is declared, with its place in the running subnet where it was found."""
        fabric, addresses = self.rendered.fabric, self.rendered.addresses
        places: dict[int, Place] = {}
        own = self.rendered.plane
        in_plane = (fabric.port_plane == own) | (fabric.node_plane[fabric.port_node] == own)
        part = fabric.port_component[addresses.port_id == self.manager]
        is_own = in_plane & np.isin(fabric.port_component, part) if len(part) else in_plane
        for port in np.flatnonzero(is_own & (fabric.port_peer != NIL)).tolist():
            node = int(fabric.port_node[port])
            if fabric.node_kind[node] == NodeKind.SWITCH:
                places[port] = (int(addresses.node_id[node]), int(fabric.port_number[port]))
            else:
                places[port] = self.state.endpoints.get(int(addresses.port_id[port]), (0, int(port)))
        return places

    @cached_property
    def names(self) -> dict[Place, str]:
        """Name of each place."""
        return {place: self.rendered.fabric.port_name(port) for port, place in self.ports.items()}

    @cached_property
    def switches(self) -> dict[int, str]:
        """Name of each switch of the plane that has a link, by its GUID."""
        fabric, addresses = self.rendered.fabric, self.rendered.addresses
        nodes = {int(fabric.port_node[port]) for port in self.ports}
        kind = NodeKind.SWITCH
        return {int(addresses.node_id[n]): fabric.node_name[n] for n in sorted(nodes) if fabric.node_kind[n] == kind}

    @cached_property
    def owners(self) -> dict[int, str]:
        """Name of each switch, and of an endpoint of each adapter, by its GUID."""
        fabric = self.rendered.fabric
        adapters = {place[0]: fabric.port_name(port) for port, place in self.ports.items()}
        return {**adapters, **self.switches}

    @cached_property
    def hosts(self) -> dict[int, int]:
        """Port of each endpoint of the plane that has a link, by its GUID."""
        fabric, addresses = self.rendered.fabric, self.rendered.addresses
        kind = fabric.node_kind
        return {
            int(addresses.port_id[port]): port for port in self.ports if kind[fabric.port_node[port]] != NodeKind.SWITCH
        }

    def name(self, place: Place) -> str:
        """Name a place that may not be declared."""
        known = self.names.get(place)
        if known is not None:
            return known
        return f"{self.switches.get(place[0], format_guid(place[0]))}/{place[1]}"


def compare(rendered: Rendered, state: SubnetState, manager: int) -> Readback:
    """Hold everything that was read against what was rendered; ``manager`` is the port id of the subnet manager."""
    log = _Log()
    plane = _Plane(rendered, state, manager)
    values = rendered.config.values
    _compare_nodes(log, plane)
    _compare_links(log, plane)
    _compare_addresses(log, plane, values)
    table = values.get("forwarding.table")
    if isinstance(table, ForwardingTable):
        _compare_tables(log, plane, table)
    _compare_keys(log, plane, _Keys.read(values, manager))
    notes = (*_compare_managers(log, plane, values), *_compare_lanes(log, plane))
    for guid, attribute, modifier in state.silences:
        subject = plane.owners.get(guid, format_guid(guid))
        asked = f"{ATTRIBUTES.get(attribute, hex(attribute))} {modifier:#x}"
        log.differ("silence", subject, f"answers to {asked}", "no answer")
    return Readback(state.subnet, log.compared, log.differing, tuple(log.found), notes)


def _compare_nodes(log: _Log, plane: _Plane) -> None:
    fabric = plane.rendered.fabric
    known: set[int] = set(plane.switches)
    for guid, name in plane.switches.items():
        log.count("node")
        if guid not in plane.state.nodes:
            log.differ("node", name, "in the subnet", "not reached")
    for guid, port in plane.hosts.items():
        log.count("node")
        place = plane.state.endpoints.get(guid)
        if place is None:
            log.differ("node", fabric.port_name(port), "in the subnet", "not reached")
        else:
            known.add(place[0])
    for guid, node in plane.state.nodes.items():
        if guid not in known:
            kind = "switch" if node.is_switch else "adapter"
            log.differ("node", format_guid(guid), "not there", f"a {kind} of {node.ports} ports")


def _compare_links(log: _Log, plane: _Plane) -> None:
    fabric, state = plane.rendered.fabric, plane.state
    declared: set[Place] = set()
    for port, place in plane.ports.items():
        peer = int(fabric.port_peer[port])
        far = plane.ports.get(peer)
        if far is None or port > peer:
            continue
        declared |= {place, far}
        log.count("link")
        seen, back = state.links.get(place), state.links.get(far)
        wrong = (seen, back) == (None, None) or any(
            other != right and not (other is None and own[0] not in plane.switches)
            for own, other, right in ((place, seen, far), (far, back, place))
        )
        if wrong:
            running = " and ".join(f"{plane.name(a)}~{plane.name(b)}" for a, b in ((place, seen), (far, back)) if b)
            log.differ("link", fabric.link_name(port), "up", running or "down")
    for place, far in state.links.items():
        if place not in declared and not (far in state.links and far < place):
            log.differ("link", f"{plane.name(place)}~{plane.name(far)}", "not there", "up")


def _compare_addresses(log: _Log, plane: _Plane, values: Mapping[str, FactValue]) -> None:
    bits = int(str(values.get("keys.multipath_bits", 0)))
    places = {guid: (guid, 0) for guid in plane.switches}
    places |= {guid: plane.state.endpoints[guid] for guid in plane.hosts if guid in plane.state.endpoints}
    for guid, place in places.items():
        address = values.get(f"keys.endpoints.{format_guid(guid)}.first")
        name = values.get(f"keys.endpoints.{format_guid(guid)}.name", format_guid(guid))
        port = plane.state.ports.get(place)
        if address is None or port is None:
            continue
        log.count("address")
        wanted = 0 if guid in plane.switches else bits
        if (port.address, port.multipath_bits) != (address, wanted):
            log.differ("address", str(name), _lid(int(str(address)), wanted), _lid(port.address, port.multipath_bits))


def _lid(address: int, bits: int) -> str:
    return f"LID {address:#06x}" + (f" LMC {bits}" if bits else "")


def _compare_tables(log: _Log, plane: _Plane, table: ForwardingTable) -> None:
    owners = _name_addresses(plane)
    for row, (guid, name) in enumerate(zip(table.switch_id.tolist(), table.switch_name, strict=True)):
        if guid not in plane.switches or guid not in plane.state.nodes:
            continue
        running = plane.state.tables.get(guid, np.zeros(0, dtype=np.uint8))
        size = max(len(running), int(table.address.max(initial=0)) + 1)
        log.count("entry", size)
        wanted = np.full(size, NO_PORT, dtype=np.uint8)
        wanted[table.address] = table.port[row]
        held: U8 = np.full(size, NO_PORT, dtype=np.uint8)
        held[: len(running)] = running
        for address in np.flatnonzero(wanted != held).tolist():
            subject = f"{name} to {owners.get(address, 'nobody')} (LID {address:#06x})"
            log.differ("entry", subject, _way(int(wanted[address])), _way(int(held[address])))


def _way(port: int) -> str:
    if port == NO_PORT:
        return "no port"
    return "itself" if port == 0 else f"port {port}"


def _name_addresses(plane: _Plane) -> dict[int, str]:
    fabric, addresses = plane.rendered.fabric, plane.rendered.addresses
    many = 2**addresses.multipath_bits
    owners = {
        int(addresses.port_address[port]) + offset: fabric.port_name(port)
        for port in plane.hosts.values()
        for offset in range(many)
    }
    for node in fabric.switch_node.tolist():
        if int(addresses.node_id[node]) in plane.switches:
            owners[int(addresses.node_address[node])] = fabric.node_name[node]
    return owners


@dataclass(frozen=True, slots=True)
class _Keys:
    """The partition keys that each port id should hold."""

    first: Mapping[str, int]
    """Key that takes the first place, by port id."""
    keys: Mapping[str, frozenset[int]]
    default: int
    is_full: bool
    managers: frozenset[str]
    """Full members of the default partition: the declared managers and the one that runs."""
    enforces: bool

    @classmethod
    def read(cls, values: Mapping[str, FactValue], manager: int) -> _Keys:
        """Gather what the rendered files say of partitions."""
        first: dict[str, int] = {}
        keys: dict[str, set[int]] = {}
        for path, value in values.items():
            parts = path.split(".")
            if not path.startswith("isolation.partitions.") or parts[-1] not in MEMBERSHIPS:
                continue
            number = int(parts[2])
            marks, place = MEMBERSHIPS[parts[-1]]
            is_first = bool(values.get(f"isolation.partitions.{number}.{place}", False))
            for member in value if isinstance(value, tuple) else ():
                keys.setdefault(str(member), set()).update(number | mark for mark in marks)
                if is_first:
                    first[str(member)] = number | marks[0]
        full = values.get("isolation.default_full", ())
        seats = {str(one) for one in full} if isinstance(full, tuple) else set[str]()
        return cls(
            first=first,
            keys={member: frozenset(found) for member, found in keys.items()},
            default=int(str(values.get("isolation.default_key", 0x7FFF))),
            is_full=values.get("isolation.default_membership", "full") == "full",
            managers=frozenset({format_guid(manager), *seats}),
            enforces=values.get("isolation.enforcement", "both") != "off",
        )

    def wanted(self, port_id: str) -> frozenset[int]:
        """List the keys of one endpoint."""
        own = self.keys.get(port_id, frozenset())
        is_full = self.is_full or port_id in self.managers
        return own | {self.default | (FULL if is_full else 0)}

    def wall(self, port_id: str) -> frozenset[int]:
        """List the keys of the switch port that faces an endpoint; of both keys of a partition it has the full one."""
        held = self.wanted(port_id)
        return frozenset(key for key in held if key & FULL or key | FULL not in held)


def _compare_keys(log: _Log, plane: _Plane, keys: _Keys) -> None:
    fabric, state = plane.rendered.fabric, plane.state
    facing: dict[Place, str] = {}
    for guid, port in plane.hosts.items():
        port_id = format_guid(guid)
        peer = plane.ports.get(int(fabric.port_peer[port]))
        if peer is not None and keys.enforces:
            facing[peer] = port_id
        place = state.endpoints.get(guid)
        if place is None or place not in state.keys:
            continue
        log.count("keys")
        held, wanted, first = state.keys[place], keys.wanted(port_id), keys.first.get(port_id)
        if len(held) != len(wanted) or frozenset(held) != wanted or (first is not None and held[0] != first):
            ordered = sorted(wanted, key=lambda key: (key != first, key))
            log.differ("keys", fabric.port_name(port), _say(ordered), _say(held))
    for place in _switch_ports(plane):
        if place not in state.keys:
            continue
        log.count("keys")
        wanted = keys.wall(facing[place]) if place in facing else frozenset(OPEN_KEYS)
        if frozenset(state.keys[place]) != wanted:
            log.differ("keys", plane.name(place), _say(sorted(wanted)), _say(state.keys[place]))


def _compare_managers(log: _Log, plane: _Plane, values: Mapping[str, FactValue]) -> tuple[str, ...]:
    """Hold the managers that answer against those that are declared; says who they are where there are several."""
    declared = {
        guid: values.get(f"manager.seats.{format_guid(guid)}.priority")
        for guid in plane.hosts
        if f"manager.seats.{format_guid(guid)}.priority" in values
    } or {plane.manager: None}
    places = {guid: plane.state.endpoints.get(guid, (guid, 0)) for guid in declared}
    found = plane.state.managers
    strange = [place for place in found if place not in places.values()]
    if len(declared) == 1 and not strange and [held.state for held in found.values()] == ["master"]:
        return ()
    for guid, priority in declared.items():
        log.count("manager")
        held = found.get(places[guid])
        if held is None or (priority is not None and held.priority != priority):
            told = "a manager" if priority is None else f"a manager of priority {priority}"
            name = plane.rendered.fabric.port_name(plane.hosts[guid]) if guid in plane.hosts else format_guid(guid)
            log.differ("manager", name, told, _say_manager(held))
    for place in strange:
        log.count("manager")
        log.differ("manager", plane.name(place), "no manager", _say_manager(found[place]))
    masters = sum(held.state == "master" for held in found.values())
    if masters != 1:
        log.differ("manager", plane.state.subnet, "one master", f"{masters} masters")
    words = [f"{plane.name(place)} {held.state} of priority {held.priority}" for place, held in sorted(found.items())]
    return (f"managers: {', '.join(words)}",) if words else ()


def _say_manager(held: ManagerState | None) -> str:
    return "none" if held is None else f"a {held.state} of priority {held.priority}"


def _switch_ports(plane: _Plane) -> Iterator[Place]:
    """Yield the places of the lit ports of switches that are up."""
    for place in plane.names:
        if place[0] in plane.switches and place in plane.state.links:
            yield place


def _say(keys: Sequence[int]) -> str:
    return " ".join(f"{key:#06x}" for key in keys) or "none"


def _compare_lanes(log: _Log, plane: _Plane) -> tuple[str, ...]:
    options = plane.rendered.options
    if not wants_lanes(options):
        return ("lanes and arbitration: no options for them are rendered, so each device keeps its own",)
    notes: list[str] = []
    roles = {"ca": set(plane.state.endpoints.values()), "swe": set(_switch_ports(plane))}
    for role, places in roles.items():
        lanes, weights = read_lanes(options, role), read_weights(options, role)
        if lanes is None or weights is None:
            notes.append(f"lanes and arbitration of {role}: the options name none that can be read")
            continue
        for (guid, entry, out), held in plane.state.lanes.items():
            if (guid, out) in places and (entry == 0 or (guid, entry) in places):
                log.count("lanes")
                if held != lanes:
                    log.differ("lanes", f"{plane.name((guid, out))} from port {entry}", lanes.hex(), held.hex())
        for (guid, port, part), held in plane.state.arbitration.items():
            if (guid, port) in places:
                log.count("arbitration")
                if held != weights[part]:
                    subject = f"{plane.name((guid, port))} part {part}"
                    log.differ("arbitration", subject, _trim(weights[part]), _trim(held))
    return tuple(notes)


def _trim(raw: bytes) -> str:
    return raw.rstrip(b"\0").hex() or "0"
