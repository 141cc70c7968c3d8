"""Reach: connected pairs are delivered over every choice, loop-free and within the hop bound; other pairs are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weftline.kernels.column import I32, I64, NIL, U8, count_values, digest_parts, digest_rows
from weftline.kernels.reach import FARTHEST, IS_ENDPOINT, IS_SKIPPED, IS_SWITCH, NEVER, judge_reach
from weftline.kernels.threads import run_parts, split_range
from weftline.kernels.tiles import WIDTH, measure_reach
from weftline.model.fabric import Fabric
from weftline.model.proof import Certificate, Proof, ProofRules, Verdict, Witness
from weftline.model.routes import Routes
from weftline.prove.tables import Tables
from weftline.prove.witness import find_delivery, find_failure, find_longest, find_source, name_destination, tell_walk

CLAIM = "reach"
NO_DISTANCE = np.empty((0, 0), dtype=np.uint8)
"""Stands where the distances were not measured."""
LEAST_COLUMNS = 2048
"""Columns that are worth a thread."""

CONNECTED, CONNECTED_FAILED, FOREIGN, FOREIGN_DELIVERED, HOPS, SWITCH_REACHED, SWITCH_ABSENT, SWITCH_FAILED = range(8)


@dataclass(frozen=True, eq=False)
class Judgement:
    """The distances of every switch to every destination, and what ``add_up`` counted from them."""

    distance: U8
    counts: I64
    first: I32
    rows: U8 | None = None
    """The digests of the rows of ``distance``, where they are known."""


@dataclass(frozen=True, slots=True)
class Loose:
    """The pairs of endpoints whose cable ends at another endpoint, not at a switch, and the first of each failure."""

    counts: I64
    failed: tuple[int, int] | None
    delivered: tuple[int, int] | None


def measure_distances(tables: Tables, rules: ProofRules) -> U8:
    """Measure every switch's distance to every destination; ``NO_DISTANCE`` where that takes too many steps."""
    column = tables.columns
    widest = np.diff(tables.member_ptr).max(initial=1)
    if float(len(column)) * tables.group.shape[0] * float(widest) > 10.0 * rules.max_steps:
        return NO_DISTANCE
    distance = np.empty(tables.group.shape, dtype=np.uint8)
    skipped = np.flatnonzero(tables.target_kind == IS_SKIPPED)
    distance[:, skipped] = NEVER
    measure_columns(tables, column, distance)
    return distance


def measure_columns(tables: Tables, column: I32, distance: U8) -> None:
    """Measure some of ``tables.columns``, and all that are like them, on all cores; skipped ones stay as they are."""
    rank = np.searchsorted(column, tables.same_as)
    is_member = (tables.target_kind != IS_SKIPPED) & (rank < len(column))
    is_member[is_member] = column[rank[is_member]] == tables.same_as[is_member]
    like = np.flatnonzero(is_member)
    share = like[np.argsort(tables.same_as[like], kind="stable")].astype(np.int32)
    share_ptr = np.append(np.searchsorted(tables.same_as[share], column), len(share)).astype(np.int32)

    def measure(first: int, last: int) -> int:
        return measure_reach(
            first, last, tables.group, tables.group_ptr, tables.member_ptr, tables.next_row, tables.next_port,
            tables.local, tables.target_kind, tables.target_port, tables.target_row, column, share_ptr, share,
            tables.twin, tables.agrees, distance,
        )  # fmt: skip

    run_parts(split_range(len(column), LEAST_COLUMNS, WIDTH), measure)


def judge_columns(tables: Tables, distance: U8, max_hops: int, column: I32, counts: I64, first: I32) -> None:
    """Judge the pairs of sources and some destinations by their distances, on all cores; see ``judge_reach``."""

    def judge_some(begin: int, end: int) -> None:
        judge_reach(
            begin, end, column, distance, tables.group, tables.no_route, min(max_hops, FARTHEST), tables.target_kind,
            tables.target_row, tables.target_component, tables.source_row, tables.source_component,
            tables.source_count, counts, first,
        )  # fmt: skip

    run_parts(split_range(len(column), LEAST_COLUMNS, WIDTH), judge_some)


def add_up(counts: I64, first: I32) -> tuple[I64, I32]:
    """Add up the counts of all destinations, and find the first failures as ``[source, destination]``."""
    total = counts.sum(axis=0)
    total[HOPS] = counts[:, HOPS].max(initial=0)
    pairs = np.full((3, 2), NIL, dtype=np.int32)
    for which in range(3):
        failed = np.flatnonzero(first[:, which] != NIL)
        if len(failed):
            pairs[which] = first[failed[0], which], failed[0]
    return total, pairs


