"""Reach and deadlock after a small change: what the change does not touch is kept from the proofs before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weftline.kernels.column import I32, I64, NIL, U8, digest_parts, digest_rows, renew_digests
from weftline.kernels.growth import count_new_waits
from weftline.kernels.reach import keep_columns
from weftline.kernels.sheet import Sheet, share
from weftline.model.fabric import Fabric
from weftline.model.proof import Certificate, Proof, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import deadlock, reach
from weftline.prove.tables import Tables, read_tables

COMPARED = 1024
"""Columns that are compared at once."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Routes with the proofs of reach and deadlock, and what the next proofs can keep of them."""

    fabric: Fabric
    routes: Routes
    rules: ProofRules
    tables: Tables
    distance: U8
    counts: I64
    """Per destination, what ``judge_reach`` counts."""
    first: I32
    proofs: tuple[Proof, Proof]
    """Reach and deadlock."""
    measured: int
    """Columns whose distances were measured."""
    has_new_ranks: bool
    """Whether ranks were searched, and not only checked."""
    rows: U8
    """The digests of the rows of ``distance``."""

    @cached_property
    def sheet(self) -> Sheet[np.uint8]:
        """Where the distances of the next proofs are copied from."""
        return share(self.distance)


@dataclass(frozen=True, eq=False)
class Changed:
    """Entries that may differ between two tables; all others are equal."""

    row: I32
    goal: I32


def judge_routes(fabric: Fabric, routes: Routes, rules: ProofRules) -> Judged:
    """Prove reach and deadlock from scratch, and keep what a change needs."""
    tables = read_tables(fabric, routes)
    distance = reach.measure_distances(tables, rules)
    rows = digest_rows(distance)
    every = np.arange(len(tables.target_kind), dtype=np.int32)
    counts, first = _judge_columns(tables, distance, rules, every)
    proofs = (
        _prove_reach(fabric, routes, tables, reach.Judgement(distance, *reach.add_up(counts, first), rows), rules),
        deadlock.prove_deadlock(fabric, routes, tables, rules),
    )
    return Judged(
        fabric, routes, rules, tables, distance, counts, first, proofs, len(tables.columns), has_new_ranks=True,
        rows=rows,
    )  # fmt: skip


def prove_change(before: Judged, fabric: Fabric, routes: Routes, changed: Changed) -> Judged:
    """Prove reach and deadlock of tables that differ from those before by some entries, and by links that are gone.

    The verdicts, and the counts of reach, are those of ``judge_routes``. Distances are measured again where a changed
    entry does not come to the same one, pairs are counted again where distances or endpoints changed, and ranks are
    searched again only where the changed entries violate those before: else these still grow along everything that
    packets can wait for, which is what a certificate says. Where the two tables have nothing to share all is judged
    anew.
    """
    if not _is_comparable(before, fabric, routes):
        return judge_routes(fabric, routes, before.rules)
    tables = read_tables(fabric, routes)
    row, goal = _find_affected(before.tables, tables, changed)
    measure, is_new_kind = _choose_columns(before, tables, row, goal)
    distance = before.sheet.fork()
    reach.measure_columns(tables, np.unique(tables.same_as[measure]).astype(np.int32), distance)
    distance[:, is_new_kind & (tables.target_kind == reach.IS_SKIPPED)] = reach.NEVER
    again = np.flatnonzero(measure) if _has_same_sources(before.tables, tables) else np.arange(len(measure))
    counts, first = before.counts.copy(), before.first.copy()
    max_hops = before.rules.max_hops
    reach.judge_columns(tables, distance, max_hops, again.astype(np.int32), counts, first)
    rows = _renew_rows(before, distance, np.flatnonzero(measure).astype(np.int32))
    kept = _keep_ranks(before, fabric, routes, tables, row, goal)
    proofs = (
        reach.conclude(
            fabric, routes, tables, reach.Judgement(distance, *reach.add_up(counts, first), rows), before.rules
        ),
        kept or deadlock.prove_deadlock(fabric, routes, tables, before.rules),
    )
    return Judged(
        fabric, routes, before.rules, tables, distance, counts, first, proofs, int(measure.sum()),
        has_new_ranks=kept is None, rows=rows,
    )  # fmt: skip


def _judge_columns(tables: Tables, distance: U8, rules: ProofRules, column: I32) -> tuple[I64, I32]:
    """Judge every column, unless nothing was measured."""
    counts = np.zeros((len(column), 8), dtype=np.int64)
    first = np.full((len(column), 3), NIL, dtype=np.int32)
    if distance is not reach.NO_DISTANCE:
        reach.judge_columns(tables, distance, rules.max_hops, column, counts, first)
    return counts, first


def _renew_rows(before: Judged, distance: U8, column: I32) -> U8:
    """Digest the rows again in which some of the measured columns differ."""
    if 2 * len(column) > distance.shape[1]:
        return digest_rows(distance)
    differs = np.zeros(len(distance), dtype=bool)
    for first in range(0, len(column), COMPARED):
        some = column[first : first + COMPARED]
        differs |= np.any(distance[:, some] != before.distance[:, some], axis=1)
    return renew_digests(before.rows, distance, np.flatnonzero(differs).astype(np.int32))


