from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import climb, updown
from tests.kernels.reference import repair as reference
from tests.kernels.test_updown import Case, Laid, cases
from weftline.kernels.repair import count_loops, list_changes, mark_touched, repair_columns


def draw_table(data: st.DataObject, rows: int, goals: int, top: int) -> list[list[int]]:
    entry = st.one_of(st.integers(0, top), st.just(255))
    return data.draw(st.lists(st.lists(entry, min_size=goals, max_size=goals), min_size=rows, max_size=rows))


@given(cases, st.integers(1, 6), st.data())
def test_touched_columns_match_the_twin(case: Case, goals: int, data: st.DataObject) -> None:
    laid = Laid(case)
    table = draw_table(data, laid.rows, goals, 3)
    home = data.draw(st.lists(st.integers(-1, laid.rows - 1), min_size=goals, max_size=goals))
    lost = data.draw(st.lists(st.tuples(st.integers(0, laid.rows - 1), st.integers(0, 3)), max_size=5))
    marks = mark_touched(
        np.array(table, dtype=np.uint8),
        np.array([row for row, _ in lost], dtype=np.int32),
        np.array([group for _, group in lost], dtype=np.int32),
        np.array(home, dtype=np.int32),
        laid.component,
    )
    assert marks.astype(bool).tolist() == reference.touched(table, lost, home, laid.component.tolist())


@given(cases, st.integers(1, 4), st.data())
def test_repaired_columns_match_the_twin(case: Case, per_home: int, data: st.DataObject) -> None:
    """Groups are the links of a switch; an entry may name one that is lost, or none."""
    laid = Laid(case)
    goals = laid.rows * per_home
    first = [laid.links_of(row).start for row in range(laid.rows)]
    group_ptr = np.array([*first, len(laid.link_end)], dtype=np.int32)
    lost = data.draw(st.sets(st.integers(0, max(0, len(laid.link_end) - 1))))
    ends = np.array([-1 if link in lost else end for link, end in enumerate(laid.link_end)], dtype=np.int32)
    table = np.array(draw_table(data, laid.rows, goals, 6), dtype=np.uint8)
    before = table.tolist()
    live = data.draw(st.lists(st.integers(0, 1), min_size=goals, max_size=goals))
    sender = data.draw(st.lists(st.integers(0, 1), min_size=laid.rows, max_size=laid.rows))
    failed = repair_columns(
        np.arange(laid.rows, dtype=np.int32),
        np.arange(0, goals + 1, per_home, dtype=np.int32),
        np.arange(goals, dtype=np.int32),
        np.array(live, dtype=np.uint8),
        np.array(sender, dtype=np.uint8),
        np.array(data.draw(st.permutations(range(goals))), dtype=np.int32),
        np.array(data.draw(st.lists(st.integers(1, 9), min_size=laid.rows, max_size=laid.rows)), dtype=np.int32),
        np.full(laid.rows, data.draw(st.integers(1, laid.rows)), dtype=np.int32),
        laid.component,
        laid.component_ptr,
        laid.sequence,
        laid.order,
        laid.edge_ptr,
        laid.edge_row,
        laid.link_ptr,
        np.array([link - first[row] for row in range(laid.rows) for link in laid.links_of(row)], dtype=np.int32),
        group_ptr,
        ends,
        255,
        table,
    )
    order, wanted_failed = laid.order.tolist(), 0
    for home in range(laid.rows):
        own = range(home * per_home, (home + 1) * per_home)
        inside = [row for row in range(laid.rows) if laid.component[row] == laid.component[home] and row != home]
        hop, _ = climb.climb(order, laid.edges, home)
        wanted_failed += sum(sender[row] * live[goal] for row in inside if hop[row] < 0 for goal in own)
        for row in range(laid.rows):
            ways = updown.next_rows(order, laid.edges, home, row)
            for goal in own:
                was, now = before[row][goal], int(table[row, goal])
                is_group = was < group_ptr[row + 1] - group_ptr[row]
                if row not in inside:
                    assert now == was
                elif not ways:
                    assert now == 255
                elif is_group and int(ends[first[row] + was]) in ways:
                    assert now == was
                else:
                    assert laid.link_end[first[row] + now] in ways
    assert failed == wanted_failed


@given(st.integers(1, 6), st.data())
def test_loops_match_the_twin(rows: int, data: st.DataObject) -> None:
    goals = 3
    sets: list[list[set[int]]] = data.draw(
        st.lists(st.lists(st.sets(st.integers(-2, rows - 1), max_size=3), max_size=4), min_size=rows, max_size=rows)
    )
    table = np.array(draw_table(data, rows, goals, 4), dtype=np.uint8)
    group_ptr = np.concatenate(([0], np.cumsum([len(own) for own in sets]))).astype(np.int32)
    flat = [sorted(one) for own in sets for one in own]
    member_ptr = np.concatenate(([0], np.cumsum([len(one) for one in flat]))).astype(np.int32)
    next_row = np.array([step for one in flat for step in one], dtype=np.int32)
    looping = np.zeros(goals, dtype=np.uint8)
    found = count_loops(np.arange(goals, dtype=np.int32), table, group_ptr, member_ptr, next_row, looping)
    for goal in range(goals):
        ways: dict[int, set[int]] = {
            row: {int(step) for step in sets[row][int(table[row, goal])] if step >= 0}
            for row in range(rows)
            if table[row, goal] < len(sets[row])
        }
        assert bool(looping[goal]) == reference.loops(ways)
    assert found == looping.sum()


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 8), st.data())
def test_changes_match_the_twin_as_far_as_there_is_room(rows: int, goals: int, room: int, data: st.DataObject) -> None:
    before, after = draw_table(data, rows, goals, 1), draw_table(data, rows, goals, 1)
    columns = sorted(data.draw(st.sets(st.integers(0, goals - 1))))
    row, goal = np.full(room, -1, dtype=np.int32), np.full(room, -1, dtype=np.int32)
    found = list_changes(
        np.array(before, dtype=np.uint8), np.array(after, dtype=np.uint8), np.array(columns, dtype=np.int32), row, goal
    )
    wanted = reference.changes(before, after, columns)
    assert found == len(wanted)
    assert list(zip(row.tolist(), goal.tolist(), strict=True))[:found] == wanted[:room]
