from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import mixture as reference
from tests.tables import random_world
from weftline.kernels.column import NIL
from weftline.kernels.mixture import GOOD, LOOPS, LOST, UNSEEN, list_turns, walk_column
from weftline.model.fabric import Fabric
from weftline.prove.tables import Tables, read_tables

Case = tuple[Fabric, Tables, int, np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]


def draw_case(data: st.DataObject) -> Case:
    """Draw a fabric with tables that may be broken, a destination, and two entries for each switch."""
    fabric, routes = random_world(data.draw(st.integers(0, 5000)), sane=data.draw(st.booleans()))
    rows, goals = routes.group.shape
    goal = data.draw(st.integers(0, goals - 1))
    entry = st.one_of(st.just(None), st.integers(0, 5), st.sampled_from([254, 255]))
    columns: list[np.ndarray[Any, Any]] = []
    for _ in range(2):
        drawn = data.draw(st.lists(entry, min_size=rows, max_size=rows))
        own = routes.group[:, goal].tolist()
        columns.append(np.array([mine if one is None else one for one, mine in zip(drawn, own, strict=True)], np.int32))
    senders = np.array(data.draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows)), dtype=np.uint8)
    return fabric, read_tables(fabric, routes), goal, columns[0], columns[1], senders


def list_entries(tables: Tables, columns: tuple[Any, ...]) -> list[list[list[reference.Member]]]:
    """List the members of both entries of each switch."""

    def members(row: int, entry: int) -> list[reference.Member]:
        group = int(tables.group_ptr[row]) + entry
        if group >= tables.group_ptr[row + 1]:
            return []
        span = range(int(tables.member_ptr[group]), int(tables.member_ptr[group + 1]))
        return [(int(tables.member_port[at]), int(tables.next_row[at]), int(tables.next_port[at])) for at in span]

    return [
        [members(row, entry) for entry in dict.fromkeys(int(column[row]) for column in columns)]
        for row in range(len(columns[0]))
    ]


@given(st.data())
def test_every_walk_of_every_mixture_is_judged(data: st.DataObject) -> None:
    _, tables, goal, before, after, senders = draw_case(data)
    kind, target, home = (int(one[goal]) for one in (tables.target_kind, tables.target_port, tables.target_row))
    state, longest, _ = walk_column(
        before, after, senders, tables.group_ptr, tables.member_ptr, tables.next_row, tables.next_port, tables.local,
        kind, target, home,
    )  # fmt: skip
    entries = list_entries(tables, (before, after))
    is_here = [kind == 1 and row == home for row in range(len(before))]
    # the entry that says 'here' delivers at home, and an entry without ports loses what comes
    entries = [
        [members for entry, members in zip(dict.fromkeys((int(before[row]), int(after[row]))), both, strict=True)
         if not (entry == tables.local and is_here[row])] or [[(NIL, NIL, target)]]
        for row, both in enumerate(entries)
    ]  # fmt: skip
    fate = target if kind == 0 else NIL
    reached = {row for row in range(len(before)) if senders[row]}
    while True:
        more = {step for row in reached for members in entries[row] for _, step, _ in members if step >= 0} - reached
        if not more:
            break
        reached |= more
    for row in range(len(before)):
        ends = set(reference.walk(entries, row, fate))
        if row not in reached:
            assert state[row] == UNSEEN
        elif "loops" in ends:
            assert state[row] == LOOPS
        else:
            assert state[row] == (LOST if "lost" in ends else GOOD)
        if state[row] == GOOD:
            assert longest[row] == max(count_switches(entries, row))
        else:
            assert longest[row] == 0


def count_switches(entries: reference.Entries, row: int) -> list[int]:
    """Count the switches of every walk that ends."""
    found: list[int] = []
    for members in entries[row]:
        for _, step, _ in members:
            found += [1 + more for more in count_switches(entries, step)] if step >= 0 else [1]
    return found


@given(st.data())
def test_the_turns_are_those_that_packets_can_take(data: st.DataObject) -> None:
    fabric, tables, _, before, after, senders = draw_case(data)
    widths = np.diff(fabric.port_ptr)[fabric.switch_node].astype(np.int64)
    turn_ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths * widths)))
    found = list_turns(
        before, after, senders, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row,
        tables.next_port, turn_ptr, fabric.port_ptr, fabric.switch_node,
    )  # fmt: skip
    wanted: set[int] = set()
    for row, came, out in reference.turns(list_entries(tables, (before, after)), np.flatnonzero(senders).tolist()):
        base = int(fabric.port_ptr[fabric.switch_node[row]])
        wanted.add(int(turn_ptr[row]) + (came - base) * int(widths[row]) + out - base)
    assert set(found.tolist()) == wanted
