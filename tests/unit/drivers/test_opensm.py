from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.designs import Rendered as Made
from tests.designs import render_design
from weftline.drivers import DRIVERS
from weftline.drivers.opensm import comparing, lanes, probe, reading
from weftline.errors import SourceError
from weftline.kernels.column import NIL
from weftline.model import driver
from weftline.model.artifact import ArtifactSet
from weftline.model.driver import Access, ManagerState, NodeState, PortState, Rendered, SubnetState
from weftline.model.fabric import NodeKind
from weftline.model.intent import ForwardingTable
from weftline.vendors import VENDORS

MADE = render_design("infiniband", hosts=7, rails=2, unit_size=4, kind="rail-optimised",
                     tenants=(("red", "1-3"), ("blue", "4-5")))  # fmt: skip
QOS = {
    "qos": "TRUE",
    "qos_sl2vl": "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3",
    "qos_vlarb_low": "0:4,1:4",
    "qos_vlarb_high": "0:64",
}
LANES = bytes.fromhex("0123012301230123")


def make_rendered(made: Made, options: dict[str, str] | None = None, plane: int = 0) -> Rendered:
    """Read the files of a design back, as the command does."""
    own = tuple(item for item in made.artifacts.artifacts if item.vendor == "opensm")
    config = VENDORS["opensm"].observe(ArtifactSet("", own))[plane]
    return Rendered(config, options or {}, made.fabric, made.addresses, plane)


def manager(made: Made) -> int:
    """The port id of the first endpoint, where the manager runs."""
    return int(made.addresses.port_id[made.fabric.endpoint_port[0]])


def make_state(made: Made) -> SubnetState:
    """Make the state of devices that hold exactly what was rendered; each NIC port is an adapter of one port."""
    fabric, addresses = made.fabric, made.addresses
    rendered = make_rendered(made)
    table = rendered.config.values["forwarding.table"]
    assert isinstance(table, ForwardingTable)
    places: dict[int, tuple[int, int]] = {}
    for port in np.flatnonzero(fabric.port_peer != NIL).tolist():
        node = int(fabric.port_node[port])
        is_switch = fabric.node_kind[node] == NodeKind.SWITCH
        guid = int(addresses.node_id[node]) if is_switch else int(addresses.port_id[port]) - 1
        places[port] = (guid, int(fabric.port_number[port]) if is_switch else 1)
    keys = comparing._Keys.read(rendered.config.values, manager(made))
    held: dict[tuple[int, int], tuple[int, ...]] = {}
    ports: dict[tuple[int, int], PortState] = {}
    endpoints: dict[int, tuple[int, int]] = {}
    for port, place in places.items():
        port_id, peer = int(addresses.port_id[port]), places[int(fabric.port_peer[port])]
        if fabric.node_kind[fabric.port_node[port]] == NodeKind.SWITCH:
            held.setdefault(place, (0xFFFF,))
            continue
        name = f"0x{port_id:016x}"
        first = keys.first.get(name)
        held[place] = held[peer] = tuple(sorted(keys.wanted(name), key=lambda key: (key != first, key)))
        ports[place] = PortState(int(addresses.port_address[port]), 0, 4)
        endpoints[port_id] = place
    switches = [int(node) for node in fabric.switch_node]
    for node in switches:
        ports[int(addresses.node_id[node]), 0] = PortState(int(addresses.node_address[node]), 0, 4)
    nodes = {place[0]: NodeState(is_switch=False, ports=1) for place in endpoints.values()}
    nodes |= {int(addresses.node_id[node]): NodeState(is_switch=True, ports=8) for node in switches}
    tables: dict[int, Any] = {}
    for row, guid in enumerate(table.switch_id.tolist()):
        tables[guid] = np.full(128, 255, dtype=np.uint8)
        tables[guid][table.address] = table.port[row]
    switch_ports = [place for place in places.values() if nodes[place[0]].is_switch]
    return SubnetState(
        subnet="subnet-1",
        nodes=nodes,
        ports=ports,
        endpoints=endpoints,
        links={places[port]: places[int(fabric.port_peer[port])] for port in places},
        keys=held,
        tables=tables,
        lanes={
            (guid, entry, port): LANES for guid, port in switch_ports for other, entry in switch_ports if other == guid
        }
        | {(guid, 0, port): LANES for guid, port in endpoints.values()},
        arbitration={(*place, part): weights for place in places.values() for part, weights in WEIGHTS.items()},
        silences=(),
        managers={endpoints[manager(made)]: ManagerState(15, "master")},
    )


