"""How loads spread: shifts, random permutations and jobs loaded flow by flow, and the optimum by the cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.patterns import lead_flows, share_links, shuffle
from weftline.kernels.threads import run_parts, split_range
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules
from weftline.model.routes import Routes
from weftline.model.spread import LOAD_EDGES, Family, LoadSpread
from weftline.prove.balance import (
    TOLERANCE,
    Crowd,
    argue_shifts,
    choose_shifts,
    flows_of_job,
    flows_of_shift,
    gather_crowd,
)
from weftline.prove.reach import NO_DISTANCE, measure_distances
from weftline.prove.tables import Tables, read_tables

Flows = tuple[I32, I32, F64]
"""Source ports, destination indices and rates."""
MOST_HOPS = 64
STRIDE = 1 << 20
"""Between the seeds of components and permutations."""


@dataclass(frozen=True, slots=True)
class SpreadChoice:
    """Which patterns are loaded."""

    shifts: int | None = None
    """Shifts of the largest component; None: all up to the size that the rules name, a sample above it."""
    permutations: int = 100
    seed: int = 1


@dataclass(frozen=True, eq=False)
class Ground:
    """What the patterns run over."""

    fabric: Fabric
    tables: Tables
    crowd: Crowd
    seed: int
    between: I32
    """Ports of links between switches."""
    hops: int


def measure_spread(
    fabric: Fabric,
    routes: Routes,
    rules: ProofRules,
    choice: SpreadChoice,
    jobs: Sequence[tuple[str, tuple[I32, I32]]] = (),
    progress: Callable[[str, float | None], None] = lambda _words, _share: None,
) -> LoadSpread:
    """Load shifts, random permutations and jobs, each flow by one way, whoever made the routes.

    A permutation is a random bisection: endpoints are paired at random, and both of a pair send to each other. What a
    flow is left with is 1 over the load of its most loaded link, and its mean over flows and permutations is the
    effective bisection bandwidth (T. Hoefler, T. Schneider, A. Lumsdaine, "Multistage Switches are not Crossbars",
    2008). Same seed, same figures. ``jobs`` are names with source and target ports.
    """
    tables = read_tables(fabric, routes)
    crowd = gather_crowd(fabric, tables)
    lit = tables.port_row != NIL
    between = np.flatnonzero(lit & (fabric.switch_row[fabric.port_node] != NIL)).astype(np.int32)
    hops = min(MOST_HOPS, len(fabric.switch_node)) + 2
    ground = Ground(fabric, tables, crowd, choice.seed, between, hops)
    families: list[Family] = []
    progress("loading shifts", None)
    shifts = _list_shifts(ground, rules, choice)
    if len(shifts):
        is_all = len(shifts) == crowd.largest - 1
        family = _judge(ground, "shifts", shifts, max(crowd.largest - 1, 0), lambda s: flows_of_shift(crowd, s))
        families.append(family if is_all else _argue(ground, rules, family))
    if choice.permutations and len(crowd.port) > 1:
        progress("loading random permutations", None)
        numbers = np.arange(choice.permutations, dtype=np.int64)
        families.append(_judge(ground, "permutations", numbers, 0, lambda at: _pair_up(crowd, choice.seed, at)))
    for name, pairs in jobs:
        progress(f"loading job {name}", None)
        flows, unknown = flows_of_job(tables, crowd, pairs)
        one = np.zeros(1, dtype=np.int64)
        families.append(_judge(ground, f"job {name}", one, 1, lambda _at, flows=flows: flows, unknown))
    return LoadSpread(
        routes.digest, len(crowd.port), choice.seed, tables.is_single, crowd.is_rated, tuple(families)
    )  # fmt: skip


def _list_shifts(ground: Ground, rules: ProofRules, choice: SpreadChoice) -> I64:
    """Choose the shifts: as many as wished, else all up to the rules' size and a sample above it."""
    most = max(ground.crowd.largest - 1, 0)
    few = most if ground.crowd.largest <= rules.all_shifts_up_to else rules.sample_shifts
    count = few if choice.shifts is None else choice.shifts
    return choose_shifts(ground.fabric, ground.crowd, min(count, most), choice.seed)


def _argue(ground: Ground, rules: ProofRules, family: Family) -> Family:
    """Add what no shift exceeds, where windows tell it."""
    distance = measure_distances(ground.tables, rules)
    if distance is NO_DISTANCE:
        return family
    return replace(family, at_most=argue_shifts(ground.fabric, ground.tables, distance, ground.crowd))


def _pair_up(crowd: Crowd, seed: int, number: int) -> Flows:
    """Pair the endpoints of every component at random; both of a pair send to each other."""
    one: list[I32] = []
    other: list[I32] = []
    for part, (first, last) in enumerate(zip(crowd.component_ptr[:-1], crowd.component_ptr[1:], strict=True)):
        order = shuffle(int(last - first), ((seed * STRIDE + number) * STRIDE + part) & (2**63 - 1)) + first
        half = len(order) // 2
        one += [order[:half], order[half : 2 * half]]
        other += [order[half : 2 * half], order[:half]]
    source, goal = np.concatenate(one), np.concatenate(other)
    return crowd.port[source], crowd.target[goal], np.minimum(crowd.rate[source], crowd.rate[goal])


