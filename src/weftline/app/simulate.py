"""Simulations: the declared job's all-reduce, or the collective that the options describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

import numpy as np

from weftline.app.pipeline import Progress, Routed, run_to_routes, silent
from weftline.errors import SpecError, UsageError
from weftline.expect import closed_form, job_closed_form, predict_job
from weftline.model.design import ResolvedSpec
from weftline.model.result import ClosedForm, JobPrediction, SimOptions, SimResult
from weftline.model.traffic import Algorithm, Collective, CollectiveKind, Flows
from weftline.schedule import ALGORITHMS, expand, expand_job, job_collectives, pipelined_chunks, place_ranks
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

    @property
    def is_job(self) -> bool:
        """Whether the declared job is meant."""
        chosen = (self.collective, self.algorithm, self.size, self.ranks, self.placement)
        return all(value is None for value in chosen)


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulation, what it was of, and the job prediction that stands on it."""

    title: str
    routes_digest: str
    collective: Collective
    placement_order: str
    seed: int
    flows: int
    result: SimResult
    busbw_gbytes_per_s: float | None
    prediction: JobPrediction | None

    @property
    def has_loads(self) -> bool:
        """Whether the bytes on each link are known; a closed form knows none."""
        return self.result.fidelity != CLOSED


def simulate_place(place: Path, choice: LoadChoice, progress: Progress = silent) -> Simulated:
    """Go from a declaration to a simulation."""
    check_choice(choice)
    return simulate_routed(run_to_routes(place, progress), choice, progress)


def simulate_routed(routed: Routed, choice: LoadChoice, progress: Progress = silent) -> Simulated:
    """Simulate on routes that exist."""
    design = routed.built.checked.design
    if choice.job is not None or (choice.is_job and design.spec.jobs):
        return _simulate_job(routed, choice, find_job(design, choice), progress)
    return _simulate_collective(routed, choice, progress)


def check_choice(choice: LoadChoice) -> None:
    """Refuse words that mean nothing before any work is done.

    Raises:
        UsageError: ``usage.choice`` or ``usage.size``.
    """
    _pick("--collective", choice.collective, get_args(CollectiveKind))
    _pick("--algorithm", choice.algorithm, get_args(Algorithm))
    _pick("--placement", choice.placement, get_args(Order))
    if choice.size is not None:
        parse_size(choice.size)


def find_job(design: ResolvedSpec, choice: LoadChoice) -> int:
    """Find the job that is meant.

    Raises:
        UsageError: ``usage.choice`` for a name that is not declared, or a job and a collective at once.
    """
    names = [job.name for job in design.spec.jobs]
    if not choice.is_job:
        message = "--job and the options of a collective exclude each other"
        raise UsageError("usage.choice", message, "give --job NAME alone, or the collective alone")
    if choice.job is None:
        return 0
    _pick("--job", choice.job, tuple(names))
    return names.index(choice.job)


def _pick(option: str, word: str | None, known: tuple[str, ...]) -> None:
    if word is not None and word not in known:
        hint = f"choose {', '.join(known)}" if known else "the declaration has none"
        raise UsageError("usage.choice", f"{option} {word[:40]!r} is not known", hint)


def _simulate_job(routed: Routed, choice: LoadChoice, index: int, progress: Progress) -> Simulated:
    design, fabric = routed.built.checked.design, routed.built.fabric
    progress("laying out the job", None)
    traffic = job_collectives(design, fabric, index)
    latency, _ = _latency(routed, choice)

    def estimate() -> ClosedForm:
        return job_closed_form(design, traffic, latency, _inside_rate(design))

    result, count = _run(routed, lambda: expand_job(traffic), estimate, choice, progress)
    prediction = predict_job(design, index, traffic, estimate() if result.fidelity == CLOSED else result)
    groups, members = traffic.group_rank.shape
    jobs = len(design.spec.jobs)
    which = f" ({index + 1} of {jobs} declared)" if jobs > 1 else ""
    title = (
        f"job {traffic.job}{which}: {groups} all-reduce{'s' if groups > 1 else ''} at once of "
        f"{format_size(traffic.collective.size_bytes)} over {members} GPUs each"
    )
    return Simulated(
        title,
        routed.routes.digest,
        traffic.collective,
        "order",
        choice.seed,
        count,
        result,
        prediction.busbw_gbytes_per_s,
        prediction,
    )


def _simulate_collective(routed: Routed, choice: LoadChoice, progress: Progress) -> Simulated:
    check_choice(choice)
    progress("laying out the collective", None)
    kind = cast("CollectiveKind", choice.collective or "all-reduce")
    plain = "hierarchical" not in ALGORITHMS[kind] or choice.ranks is not None or choice.placement is not None
    algorithm = cast("Algorithm", choice.algorithm or ("ring" if plain else "hierarchical"))
    order = cast("Order", choice.placement or "order")
    placement = place_ranks(routed.built.fabric, choice.ranks, order, choice.seed)
    collective = Collective(kind, algorithm, parse_size(choice.size or DEFAULT_SIZE), placement.ranks)
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

    result, count = _run(routed, lambda: expand(collective, placement), estimate, choice, progress)
    placed = "in order" if order == "order" else f"at random, seed {choice.seed}"
    size = choice.size or DEFAULT_SIZE
    way = f", {algorithm}" if len(ALGORITHMS[kind]) > 1 else ""
    title = f"{kind} of {size} over {collective.ranks} ranks{way}, placed {placed}"
    busbw = collective.bus_bandwidth(result.total_us)
    return Simulated(title, routed.routes.digest, collective, order, choice.seed, count, result, busbw, None)


def _run(
    routed: Routed,
    expand_flows: Callable[[], Flows],
    estimate: Callable[[], ClosedForm],
    choice: LoadChoice,
    progress: Progress,
) -> tuple[SimResult, int]:
    """Simulate, or take the closed form where nobody asked for a load that is too large; also counts the flows."""
    latency, source = _latency(routed, choice)
    said = f"message latency: {source}"
    try:
        flows = expand_flows()
    except SpecError as error:
        if error.code != "spec.too-many-flows" or not choice.is_job:
            raise
        return _as_result(estimate(), routed.built.fabric.port_count, said), 0
    if choice.is_job and flows.count > MAX_DEFAULT_FLOWS:
        return _as_result(estimate(), routed.built.fabric.port_count, said), 0
    options = SimOptions(latency, _inside_rate(routed.built.checked.design), choice.seed)

    def advance(done: int, total: int) -> None:
        progress("simulating", done / max(total, 1))

    progress("simulating", None)
    result = simulate(flows, routed.built.fabric, routed.routes, options, advance)
    return replace(result, assumptions=(*result.assumptions, said)), flows.count


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
