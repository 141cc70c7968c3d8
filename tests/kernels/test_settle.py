"""What routers settle on, by levels and by messages."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import settle as reference
from weftline.kernels.column import I64, NIL
from weftline.kernels.settle import NOT_MIXED, OTHER_WAYS, TOO_NARROW, UNSETTLED, settle

Ways = dict[int, set[int]]


def make_world(seed: int) -> tuple[list[reference.Session], list[int]]:
    """Make routers with numbers that some share, and cables between them, some of them parallel."""
    rng = random.Random(seed)
    rows = rng.randint(1, 8)
    numbers = [rng.randrange(100, 100 + rng.choice([rows, 3, 8])) for _ in range(rows)]
    sessions: list[reference.Session] = []
    for at in range(rng.randint(0, 14)):
        a, b = rng.randrange(rows), rng.randrange(rows)
        if numbers[a] != numbers[b]:
            sessions += [(a, 2 * at, b, 2 * at + 1), (b, 2 * at + 1, a, 2 * at)]
    return sessions, numbers


def compare(
    sessions: list[reference.Session], numbers: list[int], tables: list[Ways], *, width: int = 64, mixes: bool = True
) -> tuple[int, I64]:
    """Hold tables, one for each router as an origin, against what the kernel settles on."""
    rows = len(numbers)
    ports = max((port for _, port, _, _ in sessions), default=0) + 1
    ends = sorted(sessions, key=lambda one: (one[0], one[1]))
    group = np.full((rows, rows), 255, dtype=np.uint8)
    group_ptr, member_ptr, member_port = [0], [0], list[int]()
    for row in range(rows):
        for column, ways in enumerate(tables):
            if ways.get(row):
                group[row, column] = len(member_ptr) - 1 - group_ptr[row]
                member_port += sorted(ways[row])
                member_ptr.append(len(member_port))
        group_ptr.append(len(member_ptr) - 1)
    index = [sorted(set(numbers)).index(number) for number in numbers]
    shared = [index[row] if numbers.count(number) > 1 else NIL for row, number in enumerate(numbers)]
    found = np.zeros(5, dtype=np.int64)
    ptr = np.searchsorted(np.array([one[0] for one in ends], dtype=np.int32), np.arange(rows + 1)).astype(np.int32)
    wrong = settle(
        0, rows, np.arange(rows, dtype=np.int32), ptr, np.array([one[2] for one in ends], dtype=np.int32),
        np.array([one[3] for one in ends], dtype=np.int32), np.array(index, dtype=np.int32),
        np.array(shared, dtype=np.int32), 1, np.full(rows, width, dtype=np.int32),
        np.full(rows, mixes, dtype=np.int8), np.arange(rows + 1, dtype=np.int64), np.arange(rows, dtype=np.int32),
        group, np.array(group_ptr, dtype=np.int32), np.array(member_ptr, dtype=np.int32),
        np.array(member_port, dtype=np.int32), 255, np.full(ports, NIL, dtype=np.int32), found,
    )  # fmt: skip
    return wrong, found


@settings(max_examples=400)
@given(st.integers(0, 2**32))
def test_levels_settle_as_messages_do(seed: int) -> None:
    sessions, numbers = make_world(seed)
    told = [reference.settle(origin, sessions, numbers) for origin in range(len(numbers))]
    wrong, found = compare(sessions, numbers, [ways for ways, _ in told])
    if any(was_choice for _, was_choice in told):
        return
    assert wrong == 0, found


@settings(max_examples=300)
@given(st.integers(0, 2**32))
def test_what_hangs_on_a_choice_is_never_passed(seed: int) -> None:
    """Whichever of its equal paths a router tells, tables that pass are what comes of it."""
    sessions, numbers = make_world(seed)
    tables = [reference.settle(origin, sessions, numbers)[0] for origin in range(len(numbers))]
    wrong, _ = compare(sessions, numbers, tables)
    if wrong == 0:
        for choice in range(3):
            assert tables == [reference.settle(at, sessions, numbers, choice)[0] for at in range(len(numbers))]


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_any_other_table_is_found(seed: int) -> None:
    sessions, numbers = make_world(seed)
    tables = [reference.settle(origin, sessions, numbers)[0] for origin in range(len(numbers))]
    rng = random.Random(seed)
    choices = [(column, row) for column, ways in enumerate(tables) for row in ways]
    if not choices:
        return
    column, row = rng.choice(choices)
    own = {port for router, port, _, _ in sessions if router == row}
    other = {port for port in own if rng.random() < 0.5}
    if other == tables[column][row]:
        return
    changed = [ways if at != column else {**ways, row: other} for at, ways in enumerate(tables)]
    wrong, _ = compare(sessions, numbers, changed)
    assert wrong > 0


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_paths_that_differ_need_to_be_mixed(seed: int) -> None:
    sessions, numbers = make_world(seed)
    told = [reference.settle(origin, sessions, numbers) for origin in range(len(numbers))]
    if any(was_choice for _, was_choice in told):
        return
    wrong, _ = compare(sessions, numbers, [ways for ways, _ in told], mixes=False)
    mixed = sum(
        len(ports) > 1 and reference.are_mixed(origin, sessions, numbers, row)
        for origin, (ways, _) in enumerate(told)
        for row, ports in ways.items()
    )
    assert wrong == mixed


TWO_SPINES = [(0, 0, 2, 10), (0, 1, 3, 11), (1, 2, 2, 12), (1, 3, 3, 13)]
BOTH = [*TWO_SPINES, *((far, other, row, port) for row, port, far, other in TWO_SPINES)]


@pytest.mark.parametrize(
    ("numbers", "width", "mixes", "kind"),
    [([1, 2, 9, 9], 1, True, TOO_NARROW), ([1, 2, 8, 9], 2, False, NOT_MIXED), ([1, 2, 9, 9], 2, False, None)],
)
def test_two_spines(numbers: list[int], width: int, mixes: bool, kind: int | None) -> None:
    tables = [reference.settle(origin, BOTH, numbers)[0] for origin in range(4)]
    wrong, found = compare(BOTH, numbers, tables, width=width, mixes=mixes)
    assert (wrong > 0, int(found[0])) == (kind is not None, kind or 0)


def test_a_refusal_that_hangs_on_a_choice_is_told() -> None:
    """4 tells one of two paths to 0, one of which holds the number that 5 shares with 2."""
    links = [(0, 0, 2, 1), (0, 2, 3, 3), (2, 4, 4, 5), (3, 6, 4, 7), (4, 8, 5, 9)]
    sessions = [*links, *((far, other, row, port) for row, port, far, other in links)]
    numbers = [1, 2, 9, 8, 3, 9]
    tables = [reference.settle(origin, sessions, numbers)[0] for origin in range(6)]
    wrong, _ = compare(sessions, numbers, tables)
    assert wrong > 0
    assert UNSETTLED != OTHER_WAYS
