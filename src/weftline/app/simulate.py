"""Simulations: the declared job's all-reduce, or the collective and the other loads that the options describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

import numpy as np

from weftline.app.load_times import LoadTimes, time_loads
from weftline.app.load_words import read_load, read_straggler
from weftline.app.loads import Part, Workload, gather_loads, make_loads, read_trace
from weftline.app.packets import PacketChoice, Packets, as_times, check_packets, run_packets
from weftline.app.pipeline import Progress, Routed, run_to_routes, silent
from weftline.app.reduction import Reduction, settle, tell_limits, tell_trees
from weftline.errors import SpecError, UsageError
from weftline.expect import closed_form, job_closed_form, predict_job
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.packet import Machine
from weftline.model.result import ClosedForm, JobPrediction, SimOptions, SimResult
from weftline.model.traffic import (
    Algorithm,
    Collective,
    CollectiveKind,
    Flows,
    JobTraffic,
    Placement,
)
from weftline.schedule import ALGORITHMS, expand_job, job_collectives, pipelined_chunks, place_ranks
from weftline.simulate import simulate
from weftline.units import format_size, parse_size

DEFAULT_SIZE = "1GiB"
CLOSED = "closed-form"
"""Fidelity of a time that arithmetic gave."""
MAX_DEFAULT_FLOWS = 4_000_000
"""Flows that a load nobody spelt out may take, about ten seconds; above that the closed form stands in."""
Order = Literal["order", "random"]


@dataclass(frozen=True, slots=True)
class LoadChoice:
    """What the command line asks for; without a word about the collective it is the declared job."""

    collective: str | None = None
    algorithm: str | None = None
    size: str | None = None
    ranks: int | None = None
    placement: str | None = None
    seed: int = 0
    latency_us: float | None = None
    job: str | None = None
    """Name of the declared job; the first when None."""
    loads: tuple[str, ...] = ()
    """What else is sent at the same time, as ``incast:senders=15``."""
    trace: Path | None = None
    stragglers: tuple[str, ...] = ()
    packets: PacketChoice | None = None
    """Packet by packet; None: as fluid."""

    @property
    def is_job(self) -> bool:
        """Whether the declared job is meant."""
        chosen = (self.collective, self.algorithm, self.size, self.ranks, self.placement)
        return all(value is None for value in chosen)

    @property
    def has_more(self) -> bool:
        """Whether other loads are asked for."""
        return bool(self.loads) or self.trace is not None

    @property
    def has_main(self) -> bool:
        """Whether a job or a collective is simulated: unless other loads alone are asked for."""
        return not self.has_more or not self.is_job or self.job is not None

    @property
    def is_spelt_out(self) -> bool:
        """Whether somebody asked for just this load, so that nothing stands in for it."""
        return not self.is_job or self.has_more or bool(self.stragglers) or self.packets is not None


@dataclass(frozen=True, slots=True)
class Sent:
    """Packets, and the fabric and flows that they are of."""

    packets: Packets
    fabric: Fabric
    flows: Flows


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulation, what it was of, and the job prediction that stands on it."""

    title: str
    routes_digest: str
    fabric: Fabric
    collective: Collective | None
    placement_order: str
    seed: int
    flows: int
    result: SimResult
    busbw_gbytes_per_s: float | None
    prediction: JobPrediction | None
    loads: tuple[LoadTimes, ...]
    """Each of the loads that ran at the same time; none where a closed form stands in."""
    sent: Sent | None = None
    """What was sent packet by packet, where it was."""

    @property
    def has_loads(self) -> bool:
        """Whether the bytes on each link are known; a closed form knows none."""
        return self.result.fidelity != CLOSED


@dataclass(frozen=True, slots=True)
class _Main:
    """The job or the collective that the options describe."""

    kind: str
    title: str
    collective: Collective
    placement: Placement
    expand: Callable[[], Flows]
    estimate: Callable[[], ClosedForm]
    job: tuple[int, JobTraffic] | None = None
    assumptions: tuple[str, ...] = ()
    reduction: Reduction | None = None

    def part(self) -> Part:
        """Make its flows."""
        return Part(
            self.kind, self.title, self.expand(), self.placement, self.collective, assumptions=self.assumptions,
            reduction=self.reduction,
        )  # fmt: skip


def simulate_place(place: Path, choice: LoadChoice, progress: Progress = silent) -> Simulated:
    """Go from a declaration to a simulation."""
    check_choice(choice)
    return simulate_routed(run_to_routes(place, progress), choice, progress)


def simulate_both(
    place: Path, choice: LoadChoice, against: Path, progress: Progress = silent
) -> tuple[Simulated, Simulated]:
    """Go from a declaration to a simulation of packets, and to one of the same packets with other device files."""
    check_choice(choice)
    routed = run_to_routes(place, progress)
    other = replace(choice, packets=replace(cast("PacketChoice", choice.packets), files=against))
    return simulate_routed(routed, choice, progress), simulate_routed(routed, other, progress)


