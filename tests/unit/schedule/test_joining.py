from __future__ import annotations

import numpy as np
import pytest

from tests.fabrics import from_links
from weftline.errors import SpecError
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.model.traffic import Collective
from weftline.route import compute_routes
from weftline.schedule import expand, place_ranks
from weftline.schedule.joining import delay_ranks, draw_delays, join_flows, start_later
from weftline.schedule.patterns import incast
from weftline.simulate import SimOptions, simulate

RING = Collective("all-reduce", "ring", 4_000_000, 4)


@pytest.fixture(scope="module")
def star() -> tuple[Fabric, Routes]:
    """Eight hosts on one switch."""
    fabric = from_links(1, 8, [])
    return fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))


def test_loads_that_do_not_meet_take_as_long_as_alone(star: tuple[Fabric, Routes]) -> None:
    fabric, routes = star
    every = place_ranks(fabric)
    hosts = np.unique(every.rank_host)
    ring = expand(RING, place_ranks(fabric, 4, hosts=hosts[:4].tolist()))
    other = start_later(incast(place_ranks(fabric, 4, hosts=hosts[4:].tolist()), 3, 1e6), 50.0)
    both = join_flows([ring, other, ring])
    assert both.count == 2 * ring.count + other.count
    result = simulate(join_flows([ring, other]), fabric, routes, SimOptions(1.0))
    alone = simulate(ring, fabric, routes, SimOptions(1.0))
    np.testing.assert_allclose(result.finish_us[: ring.count], alone.finish_us)
    np.testing.assert_allclose(result.finish_us[ring.count :], 50 + 60 + 1)
    # A load beside itself takes twice as long where only bytes count.
    times = [simulate(flows, fabric, routes, SimOptions(0.0)).total_us for flows in (ring, join_flows([ring, ring]))]
    assert times[1] == pytest.approx(2 * times[0])


def test_one_load_is_itself_and_no_time_is_no_column(star: tuple[Fabric, Routes]) -> None:
    ring = expand(RING, place_ranks(star[0], 4))
    assert join_flows([ring]) is ring
    assert start_later(ring, 0.0) is ring
    assert len(join_flows([ring, ring]).start_us) == 0
    assert len(join_flows([ring, start_later(ring, 2.0)]).start_us) == 2 * ring.count
    assert start_later(start_later(ring, 2.0), 3.0).start_us.tolist() == [5.0] * ring.count


def test_a_ring_waits_for_its_last_rank(star: tuple[Fabric, Routes]) -> None:
    fabric, routes = star
    placement = place_ranks(fabric, 4)
    ring = expand(RING, placement)
    late = np.array([0.0, 0.0, 500.0, 0.0])
    delayed = delay_ranks(ring, placement, late)
    before = simulate(ring, fabric, routes, SimOptions(1.0)).total_us
    result = simulate(delayed, fabric, routes, SimOptions(1.0))
    assert result.start_us[ring.source == placement.rank_port[2, 0]].min() == 500.0
    assert result.start_us[ring.source == placement.rank_port[1, 0]].min() == 0.0
    assert result.total_us == pytest.approx(500 + before)
    again = delay_ranks(delayed, placement, np.array([0.0, 7.0, 0.0, 0.0]))
    assert again.start_us[ring.source == placement.rank_port[2, 0]].tolist() == [500.0] * 6
    assert delay_ranks(ring, placement, np.zeros(4)) is ring


def test_delays_are_drawn_with_the_mean_that_was_given() -> None:
    even, skew = draw_delays(20_000, "uniform", 10.0, 1), draw_delays(20_000, "exponential", 10.0, 1)
    assert even.mean() == pytest.approx(5.0, rel=0.03)
    assert even.max() < 10
    assert skew.mean() == pytest.approx(10.0, rel=0.03)
    assert skew.std() == pytest.approx(10.0, rel=0.05)
    assert draw_delays(5, "uniform", 10.0, 1).tobytes() == even[:5].tobytes()


@pytest.mark.parametrize("time", [-1.0, float("nan"), float("inf"), 1.1e9])
def test_a_time_out_of_range_is_refused(time: float, star: tuple[Fabric, Routes]) -> None:
    placement = place_ranks(star[0], 4)
    ring = expand(RING, placement)
    for act in (
        lambda: start_later(ring, time),
        lambda: delay_ranks(ring, placement, np.array([0, time, 0, 0])),
        lambda: draw_delays(4, "exponential", time, 1),
    ):
        with pytest.raises(SpecError) as caught:
            act()
        assert caught.value.code == "spec.straggler"
