"""Deadlock: the channels that traffic uses one after another form no cycle, in any lane."""

from __future__ import annotations

from typing import Any

import numpy as np

from weftline.kernels.channels import find_causes, list_dependencies, mark_turns
from weftline.kernels.column import I32, I64, NIL, U64, digest_parts
from weftline.kernels.cycles import find_cycle, rank_channels
from weftline.kernels.threads import run_parts, split_range
from weftline.kernels.tiles import WIDTH
from weftline.model.fabric import Fabric
from weftline.model.lanes import LaneSteps
from weftline.model.proof import Certificate, Proof, ProofRules, Verdict, Witness
from weftline.model.routes import Routes
from weftline.prove.steps import judge_steps, state_steps
from weftline.prove.tables import Tables, view_lane
from weftline.prove.witness import name_destination

CLAIM = "deadlock"
MAX_TURN_BYTES = 1 << 30
WORD_BYTES = 8
LEAST_COLUMNS = 2048
"""Columns that are worth a thread."""
MAX_CYCLE_STEPS = 50_000_000
"""Edge visits that the search for the shortest cycle may take."""
UNWANTED: U64 = np.zeros((0, 0), dtype=np.uint64)
UNJUDGED = "Deadlock was not judged: the turns would not fit into a GiB."


def build_dependencies(fabric: Fabric, *views: Tables) -> tuple[I64, I32] | None:
    """List which channel waits on which, as CSR over ports; None where the marks would take over a GiB.

    Of several views of the same tables, of other destinations and sources, all count together.
    """
    tables = views[0]
    turn_ptr = place_turns(tables)
    if turn_ptr[-1] * WORD_BYTES > MAX_TURN_BYTES:
        return None
    turn = np.zeros(int(turn_ptr[-1]), dtype=np.uint64)
    for view in views:
        turn |= gather_turns(view, turn_ptr)
    return list_dependencies(
        turn, turn_ptr, fabric.port_ptr, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row,
        fabric.switch_node, fabric.port_count,
    )  # fmt: skip


def place_turns(tables: Tables) -> I64:
    """Place the words of bits of every member: a bit per group of the switch that it leads to."""
    groups = np.diff(tables.group_ptr).astype(np.int64)
    words = np.zeros(len(tables.next_row) + 1, dtype=np.int64)
    leads = np.flatnonzero(tables.next_row >= 0)
    words[leads + 1] = (groups[tables.next_row[leads]] + 63) // 64
    return np.cumsum(words)


def gather_turns(view: Tables, turn_ptr: I64, reached: U64 = UNWANTED) -> U64:
    """Mark the turns of a view's traffic, on all cores, and in ``reached`` which rows it comes by."""
    column = view.columns

    def mark(first: int, last: int) -> U64:
        turn = np.zeros(int(turn_ptr[-1]), dtype=np.uint64)
        mark_turns(
            first, last, column, view.twin, view.agrees, view.group, view.group_ptr, view.member_ptr, view.next_row,
            view.target_row, view.home_row, view.home_count, view.own_count, turn_ptr, turn, reached,
        )  # fmt: skip
        return turn

    parts = run_parts(split_range(len(column), LEAST_COLUMNS, WIDTH), mark)
    return np.bitwise_or.reduce(parts) if parts else np.zeros(int(turn_ptr[-1]), dtype=np.uint64)


def find_channels(fabric: Fabric, tables: Tables) -> I32:
    """List the channels: the ports of switches that lead to switches."""
    is_own = fabric.switch_row[fabric.port_node] != NIL
    return np.flatnonzero(is_own & (tables.port_row != NIL)).astype(np.int32)


def state(routes: Routes) -> str:
    """Say what is claimed of routes of one or of several lanes."""
    lanes = "one lane each"
    if routes.lanes is not None and routes.steps is not None:
        lanes = state_steps(routes.lanes)
    elif routes.lanes is not None:
        many = "1 lane" if routes.lane_count == 1 else f"{routes.lane_count} lanes"
        lanes = f"{many} each; packets are on the lane of their destination"
        if routes.lanes.with_answers:
            lanes += ", answers on that of their source"
    return (
        f"No cycle among the channels between switches ({lanes}) that packets hold and wait for, following every "
        "choice from every switch with endpoints to every connected destination."
    )