WEIGHTS = {1: bytes([0, 4, 1, 4]).ljust(64, b"\0"), 3: bytes([0, 64]).ljust(64, b"\0")}
STATE = make_state(MADE)
LEAF = int(MADE.addresses.node_id[MADE.fabric.switch_node[0]])
HOST = int(MADE.addresses.port_id[MADE.fabric.endpoint_port[3]])


def judge(state: SubnetState, options: dict[str, str] | None = None) -> driver.Readback:
    """Compare a state with what was rendered."""
    return DRIVERS["opensm"].compare(make_rendered(MADE, options), state, manager(MADE))


def test_what_was_rendered_is_equal() -> None:
    found = judge(STATE, QOS)
    assert found.is_equal, found.differences
    assert found.notes == ()
    assert set(found.compared) == {"node", "link", "address", "entry", "keys", "lanes", "arbitration"}
    assert all(found.compared.values())
    assert judge(STATE).notes[0].startswith("lanes and arbitration: no options")


def without_host(state: SubnetState) -> SubnetState:
    endpoints = {guid: place for guid, place in state.endpoints.items() if guid != HOST}
    return replace(state, endpoints=endpoints)


def with_wrong_entry(state: SubnetState) -> SubnetState:
    table = state.tables[LEAF].copy()
    table[4] = 7
    return replace(state, tables={**state.tables, LEAF: table})


def with_open_keys(state: SubnetState) -> SubnetState:
    return replace(state, keys={**state.keys, state.endpoints[HOST]: (0xFFFF,)})


def with_keys_in_another_order(state: SubnetState) -> SubnetState:
    place = state.endpoints[HOST]
    return replace(state, keys={**state.keys, place: state.keys[place][::-1]})


def with_open_leaf_port(state: SubnetState) -> SubnetState:
    return replace(state, keys={**state.keys, (LEAF, 1): (0xFFFF,)})


def with_a_link_down(state: SubnetState) -> SubnetState:
    far = state.links[LEAF, 1]
    return replace(state, links={place: to for place, to in state.links.items() if place not in {(LEAF, 1), far}})


def with_a_link_more(state: SubnetState) -> SubnetState:
    return replace(state, links={**state.links, (LEAF, 60): (LEAF, 61), (LEAF, 61): (LEAF, 60)})


def with_another_address(state: SubnetState) -> SubnetState:
    return replace(state, ports={**state.ports, state.endpoints[HOST]: PortState(77, 0, 4)})


def with_a_stranger(state: SubnetState) -> SubnetState:
    return replace(state, nodes={**state.nodes, 5: NodeState(is_switch=True, ports=36)})


def with_another_lane(state: SubnetState) -> SubnetState:
    return replace(state, lanes={**state.lanes, (LEAF, 1, 2): bytes(8)})


def with_another_weight(state: SubnetState) -> SubnetState:
    return replace(state, arbitration={**state.arbitration, (LEAF, 2, 3): bytes(64)})


def with_silence(state: SubnetState) -> SubnetState:
    return replace(state, silences=((LEAF, probe.PKEY_TABLE, 3 << 16),))


def without_a_manager(state: SubnetState) -> SubnetState:
    return replace(state, managers={})


def with_a_third_manager(state: SubnetState) -> SubnetState:
    return replace(state, managers={**state.managers, state.endpoints[HOST]: ManagerState(1, "standby")})


