from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.media import change, differing, edited, medium_of, port_of, profile_of, route, source_of, swap
from weftline.errors import ArtifactError, CapabilityError, Place
from weftline.model.lossless import LosslessClass, Need
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.packet import FlowControl, Marking, Watchdog
from weftline.model.parameters import CarriageChoice, PacketSource
from weftline.model.said import Said
from weftline.prove.lossless_way import judge_way
from weftline.technologies import TECHNOLOGIES
from weftline.technologies.roce.lanes import Lane
from weftline.technologies.roce.pausing import End, list_asked, list_obeyed

LEAF = "switches/leaf-001/config_db.json"
HOST = "hosts/host-0001/nics.conf"
PROFILE = "pg_lossless_400000_5m_profile"
MS = 10**9


@pytest.fixture(scope="module")
def source() -> PacketSource:
    """What the unchanged files come to."""
    return source_of(route("roce"))


def test_a_leaf_port_is_what_its_files_say(source: PacketSource) -> None:
    medium = medium_of(source)
    data = profile_of(source, medium, "leaf-001/1")
    # 400 Gb/s and 5 m on eight lanes: xoff 86,016, size = xoff + xon 38,912 + an MTU of 9,216.
    assert (data.control, data.is_lossless, data.obeys) == (FlowControl.PAUSE, True, True)
    assert (data.headroom_bytes, data.reserve_bytes, data.dynamic_th) == (86_016, 48_128, 0)
    assert (data.cell_bytes, data.resume_offset_bytes) == (192, 0)
    assert data.marking == Marking(150_000, 1_500_000, 1_000_000)
    assert data.watchdog == Watchdog(200 * MS, 400 * MS, "drop")
    assert (data.is_strict, data.weight) == (False, 50)
    notice = profile_of(source, medium, "leaf-001/1", medium.notice_lane)
    assert (notice.control, notice.is_strict, notice.marking) == (FlowControl.NONE, True, None)
    assert (medium.lanes, medium.data_lane, medium.ack_lane, medium.notice_lane) == (2, 0, 0, 1)


def test_headroom_grows_with_the_cable(source: PacketSource) -> None:
    medium = medium_of(source)
    assert profile_of(source, medium, "leaf-001/3").headroom_bytes == 99_328  # 30 m to a spine
    port = port_of(source, "leaf-001/3")
    assert medium.propagation_ps[port] == round(30 / 198e6 * 1e12) == 151_515
    assert medium.response_ps[port] == 905 * 512 * 1000 // 400
    assert medium.response_ps[port_of(source, "host-0001/nic1")] == 905 * 512 * 1000 // 400
    assert medium.latency_ps[source.fabric.port_node[port]] == 600_000


def test_an_adapter_splits_its_receive_buffer(source: PacketSource) -> None:
    host = profile_of(source, medium_of(source), "host-0001/nic1")
    # (301 + 2.16 * 5) * 400 + 2.72 * 4200, in the driver's integers, of a buffer of 145,168 B.
    assert host.headroom_bytes == 311 * 400 + 272 * 4200 // 100 == 135_824
    assert host.reserve_bytes == 145_168 - 135_824
    assert (host.control, host.obeys, host.marking) == (FlowControl.PAUSE, True, None)


def test_the_pool_is_that_of_the_files(source: PacketSource) -> None:
    medium = medium_of(source)
    leaf = source.fabric.node_name.index("leaf-001")
    said = next(pool for pool in source.devices["leaf-001"].pools if pool.name == "ingress_lossless_pool")
    assert said.size_bytes is not None
    assert medium.pool_bytes[leaf] == said.size_bytes.value
    assert medium.pool_bytes[0] == 0


def test_another_xoff_changes_the_ports_that_share_the_profile(source: PacketSource) -> None:
    other = edited(route("roce"), {LEAF: change("BUFFER_PROFILE", PROFILE, "xoff", to="20480")})
    before, after = medium_of(source), medium_of(other)
    assert profile_of(other, after, "leaf-001/1").headroom_bytes == 20_480
    assert differing(source, before, after) == {("leaf-001/1", 0), ("leaf-001/2", 0)}


