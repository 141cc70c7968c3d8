"""The figures of fabrics without a tree: every link counted once, loads those of the worst link, sizes bounded."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from weftline.app.report.circle import MAX_SPOTS, draw_circle, gather_circle, map_groups
from weftline.app.report.grid import draw_grid
from weftline.compile.direct import build_dragonfly, build_dragonfly_plus, build_torus
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric

SVG = "{http://www.w3.org/2000/svg}"


def read(svg: str) -> ET.Element:
    return ET.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))  # noqa: S314


def far_port(fabric: Fabric, *, between_groups: bool) -> int:
    group = fabric.node_group[fabric.port_node]
    far = group[fabric.port_peer]
    chosen = (fabric.port_peer != NIL) & (group != NIL) & (far != NIL) & ((group != far) == between_groups)
    return int(np.flatnonzero(chosen)[0])


@pytest.mark.parametrize("fabric", [build_dragonfly(1, 4, 2, 9), build_dragonfly_plus(1, 2, 2, 2, 5)])
def test_every_global_link_is_in_one_line_and_loads_are_the_worst(fabric: Fabric) -> None:
    load = np.zeros(fabric.port_count)
    inner, outer = far_port(fabric, between_groups=False), far_port(fabric, between_groups=True)
    load[inner], load[outer] = 0.5, 0.75
    circle = gather_circle(fabric, load)
    groups = int(fabric.node_group.max()) + 1
    assert len(circle.labels) == groups
    assert np.array_equal(circle.links, circle.links.T)
    assert circle.inside[fabric.node_group[fabric.port_node[inner]]] == 0.5
    assert circle.load.max() == 0.75
    assert np.count_nonzero(circle.load) == 2
    drawing = read(draw_circle(circle))
    assert len(drawing.findall(f".//{SVG}line")) == groups * (groups - 1) // 2
    heat = map_groups(circle)
    assert heat.load.shape == (groups, groups)
    assert np.nanmax(heat.load) == 0.75


def test_many_groups_are_gathered_into_runs() -> None:
    fabric = build_dragonfly(1, 10, 10, 101)
    circle = gather_circle(fabric, np.zeros(fabric.port_count))
    assert len(circle.labels) <= MAX_SPOTS
    assert circle.labels[0] == "groups 1-3"
    assert "30 leaf switches" in circle.details[0]
    within = sum(3 for _ in range(33)) + 1
    assert int(np.trace(circle.links)) == 0
    assert int(np.triu(circle.links, 1).sum()) == 101 * 100 // 2 - within
    assert len(draw_circle(circle)) < 400_000


@pytest.mark.parametrize("sizes", [(5,), (3, 4), (4, 4, 4), (2, 3, 2, 3)])
def test_a_torus_shows_every_switch_and_its_neighbours(sizes: tuple[int, ...]) -> None:
    fabric = build_torus(sizes)
    drawing = read(draw_grid(fabric, np.zeros(fabric.port_count)))
    assert len(drawing.findall(f".//{SVG}rect")) == len(fabric.switch_node)
    titles = {title.text for title in drawing.findall(f".//{SVG}line/{SVG}title")}
    assert fabric.node_place is not None
    flat = len(sizes) - 2
    pairs = 0
    for a in range(fabric.port_count):
        b = int(fabric.port_peer[a])
        if b > a:
            places = [fabric.node_place[fabric.port_node[port]] for port in (a, b)]
            pairs += int(places[0][0] != NIL and any(places[0][max(flat, 0) :] != places[1][max(flat, 0) :]))
    assert len(titles) == pairs


def test_a_torus_too_large_to_see_is_not_drawn_as_a_grid() -> None:
    fabric = build_torus((80, 80))
    assert draw_grid(fabric, np.zeros(fabric.port_count)) == ""
