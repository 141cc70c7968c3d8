"""Traffic: collectives over placed ranks, and the flows that they become."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

import numpy as np

from weftline.kernels.column import F64, I8, I32, I64, freeze

CollectiveKind = Literal[
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "gather", "scatter", "permutation"
]
Algorithm = Literal["ring", "hierarchical", "tree", "double-binary-tree", "halving-doubling", "in-network"]


class Via(IntEnum):
    """Which network a flow uses."""

    FABRIC = 0
    HOST = 1
    """The network inside a host (NVLink)."""
    WORK = 2
    """None: work of ``delay_us`` at its source, such as a kernel on a GPU, which others wait for."""
    LINK = 3
    """One link of the fabric, between a port and its peer: what a switch sends or takes itself."""


def no_times() -> F64:
    """Return the column of flows of which none has a time of its own."""
    return np.empty(0)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the ranks of a collective stand: rank r is one GPU with one NIC of ``planes`` ports."""

    rank_port: I32
    """``[ranks, planes]``: the endpoint ports (fabric port indices) of each rank, one per plane."""
    rank_host: I32
    """Node index of the host of each rank."""
    rank_rail: I32
    """Which NIC of its host each rank uses, counted from 0."""
    order: Literal["order", "random"]
    seed: int

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.rank_port, self.rank_host, self.rank_rail)

    @property
    def ranks(self) -> int:
        """Count the ranks."""
        return len(self.rank_host)


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective operation; ``size_bytes`` is the S of nccl-tests: the whole array for each kind."""

    kind: CollectiveKind
    algorithm: Algorithm
    size_bytes: int
    ranks: int

    @property
    def busbw_factor(self) -> float:
        """Factor from size over time to bus bandwidth.

        Source: nccl-tests, doc/PERFORMANCE.md: 2(n-1)/n for all-reduce, (n-1)/n for all-gather, reduce-scatter,
        all-to-all, gather and scatter, 1 for broadcast and for messages between pairs.
        """
        if self.ranks < 2:
            return 0.0
        share = (self.ranks - 1) / self.ranks
        return {"all-reduce": 2 * share, "broadcast": 1.0, "permutation": 1.0}.get(self.kind, share)

    def bus_bandwidth(self, time_us: float) -> float | None:
        """Bus bandwidth in GB/s when it takes ``time_us``; None where it takes no time."""
        return self.size_bytes * self.busbw_factor / time_us / 1000.0 if time_us > 0 else None


@dataclass(frozen=True, slots=True)
class JobTraffic:
    """The gradient all-reduce of one training job: G data-parallel groups that work at the same time.

    Ranks are numbered as Megatron-LM numbers them: tensor-parallel fastest, then data-parallel, then pipeline.
    """

    job: str
    placement: Placement
    group_rank: I32
    """``[groups, data_parallel]``: the ranks of each group."""
    collective: Collective
    """What each group does."""
    members_per_host: int
    """Ranks of a group that share a host; 0 where that differs from host to host."""
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.group_rank)


@dataclass(frozen=True, slots=True)
class Flows:
    """F transfers and what each waits for.

    A flow is ready when every flow in ``need_flow[need_ptr[f]:need_ptr[f + 1]]`` has *arrived at its receiver*
    (sent, plus the message latency), and the flow before it in its queue has been sent. A queue is an in-order
    channel, such as the queue pair of a sender: its flows go out in index order, one at a time, and
    those to one receiver arrive in it. A flow starts ``delay_us`` after it is ready and its ``start_us`` has come.

    Work (``Via.WORK``) sends nothing: it has arrived, without latency, as soon as its delay is over.
    """

    source: I32
    """Endpoint port (fabric port index) that sends."""
    target: I32
    via: I8
    size_bytes: F64
    need_ptr: I64
    need_flow: I32
    queue: I32
    """Queue of each flow, numbered from 0; NIL for a flow in no queue."""
    tag: I32
    """Step or phase of the collective, for series and pictures."""
    start_us: F64 = field(default_factory=no_times)
    """Microseconds before which each flow does not start; empty where no flow has such a time."""
    delay_us: F64 = field(default_factory=no_times)
    """Microseconds that each flow waits once nothing else holds it; empty where no flow waits."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(
            self.source, self.target, self.via, self.size_bytes, self.need_ptr, self.need_flow, self.queue, self.tag,
            self.start_us, self.delay_us,
        )  # fmt: skip

    @property
    def count(self) -> int:
        """Count the flows."""
        return len(self.source)


@dataclass(frozen=True, slots=True)
class Load:
    """Flows that belong together, such as those of a collective or of a storage, and where they stand among others."""

    kind: str
    title: str
    first: int
    count: int
    collective: Collective | None
    """What a bus bandwidth can be given for."""
    start_us: float
    """When its first flow may start."""