def _prove_reach(fabric: Fabric, routes: Routes, tables: Tables, judged: reach.Judgement, rules: ProofRules) -> Proof:
    """Conclude from what was counted, unless nothing was measured."""
    if judged.distance is reach.NO_DISTANCE:
        return reach.prove_reach(fabric, routes, tables, judged.distance, rules)
    return reach.conclude(fabric, routes, tables, judged, rules)


def _is_comparable(before: Judged, fabric: Fabric, routes: Routes) -> bool:
    """Judge whether tables name the same ports in the same groups for the same destinations, on one lane."""
    old = before.routes
    pairs = (
        (old.group_ptr, routes.group_ptr), (old.member_ptr, routes.member_ptr), (old.member_port, routes.member_port),
        (old.destination_port, routes.destination_port), (old.destination_node, routes.destination_node),
        (before.fabric.port_ptr, fabric.port_ptr),
    )  # fmt: skip
    is_same = all(a is b or np.array_equal(a, b) for a, b in pairs) and old.group.shape == routes.group.shape
    return is_same and before.distance is not reach.NO_DISTANCE and routes.group.dtype == old.group.dtype


def _find_affected(old: Tables, new: Tables, changed: Changed) -> tuple[I32, I32]:
    """List changed entries, and those whose members lead elsewhere now, by destination."""
    rows, goals = [changed.row], [changed.goal]
    differs = (old.next_row != new.next_row) | (old.next_port != new.next_port)
    members = np.flatnonzero(differs)
    groups = np.unique(np.searchsorted(new.member_ptr, members, side="right") - 1)
    owners = np.searchsorted(new.group_ptr, groups, side="right") - 1
    for group, row in zip(groups.tolist(), owners.tolist(), strict=True):
        goal = np.flatnonzero(new.group[row] == group - int(new.group_ptr[row])).astype(np.int32)
        rows.append(np.full(len(goal), row, dtype=np.int32))
        goals.append(goal)
    row, goal = np.concatenate(rows), np.concatenate(goals)
    order = np.lexsort((row, goal))
    return row[order].astype(np.int32), goal[order].astype(np.int32)


def _choose_columns(before: Judged, tables: Tables, row: I32, goal: I32) -> tuple[Any, Any]:
    """Mark the destinations to measure again, and those that became another kind."""
    old = before.tables
    is_new_kind = (old.target_kind != tables.target_kind) | (old.target_row != tables.target_row)
    column, start = np.unique(goal, return_index=True)
    kept = keep_columns(
        column.astype(np.int32), np.append(start, len(goal)).astype(np.int32), row, before.distance, tables.group,
        tables.group_ptr, tables.member_ptr, tables.next_row, tables.next_port, tables.target_kind, tables.target_port,
    )  # fmt: skip
    measure = is_new_kind.copy()
    measure[column[kept == 0]] = True
    # what shares a column is measured together
    shared = np.zeros(len(measure), dtype=bool)
    shared[tables.same_as[measure]] = True
    return shared[tables.same_as] | measure, is_new_kind


def _has_same_sources(old: Tables, new: Tables) -> bool:
    """Judge whether the same endpoints send, and belong together, as before."""
    names = ("source_row", "source_component", "source_count", "target_component", "target_row", "target_kind")
    return all(np.array_equal(getattr(old, name), getattr(new, name)) for name in names)


def _keep_ranks(before: Judged, fabric: Fabric, routes: Routes, tables: Tables, row: I32, goal: I32) -> Proof | None:
    """Prove freedom from deadlock by the ranks before; None where they do not do for the changed entries."""
    certificate = before.proofs[1].certificate
    if before.proofs[1].verdict is not Verdict.PROVED or certificate is None or routes.lanes is not None:
        return None
    if before.routes.lanes is not None or len(np.setdiff1d(tables.home_row, before.tables.home_row)):
        return None
    ranks = np.array(certificate.columns["rank"], dtype=np.int32)
    wrong = count_new_waits(
        row, goal, ranks[0], fabric.port_ptr, fabric.port_peer, fabric.port_node, fabric.switch_row,
        fabric.switch_node, tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row,
    )  # fmt: skip
    if wrong:
        return None
    channels = deadlock.find_channels(fabric, tables)
    is_channel = np.zeros(fabric.port_count, dtype=bool)
    is_channel[channels] = True
    if np.any(ranks[0, channels] == NIL):
        return None
    ranks[0, ~is_channel] = NIL
    detail = {
        **before.proofs[1].detail,
        "channels": len(channels),
        "dependencies": None,
        "levels": int(ranks.max(initial=NIL)) + 1,
    }
    return replace(
        before.proofs[1],
        of=routes.digest,
        detail=detail,
        certificate=Certificate(
            certificate.kind, certificate.statement, {"rank": ranks}, digest_parts((deadlock.CLAIM, ranks))
        ),
    )
