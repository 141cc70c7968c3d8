from __future__ import annotations

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from weftline.errors import SpecError
from weftline.model.traffic import Via
from weftline.route import compute_routes
from weftline.schedule.pipeline import Stages, list_work, pipeline
from weftline.schedule.placement import place_ranks
from weftline.simulate import SimOptions, simulate


def chain(stages: int, batches: int, size: float = 0.0, times: tuple[float, float] = (3.0, 5.0)) -> Stages:
    """One pipeline over the first ranks."""
    return Stages(np.arange(stages, dtype=np.int32).reshape(1, -1), batches, size, *times)


def slow_times(stages: int, batches: int, message: float, times: tuple[float, float]) -> float:
    """Work through 1F1B by asking, again and again, what each stage can do next; ``message`` is a message's time."""
    done: dict[tuple[int, bool, int], float] = {}
    free = [0.0] * stages
    left = [list_work(stage, stages, batches) for stage in range(stages)]
    while any(left):
        for stage in range(stages):
            if not left[stage]:
                continue
            backward, batch = left[stage][0]
            source = stage + 1 if backward else stage - 1
            key = (source, backward, batch)
            if 0 <= source < stages and key not in done:
                continue
            ready = done[key] + message if 0 <= source < stages else 0.0
            free[stage] = max(free[stage], ready) + times[int(backward)]
            done[stage, backward, batch] = free[stage]
            left[stage].pop(0)
    return max(free)


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("batches", [1, 2, 5, 16])
def test_free_messages_leave_the_bubble_that_is_published(stages: int, batches: int) -> None:
    """(m + p - 1)(f + b): Narayanan et al., SC 2021, 2.2."""
    fabric = from_links(1, max(stages, 2), [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    flows = pipeline(chain(stages, batches), place_ranks(fabric))
    result = simulate(flows, fabric, routes, SimOptions(0.0))
    assert result.total_us == pytest.approx((batches + stages - 1) * 8.0)
    assert result.bound_low_us == pytest.approx(result.total_us)


@pytest.mark.parametrize(("stages", "batches", "size"), [(2, 4, 50_000.0), (4, 8, 25_000.0), (4, 3, 200_000.0)])
def test_messages_that_hold_up_stages_take_what_a_slow_twin_says(stages: int, batches: int, size: float) -> None:
    fabric = from_links(1, stages, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    flows = pipeline(chain(stages, batches, size), place_ranks(fabric))
    result = simulate(flows, fabric, routes, SimOptions(2.0))
    wanted = slow_times(stages, batches, size / 50_000 + 2.0, (3.0, 5.0))
    assert result.total_us == pytest.approx(wanted, rel=0.02 if size > 100_000 else 1e-9)


def test_a_stage_first_works_ahead_and_then_in_turn() -> None:
    assert list_work(0, 3, 4) == [
        (False, 0), (False, 1), (False, 2), (True, 0), (False, 3), (True, 1), (True, 2), (True, 3),
    ]  # fmt: skip
    assert list_work(2, 3, 2) == [(False, 0), (True, 0), (False, 1), (True, 1)]
    for stage in range(5):
        for batches in (1, 3, 9):
            work = list_work(stage, 5, batches)
            assert sorted(work) == sorted((backward, b) for backward in (False, True) for b in range(batches))


def test_stages_on_one_host_use_its_network_and_others_the_fabric() -> None:
    fabric = make_fabric("rail-optimised", hosts=2, rails=4, ports=8)
    plan = Stages(np.array([[0, 1, 4], [2, 3, 6]], dtype=np.int32), 2, 1e6, 1.0, 1.0)
    flows = pipeline(plan, place_ranks(fabric))
    assert [int((flows.via == via).sum()) for via in (Via.FABRIC, Via.HOST, Via.WORK)] == [8, 8, 24]
    assert flows.delay_us[flows.via != Via.WORK].sum() == 0
    assert flows.size_bytes[flows.via == Via.WORK].sum() == 0
    with_planes = make_fabric("rail-optimised", hosts=2, rails=4, ports=8, planes=2)
    twice = pipeline(plan, place_ranks(with_planes))
    assert [int((twice.via == via).sum()) for via in (Via.FABRIC, Via.HOST, Via.WORK)] == [16, 8, 24]
    assert twice.size_bytes.sum() == flows.size_bytes.sum()


@pytest.mark.parametrize(("batches", "size", "forward"), [(0, 1.0, 1.0), (1, -1.0, 1.0), (1, 1.0, float("nan"))])
def test_a_pipeline_out_of_range_is_refused(batches: int, size: float, forward: float) -> None:
    with pytest.raises(SpecError) as caught:
        pipeline(chain(2, batches, size, (forward, 1.0)), place_ranks(from_links(1, 2, [])))
    assert caught.value.code == "spec.load"
