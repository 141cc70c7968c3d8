"""Simulations: the declared job's all-reduce, or the collective that the options describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

from weftline.app.pipeline import Progress, Routed, run_to_routes, silent
from weftline.errors import UsageError
from weftline.expect import predict_job
from weftline.model.design import ResolvedSpec
from weftline.model.result import JobPrediction, SimOptions, SimResult
from weftline.model.traffic import Algorithm, Collective, CollectiveKind, Flows
from weftline.schedule import bus_bandwidth, expand, expand_job, job_collectives, place_ranks
from weftline.simulate import simulate
from weftline.units import format_size, parse_size

DEFAULT_SIZE = "1GiB"
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


def simulate_place(place: Path, choice: LoadChoice, progress: Progress = silent) -> Simulated:
    """Go from a declaration to a simulation."""
    check_choice(choice)
    return simulate_routed(run_to_routes(place, progress), choice, progress)


def simulate_routed(routed: Routed, choice: LoadChoice, progress: Progress = silent) -> Simulated:
    """Simulate on routes that exist."""
    design = routed.built.checked.design
    if choice.is_job and design.spec.jobs:
        return _simulate_job(routed, choice, progress)
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


def _pick(option: str, word: str | None, known: tuple[str, ...]) -> None:
    if word is not None and word not in known:
        raise UsageError("usage.choice", f"{option} {word[:40]!r} is not known", f"choose {', '.join(known)}")


def _simulate_job(routed: Routed, choice: LoadChoice, progress: Progress) -> Simulated:
    design, fabric = routed.built.checked.design, routed.built.fabric
    progress("laying out the job", None)
    traffic = job_collectives(design, fabric, 0)
    flows = expand_job(traffic)
    result = _run(routed, flows, choice, progress)
    prediction = predict_job(design, 0, traffic, result)
    groups, members = traffic.group_rank.shape
    title = (
        f"job {traffic.job}: {groups} all-reduce{'s' if groups > 1 else ''} at once of "
        f"{format_size(traffic.collective.size_bytes)} over {members} GPUs each"
    )
    return Simulated(
        title,
        routed.routes.digest,
        traffic.collective,
        "order",
        choice.seed,
        flows.count,
        result,
        prediction.busbw_gbytes_per_s,
        prediction,
    )


def _simulate_collective(routed: Routed, choice: LoadChoice, progress: Progress) -> Simulated:
    check_choice(choice)
    progress("laying out the collective", None)
    kind = cast("CollectiveKind", choice.collective or "all-reduce")
    plain = kind in {"all-to-all", "permutation"} or choice.ranks is not None or choice.placement is not None
    algorithm = cast("Algorithm", choice.algorithm or ("ring" if plain else "hierarchical"))
    order = cast("Order", choice.placement or "order")
    placement = place_ranks(routed.built.fabric, choice.ranks, order, choice.seed)
    collective = Collective(kind, algorithm, parse_size(choice.size or DEFAULT_SIZE), placement.ranks)
    flows = expand(collective, placement)
    result = _run(routed, flows, choice, progress)
    title = (
        f"{kind} of {format_size(collective.size_bytes)} over {collective.ranks} ranks, {algorithm}, placed by {order}"
    )
    busbw = bus_bandwidth(collective, result.total_us)
    return Simulated(title, routed.routes.digest, collective, order, choice.seed, flows.count, result, busbw, None)


def _run(routed: Routed, flows: Flows, choice: LoadChoice, progress: Progress) -> SimResult:
    design = routed.built.checked.design
    latency, source = _latency(routed, choice)
    options = SimOptions(latency, _inside_rate(design), choice.seed)

    def advance(done: int, total: int) -> None:
        progress("simulating", done / max(total, 1))

    progress("simulating", None)
    result = simulate(flows, routed.built.fabric, routed.routes, options, advance)
    return replace(result, assumptions=(*result.assumptions, f"message latency {latency:g} us: {source}"))


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