def prove_deadlock(fabric: Fabric, routes: Routes, tables: Tables, rules: ProofRules) -> Proof:
    """Prove or refute freedom from deadlock lane by lane; unknown where it would take too much memory.

    A channel is a lane of a link, and a packet waits inside its lane only, so that lanes are judged one by one.
    """
    required = CLAIM in rules.required
    if routes.steps is not None:
        return _prove_steps(fabric, routes, tables, routes.steps, required=required)
    channels = find_channels(fabric, tables)
    ranks = np.full((routes.lane_count, fabric.port_count), NIL, dtype=np.int32)
    count, behind, levels = 0, 0, 0
    witness: Witness | None = None
    for lane in range(routes.lane_count):
        views = view_lane(tables, routes, lane)
        dependencies = build_dependencies(fabric, *views)
        if dependencies is None:
            return Proof(CLAIM, required, Verdict.UNKNOWN, UNJUDGED, routes.digest)
        rank, remaining = rank_channels(*dependencies)
        if remaining and witness is None:
            witness = _witness_cycle(fabric, routes, views, dependencies, rank, lane)
        ranks[lane, channels] = rank[channels]
        count += len(dependencies[1])
        behind += remaining
        levels = max(levels, int(rank.max(initial=NIL)) + 1)
    detail: dict[str, Any] = {
        "lanes": routes.lane_count,
        "channels": len(channels) * routes.lane_count,
        "dependencies": count,
        "channels_on_or_behind_cycles": behind,
        "levels": levels,
    }
    return _conclude(routes, ranks, witness, detail, required=required)


def _prove_steps(fabric: Fabric, routes: Routes, tables: Tables, steps: LaneSteps, *, required: bool) -> Proof:
    """Prove or refute it where packets change lanes: lanes wait for each other, so that all are judged together."""
    judged = judge_steps(fabric, routes, tables, steps)
    if judged is None:
        return Proof(CLAIM, required, Verdict.UNKNOWN, UNJUDGED, routes.digest)
    ranks, count, behind, witness = judged
    detail: dict[str, Any] = {
        "lanes": routes.lane_count,
        "channels": len(find_channels(fabric, tables)) * routes.lane_count,
        "dependencies": count,
        "channels_on_or_behind_cycles": behind,
        "levels": int(ranks.max(initial=NIL)) + 1,
    }
    return _conclude(routes, ranks, witness, detail, required=required)


def _conclude(routes: Routes, ranks: I32, witness: Witness | None, detail: dict[str, Any], *, required: bool) -> Proof:
    """Make the proof: refuted with its witness, or proved with the ranks."""
    if witness is not None:
        return Proof(
            CLAIM, required, Verdict.REFUTED, state(routes), routes.digest, len(witness.detail["cycle"]),
            "channels on the cycle", witness=witness, detail=detail,
        )  # fmt: skip
    certificate = Certificate(
        "rank",
        "A rank per lane and transmitting port that grows along every dependency.",
        {"rank": ranks},
        digest_parts((CLAIM, ranks)),
    )
    return Proof(
        CLAIM, required, Verdict.PROVED, state(routes), routes.digest, 0, "channels on a cycle",
        certificate=certificate, detail=detail,
    )  # fmt: skip


def _witness_cycle(
    fabric: Fabric,
    routes: Routes,
    views: tuple[Tables, ...],
    dependencies: tuple[I64, I32],
    rank: I32,
    lane: int,
) -> Witness:
    """Show a shortest cycle of a lane, and for each step a destination whose packets hold and wait so."""
    cycle, is_shortest = find_cycle(*dependencies, rank, MAX_CYCLE_STEPS)
    found = [
        find_causes(
            cycle, fabric.port_node, fabric.switch_row, view.group, view.group_ptr, view.member_ptr, view.member_port,
            view.next_row, view.target_kind, view.target_row, view.home_row, view.home_count, view.own_count,
        )
        for view in views
    ]  # fmt: skip
    names = [fabric.link_name(int(port)) for port in cycle]
    steps: list[dict[str, object]] = []
    for i, name in enumerate(names):
        which = next(which for which, (causes, _) in enumerate(found) if causes[i] != NIL)
        causes, origins = found[which]
        step: dict[str, object] = {
            "holds": name,
            "waits_for": names[(i + 1) % len(names)],
            "destination": name_destination(fabric, routes, int(causes[i])),
            "source_switch": fabric.node_name[int(fabric.switch_node[origins[i]])],
        }
        steps.append(step if routes.lanes is None else {**step, "is_answer": which > 0})
    many = f"{len(names)} channels" + ("" if routes.lanes is None else f" of lane {lane}")
    summary = f"{many} wait for each other in a cycle: {' -> '.join((*names[:8], names[0]))}"
    if len(names) > 8:
        summary = f"{many} wait for each other in a cycle that begins {' -> '.join(names[:8])}"
    return Witness("cycle", summary, {"lane": lane, "cycle": names, "steps": steps, "is_shortest": is_shortest})