def test_pfc_off_on_one_port(source: PacketSource) -> None:
    other = edited(route("roce"), {LEAF: change("PORT_QOS_MAP", "Ethernet0", "pfc_enable", to="")})
    after = medium_of(other)
    port = profile_of(other, after, "leaf-001/1")
    assert (port.control, port.headroom_bytes, port.obeys, port.watchdog) == (FlowControl.NONE, 0, False, None)
    assert port.is_lossless  # so that a drop is a finding
    assert profile_of(other, after, "host-0001/nic1").obeys  # nobody asks it
    assert differing(source, medium_of(source), after) == {("leaf-001/1", 0)}


def test_other_marks(source: PacketSource) -> None:
    name = next(iter(sorted(_wred(source))))
    edit = change("WRED_PROFILE", name, "green_min_threshold", to="1048576")
    other = edited(route("roce"), {LEAF: edit})
    marking = profile_of(other, medium_of(other), "leaf-001/1").marking
    assert marking == Marking(1_048_576, 1_500_000, 1_000_000)


def _wred(source: PacketSource) -> set[str]:
    return {queue.marks.name for port in source.devices["leaf-001"].ports for queue in port.queues if queue.marks}


def test_a_wrong_map_puts_data_into_the_lossy_class(source: PacketSource) -> None:
    other = edited(route("roce"), {LEAF: change("DSCP_TO_TC_MAP", "FABRIC", "26", to="0")})
    after = medium_of(other)
    port = profile_of(other, after, "leaf-001/1")
    assert (port.control, port.headroom_bytes, port.dynamic_th, port.obeys) == (FlowControl.NONE, 0, 3, False)
    assert port.marking is None
    spine = profile_of(other, after, "spine-01/1")
    assert (spine.control, spine.obeys) == (FlowControl.PAUSE, True)
    assert {name for name, _ in differing(source, medium_of(source), after)} == {
        f"leaf-001/{number}" for number in range(1, 5)
    }


def test_hosts_that_send_another_dscp_have_a_lane_of_their_own() -> None:
    edit = swap("NCCL_IB_TC=106", "NCCL_IB_TC=2")
    edits = {f"hosts/host-000{n}/nccl.conf": edit for n in range(1, 5)}
    other = edited(route("roce"), edits)
    medium = medium_of(other)
    assert (medium.lanes, medium.data_lane, medium.notice_lane) == (3, 1, 2)
    data = profile_of(other, medium, "leaf-001/1", 1)
    assert (data.control, data.is_lossless) == (FlowControl.NONE, True)
    assert any("DSCP 0, which is of no declared class" in words for words in medium.assumptions)


def test_data_that_is_not_ecn_capable_is_not_marked() -> None:
    edit = swap("NCCL_IB_TC=106", "NCCL_IB_TC=104")
    edits = {f"hosts/host-000{n}/nccl.conf": edit for n in range(1, 5)}
    other = edited(route("roce"), edits)
    medium = medium_of(other)
    assert profile_of(other, medium, "leaf-001/1").marking is None
    assert any(words.startswith("data is not ECN-capable") for words in medium.assumptions)


def test_a_switch_without_files_is_refused() -> None:
    with pytest.raises(ArtifactError) as refused:
        medium_of(edited(route("roce"), {"switches/spine-01/": None}))
    assert refused.value.code == "artifact.packet-port"
    assert "spine-01" in refused.value.message


def test_a_port_that_the_files_do_not_have_is_refused() -> None:
    source = source_of(route("roce"))
    leaf = source.devices["leaf-001"]
    fewer = replace(leaf, ports=tuple(port for port in leaf.ports if port.name != "Ethernet8"))
    with pytest.raises(ArtifactError, match="no port leaf-001/2") as refused:
        medium_of(replace(source, devices={**source.devices, "leaf-001": fewer}))
    assert refused.value.code == "artifact.packet-port"
    assert refused.value.where is not None


