"""Deadlock: the channels that traffic uses one after another form no cycle."""

from __future__ import annotations

from typing import Any

import numpy as np

from weftline.kernels.channels import find_causes, list_dependencies, mark_turns
from weftline.kernels.column import I32, I64, NIL, digest_parts
from weftline.kernels.cycles import find_cycle, rank_channels
from weftline.model.fabric import Fabric
from weftline.model.proof import Certificate, Proof, ProofRules, Verdict, Witness
from weftline.model.routes import Routes
from weftline.prove.tables import Tables
from weftline.prove.witness import name_destination

CLAIM = "deadlock"
STATEMENT = (
    "No cycle among the channels between switches (one lane each) that packets hold and wait for, following every "
    "choice from every switch with endpoints to every connected destination."
)
MAX_TURN_BYTES = 1 << 30
MAX_CYCLE_STEPS = 50_000_000
"""Edge visits that the search for the shortest cycle may take."""


def build_dependencies(fabric: Fabric, tables: Tables) -> tuple[I64, I32] | None:
    """List which channel waits on which, as CSR over ports; None where the marks would take over a GiB."""
    widths = np.diff(fabric.port_ptr)[fabric.switch_node].astype(np.int64)
    sizes = widths * np.diff(tables.group_ptr).astype(np.int64)
    turn_ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    if turn_ptr[-1] > MAX_TURN_BYTES:
        return None
    turn = mark_turns(
        turn_ptr, fabric.port_ptr, tables.group, tables.group_ptr, tables.member_ptr, tables.next_row,
        tables.next_port, fabric.switch_node, tables.target_kind, tables.target_row, tables.same_as,
        tables.home_row, tables.home_count, tables.own_count,
    )  # fmt: skip
    return list_dependencies(
        turn, turn_ptr, fabric.port_ptr, fabric.port_peer, tables.group_ptr, tables.member_ptr, tables.member_port,
        tables.next_row, fabric.switch_node,
    )  # fmt: skip


def find_channels(fabric: Fabric, tables: Tables) -> I32:
    """List the channels: the ports of switches that lead to switches."""
    is_own = fabric.switch_row[fabric.port_node] != NIL
    return np.flatnonzero(is_own & (tables.port_row != NIL)).astype(np.int32)


def prove_deadlock(fabric: Fabric, routes: Routes, tables: Tables, rules: ProofRules) -> Proof:
    """Prove or refute freedom from deadlock; unknown where it would take too much memory."""
    required = CLAIM in rules.required
    dependencies = build_dependencies(fabric, tables)
    if dependencies is None:
        return Proof(
            CLAIM, required, Verdict.UNKNOWN, "Deadlock was not judged: the turns would not fit into a GiB.",
            routes.digest,
        )  # fmt: skip
    rank, remaining = rank_channels(*dependencies)
    channels = find_channels(fabric, tables)
    detail: dict[str, Any] = {
        "channels": len(channels),
        "dependencies": len(dependencies[1]),
        "channels_on_or_behind_cycles": remaining,
        "levels": int(rank.max(initial=NIL)) + 1,
    }
    if remaining:
        witness = _witness_cycle(fabric, routes, tables, dependencies, rank)
        return Proof(
            CLAIM, required, Verdict.REFUTED, STATEMENT, routes.digest, len(witness.detail["cycle"]),
            "channels on the cycle", witness=witness, detail=detail,
        )  # fmt: skip
    ranks = np.full(fabric.port_count, NIL, dtype=np.int32)
    ranks[channels] = rank[channels]
    certificate = Certificate(
        "rank",
        "A rank per channel (transmitting port) that grows along every dependency.",
        {"rank": ranks},
        digest_parts((CLAIM, ranks)),
    )
    return Proof(
        CLAIM, required, Verdict.PROVED, STATEMENT, routes.digest, 0, "channels on a cycle", certificate=certificate,
        detail=detail,
    )  # fmt: skip


def _witness_cycle(fabric: Fabric, routes: Routes, tables: Tables, dependencies: tuple[I64, I32], rank: I32) -> Witness:
    """Show a shortest cycle, and for each step a destination whose packets hold one channel and wait for the next."""
    cycle, is_shortest = find_cycle(*dependencies, rank, MAX_CYCLE_STEPS)
    causes, origins = find_causes(
        cycle, fabric.port_node, fabric.switch_row, tables.group, tables.group_ptr, tables.member_ptr,
        tables.member_port, tables.next_row, tables.target_kind, tables.target_row, tables.home_row,
        tables.home_count, tables.own_count,
    )  # fmt: skip
    names = [fabric.link_name(int(port)) for port in cycle]
    steps = [
        {
            "holds": names[i],
            "waits_for": names[(i + 1) % len(names)],
            "destination": name_destination(fabric, routes, int(causes[i])),
            "source_switch": fabric.node_name[int(fabric.switch_node[origins[i]])],
        }
        for i in range(len(names))
    ]
    summary = f"{len(names)} channels wait for each other in a cycle: {' -> '.join((*names[:8], names[0]))}"
    if len(names) > 8:
        summary = f"{len(names)} channels wait for each other in a cycle that begins {' -> '.join(names[:8])}"
    return Witness("cycle", summary, {"cycle": names, "steps": steps, "is_shortest": is_shortest})