def simulate_routed(
    routed: Routed, choice: LoadChoice, progress: Progress = silent, machine: Machine | None = None
) -> Simulated:
    """Simulate on routes that exist; ``machine`` is what packets meet, where that is known."""
    check_choice(choice)
    main = _main(routed, choice, progress) if choice.has_main else None
    workload = _workload(routed, choice, main, progress)
    latency, source = _latency(routed, choice)
    said = f"message latency: {source}"
    sent = None
    if workload is None:
        main = cast("_Main", main)
        result, times = _as_result(main.estimate(), routed.built.fabric.port_count, said), ()
    elif choice.packets is not None:
        inside = _inside_rate(routed.built.checked.design)
        packets = run_packets(routed, workload.flows, choice.packets, inside, choice.seed, progress, machine)
        sent = Sent(packets, routed.built.fabric, workload.flows)
        result = as_times(packets, choice.seed)
        result = replace(result, assumptions=(*result.assumptions, *workload.assumptions))
        times = time_loads(workload, result)
    else:
        options = SimOptions(latency, _inside_rate(routed.built.checked.design), choice.seed)

        def advance(done: int, total: int) -> None:
            progress("simulating", done / max(total, 1))

        progress("simulating", None)
        result = simulate(workload.flows, routed.built.fabric, routed.routes, options, advance)
        result = replace(result, assumptions=(*result.assumptions, *workload.assumptions, said))
        times = time_loads(workload, result)
    return replace(_tell(routed, choice, main, result, times), sent=sent)


def check_choice(choice: LoadChoice) -> None:
    """Refuse words that mean nothing before any work is done.

    Raises:
        UsageError: ``usage.choice``, ``usage.size`` or ``usage.load``.
    """
    _pick("--collective", choice.collective, get_args(CollectiveKind))
    _pick("--algorithm", choice.algorithm, get_args(Algorithm))
    _pick("--placement", choice.placement, get_args(Order))
    if choice.size is not None:
        parse_size(choice.size)
    for text in choice.loads:
        read_load(text)
    for text in choice.stragglers:
        read_straggler(text)
    if choice.packets is not None:
        check_packets(choice.packets)


def tell_reductions(simulated: Simulated) -> tuple[str, ...]:
    """Say of each load that was to be reduced in the network along which trees it was, or why not; and the limits."""
    found = [one.reduction for one in simulated.loads if one.reduction is not None]
    return tuple(
        text
        for one in found
        for text in (tell_trees(one, simulated.fabric), *([tell_limits(one)] if one.is_planned else []))
    )


def find_job(design: ResolvedSpec, choice: LoadChoice) -> int:
    """Find the job that is meant.

    Raises:
        UsageError: ``usage.choice`` for a name that is not declared, or a job and a collective at once.
    """
    names = [job.name for job in design.spec.jobs]
    if not choice.is_job:
        message = "--job and the options of a collective exclude each other"
        raise UsageError("usage.choice", message, "give --job NAME, or the collective; --load job adds a job to it")
    if choice.job is None:
        return 0
    _pick("--job", choice.job, tuple(names))
    return names.index(choice.job)


def _pick(option: str, word: str | None, known: tuple[str, ...]) -> None:
    if word is not None and word not in known:
        hint = f"choose {', '.join(known)}" if known else "the declaration has none"
        raise UsageError("usage.choice", f"{option} {word[:40]!r} is not known", hint)


def _main(routed: Routed, choice: LoadChoice, progress: Progress) -> _Main:
    design = routed.built.checked.design
    if choice.job is not None or (choice.is_job and design.spec.jobs):
        return _job(routed, choice, find_job(design, choice), progress)
    return _collective(routed, choice, progress)


def _job(routed: Routed, choice: LoadChoice, index: int, progress: Progress) -> _Main:
    design, fabric = routed.built.checked.design, routed.built.fabric
    progress("laying out the job", None)
    traffic = job_collectives(design, fabric, index)
    latency, _ = _latency(routed, choice)
    groups, members = traffic.group_rank.shape
    jobs = len(design.spec.jobs)
    which = f" ({index + 1} of {jobs} declared)" if jobs > 1 else ""
    title = (
        f"job {traffic.job}{which}: {groups} all-reduce{'s' if groups > 1 else ''} at once of "
        f"{format_size(traffic.collective.size_bytes)} over {members} GPUs each"
    )
    return _Main(
        "job",
        title,
        traffic.collective,
        traffic.placement,
        lambda: expand_job(traffic),
        lambda: job_closed_form(design, traffic, latency, _inside_rate(design)),
        (index, traffic),
    )


