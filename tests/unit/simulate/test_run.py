from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.packets import make_flows
from weftline.errors import InternalError, SpecError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.model.traffic import Collective, Via
from weftline.route import compute_routes
from weftline.schedule import expand, place_ranks
from weftline.simulate import SimOptions, simulate
from weftline.simulate import run as run_module

MB = 1e6
RATE = 50_000.0
"""Bytes per microsecond of 400 Gb/s."""


@pytest.fixture(scope="module")
def star() -> tuple[Fabric, Routes]:
    """Sixteen hosts on one switch."""
    fabric = from_links(1, 16, [])
    return fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))


def test_incast_shares_the_last_link(star: tuple[Fabric, Routes]) -> None:
    flows = make_flows([(i, 15) for i in range(15)], 4 * 2**20)
    result = simulate(flows, *star, SimOptions(0.0))
    np.testing.assert_allclose(result.finish_us, 15 * 4 * 2**20 / RATE, rtol=1e-12)
    assert result.total_us == pytest.approx(1258.0, rel=1e-3)
    assert result.bound_low_us == pytest.approx(result.total_us, rel=1e-12)
    assert result.bound_name == "bytes on the link leaf-001/16~host-0016/nic1"


def test_what_one_flow_leaves_another_takes(star: tuple[Fabric, Routes]) -> None:
    flows = make_flows([(0, 1), (0, 1), (2, 1)], [MB, 3 * MB, MB])
    result = simulate(flows, *star, SimOptions(2.0))
    # Three share until the small ones end at 60 us, then one has the link.
    np.testing.assert_allclose(result.finish_us, [62.0, 102.0, 62.0], rtol=1e-12)
    assert result.port_bytes[[0, 2]].tolist() == [4 * MB, MB]


def test_a_queue_sends_one_after_the_other_and_a_need_waits_for_the_arrival(star: tuple[Fabric, Routes]) -> None:
    flows = make_flows([(0, 1), (0, 2), (1, 3)], MB, [[], [], [0]], queue=[0, 0, NIL])
    result = simulate(flows, *star, SimOptions(5.0))
    assert result.start_us.tolist() == pytest.approx([0.0, 20.0, 25.0])
    assert result.finish_us.tolist() == pytest.approx([25.0, 45.0, 50.0])
    assert result.bound_name == "longest chain of messages that wait for each other, ending at host-0004/nic1"


def test_an_empty_message_and_one_to_oneself_take_the_latency_only(star: tuple[Fabric, Routes]) -> None:
    flows = make_flows([(0, 1), (2, 2), (0, 1)], [0.0, MB, MB], [[], [], [0, 1]], queue=[0, NIL, 0])
    result = simulate(flows, *star, SimOptions(3.0))
    assert result.finish_us.tolist() == pytest.approx([3.0, 3.0, 26.0])
    assert result.port_bytes[2] == 0.0


def test_a_flow_starts_its_delay_after_it_is_ready_and_not_before_its_time(star: tuple[Fabric, Routes]) -> None:
    flows = make_flows([(0, 1), (1, 2), (3, 4)], MB, [[], [0], []], start=[7.0, 0.0, 100.0], delay=[1.0, 4.0, 0.0])
    result = simulate(flows, *star, SimOptions(2.0))
    assert result.start_us.tolist() == pytest.approx([8.0, 34.0, 100.0])
    assert result.finish_us.tolist() == pytest.approx([30.0, 56.0, 122.0])
    assert result.bound_low_us == pytest.approx(122.0)
    assert result.bound_name.endswith("ending at host-0005/nic1")


def test_work_takes_its_delay_and_holds_its_queue_but_no_link(star: tuple[Fabric, Routes]) -> None:
    """Two works follow each other; the message of the first goes out while the second goes on."""
    flows = make_flows(
        [(0, 0), (0, 0), (0, 1)], [0.0, 0.0, MB], [[], [], [0]],
        via=[Via.WORK, Via.WORK, Via.FABRIC], queue=[0, 0, NIL], delay=[10.0, 5.0, 0.0], start=[3.0, 0.0, 0.0],
    )  # fmt: skip
    result = simulate(flows, *star, SimOptions(2.0))
    assert result.start_us.tolist() == pytest.approx([3.0, 13.0, 13.0])
    assert result.finish_us.tolist() == pytest.approx([13.0, 18.0, 35.0])
    assert result.bound_low_us == pytest.approx(35.0)


@pytest.mark.parametrize(("column", "times"), [("start", [1.0]), ("delay", [0, -1.0]), ("start", [0, float("nan")])])
def test_times_that_are_none_are_our_bug(column: str, times: list[float], star: tuple[Fabric, Routes]) -> None:
    with pytest.raises(InternalError) as caught:
        simulate(make_flows([(0, 1), (1, 2)], MB, None, **{column: times}), *star, SimOptions(1.0))
    assert caught.value.code == "internal.flow-times"


