from __future__ import annotations

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from weftline.errors import SpecError
from weftline.model.traffic import Via
from weftline.route import compute_routes
from weftline.schedule.experts import Experts, draw_popularity, expert_traffic
from weftline.schedule.placement import place_ranks
from weftline.simulate import SimOptions, simulate


def group(members: int, imbalance: float = 1.0, work_us: float = 0.0) -> Experts:
    """One group over the first ranks; each member gets 1 MB from each."""
    return Experts(np.arange(members, dtype=np.int32).reshape(1, -1), 1e6 * members, imbalance, work_us, 5)


@pytest.mark.parametrize("members", [2, 3, 8, 64])
@pytest.mark.parametrize("imbalance", [1.0, 1.2, 1.7])
def test_the_busiest_gets_as_much_more_as_was_asked(members: int, imbalance: float) -> None:
    weight = draw_popularity(members, imbalance, 7)
    assert weight.mean() == pytest.approx(1.0)
    assert weight.max() == pytest.approx(imbalance, rel=1e-6)
    assert (weight > 0).all()
    assert draw_popularity(members, imbalance, 7).tobytes() == weight.tobytes()
    assert imbalance == 1 or members == 2 or draw_popularity(members, imbalance, 8).tobytes() != weight.tobytes()


@pytest.mark.parametrize(("members", "imbalance"), [(8, 0.9), (8, 7.3), (2, 1.9), (8, float("nan"))])
def test_an_imbalance_that_cannot_be_is_refused(members: int, imbalance: float) -> None:
    with pytest.raises(SpecError) as caught:
        draw_popularity(members, imbalance, 1)
    assert caught.value.code == "spec.load"


@pytest.mark.parametrize("members", [2, 5, 8])
def test_balanced_experts_take_two_all_to_alls_and_their_work(members: int) -> None:
    fabric = from_links(1, members, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    flows = expert_traffic(group(members, work_us=30.0), place_ranks(fabric))
    result = simulate(flows, fabric, routes, SimOptions(2.0))
    assert result.total_us == pytest.approx(2 * ((members - 1) * 20 + 2) + 30)
    assert flows.count == 2 * members * (members - 1) + members


def test_imbalance_makes_it_slower_and_moves_the_same_bytes() -> None:
    fabric = from_links(1, 8, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    even, uneven = (expert_traffic(group(8, imbalance), place_ranks(fabric)) for imbalance in (1.0, 2.0))
    # Every rank sends all but what stays with it: over all ranks, members - 1 of members.
    assert uneven.size_bytes.sum() == pytest.approx(even.size_bytes.sum())
    into = [np.bincount(flows.target, flows.size_bytes)[:8] for flows in (even, uneven)]
    times = [simulate(flows, fabric, routes, SimOptions(2.0)).total_us for flows in (even, uneven)]
    assert times[1] > 1.5 * times[0]
    assert into[1].max() > into[0].max()


def test_what_is_combined_is_what_was_dispatched_and_comes_after_it() -> None:
    flows = expert_traffic(group(5, 1.5, 9.0), place_ranks(from_links(1, 5, [])))
    pairs: dict[int, dict[tuple[int, int], float]] = {0: {}, 2: {}}
    for flow in np.flatnonzero(flows.via == Via.FABRIC).tolist():
        pairs[int(flows.tag[flow])][int(flows.source[flow]), int(flows.target[flow])] = float(flows.size_bytes[flow])
    assert pairs[2] == {(b, a): size for (a, b), size in pairs[0].items()}
    for flow in range(flows.count):
        needs = flows.need_flow[flows.need_ptr[flow] : flows.need_ptr[flow + 1]]
        assert (flows.target[needs] == flows.source[flow]).all()
        assert len(needs) == (0, 4, 1)[int(flows.tag[flow])]
        assert (flows.tag[needs] == flows.tag[flow] - 1).all()
    assert flows.delay_us[flows.via == Via.WORK].mean() == pytest.approx(9.0)


def test_groups_work_side_by_side_and_inside_hosts_over_their_network() -> None:
    fabric = make_fabric("rail-optimised", hosts=4, rails=4, ports=16)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    plan = Experts(np.arange(16, dtype=np.int32).reshape(2, 8), 8e6)
    flows = expert_traffic(plan, place_ranks(fabric))
    assert [int((flows.via == via).sum()) for via in (Via.FABRIC, Via.HOST, Via.WORK)] == [128, 96, 16]
    host = fabric.port_node
    inside = flows.via == Via.HOST
    assert (host[flows.source[inside]] == host[flows.target[inside]]).all()
    assert simulate(flows, fabric, routes, SimOptions(1.0, 450.0)).total_us > 0


@pytest.mark.parametrize(("size", "work"), [(0.0, 0.0), (float("nan"), 0.0), (1.0, -1.0)])
def test_experts_out_of_range_are_refused(size: float, work: float) -> None:
    plan = Experts(np.arange(4, dtype=np.int32).reshape(1, -1), size, 1.0, work)
    with pytest.raises(SpecError) as caught:
        expert_traffic(plan, place_ranks(from_links(1, 4, [])))
    assert caught.value.code == "spec.load"