def _collective(routed: Routed, choice: LoadChoice, progress: Progress) -> _Main:
    progress("laying out the collective", None)
    kind = cast("CollectiveKind", choice.collective or "all-reduce")
    plain = "hierarchical" not in ALGORITHMS[kind] or choice.ranks is not None or choice.placement is not None
    algorithm = cast("Algorithm", choice.algorithm or ("ring" if plain else "hierarchical"))
    order = cast("Order", choice.placement or "order")
    placement = place_ranks(routed.built.fabric, choice.ranks, order, choice.seed)
    asked = Collective(kind, algorithm, parse_size(choice.size or DEFAULT_SIZE), placement.ranks)
    reduced = settle(asked, placement, routed)
    collective = reduced.collective
    latency, _ = _latency(routed, choice)
    design = routed.built.checked.design

    def estimate() -> ClosedForm:
        return closed_form(
            collective,
            rate_gbps=design.rate_gbps * routed.built.fabric.planes,
            latency_us=latency,
            ranks_per_host=design.rails,
            inside_host_gbytes_per_s=_inside_rate(design),
            chunks=pipelined_chunks(collective),
        )

    placed = "in order" if order == "order" else f"at random, seed {choice.seed}"
    way = f", {collective.algorithm}" if len(ALGORITHMS[kind]) > 1 else ""
    title = f"{kind} of {choice.size or DEFAULT_SIZE} over {collective.ranks} ranks{way}, placed {placed}"
    fabric = routed.built.fabric
    return _Main(
        kind, title, collective, placement, lambda: reduced.expand(placement, fabric), estimate,
        assumptions=reduced.assumptions, reduction=reduced.reduction,
    )  # fmt: skip


def _workload(routed: Routed, choice: LoadChoice, main: _Main | None, progress: Progress) -> Workload | None:
    """Make everything that is sent; None where nobody asked for a load that is too large."""
    parts: list[Part] = []
    if main is not None:
        try:
            parts.append(main.part())
        except SpecError as error:
            if error.code != "spec.too-many-flows" or choice.is_spelt_out:
                raise
            return None
        if parts[0].flows.count > MAX_DEFAULT_FLOWS and not choice.is_spelt_out:
            return None
    if choice.has_more:
        progress("laying out the loads", None)
        parts += make_loads(routed, choice.loads, choice.seed)
        if choice.trace is not None:
            parts.append(read_trace(routed, choice.trace))
    return gather_loads(parts, tuple(read_straggler(text) for text in choice.stragglers), choice.seed)


def _tell(
    routed: Routed, choice: LoadChoice, main: _Main | None, result: SimResult, times: tuple[LoadTimes, ...]
) -> Simulated:
    """Put together what is shown: of the job or the collective, or of the only load."""
    first = times[0] if times and (main is not None or len(times) == 1) else None
    busbw, prediction = (None if first is None else first.busbw_gbytes_per_s), None
    if main is not None and not times:
        busbw = main.collective.bus_bandwidth(result.total_us)
    if main is not None and main.job is not None and (first is None or first.finish_us is not None):
        index, traffic = main.job
        own = main.estimate() if first is None else replace(result, total_us=cast("float", first.finish_us))
        prediction = predict_job(routed.built.checked.design, index, traffic, own)
    title = main.title if main is not None else times[0].load.title
    more = len(times) - 1
    return Simulated(
        title=title if more < 1 else f"{title}, beside {more} more load{'s' if more > 1 else ''}",
        routes_digest=routed.routes.digest,
        fabric=routed.built.fabric,
        collective=main.collective if main is not None else (first.load.collective if first else None),
        placement_order=main.placement.order if main is not None else "order",
        seed=choice.seed,
        flows=sum(item.load.count for item in times),
        result=result,
        busbw_gbytes_per_s=busbw,
        prediction=prediction,
        loads=times,
    )


def _as_result(closed: ClosedForm, ports: int, said: str) -> SimResult:
    """Show a closed form as a result without flows."""
    return SimResult(
        fidelity=CLOSED,
        start_us=np.empty(0),
        finish_us=np.empty(0),
        total_us=closed.time_us,
        bound_low_us=closed.bound_low_us,
        bound_name="bytes of the busiest port at its rate, without latency",
        port_bytes=np.zeros(ports),
        assumptions=(
            f"not simulated, since it is more than {MAX_DEFAULT_FLOWS:,} flows: {closed.formula}, without contention",
            "the balance proof bounds the load of a link; weftline simulate --ranks N simulates a part",
            f"most of the time goes to: {closed.binds}",
            said,
        ),
    )


def _latency(routed: Routed, choice: LoadChoice) -> tuple[float, str]:
    if choice.latency_us is not None:
        return choice.latency_us, "given on the command line"
    declared = routed.built.checked.design.spec.policy.latency_us
    if declared != "auto":
        return declared, "declared as policy.latency_us"
    transport = routed.built.checked.technology.transport
    return transport.message_latency_us, transport.message_latency_source


def _inside_rate(design: ResolvedSpec) -> float | None:
    declared = design.spec.policy.inside_host_gbytes_per_s
    return design.host.inside_host_gbytes_per_s if declared == "auto" else declared
