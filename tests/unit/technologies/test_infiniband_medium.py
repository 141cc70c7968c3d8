from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.media import medium_of, port_of, profile_of, route, source_of
from weftline.errors import ArtifactError, CapabilityError, Place
from weftline.model.lanes import Lanes
from weftline.model.packet import FlowControl
from weftline.model.parameters import PacketSource
from weftline.model.survey import OptionFact

QOS = [("qos", "TRUE"), ("qos_max_vls", "2"), ("qos_sl2vl", "0,1" + ",15" * 14)]


def facts(pairs: Sequence[tuple[str, str]]) -> tuple[OptionFact, ...]:
    return tuple(OptionFact(name, value, Place("opensm.conf", line)) for line, (name, value) in enumerate(pairs, 1))


def told(*pairs: tuple[str, str]) -> PacketSource:
    return replace(source_of(route("infiniband")), options=(facts(pairs),))


def test_a_port_has_credits_and_opensms_lives() -> None:
    source = source_of(route("infiniband"))
    medium = medium_of(source)
    assert (medium.lanes, medium.data_lane, medium.ack_lane, medium.notice_lane) == (1, 0, 0, 0)
    up = profile_of(source, medium, "leaf-001/3")
    assert (up.control, up.cell_bytes, up.is_lossless) == (FlowControl.CREDIT, 64, True)
    assert (up.buffer_bytes, up.window_bytes) == (131_072, 131_072)
    assert up.lifetime_ps == 4_096_000 << 0x12  # 1.07 s
    assert up.stall_count == 7
    assert profile_of(source, medium, "leaf-001/1").lifetime_ps == 4_096_000 << 0x10  # 268 ms, towards a host
    host = profile_of(source, medium, "host-0001/nic1")
    assert (host.lifetime_ps, host.stall_count, host.buffer_bytes) == (0, 0, 131_072)
    node = source.fabric.port_node[port_of(source, "leaf-001/1")]
    assert (medium.latency_ps[node], medium.is_cut_through[node], medium.pool_bytes[node]) == (150_000, 1, 0)


def test_options_of_the_manager_count() -> None:
    source = told(
        ("head_of_queue_lifetime", "0x14"), ("leaf_head_of_queue_lifetime", "3"), ("leaf_vl_stall_count", "2")
    )
    medium = medium_of(source)
    assert profile_of(source, medium, "leaf-001/3").lifetime_ps == 0  # above 19: never
    down = profile_of(source, medium, "leaf-001/1")
    assert (down.lifetime_ps, down.stall_count) == (4_096_000 * 8, 2)


@pytest.mark.parametrize(
    "pairs",
    [
        [("head_of_queue_lifetime", "soon")],
        [("vl_stall_count", "256")],
        [*QOS[:2], ("qos_sl2vl", "0,16")],
        [*QOS[:2], ("qos_sl2vl", "0,x")],
        [*QOS, ("qos_vlarb_low", "0:64,1")],
        [*QOS, ("qos_vlarb_high", "0:256")],
    ],
)
def test_what_is_no_number_is_refused_with_its_place(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(ArtifactError) as refused:
        medium_of(told(*pairs))
    assert refused.value.code == "artifact.packet-option"
    assert refused.value.where is not None
    assert refused.value.where.file == "opensm.conf"


def test_lanes_share_a_link_as_options_say() -> None:
    source = told(*QOS, ("qos_vlarb_high", "1:10"), ("qos_vlarb_low", "0:64,1:0"), ("qos_high_limit", "4"))
    medium = medium_of(source)
    assert medium.lanes == 2
    low, high = (profile_of(source, medium, "leaf-001/3", lane) for lane in (0, 1))
    assert (low.is_strict, low.weight) == (False, 64)
    assert (high.is_strict, high.weight) == (True, 10)
    assert any("go first without a limit (qos_high_limit is 4)" in words for words in medium.assumptions)
    assert any(words.startswith("each of 2 lanes has a buffer of its own") for words in medium.assumptions)


def test_weights_of_one_lane_add_up_and_none_is_the_least() -> None:
    source = told(*QOS, ("qos_vlarb_low", "0:8,0:8,1:0"))
    medium = medium_of(source)
    assert [profile_of(source, medium, "leaf-001/3", lane).weight for lane in (0, 1)] == [16, 1]
    assert any("lane 1 has no weight" in words for words in medium.assumptions)


def test_options_without_qos_leave_lanes_alike() -> None:
    source = told(("qos", "FALSE"), *QOS[1:], ("qos_vlarb_low", "0:8"))
    medium = medium_of(source)
    assert (medium.lanes, profile_of(source, medium, "leaf-001/3").weight) == (1, 1)


def test_paths_may_take_more_lanes_than_options_name() -> None:
    source = told(("qos", "FALSE"))
    lanes = Lanes(3, np.zeros(len(source.routes.destination_node), dtype=np.int8), with_answers=True)
    medium = medium_of(replace(source, routes=replace(source.routes, lanes=lanes)))
    assert medium.lanes == 3
    assert any("1 lane(s), and paths take 3" in words for words in medium.assumptions)
    many = replace(lanes, count=9)
    with pytest.raises(CapabilityError) as refused:
        medium_of(replace(source, routes=replace(source.routes, lanes=many)))
    assert refused.value.code == "capability.simulated-lanes"


def test_without_options_the_defaults_are_an_assumption() -> None:
    source = replace(source_of(route("infiniband")), options=(), notes=("made up",))
    assumptions = medium_of(source).assumptions
    assert "made up" in assumptions
    assert "no options of a subnet manager were read: OpenSM's own defaults hold" in assumptions


def test_a_part_overrides_buffer_and_window() -> None:
    source = source_of(route("infiniband"))
    leaf = source.design.leaf
    part = leaf.part.model_copy(
        update={"lane_buffer_bytes": 65_536, "credit_window_bytes": 32_768, "credit_response_ns": 250.0}
    )
    design = replace(source.design, leaf=replace(leaf, part=part))
    medium = medium_of(replace(source, design=design))
    own = profile_of(source, medium, "leaf-001/1")
    assert (own.buffer_bytes, own.window_bytes) == (65_536, 32_768)
    assert profile_of(source, medium, "spine-01/1").buffer_bytes == 131_072
    assert medium.response_ps[port_of(source, "leaf-001/1")] == 250_000
    assert medium.response_ps[port_of(source, "host-0001/nic1")] == 0
