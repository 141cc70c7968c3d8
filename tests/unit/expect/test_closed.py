from __future__ import annotations

import pytest

from weftline.errors import SpecError
from weftline.expect import closed_form
from weftline.model.traffic import Collective

MIB = 2**20


@pytest.mark.parametrize(("ranks", "time"), [(16, 2546.6), (128, 2917.4), (1024, 4727.7)])
def test_a_ring_is_that_of_the_published_closed_form(ranks: int, time: float) -> None:
    form = closed_form(Collective("all-reduce", "ring", 64 * MIB, ranks), rate_gbps=400, latency_us=1)
    assert form.time_us == pytest.approx(time, abs=0.05)
    assert form.bound_low_us == pytest.approx(form.time_us - 2 * (ranks - 1))
    assert form.busbw_gbytes_per_s == pytest.approx(64 * MIB * 2 * (ranks - 1) / ranks / time / 1000, rel=1e-4)
    assert form.binds == "bytes through the NICs"
    assert form.formula == "2(N-1)(M/(N B) + L)"


def test_an_all_to_all_waits_for_one_latency() -> None:
    form = closed_form(Collective("all-to-all", "ring", 16 * MIB, 128), rate_gbps=400, latency_us=1)
    assert form.time_us == pytest.approx(333.9, abs=0.05)


def test_a_hierarchical_ring_adds_the_network_inside_the_host() -> None:
    form = closed_form(
        Collective("all-reduce", "hierarchical", 64 * MIB, 512),
        rate_gbps=400, latency_us=1, ranks_per_host=8, inside_host_gbytes_per_s=450,
    )  # fmt: skip
    inside = 14 * (8 * MIB / 450_000 + 1)
    between = 126 * (64 * MIB / 512 / 50_000 + 1)
    assert form.time_us == pytest.approx(inside + between)
    assert form.bound_low_us == pytest.approx(126 * 64 * MIB / 512 / 50_000)


def test_latency_binds_small_messages_and_one_rank_sends_nothing() -> None:
    form = closed_form(Collective("all-gather", "ring", 1024, 64), rate_gbps=400, latency_us=1)
    assert form.binds == "latency of messages that wait for each other"
    alone = closed_form(Collective("all-reduce", "ring", 1024, 1), rate_gbps=400, latency_us=1)
    assert (alone.time_us, alone.busbw_gbytes_per_s, alone.binds) == (0.0, None, "nothing is sent")
    pair = closed_form(Collective("permutation", "ring", MIB, 8), rate_gbps=400, latency_us=1)
    assert pair.time_us == pytest.approx(MIB / 50_000 + 1)


@pytest.mark.parametrize(("ranks", "steps"), [(8, 3), (9, 4), (16, 4), (1000, 10)])
def test_halving_and_doubling_waits_a_logarithm_of_times(ranks: int, steps: int) -> None:
    form = closed_form(Collective("all-reduce", "halving-doubling", 64 * MIB, ranks), rate_gbps=400, latency_us=3)
    assert form.time_us == pytest.approx(2 * (ranks - 1) / ranks * 64 * MIB / 50_000 + 2 * steps * 3)
    half = closed_form(Collective("all-gather", "halving-doubling", 64 * MIB, ranks), rate_gbps=400, latency_us=3)
    assert half.time_us == pytest.approx(form.time_us / 2)


def test_a_chain_fills_and_then_gets_one_chunk_after_the_other() -> None:
    form = closed_form(Collective("broadcast", "ring", 64 * MIB, 5), rate_gbps=400, latency_us=1, chunks=64)
    assert form.time_us == pytest.approx((3 + 64) * MIB / 50_000 + 4)
    assert form.bound_low_us == pytest.approx(64 * MIB / 50_000)


def test_two_trees_take_as_long_as_a_ring_for_much_and_a_logarithm_of_steps_for_little() -> None:
    def times(size: int, chunks: int) -> tuple[float, float, float]:
        two = closed_form(
            Collective("all-reduce", "double-binary-tree", size, 1024), rate_gbps=400, latency_us=1, chunks=chunks
        )
        one = closed_form(Collective("all-reduce", "tree", size, 1024), rate_gbps=400, latency_us=1, chunks=chunks)
        return two.time_us, one.time_us, two.bound_low_us

    two, one, bound = times(2**30, 64)
    assert bound == pytest.approx(2 * 2**30 / 50_000)
    assert bound < two < 1.2 * bound
    assert one > 1.4 * two
    assert times(1, 1)[0] == pytest.approx(20, rel=1e-3)


@pytest.mark.parametrize(
    ("collective", "options"),
    [
        (Collective("all-gather", "tree", 1024, 8), {}),
        (Collective("broadcast", "hierarchical", 1024, 8), {}),
        (Collective("all-reduce", "tree", 1024, 8), {"chunks": 0}),
        (Collective("all-reduce", "hierarchical", 1024, 8), {"ranks_per_host": 8}),
        (Collective("all-reduce", "hierarchical", 1024, 9), {"ranks_per_host": 8, "inside_host_gbytes_per_s": 450.0}),
        (Collective("all-reduce", "ring", 1024, 8), {"rate_gbps": 0.0}),
        (Collective("all-reduce", "ring", 1024, 8), {"latency_us": float("nan")}),
    ],
)
def test_what_has_no_closed_form_is_refused(collective: Collective, options: dict[str, float]) -> None:
    known = {"rate_gbps": 400.0, "latency_us": 1.0}
    with pytest.raises(SpecError) as caught:
        closed_form(collective, **{**known, **options})  # type: ignore[arg-type]
    assert caught.value.code == "spec.closed-form"