def test_nothing_to_send_takes_no_time(star: tuple[Fabric, Routes]) -> None:
    result = simulate(make_flows([]), *star, SimOptions(3.0))
    assert (result.total_us, result.bound_low_us, result.bound_name) == (0.0, 0.0, "nothing is sent")


def test_inside_a_host_the_declared_rate_rules_and_the_nic_is_idle() -> None:
    fabric = make_fabric("rail-optimised", hosts=2, rails=4, ports=8)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    flows = make_flows([(0, 1), (2, 1), (0, 3)], MB, via=[Via.HOST] * 3)
    result = simulate(flows, fabric, routes, SimOptions(0.0, inside_host_gbytes_per_s=100.0))
    np.testing.assert_allclose(result.finish_us, 20.0, rtol=1e-12)
    assert result.port_bytes.sum() == 0
    assert result.bound_name == "bytes on the network inside the host out of the GPU of host-0001/nic1"
    assert any("100 GB/s" in text for text in result.assumptions)
    with pytest.raises(SpecError) as caught:
        simulate(flows, fabric, routes, SimOptions(0.0))
    assert caught.value.code == "spec.inside-host-rate"


def test_separate_rails_do_not_reach_each_other_and_the_pairs_are_named() -> None:
    fabric = make_fabric("rail-only", hosts=4, rails=2, ports=8)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    flows = expand(Collective("all-reduce", "ring", 2**20, 8), place_ranks(fabric, 8))
    with pytest.raises(SpecError, match=r"host-0001/nic1 does not reach host-0001/nic2.*and 7 more pairs") as caught:
        simulate(flows, fabric, routes, SimOptions(1.0))
    assert caught.value.code == "spec.unreachable-pair"
    assert len(caught.value.problems) == 8
    flows = expand(Collective("all-reduce", "hierarchical", 2**20, 8), place_ranks(fabric, 8))
    assert simulate(flows, fabric, routes, SimOptions(1.0, 450.0)).total_us > 0


def test_a_loop_and_a_foreign_receiver_are_named(star: tuple[Fabric, Routes]) -> None:
    fabric = from_links(2, 1, [(0, 1)])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    port = routes.member_port.copy()
    port[:] = port[0]
    flows = make_flows([(0, 1), (1, 0)])
    with pytest.raises(SpecError) as caught:
        simulate(flows, fabric, dataclasses.replace(routes, member_port=port), SimOptions(1.0))
    assert caught.value.code == "spec.unreachable-pair"
    known = routes.destination_port.copy()
    known[1] = NIL
    with pytest.raises(SpecError, match="do not know the receiver"):
        simulate(flows, fabric, dataclasses.replace(routes, destination_port=known), SimOptions(1.0))


def test_the_hash_is_seeded_and_said() -> None:
    fabric = make_fabric(hosts=16, rails=1, ports=8)
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    flows = expand(Collective("permutation", "ring", 2**20, 16), place_ranks(fabric, 16, "random", 1))
    totals = {simulate(flows, fabric, routes, SimOptions(1.0, seed=seed)).total_us for seed in range(12)}
    assert len(totals) > 1
    result = simulate(flows, fabric, routes, SimOptions(1.0, seed=7))
    assert "where several ports serve a destination, a hash with seed 7 picks one per pair" in result.assumptions
    again = simulate(flows, fabric, routes, SimOptions(1.0, seed=7))
    assert again.finish_us.tobytes() == result.finish_us.tobytes()


