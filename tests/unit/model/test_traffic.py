from __future__ import annotations

import pytest

from weftline.kernels.chains import WORK
from weftline.model.traffic import Collective, CollectiveKind, Via


@pytest.mark.parametrize(
    ("kind", "ranks", "factor"),
    [
        ("all-reduce", 8, 2 * 7 / 8),
        ("all-gather", 8, 7 / 8),
        ("reduce-scatter", 8, 7 / 8),
        ("all-to-all", 8, 7 / 8),
        ("permutation", 8, 1.0),
        ("all-reduce", 1, 0.0),
    ],
)
def test_the_factor_of_the_bus_is_that_of_nccl_tests(kind: CollectiveKind, ranks: int, factor: float) -> None:
    assert Collective(kind, "ring", 1, ranks).busbw_factor == factor


def test_bus_bandwidth_is_in_gigabytes_per_second() -> None:
    assert Collective("all-reduce", "ring", 10**9, 8).bus_bandwidth(1e6) == pytest.approx(1.75)


@pytest.mark.parametrize("time_us", [0.0, float("nan")])
def test_no_time_has_no_bus_bandwidth(time_us: float) -> None:
    assert Collective("all-reduce", "ring", 10**9, 1).bus_bandwidth(time_us) is None


def test_kernels_know_work_by_the_same_number() -> None:
    assert Via.WORK == WORK
