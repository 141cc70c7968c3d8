"""One simulation from flows to times, held against bounds that no schedule beats."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weftline.errors import InternalError, SpecError
from weftline.kernels.chains import count_waits, invert_needs, link_queues, longest_chain
from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.fluid import WORKS
from weftline.kernels.pairs import (
    keep_resources,
    least_capacity,
    peak_demand,
    send_times,
    sum_pair_bytes,
    sum_resource_bytes,
)
from weftline.model.fabric import Fabric
from weftline.model.result import SimOptions, SimResult
from weftline.model.routes import Routes
from weftline.model.traffic import Flows, Via
from weftline.simulate.fluid import Load, Progress, run_fluid
from weftline.simulate.paths import Paths, name_resource, resolve_paths

TOLERANCE = 1e-9
"""Relative rounding that a result may show against a bound."""


def simulate(
    flows: Flows, fabric: Fabric, routes: Routes, options: SimOptions, progress: Progress | None = None
) -> SimResult:
    """Send the flows at exact max-min fair rates, re-solved at every event where something changed.

    A link carries any mix of flows without loss, queues or headers; a message is sent as a whole and arrives
    ``latency_us`` after its last byte left. About 100 bytes of memory per flow. ``progress`` is called several times
    a second. Where thousands of dependent steps contend, rounding grows from step to step: two runs of one build give
    the same bytes, but single times may differ visibly where the arithmetic is ordered otherwise.

    Raises:
        SpecError: ``spec.simulation-options``, ``spec.unreachable-pair``, ``spec.inside-host-rate``,
            ``spec.link-rate``.
        InternalError: ``internal.flow-circle``, ``internal.beats-bound``, ``internal.flow-times``,
            ``internal.other-fabric``.
    """
    _check(flows, fabric, routes, options)
    if flows.count == 0:
        none = np.empty(0)
        return SimResult("fluid", none, none.copy(), 0.0, 0.0, "nothing is sent", np.zeros(fabric.port_count), ())
    paths = resolve_paths(flows, fabric, routes, options)
    cap = least_capacity(paths.pair_ptr, paths.pair_resource, paths.capacity)
    after = _follow(flows)
    pair_bytes = sum_pair_bytes(paths.flow_pair, flows.size_bytes, paths.pairs)
    carried = sum_resource_bytes(pair_bytes, paths.pair_ptr, paths.pair_resource, len(paths.capacity))
    duration = send_times(paths.flow_pair, flows.size_bytes, cap)
    bound = max(
        _bound_of_resources(fabric, paths, carried, options.latency_us),
        _bound_of_chains(flows, fabric, duration, after, options.latency_us),
        key=lambda item: item[0] * (1 + item[2] * TOLERANCE),
    )
    del duration
    start, sent = run_fluid(_load(flows, paths, cap, after), options.latency_us, progress)
    _finish(flows, start, sent, options.latency_us)
    total = float(sent.max())
    if total < bound[0] * (1 - TOLERANCE):
        raise InternalError("internal.beats-bound", f"{total!r} us is less than the lower bound {bound[0]!r} us")
    return SimResult(
        fidelity="fluid",
        start_us=start,
        finish_us=sent,
        total_us=total,
        bound_low_us=bound[0],
        bound_name=bound[1],
        port_bytes=carried[: fabric.port_count].copy(),
        assumptions=_assumptions(flows, routes, options),
    )


def _finish(flows: Flows, start: F64, sent: F64, latency_us: float) -> None:
    """Turn the ends of sending into arrivals, in place; work began its delay before it ended, and has no latency."""
    sent += latency_us
    work = np.flatnonzero(flows.via == Via.WORK)
    if len(work):
        sent[work] = start[work]
        if len(flows.delay_us):
            start[work] -= flows.delay_us[work]


@dataclass(frozen=True, slots=True)
class _After:
    """Who waits for whom."""

    successor: I32
    waiting: I32
    ptr: I64
    flow: I32
    queues: int


def _follow(flows: Flows) -> _After:
    queues = int(flows.queue.max(initial=NIL)) + 1
    successor = link_queues(flows.queue, queues)
    ptr, after = invert_needs(flows.need_ptr, flows.need_flow)
    return _After(successor, count_waits(flows.need_ptr, successor), ptr, after, queues)


def _load(flows: Flows, paths: Paths, cap: F64, after: _After) -> Load:
    """Leave out every resource that its users together can never fill."""
    demand = peak_demand(
        paths.flow_pair, after.successor, paths.pair_ptr, paths.pair_resource, cap, len(paths.capacity)
    )
    kept = np.flatnonzero(demand > paths.capacity)
    number = np.full(len(paths.capacity), NIL, dtype=np.int32)
    number[kept] = np.arange(len(kept))
    ptr, resource = keep_resources(paths.pair_ptr, paths.pair_resource, number)
    alone = np.isinf(cap)
    path = np.where(alone[paths.flow_pair], NIL, paths.flow_pair).astype(np.int32) if alone.any() else paths.flow_pair
    work = flows.via == Via.WORK
    path = np.where(work, WORKS, path).astype(np.int32) if work.any() else path
    slots = after.queues + int(np.count_nonzero(flows.queue == NIL))
    return Load(
        path, flows.size_bytes, flows.start_us, flows.delay_us, slots, after.successor, flows.need_ptr, after.ptr,
        after.flow, ptr, resource, cap, paths.capacity[kept],
    )  # fmt: skip


def _bound_of_resources(fabric: Fabric, paths: Paths, carried: F64, latency_us: float) -> tuple[float, str, int]:
    """Bytes of the busiest resource at its capacity; it wins a tie (last value)."""
    busy = np.divide(carried, paths.capacity, out=np.zeros_like(carried), where=carried > 0)
    worst = int(busy.argmax())
    return float(busy[worst]) + latency_us, f"bytes on the {name_resource(fabric, worst)}", 1


def _bound_of_chains(
    flows: Flows, fabric: Fabric, duration: F64, after: _After, latency_us: float
) -> tuple[float, str, int]:
    """Longest chain of messages, each sent as fast as its path can."""
    chain, last, ordered = longest_chain(
        duration, latency_us, flows.via, flows.start_us, flows.delay_us, after.waiting, after.successor, after.ptr,
        after.flow,
    )  # fmt: skip
    if ordered < flows.count:
        raise InternalError("internal.flow-circle", f"{flows.count - ordered} flows wait for each other")
    end = fabric.port_name(int(flows.target[last]))
    return chain, f"longest chain of messages that wait for each other, ending at {end}", 0


def _assumptions(flows: Flows, routes: Routes, options: SimOptions) -> tuple[str, ...]:
    texts = [
        "fluid: flows share links at max-min fair rates, without headers, loss or queueing delay",
        f"every message takes {options.latency_us:g} us end to end, besides the time to send its bytes",
    ]
    if (np.diff(routes.member_ptr) > 1).any():
        texts.append(f"where several ports serve a destination, a hash with seed {options.seed} picks one per pair")
    if (flows.via == Via.HOST).any():
        texts.append(f"inside a host each GPU sends and receives at {options.inside_host_gbytes_per_s:g} GB/s")
    return tuple(texts)


def _check(flows: Flows, fabric: Fabric, routes: Routes, options: SimOptions) -> None:
    inside = options.inside_host_gbytes_per_s
    if not (math.isfinite(options.latency_us) and 0 <= options.latency_us <= 1e9):
        raise SpecError(
            "spec.simulation-options",
            f"a latency of {options.latency_us!r} us is out of range",
            "give microseconds from 0 to 1e9",
        )
    if inside is not None and not (math.isfinite(inside) and 0 < inside <= 1e6):
        raise SpecError(
            "spec.simulation-options",
            f"{inside!r} GB/s inside a host is out of range",
            "give GB/s above 0, at most 1e6",
        )
    if not (0 <= options.seed < 2**32 and 1 <= options.max_hops <= 4096):
        raise SpecError(
            "spec.simulation-options",
            f"seed {options.seed} or {options.max_hops} hops is out of range",
            "give a seed from 0 to 4294967295",
        )
    if routes.fabric_digest != fabric.digest:
        raise InternalError("internal.other-fabric", "the routes were computed for another fabric")
    for times in (flows.start_us, flows.delay_us):
        if len(times) not in {0, flows.count} or not (np.isfinite(times) & (times >= 0)).all():
            raise InternalError("internal.flow-times", "starts and delays of flows are times from 0, one each or none")
    for ends in (flows.source, flows.target):
        if not (ends.min(initial=0) >= 0 and ends.max(initial=0) < fabric.port_count):
            raise InternalError("internal.other-fabric", "the flows use ports that the fabric does not have")
