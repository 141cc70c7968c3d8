"""Files decide what is lost: three hosts send to one through a small buffer, without congestion control."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from tests.media import Edit, change, edited, route
from tests.packets import make_flows
from weftline.model.packet import Machine, PacketOptions, PacketResult
from weftline.model.parameters import CarriageChoice, PacketSource
from weftline.simulate.packet.run import simulate_packets
from weftline.technologies import TECHNOLOGIES

SMALL = "roce: { buffers: { total_bytes: 4000000 } }\n"
LEAF = "switches/leaf-002/config_db.json"


def send(source: PacketSource) -> PacketResult:
    """Send 8 MiB each from three hosts to the fourth."""
    transport = TECHNOLOGIES["roce"].transport
    choice = CarriageChoice(pacing="none")
    machine = Machine(transport.medium(source, choice), transport.carriage(source, choice))
    ends = [int(port) for port in source.fabric.endpoint_port]
    flows = make_flows([(end, ends[3]) for end in ends[:3]], 8 * 2**20)
    return simulate_packets(flows, source.fabric, source.routes, machine, PacketOptions())


def lost_at(edits: Mapping[str, Edit | None], more: str = "") -> str:
    """Name the port where the first packet of a lossless lane is lost; empty where none is."""
    source = edited(route("roce", SMALL + more), edits)
    loss = send(source).loss
    return "" if loss is None else source.fabric.port_name(loss.port)


def test_files_as_they_are_rendered_lose_nothing() -> None:
    source = edited(route("roce", SMALL), {})
    result = send(source)
    assert (result.ending, result.loss, result.dropped) == ("done", None, 0)
    assert result.lanes.pauses.sum() > 0


@pytest.mark.parametrize("metres", [1, 40, 300])
def test_headroom_is_enough_at_every_length(metres: int) -> None:
    cables = f"cables: {{ host_leaf: {{ length_m: {metres} }}, leaf_spine: {{ length_m: {metres} }} }}\n"
    assert lost_at({}, cables) == ""


def test_too_little_headroom_loses_where_it_is() -> None:
    edit = change("BUFFER_PROFILE", "pg_lossless_400000_30m_profile", "xoff", to="1024")
    assert lost_at({LEAF: edit}).startswith("leaf-002/")


def test_a_port_that_does_not_pause_loses() -> None:
    source = edited(route("roce", SMALL), {})
    used = send(source).lanes.most_held[:, 0]
    leaf = [port for port in range(source.fabric.port_count) if source.fabric.port_name(port).startswith("leaf-002/")]
    busy = max((port for port in leaf if source.fabric.port_number[port] > 2), key=lambda port: int(used[port]))
    name = f"Ethernet{(int(source.fabric.port_number[busy]) - 1) * 8}"
    assert lost_at({LEAF: change("PORT_QOS_MAP", name, "pfc_enable", to="")}) == source.fabric.port_name(busy)


def test_a_leaf_that_sorts_data_into_another_class_loses() -> None:
    assert lost_at({LEAF: change("DSCP_TO_TC_MAP", "FABRIC", "26", to="0")}) != ""


def test_cables_of_300_m_on_files_for_short_ones_lose() -> None:
    source = edited(route("roce", SMALL), {})
    lengths = np.full(len(source.fabric.cable_part), 300.0)
    assert send(PacketSource(source.design, source.fabric, source.routes, source.devices, (), lengths)).loss is not None
