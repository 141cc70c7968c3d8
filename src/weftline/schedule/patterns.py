"""Loads that are no collective: many to one, a victim beside it, a shift, and storage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import F64, I32, I64, NIL
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.traffic import Flows, Placement, Via
from weftline.schedule.joining import MAX_TIME_US
from weftline.schedule.placement import place_ranks
from weftline.schedule.transfers import Transfers, check_count, make_flows

MAX_ARRIVALS = 2**20
"""Most reads and writes of one storage load."""
MAX_CANDIDATES = 64
"""Receivers that a victim is looked for among, per sender."""
MAX_SOURCES = 512
"""Senders that are tried."""
Walk = Callable[[I32, I32], tuple[I64, I32]]
"""From source and target ports to the directed links on each way, as a CSR pair."""


def spread_ranks(fabric: Fabric) -> Placement:
    """Take every NIC as a rank: all hosts' first NICs, then their second ones."""
    every = place_ranks(fabric)
    order = np.argsort(every.rank_rail, kind="stable")
    return replace(
        every, rank_port=every.rank_port[order], rank_host=every.rank_host[order], rank_rail=every.rank_rail[order]
    )


def incast(
    placement: Placement, senders: int, size_bytes: float, receiver: int = 0, repeats: int = 1, every_us: float = 0.0
) -> Flows:
    """Let the first ``senders`` ranks that are not the receiver send to it at once, ``repeats`` times.

    A sender's next message starts when its last has been sent, and not before ``every_us`` times its number.

    Raises:
        SpecError: ``spec.load``, ``spec.too-many-flows``.
    """
    _check(1 <= senders < placement.ranks, f"{senders} senders of {placement.ranks} NICs", "leave one to receive")
    _check(0 <= receiver < placement.ranks, f"rank {receiver} is no receiver", "choose one of the ranks")
    _check(repeats >= 1 and 0 <= repeats * every_us <= MAX_TIME_US, "repeats are out of range", "give 1 or more")
    planes = placement.rank_port.shape[1]
    check_count(senders * repeats, planes, f"an incast of {senders} senders, {repeats} times")
    ranks = np.arange(placement.ranks, dtype=np.int32)
    source = np.tile(ranks[ranks != receiver][:senders], repeats)
    flows = make_flows(_messages(source, np.full_like(source, receiver), size_bytes), placement)
    if every_us == 0:
        return flows
    return replace(flows, start_us=np.repeat(np.arange(repeats) * every_us, senders * planes))


def shift(placement: Placement, size_bytes: float, by: int) -> Flows:
    """Let rank i send to rank i + ``by``, round all ranks: a permutation without chance.

    Raises:
        SpecError: ``spec.load`` where a rank would send to itself.
    """
    ranks = placement.ranks
    _check(by % ranks != 0, f"a shift by {by} of {ranks} ranks sends to oneself", "choose another distance")
    source = np.arange(ranks, dtype=np.int32)
    return make_flows(_messages(source, ((source + by) % ranks).astype(np.int32), size_bytes), placement)


def find_victim(fabric: Fabric, flows: Flows, walk: Walk) -> tuple[int, int]:
    """Find two ports whose way shares a link with an incast, but not its receiver.

    ``flows`` are those of the incast. The receiver of the victim stands at the switch of the incast's receiver, its
    sender at a switch of a sender; a sender itself is taken where nothing else shares a link. Of all such pairs the
    one is taken whose way has the link that most flows of the incast use; links between switches go before links of
    hosts. Returns (source, target).

    Raises:
        SpecError: ``spec.load`` where nobody can be a victim.
    """
    _, walk_port = walk(flows.source, flows.target)
    used = np.bincount(walk_port, minlength=fabric.port_count)
    between = fabric.node_kind[fabric.port_node[fabric.port_peer]] == NodeKind.SWITCH
    between &= fabric.node_kind[fabric.port_node] == NodeKind.SWITCH
    ends = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL]
    busy = np.isin(ends, flows.source)
    at = fabric.port_node[fabric.port_peer[ends]]
    plane = fabric.port_plane[ends]
    pairs: list[tuple[int, int]] = []
    goals = np.unique(flows.target)
    for goal in goals.tolist():
        same = (at == fabric.port_node[fabric.port_peer[goal]]) & ~np.isin(ends, goals)
        targets = np.concatenate((ends[same & ~busy], ends[same & busy]))[:MAX_CANDIDATES]
        leaves = np.unique(fabric.port_node[fabric.port_peer[np.unique(flows.source)]])
        idle = ends[~busy & ~np.isin(ends, goals) & np.isin(at, leaves) & (plane == fabric.port_plane[goal])]
        _, first = np.unique(fabric.port_node[fabric.port_peer[idle]], return_index=True)
        sources = np.concatenate((idle[np.sort(first)], np.unique(flows.source)))[:MAX_SOURCES]
        pairs += [(a, b) for a in sources.tolist() for b in targets.tolist() if a != b]
    _check(pairs, "no NIC is left for a victim beside this incast", "choose fewer senders")
    source, target = np.array(pairs, dtype=np.int32).T
    ptr, port = walk(np.ascontiguousarray(source), np.ascontiguousarray(target))
    score = used[port] * np.where(between[port], 1 + int(used.max()), 1)
    length = np.diff(ptr)
    best = np.zeros(len(pairs), dtype=np.int64)
    np.maximum.at(best, np.repeat(np.arange(len(pairs)), length), score)
    chosen = int(best.argmax())
    _check(int(best[chosen]) > 0, "no way shares a link with this incast", "choose more senders")
    return pairs[chosen]


