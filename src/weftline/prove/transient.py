"""A change of tables while packets run: whichever mixture of old and new entries they meet, none loops or deadlocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.channels import find_causes
from weftline.kernels.column import I32, NIL
from weftline.kernels.cycles import find_cycle, rank_channels
from weftline.kernels.reach import IS_ENDPOINT, IS_SKIPPED
from weftline.kernels.repair import count_loops
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof, ProofRules, Verdict, Witness
from weftline.model.routes import GroupTable, Routes, no_route
from weftline.prove.deadlock import MAX_CYCLE_STEPS, build_dependencies
from weftline.prove.reach import CONNECTED_FAILED, judge, measure_distances, prove_reach
from weftline.prove.tables import Tables, read_tables
from weftline.prove.witness import name_destination

CLAIM = "transient"
STATEMENT = (
    "Whatever mixture of the tables before and after a packet meets, at each switch the entry of either, it does not "
    "loop, and the channels that packets of all mixtures hold and wait for form no cycle (one lane). A packet may be "
    "dropped on the way."
)


MOST_PACKED = 4
"""Tables whose entries of 16 bits fit into one number."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """What mixing tables can do."""

    proof: Proof
    looping: I32
    """Destinations whose packets could loop."""


def prove_mixture(fabric: Fabric, tables: Sequence[Routes]) -> Mixture:
    """Prove or refute that packets under any mixture of ``tables`` neither loop nor deadlock in ``fabric``.

    All tables name ports by the same groups. Destinations that are dark count too: packets to them run as
    far as the tables lead. With one table this is the proof of that table alone.
    """
    routes = join_tables(fabric, tables)
    read = read_tables(fabric, routes)
    kind = np.where(read.target_kind == IS_SKIPPED, IS_ENDPOINT, read.target_kind).astype(np.int8)
    # columns that share a walk do so for lit destinations only, so each is walked for itself
    read = replace(read, target_kind=kind, same_as=np.arange(len(kind), dtype=np.int32))
    marks = np.zeros(len(kind), dtype=np.uint8)
    columns = np.arange(len(kind), dtype=np.int32)
    count_loops(columns, read.group, read.group_ptr, read.member_ptr, read.next_row, marks)
    looping = np.flatnonzero(marks).astype(np.int32)
    if len(looping):
        names = [name_destination(fabric, routes, int(goal)) for goal in looping[:3]]
        summary = f"packets to {', '.join(names)} could loop" + (f", of {len(looping):,}" if len(looping) > 3 else "")
        witness = Witness("loop", summary, {"destinations": names, "count": len(looping)})
        return Mixture(_refute(routes, len(looping), "destinations that could loop", witness), looping)
    return Mixture(_judge_channels(fabric, routes, read), looping)


def join_tables(fabric: Fabric, tables: Sequence[Routes]) -> Routes:
    """Join tables into one whose entries name every port that one of them names; no route adds nothing."""
    first = tables[0]
    groups = np.diff(first.group_ptr).astype(np.int64)
    none = no_route(first.group)
    extra: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64) for _ in groups]
    stack = np.stack([routes.group for routes in tables])
    differ = (stack != stack[0]).any(axis=0)
    joined = stack[0].astype(np.uint16)
    joined[stack[0] == none] = np.iinfo(np.uint16).max
    joined[stack[0] == none - 1] = np.iinfo(np.uint16).max - 1
    members: list[list[int]] = []
    for row in np.flatnonzero(differ.any(axis=1)).tolist():
        goals = np.flatnonzero(differ[row])
        kinds, inverse = _list_kinds(stack[:, row, goals])
        numbers = np.zeros(kinds.shape[1], dtype=np.uint16)
        start = len(members)
        for index in range(kinds.shape[1]):
            own = [int(first.group_ptr[row]) + entry for entry in list_distinct(kinds, index) if entry < groups[row]]
            numbers[index] = groups[row] + len(members) - start
            ports = {int(port) for group in own for port in _list_members(first, group)}
            members.append(sorted(ports))
        joined[row, goals] = numbers[inverse.reshape(-1)]
        extra[row] = np.arange(start, len(members))
    return _number(fabric, first, joined, (extra, members))


def _list_members(routes: Routes, group: int) -> I32:
    return routes.member_port[routes.member_ptr[group] : routes.member_ptr[group + 1]]


def _list_kinds(
    entries: NDArray[np.uint8 | np.uint16],
) -> tuple[NDArray[np.uint8 | np.uint16], NDArray[np.int64]]:
    """List the distinct columns, and which of them each column is."""
    if len(entries) > MOST_PACKED:
        kinds, inverse = np.unique(entries, axis=1, return_inverse=True)
        return kinds, inverse.reshape(-1)
    packed = entries[0].astype(np.uint64)  # sorting single numbers is several times quicker than sorting columns
    for row in entries[1:]:
        packed = packed << np.uint64(16) | row.astype(np.uint64)
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    return entries[:, first], inverse.reshape(-1)


def list_distinct(kinds: NDArray[np.uint8 | np.uint16], index: int) -> list[int]:
    """List the distinct entries of a column."""
    return sorted({int(entry) for entry in kinds[:, index]})


def _number(
    fabric: Fabric, first: Routes, joined: NDArray[np.uint16], sets: tuple[list[NDArray[np.int64]], list[list[int]]]
) -> Routes:
    """Put the sets of each row behind its single ports."""
    extra, members = sets
    sizes = list[int]()
    ports = list[int]()
    counts = np.diff(first.group_ptr) + np.array([len(one) for one in extra], dtype=np.int32)
    for row, own in enumerate(extra):
        begin, end = int(first.group_ptr[row]), int(first.group_ptr[row + 1])
        sizes += np.diff(first.member_ptr[begin : end + 1]).tolist()
        ports += first.member_port[first.member_ptr[begin] : first.member_ptr[end]].tolist()
        for index in own:
            sizes.append(len(members[int(index)]))
            ports.extend(members[int(index)])
    return replace(
        first,
        fabric_digest=fabric.digest,
        group=joined,
        group_ptr=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        member_ptr=np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        member_port=np.array(ports, dtype=np.int32),
        member_weight=None,
    )


def _judge_channels(fabric: Fabric, routes: Routes, read: Tables) -> Proof:
    dependencies = build_dependencies(fabric, read)
    if dependencies is None:
        return Proof(CLAIM, True, Verdict.UNKNOWN, "Not judged: the turns would not fit into a GiB.", routes.digest)  # noqa: FBT003
    rank, remaining = rank_channels(*dependencies)
    if not remaining:
        detail: dict[str, Any] = {"dependencies": len(dependencies[1]), "levels": int(rank.max(initial=NIL)) + 1}
        return Proof(CLAIM, True, Verdict.PROVED, STATEMENT, routes.digest, 0, "channels on a cycle", detail=detail)  # noqa: FBT003
    cycle, _ = find_cycle(*dependencies, rank, MAX_CYCLE_STEPS)
    causes, _ = find_causes(
        cycle, fabric.port_node, fabric.switch_row, read.group, read.group_ptr, read.member_ptr, read.member_port,
        read.next_row, read.target_kind, read.target_row, read.home_row, read.home_count, read.own_count,
    )  # fmt: skip
    names = [fabric.link_name(int(port)) for port in cycle]
    told = [name_destination(fabric, routes, int(goal)) for goal in causes if goal != NIL]
    witness = Witness("cycle", " -> ".join([*names[:4], names[0]]), {"cycle": names, "destinations": told})
    return _refute(routes, len(cycle), "channels on the cycle", witness)


def _refute(routes: Routes, bound: int, name: str, witness: Witness) -> Proof:
    return Proof(CLAIM, True, Verdict.REFUTED, STATEMENT, routes.digest, bound, name, witness=witness)  # noqa: FBT003


def prove_rest(fabric: Fabric, routes: Routes, rules: ProofRules) -> Proof:
    """Prove that every pair which the cables of ``fabric`` still join is delivered.

    Entries towards a destination that no cable joins to their switch any more are left out: what they lead to is
    judged by ``prove_mixture``.
    """
    table = cut_foreign(fabric, routes)
    read_routes = replace(routes, fabric_digest=fabric.digest, group=table)
    tables = read_tables(fabric, read_routes)
    return prove_reach(fabric, read_routes, tables, measure_distances(tables, rules), rules)


def count_undelivered(fabric: Fabric, routes: Routes, max_hops: int) -> int:
    """Count the pairs that the cables of ``fabric`` still join and that tables, whoever made them, do not deliver."""
    table = cut_foreign(fabric, routes)
    tables = read_tables(fabric, replace(routes, fabric_digest=fabric.digest, group=table))
    counts, _ = judge(tables, measure_distances(tables, ProofRules()), max_hops)
    return int(counts[CONNECTED_FAILED])


def cut_foreign(fabric: Fabric, routes: Routes) -> GroupTable:
    """Leave out the entries of each switch towards destinations of other components."""
    switch = fabric.node_component[fabric.switch_node]
    port = routes.destination_port
    own = np.where(
        port == NIL,
        fabric.node_component[routes.destination_node],
        fabric.port_component[np.maximum(port, 0)] if fabric.port_count else NIL,
    )
    table = routes.group.copy()
    table[switch[:, None] != own[None, :]] = no_route(table)
    return table