def judge(tables: Tables, distance: U8, max_hops: int) -> tuple[I64, I32]:
    """Judge the pairs of sources and destinations by their distances; see ``judge_reach``."""
    destinations = len(tables.target_kind)
    counts, first = np.zeros((destinations, 8), dtype=np.int64), np.full((destinations, 3), NIL, dtype=np.int32)
    judge_columns(tables, distance, max_hops, np.arange(destinations, dtype=np.int32), counts, first)
    return add_up(counts, first)


def judge_loose(fabric: Fabric, tables: Tables) -> Loose:
    """Judge the endpoints that are cabled to an endpoint: they reach their peer and nobody else."""
    counts = np.zeros(2 * 2, dtype=np.int64)
    failed: tuple[int, int] | None = None
    delivered: tuple[int, int] | None = None
    is_end = tables.target_kind == IS_ENDPOINT
    for port in tables.endpoint[tables.port_row[tables.endpoint] == NIL].tolist():
        own = is_end & (tables.target_component == fabric.port_component[port]) & (tables.target_port != port)
        met = is_end & (tables.target_port == fabric.port_peer[port])
        lost, foreign = own & ~met, is_end & ~own & (tables.target_port != port)
        counts += [own.sum(), lost.sum(), foreign.sum(), (foreign & met).sum()]
        if failed is None and lost.any():
            failed = (port, int(np.flatnonzero(lost)[0]))
        if delivered is None and (foreign & met).any():
            delivered = (port, int(np.flatnonzero(foreign & met)[0]))
    return Loose(counts, failed, delivered)


def missing_targets(tables: Tables) -> I32:
    """List the lit endpoints that are no destination of the tables."""
    return tables.endpoint[~np.isin(tables.endpoint, tables.target_port)]


def prove_reach(fabric: Fabric, routes: Routes, tables: Tables, distance: U8, rules: ProofRules) -> Proof:
    """Prove or refute reach from the measured distances; unknown where they were not measured."""
    required = CLAIM in rules.required
    if distance is NO_DISTANCE:
        return Proof(
            CLAIM, required, Verdict.UNKNOWN, "Reach was not judged: it would take more table steps than allowed.",
            routes.digest, detail={"max_steps": rules.max_steps},
        )  # fmt: skip
    judged = Judgement(distance, *judge(tables, distance, rules.max_hops))
    return conclude(fabric, routes, tables, judged, rules)


def digest_distances(distance: U8, rows: U8 | None = None) -> str:
    """Digest a certificate: over the digests of its rows, which may be known."""
    return digest_parts((CLAIM, str(distance.shape), digest_rows(distance) if rows is None else rows))


def conclude(fabric: Fabric, routes: Routes, tables: Tables, judged: Judgement, rules: ProofRules) -> Proof:
    """Prove or refute reach from what ``judge`` counted."""
    required = CLAIM in rules.required
    distance, counts, first = judged.distance, judged.counts.copy(), judged.first
    loose = judge_loose(fabric, tables)
    counts[:4] += loose.counts
    missing = missing_targets(tables)
    detail = tell_counts(tables, counts, len(missing), rules.max_hops)
    witness = (
        _witness_missing(fabric, missing)
        or _witness_pair(fabric, routes, tables, distance, first)
        or _witness_loose(fabric, routes, loose)
        or _witness_switch(fabric, routes, tables, distance, first)
        or _witness_absent(counts, rules)
    )
    statement = state(detail)
    if witness is not None:
        return Proof(
            CLAIM, required, Verdict.REFUTED, statement, routes.digest, _count_wrong(detail, rules),
            f"wrong of {detail['connected_pairs'] + detail['foreign_pairs']:,} pairs", witness=witness, detail=detail,
        )  # fmt: skip
    columns = {"distance": distance}
    certificate = Certificate(
        "distance",
        "A distance per switch and destination that falls at every hop by every member; 255: never delivered.",
        columns,
        digest_distances(distance, judged.rows),
    )
    return Proof(
        CLAIM, required, Verdict.PROVED, statement, routes.digest, int(counts[HOPS]), "switches on a path",
        certificate=certificate, detail=detail,
    )  # fmt: skip


