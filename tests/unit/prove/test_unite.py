"""Two tables told in the same words keep what each destination and each group had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.tables import ring
from weftline.model.lanes import Lanes, LaneSteps
from weftline.prove.steps import mark_classes
from weftline.prove.unite import lane_column, unite_tables
from weftline.route import compute_routes

FABRIC = ring(5)
ROUTES = compute_routes(FABRIC, "updown", to_switches=False)


def test_lanes_stay_with_their_destinations_where_others_come() -> None:
    lanes = np.array([1, 0, 1, 0], dtype=np.int8)
    kept = np.array([1, 2, 3, 4])
    few = replace(
        ROUTES, destination_node=ROUTES.destination_node[kept], destination_port=ROUTES.destination_port[kept],
        group=ROUTES.group[:, kept], lanes=Lanes(2, lanes, with_answers=False),
    )  # fmt: skip
    united = unite_tables(ROUTES, few)
    place = [united.new.destination_port.tolist().index(port) for port in few.destination_port.tolist()]
    assert lane_column(united.new)[place].tolist() == lanes.tolist()
    assert np.array_equal(united.new.group[:, place], few.group)


def test_other_weights_are_another_group_that_keeps_its_ports() -> None:
    """From ways that count alike to weighted ones: the entries change, and each side has its own weights."""
    weights = np.full(len(ROUTES.member_port), 3, dtype=np.int32)
    united = unite_tables(ROUTES, replace(ROUTES, member_weight=weights))
    assert united.old.member_weight is not None
    assert sorted(set(united.old.member_weight.tolist())) == [1, 3]
    assert len(united.changed) == len(ROUTES.destination_port)
    for routes, weight in ((united.old, 1), (united.new, 3)):
        assert routes.member_weight is not None
        for row in range(len(FABRIC.switch_node)):
            for goal in range(len(ROUTES.destination_port)):
                group = int(routes.group_ptr[row]) + int(routes.group[row, goal])
                place = int(routes.member_ptr[group])
                was = int(ROUTES.member_ptr[int(ROUTES.group_ptr[row]) + int(ROUTES.group[row, goal])])
                assert routes.member_port[place] == ROUTES.member_port[was]
                assert routes.member_weight[place] == weight


def test_classes_stay_with_their_destinations_where_others_come() -> None:
    kept = np.array([0, 2, 3, 4])
    more = np.arange(1, 21, dtype=np.uint16).reshape(5, 4) % 4
    steps = LaneSteps(
        path_class=np.array([[0, 1, 1, 0]], dtype=np.int8), port_class=np.zeros(FABRIC.port_count, dtype=np.int8),
        lane=np.array([0, 1], dtype=np.int8).reshape(2, 1, 1), more=more,
    )  # fmt: skip
    few = replace(
        ROUTES, destination_node=ROUTES.destination_node[kept], destination_port=ROUTES.destination_port[kept],
        group=ROUTES.group[:, kept], lanes=Lanes(2, np.zeros(4, dtype=np.int8), with_answers=False, steps=steps),
    )  # fmt: skip
    found = unite_tables(ROUTES, few).new.steps
    assert found is not None
    assert np.array_equal(mark_classes(found)[:, kept], mark_classes(steps))
