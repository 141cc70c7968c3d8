from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import chains as reference
from weftline.kernels.chains import count_waits, invert_needs, link_queues, longest_chain
from weftline.kernels.column import F64, I8, NIL


def messages(flows: int) -> tuple[I8, F64, F64]:
    """Make messages without times of their own."""
    return np.zeros(flows, dtype=np.int8), np.empty(0), np.empty(0)


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    """Draw needs of earlier flows, queues and durations."""
    flows = draw(st.integers(1, 12))
    needs = [draw(st.lists(st.integers(0, flow - 1), max_size=3)) if flow else [] for flow in range(flows)]
    queue = [draw(st.integers(NIL, 3)) for _ in range(flows)]
    return needs, queue, [draw(st.integers(0, 9)) for _ in range(flows)]


def column(draw: st.DataObject, flows: int) -> list[int]:
    """Draw a time per flow, or none at all."""
    return [draw.draw(st.integers(0, 9)) for _ in range(flows)] if draw.draw(st.booleans()) else []


@given(orders(), st.integers(0, 4), st.data())
def test_chains_are_those_of_the_recursion(
    order: tuple[list[list[int]], list[int], list[int]], latency: int, data: st.DataObject
) -> None:
    needs, queue, duration = order
    flows = len(needs)
    works = [data.draw(st.booleans()) for _ in range(flows)]
    earliest, delay = column(data, flows), column(data, flows)
    need_ptr = np.cumsum([0, *map(len, needs)]).astype(np.int64)
    successor = link_queues(np.array(queue, dtype=np.int32), 4)
    after_ptr, after_flow = invert_needs(need_ptr, np.array([n for row in needs for n in row], dtype=np.int32))
    waiting = count_waits(need_ptr, successor)
    assert successor.tolist() == reference.successors(queue)
    rows = [after_flow[after_ptr[flow] : after_ptr[flow + 1]].tolist() for flow in range(len(needs))]
    assert rows == reference.dependents(needs)
    assert waiting.tolist() == [len(row) + (flow in reference.successors(queue)) for flow, row in enumerate(needs)]
    longest, last, ordered = longest_chain(
        np.array(duration, dtype=np.float64), float(latency), np.array([2 * w for w in works], dtype=np.int8),
        np.array(earliest, dtype=np.float64), np.array(delay, dtype=np.float64), waiting, successor, after_ptr,
        after_flow,
    )  # fmt: skip
    none = [0] * flows
    assert longest == reference.longest_chain(duration, latency, needs, queue, works, earliest or none, delay or none)
    assert ordered == len(needs)
    assert 0 <= last < len(needs)


def test_a_circle_leaves_flows_over() -> None:
    ptr, flow = invert_needs(np.array([0, 1, 2, 2]), np.array([1, 0], dtype=np.int32))
    successor = np.full(3, NIL, dtype=np.int32)
    waiting = count_waits(np.array([0, 1, 2, 2]), successor)
    longest, last, ordered = longest_chain(np.ones(3), 0.0, *messages(3), waiting, successor, ptr, flow)
    assert (longest, last, ordered) == (1.0, 2, 1)


def test_of_chains_that_are_as_long_the_first_is_named() -> None:
    ptr, flow = invert_needs(np.zeros(4, dtype=np.int64), np.empty(0, dtype=np.int32))
    none = np.full(3, NIL, dtype=np.int32)
    waiting = count_waits(np.zeros(4, dtype=np.int64), none)
    assert longest_chain(np.array([1.0, 2.0, 2.0]), 0.5, *messages(3), waiting, none, ptr, flow) == (2.5, 1, 3)


def test_no_flow_has_no_chain() -> None:
    none = np.empty(0, dtype=np.int32)
    assert longest_chain(np.empty(0), 1.0, *messages(0), none, none, np.zeros(1, dtype=np.int64), none) == (0.0, NIL, 0)
