"""Laws of rehearsal: a state judged by its parts is the state made, proved and loaded from scratch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import make_fabric
from tests.properties.test_repair import draw_lost
from tests.properties.test_routes import SHAPES, graphs
from tests.traffics import make_traffic
from tests.unit.route.walks import reorder_switches
from weftline.kernels.column import I32
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import GroupTable, no_route
from weftline.rehearse.certifying import find_ways
from weftline.rehearse.faults import list_links, list_switches
from weftline.rehearse.gathering import gather_crews
from weftline.rehearse.measuring import judge, open_bench
from weftline.rehearse.scene import Found
from weftline.rehearse.sweep import sweep
from weftline.rehearse.tally import close_tally, open_tally, reopen_tally
from weftline.rehearse.whole import Plan, degrade, judge_whole
from weftline.route import compute_routes
from weftline.route.repair import prepare_repair

ENGINES = ("fat-tree", "updown", "ecmp")
trees = st.sampled_from(
    [
        *SHAPES,
        ("fat-tree", {"hosts": 40, "ports": 8, "tiers": 3}),
        ("rail-optimised", {"hosts": 8, "rails": 4, "ports": 8}),
    ]
).map(lambda shape: make_fabric(shape[0], **shape[1]))


def make_plan(fabric: Fabric, engine: str, jobs: list[list[int] | None]) -> Plan:
    sets = engine == "ecmp"
    routes = compute_routes(fabric, engine, to_switches=not sets)
    crews = gather_crews(fabric, routes, [make_traffic(fabric, hosts, name=f"j{at}") for at, hosts in enumerate(jobs)])
    return Plan(fabric, routes, crews, ProofRules(max_hops=60), None if sets else prepare_repair(fabric, routes))


def check_same(part: Found, whole: Found) -> None:
    assert (part.deadlock, part.undelivered) == (whole.deadlock, whole.undelivered) == (Verdict.PROVED, 0)
    assert (part.lost_endpoints, part.lost_pairs, part.leave) == (whole.lost_endpoints, whole.lost_pairs, whole.leave)
    assert part.worst == pytest.approx(whole.worst, abs=1e-9)
    assert part.port == whole.port


@settings(max_examples=60, deadline=None)
@given(trees, st.sampled_from(ENGINES), st.data())
def test_a_state_by_its_parts_is_the_state_from_scratch(fabric: Fabric, engine: str, data: st.DataObject) -> None:
    hosts = st.lists(st.integers(0, 7), min_size=1, max_size=6, unique=True)
    plan = make_plan(fabric, engine, [None, data.draw(hosts)])
    bench = open_bench(plan)
    assert bench is not None
    for _ in range(4):  # one bench for several states: each leaves it as it was
        lost = draw_ports(data, fabric)
        seen: list[GroupTable] = []
        part, whole = bench.judge_parts(lost, seen), judge_whole(plan, lost)
        if part is None:
            continue
        check_same(part, whole)
        if seen:
            assert np.array_equal(seen[0], tables_of(plan, lost))


@settings(max_examples=20, deadline=None)
@given(trees, st.sampled_from(("fat-tree", "updown")), st.data())
def test_a_state_is_judged_by_its_parts_in_any_order_of_nodes(fabric: Fabric, engine: str, data: st.DataObject) -> None:
    switches = len(fabric.switch_node)
    moved = reorder_switches(fabric, data.draw(st.permutations(range(switches))))
    plan = make_plan(moved, engine, [None])
    bench = open_bench(plan)
    assert bench is not None
    for _ in range(3):
        lost = draw_ports(data, moved)
        seen: list[GroupTable] = []
        part = bench.judge_parts(lost, seen)
        if part is not None:
            check_same(part, judge_whole(plan, lost))
        if seen:
            assert np.array_equal(seen[0], tables_of(plan, lost))


def tables_of(plan: Plan, lost: I32) -> GroupTable:
    """The tables of a state, made from scratch."""
    routes = degrade(plan, lost)[1]
    assert routes is not None
    return routes.group


def draw_ports(data: st.DataObject, fabric: Fabric) -> I32:
    """Draw what fails: some links, or a switch and perhaps a link more."""
    ends = draw_lost(data, fabric)
    if data.draw(st.booleans()):
        node = data.draw(st.sampled_from([int(one) for one in fabric.switch_node]))
        ends = np.concatenate((ends[:1], np.arange(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])))).astype(
            np.int32
        )
    ends = ends[fabric.port_peer[ends] >= 0]
    return np.unique(np.concatenate((ends, fabric.port_peer[ends]))).astype(np.int32)


@settings(max_examples=40, deadline=None)
@given(graphs(), st.sampled_from(("updown", "ecmp")), st.data())
def test_any_graph_is_judged_by_parts_as_from_scratch(fabric: Fabric, engine: str, data: st.DataObject) -> None:
    plan = make_plan(fabric, engine, [None])
    bench = open_bench(plan)
    for _ in range(3):
        lost = draw_ports(data, fabric)
        found, whole = judge(plan, bench, lost), judge_whole(plan, lost)
        check_same(found, whole)


@settings(max_examples=20, deadline=None)
@given(trees, st.data())
def test_tables_that_do_not_hold_are_never_judged_by_parts(fabric: Fabric, data: st.DataObject) -> None:
    """One entry turned to nowhere, or to another port: then nothing is certified, and each state is made whole."""
    plan = make_plan(fabric, "updown", [None])
    table = plan.routes.group.copy()
    row = data.draw(st.integers(0, table.shape[0] - 1))
    goal = data.draw(st.integers(0, table.shape[1] - 1))
    old = int(table[row, goal])
    entry = data.draw(st.one_of(st.just(no_route(table)), st.integers(0, 7)).filter(lambda one: one != old))
    table[row, goal] = entry
    assert plan.standing is not None
    routes = replace(plan.routes, group=table)
    turned = replace(plan, routes=routes, standing=replace(plan.standing, routes=routes))
    ways = find_ways(turned)
    if ways is not None:  # another port that leads on as well, or an entry that no cable can need
        home = int(plan.standing.goals.home[goal])
        assert home < 0 or ways.component[home] != ways.component[row] or entry != no_route(table)


def test_neither_order_nor_threads_nor_an_interruption_change_what_is_found() -> None:
    fabric = make_fabric("fat-tree", hosts=40, ports=8, tiers=3)
    plan = make_plan(fabric, "updown", [None, [0, 9, 17, 30]])
    bench, faults = open_bench(plan), list_links(fabric)
    whole = open_tally(faults.count, 2)
    assert list(sweep(plan, bench, faults, whole, 1))[-1] == faults.count
    broken = open_tally(faults.count, 2)
    for done in sweep(plan, bench, faults, broken, 2):
        if done < faults.count:
            break  # what is known so far is all that goes on
    later = reopen_tally(close_tally(broken))
    list(sweep(plan, bench, faults, later, 2))
    for name in (
        "way",
        "deadlock",
        "lost_endpoints",
        "lost_pairs",
        "undelivered",
        "worst",
        "port",
        "leave_ptr",
        "leave_rank",
    ):
        assert np.array_equal(getattr(close_tally(whole), name), getattr(close_tally(later), name)), name


@pytest.mark.parametrize("engine", ENGINES)
def test_every_single_link_and_switch_of_a_tree_is_judged_by_parts(engine: str) -> None:
    fabric = make_fabric("fat-tree", hosts=40, ports=8, tiers=3)
    plan = make_plan(fabric, engine, [None])
    bench = open_bench(plan)
    assert bench is not None
    for faults in (list_links(fabric), list_switches(fabric)):
        assert all(bench.judge_parts(faults.ports_of(at)) is not None for at in range(faults.count))