def _judge(
    ground: Ground, name: str, patterns: I64, of: int, flows_of: Callable[[int], Flows], unknown: int = 0
) -> Family:
    """Load every pattern, on all cores, and gather what came out."""
    count = len(patterns)
    worst, optimum, mean, least = (np.zeros(count) for _ in range(4))
    lost = np.zeros(count, dtype=np.int64)
    where = np.full(count, NIL, dtype=np.int64)
    bins = np.zeros((count, len(LOAD_EDGES) + 1), dtype=np.int64)
    edges = np.array(LOAD_EDGES)

    def work(begin: int, end: int) -> None:
        load = np.zeros(ground.fabric.port_count)
        for at in range(begin, end):
            flows = flows_of(int(patterns[at]))
            lost[at], share = _load(ground, flows, load)
            worst[at], where[at] = float(load.max(initial=0.0)), int(np.argmax(load))
            optimum[at] = find_optimum(ground, flows)
            mean[at] = float(share.mean()) if len(share) else 1.0
            least[at] = float(share.min(initial=1.0))
            held = np.searchsorted(edges * (1 + TOLERANCE), load[ground.between], side="left")
            bins[at] = np.bincount(held, minlength=len(LOAD_EDGES) + 1)

    run_parts(split_range(count, 1), work)
    top = int(np.argmax(worst)) if count else 0
    port = int(where[top]) if count and worst[top] > 0 else NIL
    return Family(
        name, patterns, of, worst, optimum, mean, least, bins.sum(axis=0), int(lost.sum()) + unknown,
        int(patterns[top]) if count else NIL, "" if port == NIL else ground.fabric.link_name(port),
    )  # fmt: skip


def _load(ground: Ground, flows: Flows, load: F64) -> tuple[int, F64]:
    """Lead the flows and fill the loads; returns how many are lost and what each flow is left with."""
    fabric, tables = ground.fabric, ground.tables
    source, target, rate = flows
    path = np.empty((len(source), ground.hops), dtype=np.int32)
    count = np.empty(len(source), dtype=np.int32)
    share = np.empty(len(source))
    lost = lead_flows(
        source, target, tables.port_row, tables.target_port, tables.group, tables.group_ptr, tables.share_ptr,
        tables.share_port, tables.share_row, tables.share_next, fabric.port_peer, ground.seed, path, count,
    )  # fmt: skip
    share_links(path, count, rate, ground.crowd.port_rate, load, share)
    is_lost = (count == 1) & (tables.port_row[source] != NIL)
    share[is_lost] = 0.0
    return lost, share


def find_optimum(ground: Ground, flows: Flows) -> float:
    """Find what the worst load cannot be below, by cuts: endpoints' own links, every leaf, and every group of leaves.

    What leaves a cut, or enters it, shares the links across it. Where all flows and all these links have one rate,
    flows are whole, so that some link has as many as the average rounded up.
    """
    fabric, crowd, tables = ground.fabric, ground.crowd, ground.tables
    source, target, rate = flows
    goal = tables.target_port[target]
    own = (rate / crowd.port_rate[source], rate / crowd.port_rate[goal])
    loads = [np.bincount(ports, weights=part) for ports, part in zip((source, goal), own, strict=True) if len(ports)]
    best = max((float(load.max(initial=0.0)) for load in loads), default=0.0)
    row_a, row_b = tables.port_row[source], tables.port_row[goal]
    group = _number_groups(fabric)
    rows = np.arange(len(group), dtype=np.int32)
    for cut in (rows, group):
        a, b = cut[np.maximum(row_a, 0)], cut[np.maximum(row_b, 0)]
        crosses = (row_a != NIL) & (row_b != NIL) & (a != b)
        if not len(cut) or cut.max(initial=NIL) == NIL or not crosses.any():
            continue
        here = cut[fabric.switch_row[fabric.port_node[ground.between]]]
        there = cut[tables.port_row[ground.between]]
        for mine, ends in ((a, here), (b, there)):
            some = (here != there) & (ends != NIL)
            best = max(
                best, _share_cut(mine[crosses], rate[crosses], ends[some], crowd.port_rate[ground.between[some]])
            )
    return best


def _number_groups(fabric: Fabric) -> I32:
    """Number the groups of all components through, by switch row; groups of two planes have the same number there."""
    group, component = fabric.node_group[fabric.switch_node], fabric.node_component[fabric.switch_node]
    return np.where(group == NIL, NIL, group + component * (int(group.max(initial=0)) + 1)).astype(np.int32)


def _share_cut(of_flow: I32, rate: F64, of_link: I32, link_rate: F64) -> float:
    """Share what crosses each cut out over its links; 0 where nothing can be said."""
    known = of_flow != NIL
    of_flow, rate = of_flow[known], rate[known]
    if not len(of_flow) or not len(of_link):
        return 0.0
    size = int(max(of_flow.max(), of_link.max())) + 1
    if np.ptp(rate) == 0 and np.ptp(link_rate) == 0:
        links = np.bincount(of_link, minlength=size)
        flows = np.bincount(of_flow, minlength=size)
        crossed = (flows > 0) & (links > 0)
        return float((-(-flows[crossed] // links[crossed])).max(initial=0)) * float(rate[0] / link_rate[0])
    asked = np.bincount(of_flow, weights=rate, minlength=size)
    there = np.bincount(of_link, weights=link_rate, minlength=size)
    return float((asked[there > 0] / there[there > 0]).max(initial=0.0))
