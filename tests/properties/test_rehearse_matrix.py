"""Failures rehearsed for every engine on every topology: by parts or from scratch, each state is proved and counted."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest

from tests.properties.test_engines_matrix import ENGINES, TOPOLOGIES, build, route
from tests.traffics import make_traffic
from weftline.errors import CapabilityError
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.rehearse.faults import list_links, list_switches, sample_pairs
from weftline.rehearse.gathering import gather_crews
from weftline.rehearse.measuring import judge, open_bench
from weftline.rehearse.sweep import sweep
from weftline.rehearse.tally import close_tally, open_tally
from weftline.rehearse.whole import Plan, judge_whole
from weftline.route.repair import Standing, prepare_repair

SAMPLE = 3


def make_plan(fabric: Fabric, engine: str) -> Plan | None:
    routes = route(fabric, engine, to_switches=engine != "ecmp")
    if isinstance(routes, str):
        return None
    standing: Standing | None = None
    try:
        standing = prepare_repair(fabric, routes)
    except CapabilityError:
        assert routes.engine.endswith(("ecmp", "adaptive")) or np.any(np.diff(routes.member_ptr) > 1)  # sets of ports
    crews = gather_crews(fabric, routes, [make_traffic(fabric, None, name="job")])
    return Plan(fabric, routes, crews, ProofRules(max_hops=60), standing, (), 8)


def count_lost_pairs(fabric: Fabric, lost: I32) -> int:
    """Count, in plain Python, the ordered pairs of endpoints that cables joined and no longer join."""

    def count(gone: set[int]) -> int:
        graph: nx.Graph[int] = nx.Graph()
        for port, peer in enumerate(fabric.port_peer.tolist()):
            if peer != NIL and port not in gone:
                row = [int(fabric.port_node[end]) for end in (port, peer)]
                # an endpoint is a port: a host does not forward from one to the next
                ends = [
                    node if fabric.switch_row[node] != NIL else -1 - end
                    for node, end in zip(row, (port, peer), strict=True)
                ]
                graph.add_edge(*ends)
        sizes = [sum(1 for node in part if node < 0) for part in nx.connected_components(graph)]
        return sum(size * (size - 1) for size in sizes)

    return count(set()) - count(set(lost.tolist()))


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_kind_of_state_is_judged_as_from_scratch(engine: str, name: str) -> None:
    fabric = build(name)
    plan = make_plan(fabric, engine)
    if plan is None:
        return
    bench = open_bench(plan)
    rng = random.Random(f"{engine} {name}")
    for faults in (list_links(fabric), list_switches(fabric), sample_pairs(fabric, 12, 3)):
        for at in rng.sample(range(faults.count), min(SAMPLE, faults.count)):
            lost = faults.ports_of(at)
            found, whole = judge(plan, bench, lost), judge_whole(plan, lost)
            assert (found.deadlock, found.undelivered) == (Verdict.PROVED, 0), faults.name[at]
            assert found.lost_pairs == count_lost_pairs(fabric, lost), faults.name[at]
            assert (found.lost_endpoints, found.leave) == (whole.lost_endpoints, whole.leave)
            assert found.worst == pytest.approx(whole.worst, abs=1e-9)
            assert (found.port, found.is_anew) == (whole.port, whole.is_anew)


@pytest.mark.parametrize(("engine", "name"), [("layered", "slim fly"), ("dragonfly", "dragonfly"), ("torus", "torus")])
def test_a_sweep_from_scratch_goes_on_after_any_state(engine: str, name: str) -> None:
    """Where nothing goes by parts each state is told as soon as it is judged."""
    plan = make_plan(build(name), engine)
    assert plan is not None
    assert open_bench(plan) is None
    faults = sample_pairs(plan.fabric, 5, 1)
    tally = open_tally(faults.count, 1)
    steps = list(sweep(plan, None, faults, tally, 1))
    assert steps == [1, 2, 3, 4, 5]
    assert np.all(close_tally(tally).deadlock == 1)
