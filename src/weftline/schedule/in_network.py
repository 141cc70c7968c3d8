"""An all-reduce in the network: what is sent up aggregation trees, and the sums that come down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weftline.kernels.column import F64, I8, I32, I64, NIL
from weftline.model.fabric import Fabric
from weftline.model.reduction import AggregationTree, ReductionPlan
from weftline.model.traffic import Collective, Flows, Placement, Via, no_times
from weftline.schedule.expansion import host_grid
from weftline.schedule.rings import RingPhase, ring_phase
from weftline.schedule.transfers import check_count, join_times, make_flows

MAX_CHUNKS = 256
LEAST_CHUNK = 16 * 1024
UNIT = 4096
"""Chunks end where packets of the largest MTU do."""
WINDOW_CHUNKS = 16
WINDOW_BYTES = 1 << 20
"""What a tree has under way where no part says it: this, or 16 chunks where they are more."""
CHUNKS_OF_WINDOW = 8
MOST_CHUNKS = 4096


@dataclass(frozen=True, slots=True)
class Chunks:
    """How the data of one tree is cut, and how much of it is under way at one time."""

    size: F64
    """Bytes of each chunk."""
    window: int
    """Chunks that a member has sent and that have not come back, at most."""
    is_assumed: bool
    """Whether no part says what a tree may have under way."""


def cut_chunks(size_bytes: float, window_bytes: int | None) -> Chunks:
    """Cut the data of a tree: 256 chunks, or fewer of 16 KiB at least, so that levels wait little for each other."""
    units = max(1, math.ceil(size_bytes / UNIT))
    count = min(MAX_CHUNKS, units, max(1, math.ceil(size_bytes / LEAST_CHUNK)))
    if window_bytes is not None:
        count = min(MOST_CHUNKS, units, max(count, math.ceil(size_bytes * CHUNKS_OF_WINDOW / window_bytes)))
    ends = np.minimum(np.arange(count + 1) * units // count * float(UNIT), size_bytes)
    ends[-1] = size_bytes
    size = np.diff(ends)
    held = WINDOW_BYTES if window_bytes is None else window_bytes
    window = max(1, int(held // max(float(size.max()), 1.0)))
    return Chunks(size, max(window, WINDOW_CHUNKS) if window_bytes is None else window, window_bytes is None)


def reduction_chunks(collective: Collective, plan: ReductionPlan, planes: int) -> Chunks:
    """Cut what one tree of a plan carries."""
    windows = [one.window_bytes for one in plan.limits if one.window_bytes is not None]
    share = collective.size_bytes / max(plan.members_per_host, 1) / planes
    return cut_chunks(share, min(windows, default=None))


def expand_reduction(collective: Collective, placement: Placement, plan: ReductionPlan, fabric: Fabric) -> Flows:
    """Turn an all-reduce in the network into flows over single links.

    Ranks of one host reduce-scatter over the network inside it, each sends its part up its trees and gets the sum, and
    the host gathers. A switch sends a chunk up when all its children's have come, and down when the one from above has.

    Raises:
        SpecError: ``spec.too-many-flows``.
    """
    planes = placement.rank_port.shape[1]
    chunks = reduction_chunks(collective, plan, planes)
    edges = sum(len(tree.rank) + 2 * len(tree.switch) for tree in plan.trees)
    check_count(2 * edges * len(chunks.size), 1, f"all-reduce in the network over {collective.ranks} ranks")
    grid = host_grid(placement)
    members = grid.shape[1]
    within = RingPhase(grid, members - 1, collective.size_bytes / members, Via.HOST)
    enter = np.full(collective.ranks, NIL, dtype=np.int32)
    scatter, leave = ring_phase(within, enter)
    one_port = replace(placement, rank_port=np.ascontiguousarray(placement.rank_port[:, :1]))
    parts = [make_flows(scatter, one_port)]
    base, queue, tag = parts[0].count, _queues(parts[0]), members - 1
    ends: list[list[int]] = [[] for _ in range(collective.ranks)]
    for tree in plan.trees:
        sheet = _Sheet(tree, fabric, chunks, _latency(plan))
        part = sheet.lay(base, queue, tag, leave)
        ranks: list[int] = tree.rank.tolist()
        for rank, flow in zip(ranks, sheet.last(base), strict=True):
            ends[rank].append(flow)
        parts.append(part)
        base, queue = base + part.count, queue + 2 * sheet.edges
    parts.append(_gather(ends, placement, tag + 2 * len(chunks.size)))
    first = base
    base += parts[-1].count
    turn = ring_phase(within, np.arange(first, base, dtype=np.int32), base, tag + 2 * len(chunks.size) + 1)[0]
    last = make_flows(turn, one_port)
    return _join([*parts, last], queue)


def _latency(plan: ReductionPlan) -> float:
    return max((one.latency_ns or 0.0 for one in plan.limits), default=0.0)


class _Sheet:
    """The flows of one chunk on one tree, from which those of all chunks are made.

    First those up, the members' and then those of all switches but the root; then the work of each switch, where
    adding up takes time; then those down in the order of those up.
    """

    def __init__(self, tree: AggregationTree, fabric: Fabric, chunks: Chunks, latency_ns: float) -> None:
        self.tree = tree
        self.chunks = chunks
        self.latency_us = latency_ns / 1000.0
        self.members = len(tree.rank)
        self.edges = self.members + len(tree.switch) - 1
        self.works = len(tree.switch) if latency_ns else 0
        self.width = 2 * self.edges + self.works
        up = np.concatenate((tree.member_port, tree.up_port[1:])).astype(np.int32)
        down = fabric.port_peer[up]
        first = fabric.port_ptr[tree.switch].astype(np.int32) if self.works else np.empty(0, dtype=np.int32)
        self.source = np.concatenate((up, first, down)).astype(np.int32)
        self.target = np.concatenate((down, first, up)).astype(np.int32)

    def last(self, base: int) -> list[int]:
        """List the flows that bring the last chunk to each member."""
        begin = base + (len(self.chunks.size) - 1) * self.width + self.edges + self.works
        return list(range(begin, begin + self.members))

    def _needs(self) -> list[list[int]]:
        """List what each flow of a chunk needs of the same chunk."""
        tree, edges = self.tree, self.edges
        children: list[list[int]] = [[] for _ in range(len(tree.switch))]
        parents: list[int] = [*tree.member_parent.tolist(), *tree.parent.tolist()[1:]]
        for at, above in enumerate(parents):
            children[above].append(at)
        gathered = [[edges + at] for at in range(len(children))] if self.works else children
        free: list[list[int]] = [[] for _ in range(self.members)]
        ups = free + gathered[1:]
        begin = edges + self.works

        def given(above: int) -> list[int]:
            return gathered[0] if above == 0 else [begin + self.members + above - 1]

        downs = [given(above) for above in parents]
        return [*ups, *(children if self.works else []), *downs]

    def lay(self, base: int, queue: int, tag: int, enter: I32) -> Flows:
        """Make the flows of all chunks, which count from ``base``; ``enter`` is what each rank needs first."""
        count, width, edges = len(self.chunks.size), self.width, self.edges
        own = self._needs()
        rows: list[I64] = []
        length = np.tile([len(need) for need in own], count).reshape(count, width)
        flat = np.array([need for needs in own for need in needs], dtype=np.int64)
        begin = edges + self.works
        for chunk in range(count):
            at = base + chunk * width
            first = np.empty(0, dtype=np.int64)
            if chunk == 0:
                known = enter[self.tree.rank]
                first = known[known != NIL].astype(np.int64)
                length[chunk, : self.members] += known != NIL
            elif chunk >= self.chunks.window:
                first = at - self.chunks.window * width + begin + np.arange(self.members)
                length[chunk, : self.members] += 1
            rows += [first, flat + at]
        is_work = np.zeros(width, dtype=bool)
        is_work[edges:begin] = True
        channel = np.full(width, NIL)
        channel[:edges] = queue + np.arange(edges)
        channel[begin:] = queue + edges + np.arange(edges)
        size = np.repeat(self.chunks.size, width)
        size[np.tile(is_work, count)] = 0.0
        step = np.repeat([0, 0, 1], [edges, self.works, edges])
        return Flows(
            source=np.tile(self.source, count),
            target=np.tile(self.target, count),
            via=np.tile(np.where(is_work, Via.WORK, Via.LINK), count).astype(np.int8),
            size_bytes=size,
            need_ptr=np.concatenate(([0], np.cumsum(length))).astype(np.int64),
            need_flow=np.concatenate(rows).astype(np.int32),
            queue=np.tile(channel, count).astype(np.int32),
            tag=(tag + 2 * np.arange(count)[:, None] + step).ravel().astype(np.int32),
            delay_us=np.tile(np.where(is_work, self.latency_us, 0.0), count) if self.works else no_times(),
        )


def _gather(ends: Sequence[Sequence[int]], placement: Placement, tag: int) -> Flows:
    """Let each rank go on when its last chunk has come on every plane: work that takes no time."""
    ranks = len(ends)
    port = np.ascontiguousarray(placement.rank_port[:, 0])
    return Flows(
        source=port,
        target=port.copy(),
        via=np.full(ranks, Via.WORK, dtype=np.int8),
        size_bytes=np.zeros(ranks),
        need_ptr=np.cumsum([0, *map(len, ends)]).astype(np.int64),
        need_flow=np.array([flow for flows in ends for flow in flows], dtype=np.int32),
        queue=np.full(ranks, NIL, dtype=np.int32),
        tag=np.full(ranks, tag, dtype=np.int32),
    )


def _queues(flows: Flows) -> int:
    return int(flows.queue.max(initial=NIL)) + 1


def _join(parts: Sequence[Flows], queues: int) -> Flows:
    """Put phases one after the other; their needs and queues already count from the first of all, but the last's."""
    *_, last = parts
    moved = np.where(last.queue == NIL, NIL, last.queue + queues).astype(np.int32)
    ends = np.cumsum([0, *(len(part.need_flow) for part in parts)])
    pointers = [part.need_ptr[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    via: I8 = np.concatenate([part.via for part in parts])
    return Flows(
        source=np.concatenate([part.source for part in parts]),
        target=np.concatenate([part.target for part in parts]),
        via=via,
        size_bytes=np.concatenate([part.size_bytes for part in parts]),
        need_ptr=np.concatenate((*pointers, ends[-1:])).astype(np.int64),
        need_flow=np.concatenate([part.need_flow for part in parts]).astype(np.int32),
        queue=np.concatenate([*(part.queue for part in parts[:-1]), moved]),
        tag=np.concatenate([part.tag for part in parts]),
        delay_us=join_times([part.delay_us for part in parts], [part.count for part in parts]),
    )
