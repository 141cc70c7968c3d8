"""How a switch chooses among equal ports."""

from __future__ import annotations

import numpy as np

from weftline.kernels import packet_state as st
from weftline.kernels.column import I64, NIL
from weftline.kernels.packet_choice import choose_member

GAP_PS = 1_000
GROUPS = np.zeros((2, 1), dtype=np.uint8)
GROUP_PTR = np.array([0, 1, 2], dtype=np.int32)
SHARE_PTR = np.array([0, 2, 4], dtype=np.int32)
SHARE_PORT = np.array([0, 1, 2, 3], dtype=np.int32)
"""Two switches, each with two equal ports."""


def choose(row: int, now: int, burst: I64, port: st.Records) -> int:
    """Send a packet of one flowlet through a switch that is the second of its way."""
    number = np.zeros(st.NUMBERS, dtype=np.int64)
    number[st.SPREAD], number[st.BURST_PS] = st.FLOWLET, GAP_PS
    return choose_member(
        row, 0, 2, 0, 5, now, now, GROUPS, GROUP_PTR, SHARE_PTR, SHARE_PORT, burst, port, number
    )  # fmt: skip


def test_a_flowlet_stays_on_its_port_until_it_was_silent() -> None:
    port = st.make_records(4, st.PORT)
    burst = np.full((1, 2 * st.BURST_HOPS), NIL, dtype=np.int64)
    first = choose(0, 0, burst, port)
    assert first in {0, 1}
    port[first].queued = 10_000
    assert [choose(0, now, burst, port) for now in (500, 1_500)] == [first, first]
    # Silent for longer than the gap: it goes where less waits.
    assert choose(0, 1_500 + GAP_PS + 1, burst, port) == 1 - first


def test_a_flowlet_that_came_another_way_leaves_by_a_port_of_the_switch_where_it_is() -> None:
    port = st.make_records(4, st.PORT)
    burst = np.full((1, 2 * st.BURST_HOPS), NIL, dtype=np.int64)
    assert choose(0, 0, burst, port) in {0, 1}
    assert choose(1, 1, burst, port) in {2, 3}


def test_a_flowlet_leaves_a_port_that_is_dead() -> None:
    port = st.make_records(4, st.PORT)
    burst = np.full((1, 2 * st.BURST_HOPS), NIL, dtype=np.int64)
    first = choose(0, 0, burst, port)
    port[first].fault = st.DEAD
    assert choose(0, 1, burst, port) == 1 - first
    port[1 - first].fault = st.DEAD
    assert choose(0, 2, burst, port) == NIL