def test_progress_is_told_in_slices(star: tuple[Fabric, Routes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weftline.simulate.fluid.SLICE", 10)
    flows = expand(Collective("all-reduce", "ring", 2**20, 4), place_ranks(star[0], 4))
    seen: list[tuple[int, int]] = []
    result = simulate(flows, *star, SimOptions(1.0), lambda done, total: seen.append((done, total)))
    assert seen[-1] == (24, 24)
    assert len(seen) >= 2
    monkeypatch.undo()
    assert simulate(flows, *star, SimOptions(1.0)).finish_us.tobytes() == result.finish_us.tobytes()


def test_stamps_that_start_again_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = make_fabric(hosts=16, rails=1, ports=8)
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    flows = expand(Collective("all-to-all", "ring", 2**20, 16), place_ranks(fabric, 16, "random", 1))
    result = simulate(flows, fabric, routes, SimOptions(1.0))
    for offset in (0, 7, 40):
        monkeypatch.setattr("weftline.simulate.fluid.FIRST_STAMP", 2_000_000_000 - offset)
        assert simulate(flows, fabric, routes, SimOptions(1.0)).finish_us.tobytes() == result.finish_us.tobytes()


def test_progress_may_stop_the_run(star: tuple[Fabric, Routes]) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(make_flows([(0, 1)]), *star, SimOptions(1.0), stop)


@pytest.mark.parametrize(
    "options",
    [
        SimOptions(-1.0),
        SimOptions(float("nan")),
        SimOptions(float("inf")),
        SimOptions(1.0, 0.0),
        SimOptions(1.0, float("nan")),
        SimOptions(1.0, seed=2**32),
        SimOptions(1.0, seed=-1),
        SimOptions(1.0, max_hops=0),
    ],
)
def test_options_out_of_range_are_refused(options: SimOptions, star: tuple[Fabric, Routes]) -> None:
    with pytest.raises(SpecError) as caught:
        simulate(make_flows([(0, 1)]), *star, options)
    assert caught.value.code == "spec.simulation-options"


@pytest.mark.parametrize("rate", [float("nan"), 0.0, -1.0, float("inf")])
def test_a_link_without_a_rate_is_refused_only_where_it_carries_something(rate: float) -> None:
    fabric = from_links(1, 3, [])
    rates = fabric.port_rate_gbps.copy()
    rates[[1, int(fabric.port_peer[1])]] = rate
    fabric = dataclasses.replace(fabric, port_rate_gbps=rates)
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    assert simulate(make_flows([(0, 2)]), fabric, routes, SimOptions(0.0)).total_us == pytest.approx(20.0)
    with pytest.raises(SpecError, match="leaf-001/2~host-0002/nic1") as caught:
        simulate(make_flows([(0, 1)]), fabric, routes, SimOptions(0.0))
    assert caught.value.code == "spec.link-rate"


def test_a_link_is_as_fast_as_its_slower_end() -> None:
    fabric = from_links(1, 3, [])
    rates = fabric.port_rate_gbps.copy()
    rates[1] = 100.0
    fabric = dataclasses.replace(fabric, port_rate_gbps=rates)
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    assert simulate(make_flows([(0, 1)]), fabric, routes, SimOptions(0.0)).total_us == pytest.approx(80.0)


def test_routes_or_flows_of_another_fabric_are_our_bug(star: tuple[Fabric, Routes]) -> None:
    other = from_links(1, 15, [])
    for flows, fabric in (
        (make_flows([(0, 1)]), other),
        (make_flows([(0, 99)]), star[0]),
        (make_flows([(-1, 1)]), star[0]),
    ):
        with pytest.raises(InternalError) as caught:
            simulate(flows, fabric, star[1], SimOptions(1.0))
        assert caught.value.code == "internal.other-fabric"


def test_flows_that_wait_for_each_other_are_found_before_the_run(star: tuple[Fabric, Routes]) -> None:
    with pytest.raises(InternalError) as caught:
        simulate(make_flows([(0, 1), (1, 0)], MB, [[1], [0]]), *star, SimOptions(1.0))
    assert caught.value.code == "internal.flow-circle"


def test_a_result_that_beats_its_bound_is_never_given(
    star: tuple[Fabric, Routes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_high(*_: object) -> tuple[float, str, int]:
        return 20.001, "a bound that is wrong", 0

    monkeypatch.setattr(run_module, "_bound_of_chains", too_high)
    with pytest.raises(InternalError) as caught:
        simulate(make_flows([(0, 1)]), *star, SimOptions(0.0))
    assert caught.value.code == "internal.beats-bound"


@pytest.mark.parametrize(("size", "name"), [(62_600.0, "longest chain"), (62_400.0, "bytes on the link")])
def test_the_higher_of_two_close_bounds_is_told(star: tuple[Fabric, Routes], size: float, name: str) -> None:
    """Twice 62,500 bytes over one link take 2.5 us, a chain of 62,500 and then ``size`` a little more or less."""
    flows = make_flows([(0, 1), (0, 2), (3, 4), (4, 5)], [62_500.0, 62_500.0, 62_500.0, size], [[], [], [], [2]])
    result = simulate(flows, *star, SimOptions(0.0))
    assert result.bound_name.startswith(name)
    assert result.bound_low_us == pytest.approx(max(2.5, 1.25 + size / RATE), rel=1e-12)


def test_the_way_into_a_gpu_is_told_apart_from_the_ways_out() -> None:
    fabric = make_fabric("rail-optimised", hosts=2, rails=4, ports=8)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    flows = make_flows([(0, 1), (2, 1), (3, 1)], MB, via=[Via.HOST] * 3)
    result = simulate(flows, fabric, routes, SimOptions(0.0, inside_host_gbytes_per_s=100.0))
    np.testing.assert_allclose(result.finish_us, 30.0, rtol=1e-12)
    assert result.bound_name == "bytes on the network inside the host into the GPU of host-0001/nic2"
