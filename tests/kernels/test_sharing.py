"""Rates re-solved around a change against rates solved anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference.sharing import rates_of_active
from tests.kernels.test_maxmin import networks
from weftline.kernels.column import NIL
from weftline.kernels.sharing import (
    BEFORE,
    BOUND,
    ENTRY_COLUMNS,
    HEAD,
    MARK,
    NEXT,
    NUMBERS,
    OWNER,
    RESOURCE_COLUMNS,
    SLOT_COLUMNS,
    STAMP,
    USERS,
    solve_group,
)


class Bench:
    """Flows that come and go, one slot each, with the lists that the kernel reads."""

    def __init__(self, paths: list[list[int]], caps: list[int], capacity: list[int]) -> None:
        """Start with every flow away."""
        flows, resources = len(paths), len(capacity)
        self.paths = paths
        self.path_ptr = np.cumsum([0, *map(len, paths)]).astype(np.int32)
        self.path_resource = np.array([r for path in paths for r in path], dtype=np.int32)
        self.caps = np.array(caps, dtype=np.float64)
        self.capacity = np.array(capacity, dtype=np.float64)
        self.slot = np.zeros((flows, SLOT_COLUMNS), dtype=np.int32)
        self.slot[:, BOUND] = NIL
        self.entry = np.full((len(self.path_resource), ENTRY_COLUMNS), NIL, dtype=np.int32)
        self.resource = np.zeros((resources, RESOURCE_COLUMNS), dtype=np.int32)
        self.resource[:, HEAD] = NIL
        self.demand = np.zeros(resources)
        self.rate = np.zeros(flows)
        self.number = np.zeros(NUMBERS, dtype=np.int64)
        self.active: list[int] = []

    def join(self, flow: int) -> None:
        """Let a flow come, without a rate, and solve around it."""
        for hop in range(self.path_ptr[flow], self.path_ptr[flow + 1]):
            at = self.path_resource[hop]
            head = self.resource[at, HEAD]
            self.entry[hop, [NEXT, BEFORE, OWNER]] = (head, NIL, flow)
            if head != NIL:
                self.entry[head, BEFORE] = hop
            self.resource[at, HEAD] = hop
            self.resource[at, USERS] += 1
            self.demand[at] += self.caps[flow]
        self.active.append(flow)
        self.solve([flow])

    def leave(self, flow: int) -> None:
        """Let a flow go and solve around the flows that its resources held down."""
        for hop in range(self.path_ptr[flow], self.path_ptr[flow + 1]):
            at = self.path_resource[hop]
            after, before = self.entry[hop, NEXT], self.entry[hop, BEFORE]
            if before == NIL:
                self.resource[at, HEAD] = after
            else:
                self.entry[before, NEXT] = after
            if after != NIL:
                self.entry[after, BEFORE] = before
            self.resource[at, USERS] -= 1
            self.demand[at] -= self.caps[flow]
        self.active.remove(flow)
        self.rate[flow] = 0.0
        freed = set(self.paths[flow])
        self.solve([other for other in self.active if int(self.slot[other, BOUND]) in freed])

    def solve(self, start: list[int]) -> None:
        """Run the kernel from a group and take over the rates that it found."""
        if not start:
            return
        flows, resources = len(self.paths), len(self.capacity)
        self.number[STAMP] += 1
        group = int(self.number[STAMP])
        members, fresh, bind = np.zeros(flows, np.int32), np.zeros(flows), np.full(flows, NIL, np.int32)
        members[: len(start)] = start
        self.slot[start, MARK] = group
        size = solve_group(
            len(start), group, members, np.zeros(flows, np.int32), np.zeros(resources, np.int32),
            np.zeros(resources, np.int32), self.slot, np.arange(flows, dtype=np.int32), self.rate, fresh, bind,
            self.path_ptr, self.path_resource, self.caps, self.entry, self.resource, self.demand, self.capacity,
            np.zeros(resources), np.zeros(resources, np.int32), self.number,
        )  # fmt: skip
        for member in members[:size].tolist():
            self.rate[member] = fresh[member]
            self.slot[member, BOUND] = bind[member]


@given(networks(), st.lists(st.integers(0, 9), max_size=30))
def test_rates_stay_those_of_a_whole_solve(
    network: tuple[list[list[int]], list[int], list[int]], changes: list[int]
) -> None:
    paths, caps, capacity = network
    bench = Bench(paths, caps, capacity)
    for change in [*range(len(paths)), *changes]:
        flow = change % len(paths)
        if flow in bench.active:
            bench.leave(flow)
        else:
            bench.join(flow)
        wanted = rates_of_active(bench.active, paths, caps, capacity)
        np.testing.assert_allclose(
            [bench.rate[flow] for flow in bench.active], [float(wanted[flow]) for flow in bench.active], rtol=1e-9
        )


def test_a_chain_of_neighbours_needs_the_whole_component() -> None:
    """Each flow shares a link with the next, so that one that leaves changes rates far beyond the first try."""
    length = 24
    paths = [[link, link + 1] for link in range(length)]
    capacity = [10 + (7 * link) % 11 for link in range(length + 1)]
    caps = [100] * length
    bench = Bench(paths, caps, capacity)
    for flow in range(length):
        bench.join(flow)
    for flow in (0, length // 2):
        bench.leave(flow)
        wanted = rates_of_active(bench.active, paths, caps, capacity)
        np.testing.assert_allclose(
            [bench.rate[flow] for flow in bench.active], [float(wanted[flow]) for flow in bench.active], rtol=1e-9
        )
