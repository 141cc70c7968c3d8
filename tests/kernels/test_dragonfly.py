"""Ways through groups that lost links against sets of switches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import dragonfly as reference
from tests.tables import cut
from tests.unit.route.walks import switch_links
from weftline.compile.direct import build_dragonfly, build_dragonfly_plus
from weftline.kernels import dragonfly
from weftline.kernels.column import I32
from weftline.model.fabric import Fabric, Tier
from weftline.route.dragonfly import Groups, read_groups
from weftline.route.graph import SwitchGraph, read_graph

PLAIN = [build_dragonfly(1, 3, 2, 7), build_dragonfly(1, 4, 2, 5), build_dragonfly(1, 2, 1, 3)]
PLUS = [build_dragonfly_plus(1, 2, 2, 2, 5), build_dragonfly_plus(1, 3, 3, 2, 4), build_dragonfly_plus(1, 2, 3, 2, 3)]


def lose(fabric: Fabric, data: st.DataObject) -> tuple[SwitchGraph, Groups, reference.World]:
    left = cut(fabric, data.draw(st.lists(st.sampled_from(switch_links(fabric)), max_size=5, unique=True)))
    graph = read_graph(left)
    groups = read_groups(left, graph, "dragonfly")
    links = [
        (row, int(graph.edge_row[edge]), int(graph.link_port[link]))
        for row in range(graph.switch_count)
        for edge in range(graph.edge_ptr[row], graph.edge_ptr[row + 1])
        for link in range(graph.link_ptr[edge], graph.link_ptr[edge + 1])
    ]
    spine = [bool(tier != Tier.LEAF) for tier in graph.tier]
    return graph, groups, reference.World(groups.of_row.tolist(), groups.place.tolist(), spine, links)


def sets_of(ptr: I32, port: I32) -> list[set[int]]:
    return [set(port[ptr[at] : ptr[at + 1]].tolist()) for at in range(len(ptr) - 1)]


@pytest.mark.parametrize("detours", [False, True])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_ways_of_a_dragonfly_are_those_of_the_twin(detours: bool, data: st.DataObject) -> None:
    graph, groups, world = lose(data.draw(st.sampled_from(PLAIN)), data)
    home = np.arange(graph.switch_count, dtype=np.int32)
    if len(np.unique(graph.component)) > 1:
        return
    for row in home.tolist():
        ptr = np.zeros(len(home) + 1, dtype=np.int32)
        port = dragonfly.list_group_ways(
            row, home, graph.component, groups.of_row, groups.place, groups.member_ptr, groups.member, groups.inside,
            graph.edge_ptr, graph.edge_row, graph.link_ptr, graph.link_port, groups.direct, int(detours), ptr,
        )  # fmt: skip
        wanted = [
            reference.group_ways(world, row, goal, detours=detours) if goal != row else set[int]()
            for goal in home.tolist()
        ]
        assert sets_of(ptr, port) == wanted


@pytest.mark.parametrize("detours", [False, True])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_ways_of_a_dragonfly_plus_are_those_of_the_twin(detours: bool, data: st.DataObject) -> None:
    graph, groups, world = lose(data.draw(st.sampled_from(PLUS)), data)
    home = np.arange(graph.switch_count, dtype=np.int32)
    if len(np.unique(graph.component)) > 1:
        return
    spine = np.array(world.is_spine, dtype=np.uint8)
    shape = (spine, graph.component, groups.of_row, groups.place, groups.inside, graph.edge_ptr, graph.edge_row)
    near = np.zeros((len(home), len(home)), dtype=np.uint8)
    dragonfly.measure_spines(home, *shape, near)
    for row in home.tolist():
        ptr = np.zeros(len(home) + 1, dtype=np.int32)
        port = dragonfly.list_spine_ways(
            row, home, *shape, graph.link_ptr, graph.link_port, near, groups.direct, int(detours), ptr
        )
        wanted = [
            reference.spine_ways(world, row, goal, detours=detours) if goal != row else set[int]()
            for goal in home.tolist()
        ]
        assert sets_of(ptr, port) == wanted
