"""One state from scratch: tables made or repaired, proved and loaded as if nothing else had been computed before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weftline.errors import CapabilityError, SpecError
from weftline.kernels.column import F64, I32, NIL
from weftline.kernels.loads import add_single, add_split
from weftline.model.fabric import Fabric
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.prove.deadlock import prove_deadlock
from weftline.prove.reach import CONNECTED_FAILED, NO_DISTANCE, judge, measure_distances
from weftline.prove.tables import Tables, read_tables
from weftline.prove.transient import cut_foreign
from weftline.rehearse.crews import Crews, find_leaving, list_sends, skip
from weftline.rehearse.scene import Found, Scene
from weftline.route import ENGINES, compute_routes
from weftline.route.repair import Standing, cut_fabric, repair_routes

LAST = "updown"
"""The engine that any graph has, on one lane."""


@dataclass(frozen=True, eq=False)
class Plan(Scene):
    """What a rehearsal starts from."""

    standing: Standing | None
    """For repairs; None where the devices route by themselves."""
    roots: tuple[str, ...] = ()
    lanes: int | None = None
    """Lanes that tables made anew may use, where the engine takes lanes."""


def degrade(plan: Plan, ports: I32) -> tuple[Fabric, Routes | None]:
    """Make the fabric and the tables without the links of ``ports``: repaired, or as the devices converge.

    There are no tables where the engine has none for what is left, as for a group of a dragonfly that stands alone.
    """
    if plan.standing is not None:
        repair = repair_routes(plan.standing, ports)
        return repair.fabric, repair.routes
    cut = cut_fabric(plan.fabric, ports)
    return cut, make_anew(plan, cut, plan.routes.engine)


def make_anew(plan: Plan, cut: Fabric, engine: str) -> Routes | None:
    """Make the tables of what is left; None where the engine cannot within its shape and its lanes."""
    routes = plan.routes
    to_switches = bool(np.any(routes.destination_port == NIL))
    is_same = engine == routes.engine
    lanes = plan.lanes or routes.lane_count if ENGINES[engine].takes_lanes else None
    roots = plan.roots if is_same else ()
    try:
        return compute_routes(cut, engine, to_switches=to_switches, roots=roots, lanes=lanes, paths=routes.paths)
    except (CapabilityError, SpecError):
        return None


def judge_whole(plan: Plan, ports: I32) -> Found:
    """Judge a state by making, proving and loading all of it.

    A repair leads up and then down in one order, which ways on several lanes need not agree with; and an engine may
    have no tables for a shape that lost a part. Then what the engine makes of the rest is judged, or else what
    ``updown`` does, which any graph has: that is what would have to be loaded.
    """
    cut, made = degrade(plan, ports)
    found = judge_nothing(plan, cut) if made is None else judge_tables(plan, cut, made)
    if _holds(found):
        return found
    for engine in (plan.routes.engine, LAST):
        anew = make_anew(plan, cut, engine) if plan.standing is not None or engine == LAST else None
        other = found if anew is None else judge_tables(plan, cut, anew)
        if _holds(other):
            return replace(other, is_anew=True)
    return found


def _holds(found: Found) -> bool:
    return found.deadlock is Verdict.PROVED and not found.undelivered


def judge_nothing(plan: Plan, cut: Fabric) -> Found:
    """Say what is known where there are no tables: who is cut off, and nothing of those who are not."""
    lost, pairs = count_lost(plan.fabric, cut)
    leaving = find_leaving(plan.crews, cut.port_peer != NIL, cut.port_component)
    jobs = len(plan.crews.names)
    return Found(
        Verdict.UNKNOWN, lost, pairs, NIL, (0.0,) * jobs, (NIL,) * jobs, tuple(leaving.tolist()), is_whole=True
    )


def judge_tables(plan: Plan, cut: Fabric, made: Routes) -> Found:
    """Prove and load the tables for what is left."""
    routes = replace(made, fabric_digest=cut.digest, group=cut_foreign(cut, made))
    tables = read_tables(cut, routes)
    distance = measure_distances(tables, plan.rules)
    undelivered = NIL
    if distance is not NO_DISTANCE:
        undelivered = int(judge(tables, distance, plan.rules.max_hops)[0][CONNECTED_FAILED])
    deadlock = prove_deadlock(cut, routes, tables, plan.rules)
    lit = cut.port_peer != NIL
    leaving = find_leaving(plan.crews, lit, cut.port_component)
    crews = skip(plan.crews, leaving)
    load = load_jobs(cut, tables, distance, crews)
    worst, port = find_worst(plan.crews, load)
    lost, pairs = count_lost(plan.fabric, cut)
    return Found(deadlock.verdict, lost, pairs, undelivered, worst, port, tuple(leaving.tolist()), is_whole=True)


def load_jobs(fabric: Fabric, tables: Tables, distance: np.ndarray, crews: Crews) -> F64:
    """Load the steady step of every job: the rate on each port, job by job.

    Where a group has several members each carries its share of what comes, as in the claim balance.
    """
    sends = list_sends(crews, fabric.port_peer != NIL, fabric.port_component)
    job = crews.job[sends.rank]
    load = np.zeros((len(crews.names), fabric.port_count))
    for at in range(len(crews.names)):
        own = job == at
        flows = (sends.port[own], sends.goal[own], sends.rate[own])
        if tables.is_single:
            add_single(
                *flows, tables.port_row, tables.target_port, tables.group, tables.group_ptr, tables.member_ptr,
                tables.member_port, tables.next_row, fabric.port_peer, distance, load[at],
            )  # fmt: skip
        else:
            add_split(
                *flows, tables.port_row, tables.target_port, tables.target_row, tables.group, tables.group_ptr,
                tables.share_ptr, tables.share_port, tables.share_row, fabric.port_peer, tables.same_as,
                tables.is_direct, distance, load[at],
            )  # fmt: skip
    return load


def find_worst(crews: Crews, load: F64) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Find the highest load over capacity of each job, and the lowest port that has it up to rounding."""
    relative = load / crews.capacity
    worst = relative.max(axis=1, initial=0.0)
    at = (relative >= worst[:, None] - 1e-12).argmax(axis=1) if relative.shape[1] else np.zeros(len(worst), np.int64)
    return tuple(worst.tolist()), tuple(
        int(port) if most > 0 else NIL for port, most in zip(at.tolist(), worst.tolist(), strict=True)
    )


def count_lost(fabric: Fabric, cut: Fabric) -> tuple[int, int]:
    """Count the endpoints that went dark, and the ordered pairs that were of one component and are no more."""
    ends = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL]
    left = ends[cut.port_peer[ends] != NIL]
    before = np.unique(fabric.port_component[ends], return_counts=True)[1].astype(np.int64)
    after = np.unique(cut.port_component[left], return_counts=True)[1].astype(np.int64)
    pairs = int((before * (before - 1)).sum() - (after * (after - 1)).sum())
    return len(ends) - len(left), pairs
