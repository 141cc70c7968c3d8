"""Deadlock in any failure: numbers of routing devices alone keep every way valley-free, whatever fails or converges.

A router takes no route whose path holds its own number (RFC 4271, 9.1.2). So u sends to v for an origin o only if some
path from v to o avoids the number of u, and v sends on to w only if some path from w to o avoids the number of v. Both
are asked of the intact graph without any link taken out and for paths learnt at different times, so what follows holds
for every set of failures and for every mixture of old and new routes. Channels that wait on each other by these rules
and form no cycle can never deadlock. RFC 7938, 5.2.1, gives the plan of numbers that makes it so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, I64, NIL, digest_parts
from weftline.kernels.cycles import find_cycle, rank_channels
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import DEFAULT_VRF
from weftline.model.proof import Certificate, Proof, Verdict, Witness

CLAIM = "deadlock-in-failures"
MAX_EDGES = 200_000_000
MAX_CYCLE_STEPS = 50_000_000
ADVICE = (
    "give switches of one tier that join the same others one number (RFC 7938, 5.2.1); where there are no tiers, as in "
    "a torus or dragonfly, numbers alone do not help, and routes need a policy that lets none go down and up again"
)
OTHER_PROTOCOLS = ("router ospf", "router isis", "router rip", "router eigrp")


@dataclass(frozen=True, slots=True)
class RoutingGraph:
    """Switches and which of them are linked; parallel links count once."""

    names: tuple[str, ...]
    pairs: I32
    """``[P, 2]``, both directions."""
    origins: I32
    """Switches with endpoints: where packets go to."""
    of: str


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The number of each switch as a small index; NIL where it takes routes with its own number too."""

    index: I32
    doubts: tuple[str, ...]


def prove_failures(graph: RoutingGraph, devices: Mapping[str, ObservedDevice], *, required: bool) -> Proof:
    """Prove or refute that no failure and no transient can close a circle of waiting channels.

    O(numbers * links + sum over switches of neighbours squared times origins / 64).
    """
    statement = (
        f"Whatever links or switches fail, and while routes converge, no cycle among the channels between "
        f"{len(graph.names):,} switches that packets hold and wait for: a router refuses routes that hold its own "
        "number, so that no way leads down and up again. Packets keep their priority (claim lossless)."
    )
    numbers = _read_numbers(graph.names, devices)
    dependencies = None if numbers.doubts else list_dependencies(graph, numbers.index)
    if numbers.doubts or dependencies is None:
        why = numbers.doubts[0] if numbers.doubts else "the channels have too many neighbours"
        return Proof(CLAIM, required, Verdict.UNKNOWN, f"{statement} Not decided: {why}.", graph.of)
    ptr, after = dependencies
    rank, behind = rank_channels(ptr, after)
    detail: dict[str, Any] = {"channels": len(graph.pairs), "dependencies": len(after), "behind_cycles": behind}
    if behind:
        witness = _tell_cycle(graph, devices, ptr, after, rank)
        return Proof(
            CLAIM, required, Verdict.REFUTED, statement, graph.of, len(witness.detail["cycle"]),
            "channels on the cycle", witness=witness, detail=detail,
        )  # fmt: skip
    columns = {"pairs": graph.pairs, "origins": graph.origins, "number": numbers.index, "rank": rank}
    words = "A rank per ordered pair of linked switches that grows along every dependency that their numbers allow."
    certificate = Certificate("rank", words, columns, digest_parts((CLAIM, *columns.values())))
    return Proof(
        CLAIM, required, Verdict.PROVED, statement, graph.of, 0, "channels on a cycle", certificate=certificate,
        detail=detail,
    )  # fmt: skip


def check_failures(proof: Proof) -> bool:
    """Check a proved claim: the dependencies made anew from links and numbers, and each rank below what follows it."""
    certificate = proof.certificate
    if proof.claim != CLAIM or proof.verdict is not Verdict.PROVED or certificate is None:
        return False
    columns = certificate.columns
    if certificate.digest != digest_parts((CLAIM, *columns.values())):
        return False
    rank = columns["rank"].astype(np.int64)
    number, pairs = columns["number"].astype(np.int32), columns["pairs"].astype(np.int32)
    origins = columns["origins"].astype(np.int32)
    graph = RoutingGraph(tuple(map(str, range(len(number)))), pairs, origins, proof.of)
    dependencies = list_dependencies(graph, number)
    if dependencies is None or len(rank) != len(pairs):
        return False
    ptr, after = dependencies
    holder = np.repeat(np.arange(len(rank)), np.diff(ptr))
    return bool(np.all(rank[holder] < rank[after]))