def test_hosts_without_files_are_an_assumption(source: PacketSource) -> None:
    other = edited(route("roce"), {f"hosts/host-000{n}/": None for n in range(1, 5)})
    medium = medium_of(other)
    assert any(words.startswith("an endpoint has no files") for words in medium.assumptions)
    assert any("no file says with which DSCP hosts send" in words for words in medium.assumptions)
    host = profile_of(other, medium, "host-0001/nic1")
    assert (host.control, host.obeys, host.is_lossless) == (FlowControl.PAUSE, True, True)
    before = profile_of(source, medium_of(source), "leaf-001/1")
    assert profile_of(other, medium, "leaf-001/1") == before


def test_a_switch_that_computes_its_headroom_has_that_of_its_formula(source: PacketSource) -> None:
    routed = route("roce", "roce: { buffers: { model: dynamic } }\n")
    other = source_of(routed)
    medium = medium_of(other)
    data, said = profile_of(other, medium, "leaf-001/1"), profile_of(source, medium_of(source), "leaf-001/1")
    assert (data.headroom_bytes, data.reserve_bytes) == (said.headroom_bytes, said.reserve_bytes)
    assert any("formula of its chip" in words for words in medium.assumptions)
    leaf = other.fabric.node_name.index("leaf-001")
    assert medium.pool_bytes[leaf] == medium_of(source).pool_bytes[leaf]


@pytest.mark.parametrize(("system", "base"), [("nvue", "SN5400"), ("eos", "7060X6-64PE")])
def test_other_systems_say_as_much_as_they_can(system: str, base: str) -> None:
    source = source_of(route("roce", f"roce: {{ platform: {{ system: {system} }} }}\n", base))
    medium = medium_of(source)
    data = profile_of(source, medium, "leaf-001/1")
    assert (data.control, data.obeys, data.weight) == (FlowControl.PAUSE, True, 50)
    assert data.marking == Marking(150_000, 1_500_000, 1_000_000)
    assert data.headroom_bytes == {"nvue": 86_016, "eos": 231_424}[system]
    assert profile_of(source, medium, "leaf-001/1", medium.notice_lane).is_strict
    assert any("headroom is the device's own" in words for words in medium.assumptions)
    assert medium.pool_bytes.max() > 0


def test_cables_that_are_longer_than_the_files_think(source: PacketSource) -> None:
    lengths = np.full(len(source.fabric.cable_part), 40.0)
    longer = medium_of(replace(source, lengths_m=lengths))
    port = port_of(source, "leaf-001/1")
    assert longer.propagation_ps[port] == round(40 / 198e6 * 1e12)
    assert profile_of(source, longer, "leaf-001/1").headroom_bytes == 86_016


def test_every_class_of_a_port_has_a_lane() -> None:
    names = ", ".join(f"{{ name: c{n}, dscps: [{n}], lossless: {str(n == 0).lower()} }}" for n in range(6))
    source = source_of(route("roce", f"roce: {{ classes: [{names}] }}\n"))
    assert medium_of(source).lanes == 7
    other = medium_of(replace(source, devices=_sending(source.devices, 63 << 2)))
    assert (other.lanes, other.data_lane) == (8, 6)


def _sending(devices: Mapping[str, ObservedDevice], byte: int) -> dict[str, ObservedDevice]:
    """Let all hosts send with another byte."""
    found = dict(devices)
    for name, device in devices.items():
        if device.role == "host":
            settings = tuple(one for one in device.settings if one.name != "NCCL_IB_TC")
            ports = tuple(
                port if port.nic is None else replace(port, nic=replace(port.nic, traffic_class=Said(byte, port.where)))
                for port in device.ports
            )
            found[name] = replace(device, settings=settings, ports=ports)
    return found


