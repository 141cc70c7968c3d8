"""Ways and weights against slow twins."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import weights as reference
from weftline.kernels.column import NIL
from weftline.kernels.weights import count_ways, reduce_weights, weigh_sets

numbers = st.lists(st.integers(1, 60), min_size=1, max_size=4)
SEEDS = st.integers(0, 2**32)


def reduce(raw: list[int], most: int) -> list[int]:
    weight = np.zeros(len(raw), dtype=np.int32)
    reduce_weights(np.array(raw, dtype=np.int64), most, weight)
    return weight.tolist()


@given(numbers, st.integers(4, 11))
def test_weights_have_the_least_error_and_the_smallest_sum_of_all(raw: list[int], most: int) -> None:
    found = reduce(raw, most)
    assert sum(found) <= most
    assert min(found) >= 1
    assert (reference.error(raw, found), sum(found)) == reference.best(raw, most)


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=64))
def test_numbers_of_any_size_fit_and_equal_ones_count_once(raw: list[int]) -> None:
    found = reduce(raw, 128)
    assert sum(found) <= 128
    assert min(found) >= 1
    assert found == reference.reduced(raw) or sum(reference.reduced(raw)) > 128
    assert reduce([raw[0]] * len(raw), 128) == [1] * len(raw)
    # no more than with all alike
    assert reference.error(raw, found) <= reference.error(raw, [1] * len(raw))


def test_the_paper_s_kind_of_group_is_reduced_well() -> None:
    """One of 32 uplinks has half of what is behind the others."""
    assert reduce([2] * 31 + [1], 128) == [2] * 31 + [1]
    found = reduce([100] * 31 + [33], 128)
    assert sum(found) <= 128
    assert reference.error([100] * 31 + [33], found) < Fraction(103, 100)


def draw_sets(seed: int) -> tuple[list[int], dict[tuple[int, int], list[tuple[int, int]]]]:
    """Draw, per switch and home, next switches with units that go up and then down, in the order of the numbers."""
    rng = random.Random(seed)
    rows = rng.randint(2, 7)
    homes = rng.sample(range(rows), rng.randint(1, min(3, rows)))
    sets: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for home in homes:
        falls = {home}
        for row in range(home - 1, -1, -1):
            below = [low for low in falls if low > row]
            if below and rng.random() < 0.7:
                falls.add(row)
                sets[row, home] = [(rng.choice(below), rng.randint(1, 4)) for _ in range(rng.randint(1, 4))]
        known = set(falls)
        for row in range(rows):
            above = [high for high in known if high < row]
            if row not in falls and above and rng.random() < 0.9:
                known.add(row)
                sets[row, home] = [(rng.choice(above), rng.randint(1, 4)) for _ in range(rng.randint(1, 4))]
    return homes, sets


@given(SEEDS)
def test_ways_and_weighed_sets_match_the_twin(seed: int) -> None:
    homes, sets = draw_sets(seed)
    rows = 1 + max(*homes, *(row for row, _ in sets), 0)
    choice = np.full((rows, len(homes)), NIL, dtype=np.int32)
    first, ptr, port, step, unit = [0], [0], list[int](), list[int](), list[int]()
    for row in range(rows):
        for at, home in enumerate(homes):
            if (row, home) in sets:
                choice[row, at] = len(ptr) - 1 - first[row]
                for far, rate in sets[row, home]:
                    port.append(len(port))
                    step.append(far)
                    unit.append(rate)
                ptr.append(len(port))
        first.append(len(ptr) - 1)
    next_row, units = np.array(step, dtype=np.int32), np.array(unit, dtype=np.int64)
    home = np.array(homes, dtype=np.int32)
    set_ptr, set_first = np.array(ptr, dtype=np.int32), np.array(first, dtype=np.int32)
    ways = count_ways(home, np.arange(rows, dtype=np.int32), choice, set_first, set_ptr, next_row, units)
    for at, end in enumerate(homes):
        links = {row: sets[row, end] for row in range(rows) if (row, end) in sets}
        found = reference.ways(links, end)
        assert {row: int(ways[at, row]) for row in range(rows) if ways[at, row]} == found
    number = np.zeros_like(choice)
    for row in range(rows):
        kept_ptr, kept_port, kept_weight = weigh_sets(
            row, choice[row], ways, int(set_first[row]), set_ptr, np.array(port, dtype=np.int32), next_row,
            units, home, 4, 128, number[row],
        )  # fmt: skip
        seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
        for one in range(len(kept_ptr) - 1):
            span = slice(int(kept_ptr[one]), int(kept_ptr[one + 1]))
            seen.add((tuple(kept_port[span].tolist()), tuple(kept_weight[span].tolist())))
        assert len(seen) == len(kept_ptr) - 1
        for at, end in enumerate(homes):
            if choice[row, at] == NIL or row == end:
                assert number[row, at] == NIL
                continue
            old = int(set_first[row]) + int(choice[row, at])
            members = range(int(set_ptr[old]), int(set_ptr[old + 1]))
            raw = [int(units[m]) if next_row[m] == end else int(ways[at, next_row[m]]) for m in members]
            span = slice(int(kept_ptr[number[row, at]]), int(kept_ptr[number[row, at] + 1]))
            assert kept_port[span].tolist() == [port[m] for m in members]
            assert kept_weight[span].tolist() == reduce(raw, 128)


def test_many_sets_of_one_switch_are_told_apart() -> None:
    """More sets than the first table of them holds: the ways to each home differ."""
    count = 300
    home = np.arange(2, count + 2, dtype=np.int32)
    choice = np.full((count + 3, count), NIL, dtype=np.int32)
    choice[count + 2] = 0
    ways = np.zeros((count, count + 3), dtype=np.int64)
    ways[:, 0], ways[:, 1] = np.arange(1, count + 1), 1
    number = np.zeros_like(choice)
    kept_ptr, _, weight = weigh_sets(
        count + 2, choice[count + 2], ways, 0, np.array([0, 2], np.int32), np.array([7, 9], np.int32),
        np.array([0, 1], np.int32), np.ones(2, np.int64), home, 2, 512, number[count + 2],
    )  # fmt: skip
    assert len(kept_ptr) - 1 == count
    assert number[count + 2].tolist() == list(range(count))
    assert weight[::2].tolist() == list(range(1, count + 1))
    assert NIL not in weight