def _read_numbers(names: Sequence[str], devices: Mapping[str, ObservedDevice]) -> _Numbers:
    """Read the numbers; what is not known of one switch leaves all open."""
    found: dict[int, int] = {}
    index: I32 = np.full(len(names), NIL, dtype=np.int32)
    doubts: list[str] = []
    for place, name in enumerate(names):
        device = devices.get(name)
        router = None if device is None else next((one for one in device.routers if one.vrf == DEFAULT_VRF), None)
        if device is None or router is None or router.number is None:
            doubts.append(f"no file says by which number {name} routes")
            continue
        other = next((kind for kind, _ in device.unread if kind.startswith(OTHER_PROTOCOLS)), None)
        if other is not None:
            doubts.append(f"{name} routes by another protocol too ({other})")
        index[place] = found.setdefault(router.number.value, len(found))
        if any(n.allows_own_number is not None and n.allows_own_number.value for n in router.neighbours):
            index[place] = NIL
    return _Numbers(index, tuple(doubts))


def list_dependencies(graph: RoutingGraph, number: I32) -> tuple[I64, I32] | None:
    """List which channel may wait on which, as CSR over the rows of ``pairs``; None where they are too many."""
    size = len(graph.names)
    order = np.lexsort((graph.pairs[:, 1], graph.pairs[:, 0]))
    pairs = graph.pairs[order].astype(np.int64)
    first = np.searchsorted(pairs[:, 0], np.arange(size + 1))
    place = {(int(a), int(b)): int(row) for row, (a, b) in zip(order.tolist(), pairs.tolist(), strict=True)}
    degrees = np.diff(first)
    if int((degrees.astype(np.int64) ** 2).sum()) > MAX_EDGES:
        return None
    parts = _find_parts(size, pairs, number)
    heads: list[I64] = []
    tails: list[I64] = []
    for middle in range(size):
        near = pairs[first[middle] : first[middle + 1], 1]
        if not len(near):
            continue
        # [neighbour, origin]: the neighbour takes a route of the origin from the middle; and the other way round
        takes = np.stack([_meets(parts[int(number[u])], middle, graph.origins) for u in near.tolist()])
        own = parts[int(number[middle])]
        gives = np.stack([_meets(own, w, graph.origins) for w in near.tolist()])
        joint = takes.astype(np.float32) @ gives.astype(np.float32).T > 0
        came, goes = np.nonzero(joint)
        into = np.array([place[u, middle] for u in near.tolist()], dtype=np.int64)
        out = np.array([place[middle, w] for w in near.tolist()], dtype=np.int64)
        heads.append(into[came])
        tails.append(out[goes])
    head = np.concatenate(heads) if heads else np.zeros(0, dtype=np.int64)
    tail = np.concatenate(tails) if tails else np.zeros(0, dtype=np.int64)
    by_head = np.argsort(head, kind="stable")
    ptr = np.searchsorted(head[by_head], np.arange(len(pairs) + 1)).astype(np.int64)
    return ptr, tail[by_head].astype(np.int32)


def _find_parts(size: int, pairs: I64, number: I32) -> dict[int, I32]:
    """Find, for each number, the parts that the graph falls into without the switches of that number.

    Switches that are taken out get NIL; for the number NIL, of who refuses nothing, none is taken out.
    """
    parts: dict[int, I32] = {}
    for out in sorted({NIL, *number.tolist()}):
        gone = (number == out) & (out != NIL)
        kept = ~gone[pairs[:, 0]] & ~gone[pairs[:, 1]]
        parts[out] = np.where(gone, NIL, _label(size, pairs[kept])).astype(np.int32)
    return parts


def _label(size: int, pairs: I64) -> I64:
    """Label each part by its smallest member; O(pairs) per step of the longest way."""
    labels = np.arange(size, dtype=np.int64)
    while True:
        before = labels.copy()
        np.minimum.at(labels, pairs[:, 0], before[pairs[:, 1]])
        labels = labels[labels]
        if np.array_equal(labels, before):
            return labels


def _meets(parts: I32, node: int, origins: I32) -> NDArray[np.bool_]:
    """Mark the origins that a switch can reach within its part."""
    if parts[node] == NIL:
        return np.zeros(len(origins), dtype=bool)
    return parts[origins] == parts[node]


def _tell_cycle(graph: RoutingGraph, devices: Mapping[str, ObservedDevice], ptr: I64, after: I32, rank: I32) -> Witness:
    """Show a shortest cycle with the number and the place in the file of each switch on it."""
    cycle, is_shortest = find_cycle(ptr, after, rank, MAX_CYCLE_STEPS)
    steps: list[dict[str, Any]] = []
    for row in cycle.tolist():
        a, b = (graph.names[int(node)] for node in graph.pairs[row])
        router = next(one for one in devices[a].routers if one.vrf == DEFAULT_VRF)
        steps.append(
            {
                "channel": f"{a}~{b}",
                "number": None if router.number is None else router.number.value,
                "where": str(router.where),
            }
        )
    names = " -> ".join(str(step["channel"]) for step in steps)
    summary = f"after failures packets can wait in a circle: {names}; {ADVICE}"
    return Witness("cycle", summary, {"cycle": steps, "is_shortest": is_shortest})