def tell_counts(tables: Tables, counts: I64, missing: int, max_hops: int) -> dict[str, Any]:
    """Give the counts their names."""
    ends = tables.target_port[tables.target_kind == IS_ENDPOINT]
    further = len(ends) - len(count_values(ends)[0])
    return {
        "endpoints": len(tables.endpoint),
        "connected_pairs": int(counts[CONNECTED]),
        "failed_pairs": int(counts[CONNECTED_FAILED]),
        "foreign_pairs": int(counts[FOREIGN]),
        "delivered_foreign_pairs": int(counts[FOREIGN_DELIVERED]),
        "endpoints_without_column": missing,
        "switch_destinations": int(np.count_nonzero(tables.target_kind == IS_SWITCH)),
        "switch_pairs_reached": int(counts[SWITCH_REACHED]),
        "switch_pairs_absent": int(counts[SWITCH_ABSENT]),
        "switch_pairs_failed": int(counts[SWITCH_FAILED]),
        "max_hops": max_hops,
        **({"further_addresses": further} if further else {}),
    }


def _count_wrong(detail: dict[str, Any], rules: ProofRules) -> int:
    """Count what refutes: pairs that fail or are delivered and should not be, and endpoints without a column."""
    keys = ["failed_pairs", "delivered_foreign_pairs", "switch_pairs_failed", "endpoints_without_column"]
    if rules.switches_required:
        keys.append("switch_pairs_absent")
    return max(1, sum(int(detail[key]) for key in keys))


def state(detail: Mapping[str, Any]) -> str:
    """Say what was judged."""
    pairs = "ordered pairs of endpoints of one component"
    if detail.get("further_addresses"):
        further = f"{detail['further_addresses']:,} further addresses included"
        pairs = f"ordered pairs of an endpoint and an address of another of one component, {further},"
    text = (
        f"Each of {detail['connected_pairs']:,} {pairs} is delivered, by every "
        f"choice of every port group, without a loop and over at most {detail['max_hops']} switches"
    )
    if detail["foreign_pairs"]:
        text += f"; none of {detail['foreign_pairs']:,} pairs of different components is delivered"
    if detail["switch_destinations"]:
        text += (
            f"; of the pairs of a leaf and a switch {detail['switch_pairs_reached']:,} are delivered and "
            f"{detail['switch_pairs_absent']:,} are absent from the tables"
        )
    return text + "."


def _witness_missing(fabric: Fabric, missing: I32) -> Witness | None:
    """Show a lit endpoint that the tables do not know."""
    if not len(missing):
        return None
    name = fabric.port_name(int(missing[0]))
    return Witness("no-route", f"{name} is no destination of the tables", {"destination": name, "hops": []})


def _witness_pair(fabric: Fabric, routes: Routes, tables: Tables, distance: U8, first: I32) -> Witness | None:
    """Show a connected pair that fails, else a foreign pair that does not."""
    source, goal = first[0].tolist()
    if source != NIL:
        return _walk(fabric, routes, tables, distance, source, goal)
    source, goal = first[1].tolist()
    if source == NIL:
        return None
    start = find_source(fabric, tables, source, int(tables.target_port[goal]))
    walk = find_delivery(tables, int(tables.source_row[source]), goal)
    return tell_walk(fabric, routes, start, goal, walk)


def _walk(fabric: Fabric, routes: Routes, tables: Tables, distance: U8, source: int, goal: int) -> Witness:
    """Show how a walk from a source to a destination fails or grows too long."""
    row = int(tables.source_row[source])
    start = find_source(fabric, tables, source, int(tables.target_port[goal]))
    walk = find_failure(fabric, tables, row, goal) or find_longest(tables, distance, row, goal)
    return tell_walk(fabric, routes, start, goal, walk)


def _witness_loose(fabric: Fabric, routes: Routes, loose: Loose) -> Witness | None:
    """Show a pair at a cable between two endpoints that fails."""
    pair = loose.failed or loose.delivered
    if pair is None:
        return None
    peer, goal = fabric.port_name(int(fabric.port_peer[pair[0]])), name_destination(fabric, routes, pair[1])
    why = f"{fabric.port_name(pair[0])} is cabled to {peer} and to no switch"
    kind = "misdelivered" if pair is loose.failed else "delivered"
    return Witness(kind, f"{fabric.port_name(pair[0])} to {goal}: {why}", {"destination": goal, "reason": why})


def _witness_switch(fabric: Fabric, routes: Routes, tables: Tables, distance: U8, first: I32) -> Witness | None:
    """Show a walk to a switch that goes wrong."""
    source, goal = first[2].tolist()
    return None if source == NIL else _walk(fabric, routes, tables, distance, source, goal)


def _witness_absent(counts: I64, rules: ProofRules) -> Witness | None:
    """Show that switches are absent where the rules want them reached."""
    if not rules.switches_required or not counts[SWITCH_ABSENT]:
        return None
    absent = int(counts[SWITCH_ABSENT])
    return Witness("no-route", f"{absent} pairs of a leaf and a switch are absent from the tables", {"absent": absent})
