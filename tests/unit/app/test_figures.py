"""The report's figures: bounded in size, true in numbers, readable without a script."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tests.fabrics import make_fabric
from weftline.app.report.bundles import MAX_BOXES, gather_picture
from weftline.app.report.figures import (
    BUCKETS,
    MAX_CELLS,
    draw_heat_map,
    draw_topology,
    gather_heat_maps,
    load_bucket,
)
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric


@pytest.mark.parametrize(
    ("share", "bucket"),
    [(0.0, 0), (1e-9, 1), (0.2, 1), (0.21, 2), (0.4, 2), (0.999, 5), (1.0, 5), (1.0 + 1e-9, 5), (1.01, 6), (7.0, 6)],
)
def test_a_load_has_one_colour_and_only_overload_is_red(share: float, bucket: int) -> None:
    assert load_bucket(share) == bucket


def test_every_link_is_in_one_bundle() -> None:
    fabric = make_fabric("rail-optimised", hosts=64, rails=8, ports=64, unit_size=32)
    picture = gather_picture(fabric, np.zeros(fabric.port_count))
    assert sum(bundle.links for bundle in picture.bundles) == int(np.count_nonzero(fabric.port_peer != NIL)) // 2
    assert [box.row for box in picture.boxes].count(1) == 16
    assert [box.row for box in picture.boxes].count(2) == 8
    assert [box.label for box in picture.boxes if box.row == 0] == ["unit 1", "unit 2"]


def test_a_bundle_shows_its_worst_link_in_each_direction() -> None:
    fabric = make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4)
    load = np.zeros(fabric.port_count)
    up = next(
        port
        for port in range(fabric.port_count)
        if fabric.node_tier[fabric.port_node[port]] == 1
        and fabric.port_peer[port] != NIL
        and fabric.node_tier[fabric.port_node[fabric.port_peer[port]]] == 2
    )
    load[up] = 0.75
    picture = gather_picture(fabric, load)
    loads = sorted(((bundle.load_up, bundle.load_down) for bundle in picture.bundles), reverse=True)
    assert loads[0] == (0.75, 0.0)
    assert loads[1] == (0.0, 0.0)


def _largest() -> Fabric:
    return make_fabric("fat-tree", hosts=1024, rails=1, ports=16)


def test_a_large_fabric_is_gathered_into_a_bounded_picture() -> None:
    fabric = _largest()
    load = np.zeros(fabric.port_count)
    picture = gather_picture(fabric, load)
    for row in range(len(picture.rows)):
        assert sum(1 for box in picture.boxes if box.row == row) <= MAX_BOXES
    drawing = draw_topology(picture)
    assert len(drawing) < 600_000
    for heat in gather_heat_maps(fabric, load):
        assert max(heat.load.shape) <= MAX_CELLS


def test_heat_maps_hold_both_directions_of_every_pair_of_tiers() -> None:
    titles = [heat.title for heat in gather_heat_maps(_largest(), np.zeros(_largest().port_count))]
    assert titles == ["leaf to spine", "spine to leaf", "spine to core", "core to spine"]


def test_figures_are_well_formed_and_name_their_loads() -> None:
    fabric = make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4)
    load = np.full(fabric.port_count, 0.5)
    drawing = ET.fromstring(draw_topology(gather_picture(fabric, load)))  # noqa: S314  (our own text)
    titles = [element.text or "" for element in drawing.iter("title")]
    assert any(title.startswith("leaf-001 to spine-01: ") and "up 50%, down 50%" in title for title in titles)
    for heat in gather_heat_maps(fabric, load):
        cells = list(ET.fromstring(draw_heat_map(heat)).iter("rect"))  # noqa: S314
        assert len(cells) == int(np.count_nonzero(~np.isnan(heat.load)))
        assert {cell.get("class") for cell in cells} == {f"load-{load_bucket(0.5)}"}


def test_a_single_switch_has_no_heat_map() -> None:
    fabric = make_fabric("fat-tree", hosts=4, rails=1, ports=8)
    assert gather_heat_maps(fabric, np.zeros(fabric.port_count)) == ()
    assert BUCKETS == 7
