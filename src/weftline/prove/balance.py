"""Balance: the worst load of a directed link over shift permutations and the declared job."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import F64, I32, I64, NIL, U8, Array, digest_parts
from weftline.kernels.loads import add_single, add_split, find_worst, load_shifts, shift_flows
from weftline.kernels.reach import FARTHEST
from weftline.kernels.threads import run_parts, split_range
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.proof import Certificate, Proof, ProofRules, Verdict, Witness
from weftline.model.routes import Routes
from weftline.prove.reach import CONNECTED_FAILED, NO_DISTANCE, judge
from weftline.prove.tables import Tables, narrow_columns
from weftline.prove.windows import ARGUMENT, Shifted, bound_shifts
from weftline.prove.witness import is_delivery, members_of

CLAIM = "balance"
TOLERANCE = 1e-9
"""Relative; sums of equal shares are not exact."""
SHOWN_FLOWS = 8
BY_WINDOWS = "by windows"
"""Why not every shift was loaded: an argument bounds them all."""
LEAST_SHIFTS = 4
"""Shifts that are worth a thread."""
ARGUED_SHIFTS = 16
"""Shifts that are loaded where all are bounded by an argument."""
MAX_WITNESS_STEPS = 2_000_000


@dataclass(frozen=True, eq=False)
class Crowd:
    """The lit host endpoints that are destinations, by component, and the rates that count."""

    component_ptr: I32
    port: I32
    target: I32
    rate: F64
    port_rate: F64
    is_rated: bool
    """Whether all rates are known; else each flow and link counts as 1."""
    absent: int = 0
    """Lit host endpoints that are no destination: nobody can send to them."""

    @property
    def largest(self) -> int:
        """Count the endpoints of the largest component."""
        return int(np.diff(self.component_ptr).max(initial=0))


@dataclass(frozen=True, eq=False)
class Judged:
    """What was loaded: the shifts, the worst of each, the job, and the worst of all (``shift`` 0 for the job)."""

    shifts: I64
    worst: F64
    lost: int
    job_worst: float | None
    bound: float
    shift: int
    port: int
    load: F64
    why_sampled: str
    argued: float | None = None
    """What no shift exceeds, by an argument over all of them; None where there is none."""


def find_targets(tables: Tables, ports: I32) -> tuple[I64, NDArray[np.bool_]]:
    """Find the destination index of each port, and whether it has one."""
    if not len(tables.target_port):
        return np.zeros(len(ports), dtype=np.int64), np.zeros(len(ports), dtype=np.bool_)
    order = np.argsort(tables.target_port, kind="stable")
    place = np.minimum(np.searchsorted(tables.target_port[order], ports), len(order) - 1)
    target = order[place].astype(np.int64)
    return target, tables.target_port[target] == ports


def gather_crowd(fabric: Fabric, tables: Tables) -> Crowd:
    """Gather the endpoints that shift: lit ports of hosts, in host-then-rail order within each component."""
    target, known = find_targets(tables, tables.endpoint)
    is_host = fabric.node_kind[fabric.port_node[tables.endpoint]] == NodeKind.HOST
    port, target = tables.endpoint[known & is_host], target[known & is_host]
    component = fabric.port_component[port]
    by_component = np.argsort(component, kind="stable")
    port, target = port[by_component], target[by_component]
    _, counts = np.unique(component, return_counts=True)
    is_lit, rate = fabric.port_peer != NIL, fabric.port_rate_gbps
    is_rated = bool(np.all(np.isfinite(rate[is_lit]) & (rate[is_lit] > 0)))
    port_rate = np.ones(fabric.port_count)
    if is_rated:
        # a link is as fast as its slower end
        port_rate[is_lit] = np.minimum(rate[is_lit], rate[fabric.port_peer[is_lit]])
    return Crowd(
        np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        port.astype(np.int32),
        target.astype(np.int32),
        port_rate[port],
        port_rate,
        is_rated,
        int(np.count_nonzero(is_host & ~known)),
    )


def choose_shifts(fabric: Fabric, crowd: Crowd, count: int, seed: int) -> I64:
    """Choose ``count`` shifts of the largest component: the telling ones first, then evenly spread; all if they fit.

    The telling ones are 1, the endpoints of a host and of a unit, their doubles, half of all, and the same backwards.
    """
    total = crowd.largest
    if total - 1 <= count:
        return np.arange(1, max(total, 1), dtype=np.int64)
    where = int(np.argmax(np.diff(crowd.component_ptr)))
    nodes = fabric.port_node[crowd.port[crowd.component_ptr[where] : crowd.component_ptr[where + 1]]]
    host = int(np.count_nonzero(nodes == nodes[0]))
    unit = int(np.count_nonzero(fabric.node_unit[nodes] == fabric.node_unit[nodes[0]]))
    telling = [1, host, unit, 2 * host, 2 * unit, total // 2, total // 4]
    picked = [s for t in telling for s in (t % total, (total - t) % total) if s]
    chosen = list(dict.fromkeys(picked))[:count]
    more = count - len(chosen)
    spread = [1 + (i * (total - 1) // more + seed) % (total - 1) for i in range(more)]
    return np.array(sorted(dict.fromkeys((*chosen, *spread))), dtype=np.int64)


def load_many(fabric: Fabric, tables: Tables, distance: U8, crowd: Crowd, shifts: I64) -> tuple[F64, I32, I64, int]:
    """Load the shifts one by one, on all cores; see ``load_shifts``."""
    told, distance = narrow_columns(tables, distance)

    def load(first: int, last: int) -> tuple[F64, I32, I64, int]:
        return load_shifts(
            shifts[first:last], crowd.component_ptr, crowd.port, crowd.target, crowd.rate, crowd.port_rate,
            int(told.is_single), told.port_row, told.target_port, told.target_row, told.group, told.group_ptr,
            told.share_ptr, told.share_port, told.share_row, fabric.port_peer, told.same_as, told.is_direct, distance,
        )  # fmt: skip

    worst, where, lost, steps = zip(*run_parts(split_range(len(shifts), LEAST_SHIFTS) or [(0, 0)], load), strict=True)
    return np.concatenate(worst), np.concatenate(where), np.concatenate(lost), sum(steps)


def load_pairs(fabric: Fabric, tables: Tables, distance: U8, flows: tuple[I32, I32, F64]) -> tuple[F64, int]:
    """Load flows (source ports, destination indices, rates) that run at once: the rate per port, and the lost flows."""
    load = np.zeros(fabric.port_count, dtype=np.float64)
    if tables.is_single:
        lost, _ = add_single(
            *flows, tables.port_row, tables.target_port, tables.group, tables.group_ptr, tables.member_ptr,
            tables.member_port, tables.next_row, fabric.port_peer, distance, load,
        )  # fmt: skip
    else:
        lost, _ = add_split(
            *flows, tables.port_row, tables.target_port, tables.target_row, tables.group, tables.group_ptr,
            tables.share_ptr, tables.share_port, tables.share_row, fabric.port_peer, tables.same_as,
            tables.is_direct, distance, load,
        )  # fmt: skip
    return load, lost


def flows_of_shift(crowd: Crowd, shift: int) -> tuple[I32, I32, F64]:
    """List the flows of one shift."""
    source, target = np.empty(len(crowd.port), dtype=np.int32), np.empty(len(crowd.port), dtype=np.int32)
    used = shift_flows(shift, crowd.component_ptr, source, target)
    source, target = source[:used], target[:used]
    return crowd.port[source], crowd.target[target], np.minimum(crowd.rate[source], crowd.rate[target])


def flows_of_job(tables: Tables, crowd: Crowd, pairs: tuple[I32, I32]) -> tuple[tuple[I32, I32, F64], int]:
    """List the job's flows, and count the pairs whose target is no destination.

    An endpoint that sends to, or receives from, several others splits its rate evenly over them.
    """
    ports = len(crowd.port_rate)
    target, known = find_targets(tables, pairs[1])
    known &= np.isin(pairs[0], tables.endpoint) & np.isin(pairs[1], tables.endpoint)
    source, goal, target = pairs[0][known], pairs[1][known], target[known]
    fan = np.maximum(np.bincount(source, minlength=ports)[source], np.bincount(goal, minlength=ports)[goal])
    rate = np.minimum(crowd.port_rate[source], crowd.port_rate[goal]) / fan
    flows = (source.astype(np.int32), target.astype(np.int32), rate.astype(np.float64))
    return flows, len(pairs[0]) - int(np.count_nonzero(known))


def _pick_shifts(fabric: Fabric, tables: Tables, distance: U8, crowd: Crowd, rules: ProofRules) -> tuple[I64, str]:
    """Choose the shifts: all up to the rules' size, a sample above it or where the steps would not suffice."""
    count, why = crowd.largest - 1, ""
    if crowd.largest > rules.all_shifts_up_to:
        count, why = rules.sample_shifts, f"more than {rules.all_shifts_up_to} endpoints"
    probe = choose_shifts(fabric, crowd, min(count, 4), rules.seed)
    if not len(probe):
        return probe, ""
    per_shift = max(1, load_many(fabric, tables, distance, crowd, probe)[3] // len(probe))
    affordable = max(1, rules.max_steps // per_shift)
    if affordable < count:
        count, why = affordable, f"all would take more than {rules.max_steps} table steps"
    shifts = choose_shifts(fabric, crowd, count, rules.seed)
    return shifts, why if len(shifts) < crowd.largest - 1 else ""


def argue_shifts(fabric: Fabric, tables: Tables, distance: U8, crowd: Crowd) -> float | None:
    """Bound the load of every link over all shifts by windows; None where that tells nothing."""
    if not crowd.is_rated or not len(crowd.port) or judge(tables, distance, FARTHEST)[0][CONNECTED_FAILED]:
        return None
    flows = bound_shifts(fabric, tables, Shifted(crowd.component_ptr, crowd.port, crowd.target))
    if flows is None:
        return None
    loaded = flows > 0
    bound = float((flows[loaded] * crowd.rate.max() / crowd.port_rate[loaded]).max(initial=0.0))
    return bound if np.isfinite(bound) else None


def judge_loads(
    fabric: Fabric, tables: Tables, distance: U8, crowd: Crowd, rules: ProofRules, pairs: tuple[I32, I32] | None
) -> Judged:
    """Load the shifts and the job, and keep the worst."""
    argued: float | None = None
    if crowd.largest > rules.all_shifts_up_to:
        argued = argue_shifts(fabric, tables, distance, crowd)
    if argued is not None and argued <= rules.balance_threshold * (1 + TOLERANCE):
        rules = replace(rules, sample_shifts=min(rules.sample_shifts, ARGUED_SHIFTS))
    else:
        argued = None
    shifts, why = _pick_shifts(fabric, tables, distance, crowd, rules)
    worst, _, lost, _ = load_many(fabric, tables, distance, crowd, shifts)
    shift, bound, missing = 0, 0.0, int(lost.sum()) + crowd.absent * max(len(shifts), 1)
    load = np.zeros(fabric.port_count, dtype=np.float64)
    if len(shifts):
        shift = int(shifts[int(np.argmax(worst))])
        load, _ = load_pairs(fabric, tables, distance, flows_of_shift(crowd, shift))
        bound = find_worst(load, crowd.port_rate)[0]
    if argued is not None:
        bound = max(bound, argued)
    job_worst: float | None = None
    if pairs is not None:
        flows, unknown = flows_of_job(tables, crowd, pairs)
        job_load, job_lost = load_pairs(fabric, tables, distance, flows)
        missing += job_lost + unknown
        job_worst = find_worst(job_load, crowd.port_rate)[0]
        if job_worst > bound * (1 + TOLERANCE):
            shift, bound, load = 0, job_worst, job_load
    port = _pick_worst(tables, crowd, load, bound)
    return Judged(shifts, worst, missing, job_worst, bound, shift, port, load, why, argued)


def _pick_worst(tables: Tables, crowd: Crowd, load: F64, bound: float) -> int:
    """Pick a port of the highest load, rather one that leads to a switch from a switch; NIL where nothing flows."""
    highest = np.flatnonzero((load > 0) & (load / crowd.port_rate >= bound * (1 - TOLERANCE)))
    between = highest[(tables.port_row[highest] != NIL) & ~np.isin(highest, tables.endpoint)]
    return int((*between[:1], *highest[:1], NIL)[0])


def digest_pairs(pairs: tuple[I32, I32]) -> str:
    """Digest the job's pairs, so that a proof says of which job it is."""
    return digest_parts(("job", pairs[0].astype(np.int32), pairs[1].astype(np.int32)))


def prove_balance(
    fabric: Fabric,
    routes: Routes,
    tables: Tables,
    distance: U8,
    rules: ProofRules,
    pairs: tuple[I32, I32] | None,
) -> Proof:
    """Prove or refute that no directed link carries more than the threshold; unknown where flows are lost."""
    required = CLAIM in rules.required
    if distance is NO_DISTANCE:
        return Proof(
            CLAIM, required, Verdict.UNKNOWN, "Balance was not judged: reach would take more steps than allowed.",
            routes.digest,
        )  # fmt: skip
    crowd = gather_crowd(fabric, tables)
    judged = judge_loads(fabric, tables, distance, crowd, rules, pairs)
    bound, name = round(judged.bound, 9), "worst load of a directed link"
    detail = _tell(fabric, crowd, judged, rules)
    detail["job_digest"] = None if pairs is None else digest_pairs(pairs)
    why = judged.why_sampled if judged.argued is None else BY_WINDOWS
    statement = state(tables, crowd, rules, len(judged.shifts), why, has_job=pairs is not None)
    if judged.lost:
        statement = f"{statement[:-1]}; {judged.lost} flows are not delivered, so their load is not known."
    if not judged.bound <= rules.balance_threshold * (1 + TOLERANCE):  # a threshold that is no number allows nothing
        witness = _witness_link(fabric, tables, crowd, judged, rules, pairs)
        return Proof(
            CLAIM, required, Verdict.REFUTED, statement, routes.digest, bound, name, witness=witness, detail=detail
        )
    if judged.lost:
        return Proof(CLAIM, required, Verdict.UNKNOWN, statement, routes.digest, bound, name, detail=detail)
    columns: dict[str, Array] = {"shift": judged.shifts, "worst": judged.worst, "load_gbps": judged.load}
    if pairs is not None:
        columns |= {"job_source": np.asarray(pairs[0]), "job_target": np.asarray(pairs[1])}
    certificate = Certificate(
        "load",
        "The worst load of each judged shift, and the load of every port in the worst case; a checker loads that case "
        "again and spot-checks other shifts.",
        columns,
        digest_parts((CLAIM, str(judged.shift), *columns, *columns.values())),
    )
    return Proof(
        CLAIM, required, Verdict.PROVED, statement, routes.digest, bound, name, certificate=certificate, detail=detail
    )


def state(tables: Tables, crowd: Crowd, rules: ProofRules, judged: int, why: str, *, has_job: bool) -> str:
    """Say which traffic was judged, and how; ``judged`` counts the shifts, ``why`` not all of them."""
    total = max(crowd.largest - 1, 0)
    if why and why != BY_WINDOWS:
        text = f"Over the stated sample of {judged} of {total} shift permutations ({why})"
    else:
        text = f"Over all {total} shift permutations"
    if has_job:
        text += " and the declared job, each endpoint's rate split evenly over its partners"
    text += f", no directed link carries more than {rules.balance_threshold:g} times its rate"
    if not tables.is_single:
        split = "split by weight" if len(tables.share_port) > len(tables.member_port) else "equal-split share"
        text += f"; over port sets the load is the {split}, which hashing single flows can exceed"
    if not crowd.is_rated:
        text += "; rates are not known, so flows are counted"
    if why == BY_WINDOWS:
        text += f"; of the shifts {judged} were loaded, and for the others {ARGUMENT}"
    return text + "."


def _tell(fabric: Fabric, crowd: Crowd, judged: Judged, rules: ProofRules) -> dict[str, Any]:
    """Give the findings their names."""
    return {
        "endpoints": len(crowd.port),
        "threshold": rules.balance_threshold,
        "shifts_judged": len(judged.shifts),
        "shifts_in_all": max(crowd.largest - 1, 0),
        "is_sample": bool(judged.why_sampled) and judged.argued is None,
        "sample_reason": judged.why_sampled if judged.argued is None else "",
        "sample_seed": rules.seed,
        "worst_of_shifts": round(float(judged.worst.max(initial=0.0)), 9),
        "worst_of_job": None if judged.job_worst is None else round(judged.job_worst, 9),
        "worst_shift": judged.shift or None,
        "worst_link": None if judged.port == NIL else fabric.link_name(judged.port),
        "flows_lost": judged.lost,
        **({} if judged.argued is None else {"worst_of_all_shifts_at_most": round(judged.argued, 9)}),
    }


def _witness_link(
    fabric: Fabric, tables: Tables, crowd: Crowd, judged: Judged, rules: ProofRules, pairs: tuple[I32, I32] | None
) -> Witness:
    """Show the overloaded link, the case, and the first flows on it."""
    if judged.shift or pairs is None:
        flows, case = flows_of_shift(crowd, judged.shift), f"shift {judged.shift}"
    else:
        flows, case = flows_of_job(tables, crowd, pairs)[0], "the declared job"
    link = fabric.link_name(judged.port)
    shown = [
        {"source": fabric.port_name(source), "destination": fabric.port_name(int(tables.target_port[goal]))}
        for source, goal in _flows_on(tables, flows, judged.port)
    ]
    load = round(judged.bound, 9)
    detail = {
        "link": link,
        "case": case,
        "shift": judged.shift or None,
        "load": load,
        "threshold": rules.balance_threshold,
        "flows": shown,
    }
    summary = f"{link} carries {load:g} times its rate under {case}, allowed is {rules.balance_threshold:g}"
    return Witness("overload", summary, detail)


def _flows_on(tables: Tables, flows: tuple[I32, I32, F64], port: int) -> list[tuple[int, int]]:
    """List the first few flows that use a port, in bounded effort."""
    found: list[tuple[int, int]] = []
    steps = 0
    for source, goal in zip(flows[0].tolist(), flows[1].tolist(), strict=True):
        used, taken = _uses(tables, source, goal, port)
        steps += taken
        if used:
            found.append((source, goal))
        if len(found) == SHOWN_FLOWS or steps > MAX_WITNESS_STEPS:
            break
    return found


def _uses(tables: Tables, source: int, goal: int, port: int) -> tuple[bool, int]:
    """Judge whether some walk of a flow uses a port, and count the steps that took."""
    row = int(tables.port_row[source])
    if source == port or row == NIL:
        return source == port, 1
    seen, queue, steps = {row}, [row], 0
    for here in queue:
        for member in members_of(tables, here, goal):
            steps += 1
            if int(tables.member_port[member]) == port:
                return True, steps
            step = int(tables.next_row[member])
            if step >= 0 and step not in seen and not is_delivery(tables, member, goal):
                seen.add(step)
                queue.append(step)
    return False, steps
