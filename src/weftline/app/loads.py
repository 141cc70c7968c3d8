"""Loads that the command line asks for, made into flows that run at the same time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

import numpy as np

from weftline.app.files import read_bytes
from weftline.app.load_words import LoadWords, Straggler, read_load
from weftline.app.pipeline import Routed
from weftline.app.reduction import Reduction, settle
from weftline.errors import UsageError
from weftline.expect import job_compute_us
from weftline.formats import flow_trace
from weftline.kernels.column import F64, I32, NIL
from weftline.model.fabric import NodeKind
from weftline.model.result import SimOptions
from weftline.model.traffic import Algorithm, Collective, CollectiveKind, Flows, JobTraffic, Load, Placement
from weftline.route import find_endpoint
from weftline.schedule import (
    ALGORITHMS,
    GRADIENT_BYTES,
    Experts,
    Stages,
    StorageLoad,
    delay_ranks,
    draw_delays,
    expand_job,
    expert_traffic,
    find_victim,
    incast,
    job_collectives,
    job_experts,
    job_pipelines,
    join_flows,
    pair_flow,
    pipeline,
    place_ranks,
    shift,
    spread_ranks,
    start_later,
    storage,
    trace_flows,
)
from weftline.simulate import walk_ports
from weftline.units import format_size

ASPECT = 128
"""Hidden size per layer where none is given; source: GPT-3 175B has 12,288 over 96 layers (arXiv 2005.14165, 2.1)."""


@dataclass(frozen=True, slots=True)
class Part:
    """One load before it is put beside others."""

    kind: str
    title: str
    flows: Flows
    placement: Placement | None = None
    """Ranks that may be late."""
    collective: Collective | None = None
    start_us: float = 0.0
    assumptions: tuple[str, ...] = ()
    reduction: Reduction | None = None
    """How it goes through switches, where that was asked for."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Everything that is sent."""

    flows: Flows
    loads: tuple[Load, ...]
    assumptions: tuple[str, ...]
    reductions: tuple[Reduction | None, ...] = ()
    """Of each load."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """What loads are made on."""

    routed: Routed
    seed: int
    traffics: dict[int, JobTraffic] = field(default_factory=dict[int, JobTraffic])

    def job(self, words: LoadWords, key: str) -> int:
        """Find the job that a load names; the first where it names none."""
        names = [job.name for job in self.routed.built.checked.design.spec.jobs]
        name = words.text(key, names[0] if names else "")
        if name not in names:
            hint = f"choose {', '.join(names)}" if names else "declare a job"
            raise UsageError("usage.load", f"--load {words.kind}: no job {name[:40]!r} is declared", hint)
        return names.index(name)

    def traffic(self, index: int) -> JobTraffic:
        """Lay out a job."""
        if index not in self.traffics:
            built = self.routed.built
            self.traffics[index] = job_collectives(built.checked.design, built.fabric, index)
        return self.traffics[index]


def make_loads(routed: Routed, texts: tuple[str, ...], seed: int) -> list[Part]:
    """Make the loads of ``--load``; ``seed`` is taken where a load says none.

    Raises:
        UsageError: ``usage.load``, ``usage.size``.
        SpecError: what the loads raise.
    """
    scene = _Scene(routed, seed)
    parts: list[Part] = []
    for words in [read_load(text) for text in texts]:
        make = _MAKERS.get(words.kind, _collective)
        start = words.decimal("start_us", 0.0)
        parts += [_started(part, start) for part in make(words, scene)]
    return parts


def read_trace(routed: Routed, path: Path) -> Part:
    """Read the flows of a file.

    Raises:
        ArtifactError: with every problem and its place.
    """
    data = read_bytes(path, flow_trace.MAX_FILE_BYTES, "split the trace")
    flows = trace_flows(flow_trace.parse(data, str(path)), routed.built.fabric)
    return Part("trace", f"{flows.count:,} flow{'' if flows.count == 1 else 's'} of {path.name}", flows)


def gather_loads(parts: list[Part], stragglers: tuple[Straggler, ...], seed: int) -> Workload:
    """Put loads side by side, with ranks that come late to every load that has ranks.

    Raises:
        UsageError: ``usage.load`` where no load has the rank.
    """
    texts = [text for part in parts for text in part.assumptions]
    flows: list[Flows] = []
    for part in parts:
        late = None if part.placement is None else _late(stragglers, part.placement.ranks, seed)
        own = part.flows if late is None else delay_ranks(part.flows, cast("Placement", part.placement), late)
        flows.append(start_later(own, part.start_us))
    ranks = max((part.placement.ranks for part in parts if part.placement is not None), default=0)
    for straggler in stragglers:
        if ranks == 0 or (isinstance(straggler.who, int) and straggler.who >= ranks):
            raise UsageError(
                "usage.load", f"--straggler {straggler.who}: no load has such a rank", f"ranks go from 0 to {ranks - 1}"
            )
        who = f"rank {straggler.who}" if isinstance(straggler.who, int) else f"every rank, drawn {straggler.who},"
        texts.append(f"{who} starts {straggler.us:g} us late")
    first = np.cumsum([0, *(item.count for item in flows)]).tolist()
    loads = tuple(
        Load(part.kind, part.title, first[at], flows[at].count, part.collective, part.start_us)
        for at, part in enumerate(parts)
    )
    reductions = tuple(part.reduction for part in parts)
    return Workload(join_flows(flows), loads, tuple(dict.fromkeys(texts)), reductions)


def _late(stragglers: tuple[Straggler, ...], ranks: int, seed: int) -> F64 | None:
    if not stragglers:
        return None
    late = np.zeros(ranks)
    for straggler in stragglers:
        if isinstance(straggler.who, int):
            late[straggler.who : straggler.who + 1] += straggler.us
        else:
            late += draw_delays(ranks, cast("Literal['uniform', 'exponential']", straggler.who), straggler.us, seed)
    return late


def _started(part: Part, start_us: float) -> Part:
    """Note when a load starts; its flows get that time after the delays of its ranks, which count from then."""
    if start_us == 0:
        return part
    return replace(part, title=f"{part.title}, from {start_us:g} us on", start_us=start_us)


def _collective(words: LoadWords, scene: _Scene) -> list[Part]:
    kind = cast("CollectiveKind", words.kind)
    ranks = words.whole("ranks", 0) or None
    order = cast("Literal['order', 'random']", words.text("placement", "order"))
    placement = place_ranks(scene.routed.built.fabric, ranks, order, words.whole("seed", scene.seed))
    algorithm = cast("Algorithm", words.text("algorithm", "ring"))
    asked = Collective(kind, algorithm, words.size("size", "1GiB"), placement.ranks)
    reduced = settle(asked, placement, scene.routed)
    collective = reduced.collective
    way = f", {collective.algorithm}" if len(ALGORITHMS[kind]) > 1 else ""
    title = f"{kind} of {format_size(collective.size_bytes)} over {placement.ranks} ranks{way}"
    flows = reduced.expand(placement, scene.routed.built.fabric)
    return [
        Part(
            kind, title, flows, placement, collective, assumptions=reduced.assumptions, reduction=reduced.reduction
        )
    ]  # fmt: skip


def _job(words: LoadWords, scene: _Scene) -> list[Part]:
    traffic = scene.traffic(scene.job(words, "name"))
    groups, members = traffic.group_rank.shape
    size = format_size(traffic.collective.size_bytes)
    title = f"job {traffic.job}: {groups} all-reduces of {size} over {members} GPUs each"
    return [Part("job", title, expand_job(traffic), traffic.placement, traffic.collective)]


def _hidden(words: LoadWords, parameters: float, texts: list[str]) -> int:
    given = words.whole("hidden", 0)
    if given:
        return given
    size = max(1, round((parameters * ASPECT / 12) ** (1 / 3) / ASPECT)) * ASPECT
    texts.append(f"a token has {size:,} values, as of a model with {ASPECT} per layer; give hidden=N otherwise")
    return size


def _pipeline(words: LoadWords, scene: _Scene) -> list[Part]:
    index = scene.job(words, "job")
    design = scene.routed.built.checked.design
    job, traffic = design.spec.jobs[index], scene.traffic(index)
    stages, data = job.pipeline_parallel, traffic.group_rank.shape[1]
    if stages < 2:
        hint = "declare jobs.pipeline_parallel, or choose another job"
        raise UsageError("usage.load", f"--load pipeline: job {job.name} has one stage, which passes nothing on", hint)
    batch = max(1, words.whole("microbatch", 1))
    microbatches = max(1, round(job.global_batch / data / batch))
    texts: list[str] = []
    hidden = _hidden(words, job.parameters, texts)
    size = batch * job.sequence_length * hidden * GRADIENT_BYTES[job.precision] / job.tensor_parallel
    compute = job_compute_us(design, index)
    if compute is None:
        texts.append("the arithmetic of a stage takes no time: the peak rate of the GPU is not known")
    else:
        texts.append("a third of a stage's arithmetic is forward, the rest backward")
    each = (compute or 0.0) / microbatches
    plan = Stages(job_pipelines(traffic, stages), microbatches, size, each / 3, each * 2 / 3)
    texts.append("each GPU of a tensor-parallel group passes on its own part of the activations, in the order 1F1B")
    title = (
        f"job {job.name}: {len(plan.ranks)} pipelines of {stages} stages, {microbatches} microbatches of "
        f"{format_size(size)} each way"
    )
    return [Part("pipeline", title, pipeline(plan, traffic.placement), traffic.placement, assumptions=tuple(texts))]


def _experts(words: LoadWords, scene: _Scene) -> list[Part]:
    texts: list[str] = []
    design = scene.routed.built.checked.design
    top = max(1, words.whole("top", 2))
    if design.spec.jobs or "job" in words.words:
        index = scene.job(words, "job")
        job, traffic = design.spec.jobs[index], scene.traffic(index)
        data = traffic.group_rank.shape[1]
        ranks, placement = job_experts(traffic, words.whole("group", data)), traffic.placement
        tokens = words.whole("tokens", max(1, job.sequence_length // job.tensor_parallel))
        hidden, width = _hidden(words, job.parameters, texts), GRADIENT_BYTES[job.precision]
    else:
        placement = place_ranks(scene.routed.built.fabric)
        group = words.whole("group", placement.ranks)
        if group < 2 or placement.ranks % group:
            hint = f"choose a divisor of {placement.ranks}, at least 2"
            raise UsageError("usage.load", f"--load experts: {placement.ranks} ranks in groups of {group}", hint)
        ranks = np.arange(placement.ranks, dtype=np.int32).reshape(-1, group)
        tokens, hidden, width = words.whole("tokens", 4096), words.whole("hidden", 8192), 2
    imbalance = words.decimal("imbalance", 1.0)
    size = float(tokens) * top * hidden * width
    plan = Experts(ranks, size, imbalance, words.decimal("work_us", 0.0), words.whole("seed", scene.seed))
    title = (
        f"experts in {len(ranks)} groups of {ranks.shape[1]}: {format_size(size)} per rank there and back, the busiest "
        f"gets {imbalance:g} times the mean"
    )
    texts.append(f"one layer: {tokens:,} tokens per rank go to {top} experts each")
    return [Part("experts", title, expert_traffic(plan, placement), placement, assumptions=tuple(texts))]


def _incast(words: LoadWords, scene: _Scene) -> list[Part]:
    fabric = scene.routed.built.fabric
    placement = spread_ranks(fabric)
    receiver = 0
    if "receiver" in words.words:
        port = find_endpoint(fabric, words.text("receiver", ""))
        found = np.flatnonzero((placement.rank_port == port).any(axis=1))
        if not len(found):
            raise UsageError("usage.load", f"--load {words.kind}: {fabric.port_name(port)} is no NIC", "name a host")
        receiver = int(found[0])
    senders = words.whole("senders", min(15, placement.ranks - 1))
    size, repeats = words.size("size", "4MiB"), words.whole("repeats", 1)
    flows = incast(placement, senders, size, receiver, repeats, words.decimal("every_us", 0.0))
    often = f", {repeats} times" if repeats > 1 else ""
    name = fabric.port_name(int(placement.rank_port[receiver, 0]))
    return [Part("incast", f"incast of {format_size(size)} from each of {senders} NICs to {name}{often}", flows)]


def _victim(words: LoadWords, scene: _Scene) -> list[Part]:
    routed = scene.routed
    parts = _incast(words, scene)
    options = SimOptions(0.0, seed=scene.seed)

    def walk(source: I32, target: I32) -> tuple[np.ndarray, I32]:
        return walk_ports(source, target, routed.built.fabric, routed.routes, options)

    source, target = find_victim(routed.built.fabric, parts[0].flows, walk)
    size = words.size("victim_size", words.text("size", "4MiB"))
    ends = (routed.built.fabric.port_name(port) for port in (source, target))
    title = f"victim: {format_size(size)} from {' to '.join(ends)}, on a link of the incast"
    return [*parts, Part("victim", title, pair_flow(source, target, size))]


def _shift(words: LoadWords, scene: _Scene) -> list[Part]:
    placement = place_ranks(scene.routed.built.fabric, words.whole("ranks", 0) or None)
    by, size = words.whole("by", max(1, placement.ranks // 2)), words.size("size", "4MiB")
    title = f"shift of {format_size(size)} by {by} over {placement.ranks} ranks"
    return [Part("shift", title, shift(placement, size, by), placement)]


def _storage(words: LoadWords, scene: _Scene) -> list[Part]:
    fabric = scene.routed.built.fabric
    ends = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL]
    kind = fabric.node_kind[fabric.port_node[ends]]
    servers = ends[kind == NodeKind.EXTRA]
    if "servers" in words.words:
        nodes = {int(fabric.port_node[find_endpoint(fabric, name)]) for name in words.text("servers", "").split("+")}
        servers = ends[np.isin(fabric.port_node[ends], sorted(nodes))]
    clients = ends[(kind == NodeKind.HOST) & ~np.isin(ends, servers)]
    load = StorageLoad(
        load=words.decimal("load", 0.2),
        read_bytes=words.size("read", "1MiB"),
        write_bytes=words.size("write", "1MiB"),
        reads=words.decimal("reads", 0.7),
        for_us=words.decimal("for_us", 10_000.0),
        seed=words.whole("seed", scene.seed),
    )
    flows = storage(fabric, servers.astype(np.int32), clients.astype(np.int32), load)
    title = f"storage at {load.load:.0%} of {len(servers)} ports, {load.reads:.0%} of the bytes read"
    said = f"reads and writes arrive as a Poisson process for {load.for_us:g} us, seed {load.seed}"
    return [Part("storage", title, flows, assumptions=(said,))]


_MAKERS: dict[str, Callable[[LoadWords, _Scene], list[Part]]] = {
    "job": _job,
    "pipeline": _pipeline,
    "experts": _experts,
    "incast": _incast,
    "victim": _victim,
    "shift": _shift,
    "storage": _storage,
}
"""What makes each kind of load that is no collective."""
