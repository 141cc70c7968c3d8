"""Lanes of the tables become service levels by destination, and what a program must do is written down."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fabrics import make_design
from tests.tables import ring
from weftline.errors import CapabilityError
from weftline.formats.eui import format_guid
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.intent import DeviceIntent
from weftline.model.routes import Routes
from weftline.model.spec import FabricSpec
from weftline.route import compute_routes
from weftline.technologies.infiniband import INFINIBAND
from weftline.vendors.opensm import OPENSM


def say(fabric: Fabric, routes: Routes, design: ResolvedSpec | None = None) -> tuple[DeviceIntent, ...]:
    design = design or make_design()
    addresses = INFINIBAND.design.assign(design, fabric)
    return INFINIBAND.design.intents(design, fabric, addresses, routes)


def test_each_lane_is_a_level_for_the_group_of_its_destinations() -> None:
    fabric = ring(9)
    routes = compute_routes(fabric, "layered", to_switches=True)
    assert routes.lane_count == 4
    addresses = INFINIBAND.design.assign(make_design(), fabric)
    manager = say(fabric, routes)[0]
    assert manager.service is not None
    assert manager.service.lanes == 4
    assert manager.service.lane_of_level == (0, 1, 2, 3, *[15] * 12)
    assert {(weight.high, weight.low) for weight in manager.service.weights} == {(0, 64)}
    assert [(level.key, level.level) for level in manager.service.levels] == [
        ("DEFAULT", 0), ("lane-1", 1), ("lane-2", 2), ("lane-3", 3),
    ]  # fmt: skip
    assert [(match.destination, match.level, match.source) for match in manager.service.matches] == [
        (f"lane-{lane}", f"lane-{lane}", None) for lane in (1, 2, 3)
    ]
    groups = {group.key: set(group.members) for group in manager.service.groups}
    for place in range(len(routes.destination_node)):
        port, node = int(routes.destination_port[place]), int(routes.destination_node[place])
        own = format_guid(int(addresses.port_id[port] if port >= 0 else addresses.node_id[node]))
        holders = {name for name, members in groups.items() if own in members}
        assert holders == ({f"lane-{routes.lane_of(place)}"} if routes.lane_of(place) else set())
    assert any("NCCL_IB_SL" in note for note in manager.notes)
    assert not any("answers are not covered" in note for note in manager.notes)
    files = {file.path.rpartition("/")[2]: file.content.decode() for file in OPENSM.render((manager,))}
    assert "qos_sl2vl 0,1,2,3,15,15,15,15,15,15,15,15,15,15,15,15\n" in files["opensm.conf"]
    assert "NCCL_IB_SL" in files["qos-policy.conf"]


def test_what_is_not_covered_is_said() -> None:
    fabric = ring(40)
    routes = compute_routes(fabric, "layered", to_switches=False)
    assert any("answers are not covered" in note for note in say(fabric, routes)[0].notes)


def test_one_lane_leaves_devices_their_own() -> None:
    fabric = ring(4)
    manager = say(fabric, compute_routes(fabric, "layered", to_switches=False))[0]
    assert manager.service is None
    assert not any("NCCL" in note for note in manager.notes)


def test_classes_and_lanes_both_want_the_levels() -> None:
    design = make_design()
    section = {"qos": {"classes": [{"name": "storage", "sl": 1, "vl": 1, "weight": 8}]}}
    spec = FabricSpec.model_validate({**design.spec.model_dump(exclude_unset=True), "infiniband": section})
    fabric = ring(5)
    with pytest.raises(CapabilityError, match="need 2 lanes") as caught:
        say(fabric, compute_routes(fabric, "layered", to_switches=True), replace(design, spec=spec))
    assert caught.value.code == "capability.lanes-and-classes"