def test_a_part_overrides_what_nobody_publishes() -> None:
    source = source_of(route("roce"))
    part = source.design.leaf.part.model_copy(
        update={"pause_response_ns": 1000.0, "latency_ns": 700.0, "is_cut_through": False}
    )
    nic = source.design.nic.model_copy(update={"send_latency_ns": 10.0, "receive_latency_ns": 20.0})
    design = replace(source.design, leaf=replace(source.design.leaf, part=part), nic=nic)
    medium = medium_of(replace(source, design=design))
    leaf, spine = (source.fabric.node_name.index(name) for name in ("leaf-001", "spine-01"))
    assert (medium.latency_ps[leaf], medium.latency_ps[spine]) == (700_000, 600_000)
    assert (medium.is_cut_through[leaf], medium.is_cut_through[spine]) == (0, 1)
    assert medium.response_ps[port_of(source, "leaf-001/1")] == 1_000_000
    assert (medium.latency_ps[0], medium.receive_ps[0]) == (0, 30_000)


def test_nothing_is_written_to() -> None:
    medium = medium_of(source_of(route("roce")))
    with pytest.raises(ValueError, match="read-only"):
        medium.profile[0, 0] = 1


NUMBER = st.integers(0, 7)
NUMBERS = st.dictionaries(NUMBER, NUMBER, min_size=8, max_size=8)
WHERE = Place("made-up")


def _make_port(kind: int, pauses: set[int], maps: tuple[dict[int, int] | None, ...]) -> ObservedPort:
    queues, back, groups, asks = (None if one is None else Said(one, WHERE) for one in maps)
    return ObservedPort(
        "p", WHERE, class_of_dscp=Said({26: kind}, WHERE), pauses=Said(tuple(sorted(pauses)), WHERE),
        queue_of_class=queues, queue_of_priority=back, group_of_class=groups, group_of_priority=asks,
        mtu=Said(9000, WHERE),
    )  # fmt: skip


MAPS = st.none() | NUMBERS
PORTS = st.builds(_make_port, NUMBER, st.sets(NUMBER), st.tuples(MAPS, MAPS, MAPS, MAPS))


@given(PORTS, PORTS)
def test_what_is_proved_to_lose_nothing_pauses_and_obeys(sender: ObservedPort, receiver: ObservedPort) -> None:
    """The proof judges the first priority that asks; the simulation takes any, so it can only be kinder."""
    device = ObservedDevice("d", "switch", "v", ())
    lane = Lane("rdma", 26, is_lossless=True, priority=3)
    verdict = judge_way((device, sender), (device, receiver), LosslessClass("rdma", (26,)), Need(0, ""))
    words = {flaw.words for flaw in verdict.flaws if flaw.field in {"pauses", "queue_of_priority"}}
    asked = list_asked(End(device, receiver, None, 400_000, 5.0), lane)
    obeyed = list_obeyed(End(device, sender, None, 400_000, 5.0), lane)
    assert bool(asked) == (not any("asks for no pause" in one for one in words))
    if asked and not words:
        assert asked & obeyed
    if not asked & obeyed:
        assert words


def test_every_technology_has_what_packets_need() -> None:
    for name in TECHNOLOGIES:
        assert "none" in TECHNOLOGIES[name].transport.pacings


@pytest.mark.parametrize(("mtu", "payload"), [(352, 256), (4192, 4096), (1500, 1024), (351, 0)])
def test_the_mtu_of_a_host_leaves_room_for_a_payload(mtu: int, payload: int) -> None:
    source = source_of(route("roce"))
    hosts = {
        name: replace(
            device,
            ports=tuple(
                replace(port, mtu=Said(mtu, Place("nics.conf", 7)), nic=port.nic and replace(port.nic, rdma_mtu=None))
                for port in device.ports
            ),
        )
        for name, device in source.devices.items()
        if device.role == "host"
    }
    source = replace(source, devices={**source.devices, **hosts})
    transport = TECHNOLOGIES["roce"].transport
    if payload:
        assert transport.carriage(source, CarriageChoice()).mtu_bytes == payload
        return
    with pytest.raises(CapabilityError, match="leaves no room for RDMA") as refused:
        transport.carriage(source, CarriageChoice())
    assert (refused.value.code, refused.value.where) == ("capability.mtu", Place("nics.conf", 7))