def with_two_masters(state: SubnetState) -> SubnetState:
    return replace(state, managers={**state.managers, state.endpoints[HOST]: ManagerState(1, "master")})


@pytest.mark.parametrize(
    ("change", "kind", "subject", "running"),
    [
        (without_host, "node", "host-0002/nic2", "not reached"),
        (with_wrong_entry, "entry", "leaf-001 to host-0002/nic2 (LID 0x0004)", "port 7"),
        (with_open_keys, "keys", "host-0002/nic2", "0xffff"),
        (with_keys_in_another_order, "keys", "host-0002/nic2", "0x7fff 0x8001"),
        (with_open_leaf_port, "keys", "leaf-001/1", "0xffff"),
        (with_a_link_down, "link", "host-0001/nic1~leaf-001/1", "down"),
        (with_a_link_more, "link", "leaf-001/60~leaf-001/61", "up"),
        (with_another_address, "address", "host-0002/nic2", "LID 0x004d"),
        (with_a_stranger, "node", "0x0000000000000005", "a switch of 36 ports"),
        (with_another_lane, "lanes", "leaf-001/2 from port 1", "0000000000000000"),
        (with_another_weight, "arbitration", "leaf-001/2 part 3", "0"),
        (with_silence, "silence", "leaf-001", "no answer"),
        (without_a_manager, "manager", "subnet-1", "0 masters"),
        (with_a_third_manager, "manager", "host-0002/nic2", "a standby of priority 1"),
        (with_two_masters, "manager", "subnet-1", "2 masters"),
    ],
)
def test_every_difference_is_named(
    change: Callable[[SubnetState], SubnetState], kind: str, subject: str, running: str
) -> None:
    found = judge(change(STATE), QOS)
    assert not found.is_equal
    assert (kind, subject, running) in {(one.kind, one.subject, one.running) for one in found.differences}
    others = {one.kind for one in found.differences} - {kind}
    assert others <= {"link", "node"}


def test_a_wrong_cable_is_named_from_both_ends() -> None:
    a, b = (LEAF, 1), (LEAF, 2)
    links = {**STATE.links, a: STATE.links[b], b: STATE.links[a], STATE.links[a]: b, STATE.links[b]: a}
    found = {one.subject: one.running for one in judge(replace(STATE, links=links)).differences}
    assert "leaf-001/1~host-0002/nic1" in found["host-0001/nic1~leaf-001/1"]


def test_differences_without_end_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MAX_LISTED", 5)
    empty = {guid: table[:0] for guid, table in STATE.tables.items()}
    found = judge(replace(STATE, tables=empty))
    assert len([one for one in found.differences if one.kind == "entry"]) == 5
    assert found.differing["entry"] > 50


def test_lanes_of_options() -> None:
    assert lanes.wants_lanes(QOS)
    assert not lanes.wants_lanes({"qos": "FALSE"})
    assert lanes.read_lanes(QOS, "ca") == LANES
    assert lanes.read_lanes({**QOS, "qos_ca_sl2vl": ",".join(["1"] * 16)}, "ca") == b"\x11" * 8
    for text in ("", "0,1", ",".join(["16"] * 16), ",".join(["x"] * 16)):
        assert lanes.read_lanes({"qos_sl2vl": text}, "ca") is None
    for text in ("", "0", "0:x", "a:1", "0:1:2"):
        assert lanes.read_weights({**QOS, "qos_vlarb_low": text}, "ca") is None
    unreadable = judge(STATE, {"qos": "TRUE"})
    assert unreadable.notes == (
        "lanes and arbitration of ca: the options name none that can be read",
        "lanes and arbitration of swe: the options name none that can be read",
    )


def record(guid: int, attribute: int, modifier: int, data: bytes) -> bytes:
    return probe.RECORD.pack(guid, attribute, modifier, data.ljust(64, b"\0"))


def node_info(guid: int, port_id: int, *, is_switch: bool) -> bytes:
    kind = probe.SWITCH if is_switch else 1
    head = struct.pack(">BBBBQQQHHIB3s", 1, 1, kind, 2, guid, guid, port_id, 32, 0, 0, 1, b"abc")
    assert len(head) == 40
    return head


