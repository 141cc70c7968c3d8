from __future__ import annotations

import csv
import dataclasses
import io
from typing import Any

import numpy as np
from hypothesis import given

from tests.fabrics import from_links, make_design, make_fabric
from tests.unit.compile.test_clos import options
from weftline.compile import CablingList, build_fabric, count_fabric, list_cables, read_cabling, write_cabling
from weftline.model.fabric import Fabric, NodeKind

SAME = (
    "node_name", "node_kind", "node_tier", "node_unit", "node_rail", "port_ptr", "port_number", "port_peer",
    "port_rate_gbps", "port_rail", "port_plane", "port_cable", "cable_part", "cable_length_m",
)  # fmt: skip
"""Columns that a cabling list keeps in every case; components are found, so their numbers may differ."""


def from_list(given_options: dict[str, Any], text: str) -> Fabric | tuple[Any, ...]:
    changed: dict[str, Any] = {**given_options, "kind": "cabling", "tiers": "auto"}
    return build_fabric(make_design(**changed), text)


@given(options())
def test_a_list_gives_back_the_fabric_it_was_written_from(given_options: dict[str, Any]) -> None:
    design = make_design(**given_options)
    fabric = build_fabric(design)
    if not isinstance(fabric, Fabric):
        return
    text = write_cabling(fabric)
    again = from_list(given_options, text)
    assert isinstance(again, Fabric), again
    assert write_cabling(again) == text
    a, b = count_fabric(fabric, design), count_fabric(again, design)
    assert dataclasses.replace(a, by_plane=()) == dataclasses.replace(b, by_plane=())
    single_leaf_rails = given_options["kind"] == "fat-tree" or given_options["rails"] == 1
    for name in SAME:
        first, second = getattr(fabric, name), getattr(again, name)
        if isinstance(first, tuple):
            assert first == second, name
        elif name != "node_rail" or not single_leaf_rails:
            assert np.array_equal(first, second), name


def test_extra_endpoints_and_planes_come_back_too() -> None:
    base: dict[str, Any] = {
        "hosts": 7, "rails": 2, "ports": 8, "unit_size": 4, "planes": 2, "cable_links": 2,
        "extras": [("ufm", 4, "auto"), ("store", 1, "spine")], "spine_ports": 17,
    }  # fmt: skip
    fabric = make_fabric("rail-optimised", **base)
    again = build_fabric(make_design("cabling", **base), write_cabling(fabric))
    assert isinstance(again, Fabric), again
    for name in (*SAME, "node_component", "node_plane", "port_component", "node_tenant"):
        assert np.array_equal(getattr(fabric, name), getattr(again, name)), name
    assert again.shape == "cabling"


def test_pods_are_found_again() -> None:
    base: dict[str, Any] = {"hosts": 64, "rails": 2, "ports": 8, "unit_size": 4, "core_ports": 64}
    fabric = make_fabric("rail-optimised", **base)
    again = build_fabric(make_design("cabling", **base), write_cabling(fabric))
    assert isinstance(again, Fabric), again
    assert fabric.node_group.max() > 0
    for name in ("node_group", "node_rail", "node_unit", "node_component"):
        assert np.array_equal(getattr(fabric, name), getattr(again, name)), name


def test_labels_show_twins_and_breakouts() -> None:
    fabric = make_fabric("rail-optimised", hosts=2, rails=2, ports=8, unit_size=4, planes=1, cable_links=2)
    rows = list_cables(fabric)
    assert [row.label for row in rows[:2]] == [
        "cable-0001 breakout 1/2 host-0001/nic1~leaf-001/1",
        "cable-0001 breakout 2/2 host-0001/nic2~leaf-002/1",
    ]
    assert rows[4].label == "cable-0003 twin 1/2 leaf-001/5~spine-01/1"
    plain = list_cables(make_fabric("fat-tree", hosts=2, ports=8))
    assert plain[0].label == "cable-0001 host-0001/nic1~leaf-001/1"
    assert plain[0].part == "host-cable"
    assert plain[0].length_m == 3


def test_a_cable_is_plugged_into_cages_of_the_leaf() -> None:
    fabric = make_fabric("fat-tree", hosts=6, ports=8, unit_size=3, cable_links=(1, 2, 1), tiers=2)
    ups = [row for row in list_cables(fabric) if row.a_device == "leaf-001"]
    assert [(row.a_port, row.cable) for row in ups] == [
        ("4", "cable-0007"), ("5", "cable-0008"), ("6", "cable-0008"),
    ]  # fmt: skip


def test_nic_cables_follow_the_planes() -> None:
    rows = list_cables(make_fabric("rail-optimised", hosts=1, rails=2, ports=8, planes=3, cable_links=2))
    host = [row for row in rows if row.a_device == "host-0001"]
    assert [row.cable[-1] for row in host] == ["1", "1", "2", "3", "3", "4"]


def test_the_csv_is_what_spreadsheets_read() -> None:
    fabric = make_fabric("rail-only", hosts=4, rails=2, ports=8, unit_size=2)
    rows = list(csv.DictReader(io.StringIO(write_cabling(fabric))))
    assert list(rows[0]) == ["a_device", "a_port", "b_device", "b_port", "length_m", "part", "cable", "label"]
    assert len(rows) == count_fabric(fabric).links
    assert rows[0]["length_m"] == "3"
    odd = dataclasses.replace(fabric, cable_part=('say "x", y',) * len(fabric.cable_part))
    text = write_cabling(odd)
    listed = read_cabling(text, "a.csv")
    assert isinstance(listed, CablingList)
    assert {row.part for row in listed.rows} == {'say "x", y'}


def test_unknown_lengths_stay_empty() -> None:
    ring = from_links(4, 1, [(0, 1), (1, 2), (2, 3), (3, 0)])
    text = write_cabling(ring)
    assert text.splitlines()[1] == "host-0001,nic1,leaf-001,1,,,cable-0001,cable-0001 host-0001/nic1~leaf-001/1"
    again = build_fabric(make_design("cabling", hosts=4, ports=3, unit_size=1), text)
    assert isinstance(again, Fabric)
    assert np.array_equal(again.port_peer, ring.port_peer)
    assert np.isnan(again.cable_length_m).all()
    assert count_fabric(again).links == 8
    assert count_fabric(again).run_links["leaf_spine"] == 0
    assert (again.node_kind[again.switch_node] == NodeKind.SWITCH).all()


def test_links_without_a_cable_are_listed_last() -> None:
    fabric = make_fabric("fat-tree", hosts=2, ports=8)
    cable = fabric.port_cable.copy()
    cable[[0, int(fabric.port_peer[0])]] = -1
    rows = list_cables(dataclasses.replace(fabric, port_cable=cable))
    assert [row.cable for row in rows] == ["cable-0002", ""]
    assert rows[1].label == "host-0001/nic1~leaf-001/1"