def pair_flow(source: int, target: int, size_bytes: float) -> Flows:
    """Send one message from port to port."""
    ends = np.array([source], dtype=np.int32), np.array([target], dtype=np.int32)
    return _port_flows(*ends, np.array([size_bytes], dtype=np.float64), np.empty(0))


@dataclass(frozen=True, slots=True)
class StorageLoad:
    """Reads and writes that arrive at random, at a share of what the storage can carry."""

    load: float
    """Share of the rate of the storage ports, in the direction that carries more; above 0, at most 1."""
    read_bytes: float
    write_bytes: float
    reads: float
    """Share of the bytes that are read, 0 to 1."""
    for_us: float
    """Arrivals stop after this."""
    seed: int = 0


def storage(fabric: Fabric, servers: I32, clients: I32, load: StorageLoad) -> Flows:
    """Let reads and writes between clients and servers (endpoint ports) arrive as a Poisson process.

    A read is a flow from a server to a client, a write one from a client to a server; both ends are drawn evenly, on
    one plane. Where the clients together are slower than the servers, the share is of their rate.

    Raises:
        SpecError: ``spec.load``, ``spec.too-many-flows``.
    """
    _check(0 < load.load <= 1 and 0 <= load.reads <= 1, "a share is out of range", "give shares from 0 to 1")
    _check(0 < load.for_us <= MAX_TIME_US, "the time of the arrivals is out of range", "give microseconds up to 1e9")
    _check(load.read_bytes >= 1 and load.write_bytes >= 1, "a size is out of range", "give 1 byte or more")
    planes = np.intersect1d(fabric.port_plane[servers], fabric.port_plane[clients])
    _check(len(planes) > 0, "there is no storage, or nobody who reads it", "declare extra endpoints, or give servers=")
    servers = servers[np.isin(fabric.port_plane[servers], planes)]
    rate = min(float(fabric.port_rate_gbps[side].sum()) for side in (servers, clients)) * 125.0  # bytes per us
    total = load.load * rate / max(load.reads, 1 - load.reads)
    generator = np.random.Generator(np.random.PCG64(load.seed))
    is_read, time = _arrivals(generator, load, total)
    server = servers[generator.integers(0, len(servers), len(time))]
    client = np.empty(len(time), dtype=np.int32)
    draw = generator.random(len(time))
    for plane in planes.tolist():
        here = fabric.port_plane[server] == plane
        choice = clients[fabric.port_plane[clients] == plane]
        client[here] = choice[(draw[here] * len(choice)).astype(np.int64)]
    source, target = np.where(is_read, server, client), np.where(is_read, client, server)
    size = np.where(is_read, load.read_bytes, load.write_bytes).astype(np.float64)
    return _port_flows(source.astype(np.int32), target.astype(np.int32), size, time)


def _arrivals(generator: np.random.Generator, load: StorageLoad, total: float) -> tuple[np.ndarray, F64]:
    """Draw what arrives, in the order of time: whether it is a read, and when."""
    rates = (total * load.reads / load.read_bytes, total * (1 - load.reads) / load.write_bytes)
    wanted = sum(rates) * load.for_us
    if wanted > MAX_ARRIVALS:
        raise SpecError(
            "spec.too-many-flows",
            f"{wanted:,.0f} reads and writes in {load.for_us:g} us, more than {MAX_ARRIVALS:,}",
            "give a shorter time or larger sizes",
        )
    times: list[F64] = []
    for rate in rates:
        # Ten deviations more than expected: the process has left the time by then.
        count = int(rate * load.for_us + 10 * (rate * load.for_us) ** 0.5 + 10) if rate else 0
        gap = generator.standard_exponential(count, method="inv")
        arrived = np.cumsum(gap) / rate if rate else gap
        times.append(arrived[arrived < load.for_us])
    kind = np.repeat([True, False], [len(times[0]), len(times[1])])
    time = np.concatenate(times)
    order = np.argsort(time, kind="stable")
    return kind[order], time[order]


def _messages(source: I32, target: I32, size: float) -> Transfers:
    """Make messages that wait for nothing but the one before them from the same rank."""
    count = len(source)
    return Transfers(
        source=source,
        target=target,
        via=np.full(count, Via.FABRIC, dtype=np.int8),
        size=np.full(count, float(size)),
        need_ptr=np.zeros(count + 1, dtype=np.int64),
        need=np.empty(0, dtype=np.int32),
        queue=source.copy(),
        tag=np.zeros(count, dtype=np.int32),
    )


def _port_flows(source: I32, target: I32, size: F64, start_us: F64) -> Flows:
    """Make flows from port to port that wait for nothing but their time."""
    count = len(source)
    return Flows(
        source, target, np.full(count, Via.FABRIC, dtype=np.int8), size, np.zeros(count + 1, dtype=np.int64),
        np.empty(0, dtype=np.int32), np.full(count, NIL, dtype=np.int32), np.zeros(count, dtype=np.int32), start_us,
    )  # fmt: skip


def _check(holds: object, message: str, hint: str) -> None:
    if not holds:
        raise SpecError("spec.load", message, hint)