def test_records_become_a_state() -> None:
    data = b"".join([
        record(1, probe.NODE_INFO, 0, node_info(1, 2, is_switch=False)),
        record(9, probe.NODE_INFO, 0, node_info(9, 9, is_switch=True)),
        record(1, probe.LINK, 1, probe.FAR_END.pack(9, 3, 9)),
        record(9, probe.LINK, 3, probe.FAR_END.pack(1, 1, 2)),
        record(9, probe.FORWARDING, 1, bytes([255, 7])),
        record(1, probe.PKEY_TABLE, 1 << 16 | 1, b"\x80\x02"),
        record(1, probe.PKEY_TABLE, 1 << 16, b"\x00\x00\x80\x01"),
        record(9, probe.SILENT, 5, struct.pack("<H", probe.PORT_INFO)),
    ])  # fmt: skip
    state = reading.parse_state("subnet-1", data)
    assert state.endpoints == {2: (1, 1)}
    assert state.links == {(1, 1): (9, 3), (9, 3): (1, 1)}
    assert state.keys == {(1, 1): (0x8001, 0x8002)}
    assert state.tables[9].tolist()[62:67] == [255, 255, 255, 7, 0]
    assert state.silences == ((9, probe.PORT_INFO, 5),)


class Devices:
    """A wire with two devices behind it: an adapter, and a switch that answers only the second time."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, bool, bytes]] = []
        self.asked: dict[tuple[bytes, int, int], int] = {}

    def send(self, number: int, question: probe.Question) -> bool:
        key = (question.path, question.attribute, question.modifier)
        self.asked[key] = self.asked.get(key, 0) + 1
        data = bytearray(64)
        if question.attribute == probe.NODE_INFO:
            data[:40] = node_info(9, 9, is_switch=True) if question.path else node_info(1, 2, is_switch=False)
        data[32 if question.attribute == probe.PORT_INFO else 63] = 4 if not question.path else 0
        if question.path and question.attribute != probe.PORT_INFO and self.asked[key] == 1:
            return False
        if question.path and question.attribute == probe.PORT_INFO and question.modifier == 2:
            return True
        self.answers.append((number, question.modifier != 1 or not question.path, bytes(data)))
        return True

    def receive(self) -> tuple[int, bool, bytes] | None:
        return self.answers.pop() if self.answers else None


def test_the_walk_asks_again_and_says_who_was_silent() -> None:
    wire: Any = Devices()
    found = probe.walk(wire, 4, lanes=False)
    assert set(found.nodes) == {1, 9}
    state = reading.parse_state("subnet-1", b"".join(found.out))
    assert {(attribute, modifier) for _, attribute, modifier in state.silences} == {
        (probe.PORT_INFO, 1),
        (probe.PORT_INFO, 2),
    }
    assert wire.asked[b"\x01", probe.PORT_INFO, 2] == probe.TRIES


def test_a_subnet_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError) as caught:
        reading.parse_state("subnet-1", record(1, probe.SILENT, 0, b""))
    assert caught.value.code == "source.no-answer"
    access = Access("subnet-1", {}, "", tmp_path, 1)
    for text in ("import sys; sys.exit('cannot open it')", "print('x')", ""):
        script = tmp_path / "probe.py"
        script.write_text(text, encoding="utf-8")
        monkeypatch.setattr(probe, "__file__", str(script))
        with pytest.raises(SourceError) as caught:
            reading.read_state(access, False)
        assert caught.value.code == "source.no-answer"
    script.write_text("import time; time.sleep(60)", encoding="utf-8")
    monkeypatch.setattr(reading, "LIMIT_S", 0.2)
    with pytest.raises(SourceError, match="did not end"):
        reading.read_state(access, False)


def test_the_library_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LIBRARY", "libno-such-thing.so.3")
    (problem,) = reading.list_problems()
    assert problem.code == "artifact.program-missing"
