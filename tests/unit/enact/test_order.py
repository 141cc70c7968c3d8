from __future__ import annotations

import numpy as np

from tests.fabrics import make_fabric
from weftline.enact import order_tables
from weftline.model.proof import Verdict
from weftline.route import compute_routes
from weftline.route.repair import prepare_repair, repair_routes

FABRIC = make_fabric("fat-tree", hosts=16, ports=8)
STANDING = prepare_repair(FABRIC, compute_routes(FABRIC, "fat-tree", to_switches=True))
NOTHING = np.zeros(0, dtype=np.int32)


def test_nothing_to_change_is_one_stage_that_is_proved() -> None:
    routes = repair_routes(STANDING, NOTHING).routes
    (stage,) = order_tables(FABRIC, (routes,), routes)
    assert (stage.words, stage.proof.verdict) == ("at once", Verdict.PROVED)


def test_tables_that_were_sent_and_not_read_back_count_as_running() -> None:
    """A link is lost, and another before the first repair is confirmed: all three tables can meet."""
    row = FABRIC.switch_row[FABRIC.port_node]
    links = [p for p in range(FABRIC.port_count) if row[p] >= 0 and row[FABRIC.port_peer[p]] >= 0]
    lost = [np.array(links[:count], dtype=np.int32) for count in (0, 1, 2)]
    first, second, third = (repair_routes(STANDING, ports) for ports in lost)
    stages = order_tables(third.fabric, (first.routes, second.routes), third.routes)
    assert all(stage.proof.verdict is Verdict.PROVED for stage in stages)
    assert np.array_equal(stages[-1].routes.group, third.routes.group)
