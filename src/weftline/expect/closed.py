"""Closed forms: how long a collective takes on a fabric without contention."""

from __future__ import annotations

import math
from dataclasses import dataclass

from weftline.errors import SpecError
from weftline.model.result import ClosedForm
from weftline.model.traffic import Collective
from weftline.units import gbps_to_bytes_per_us


@dataclass(frozen=True, slots=True)
class _Part:
    """Steps of one network: their number, the bytes of each, and the rate in bytes per microsecond."""

    name: str
    steps: int
    size: float
    rate: float


def closed_form(
    collective: Collective,
    *,
    rate_gbps: float,
    latency_us: float,
    ranks_per_host: int = 1,
    inside_host_gbytes_per_s: float | None = None,
) -> ClosedForm:
    """Predict a ring, a hierarchical ring, an all-to-all or a permutation by arithmetic.

    ``rate_gbps`` is what one rank's NIC sends over all planes. Ring all-reduce: 2(N-1)(M/(N B) + L).

    Raises:
        SpecError: ``spec.closed-form`` where there is none, or a figure is missing or out of range.
    """
    if not (0 < rate_gbps < math.inf and 0 <= latency_us < math.inf):
        raise SpecError("spec.closed-form", "a rate above 0 and a latency of 0 or more are needed", "give both")
    rate = gbps_to_bytes_per_us(rate_gbps)
    parts, formula = _parts(collective, rate, ranks_per_host, inside_host_gbytes_per_s)
    sending = sum(part.steps * part.size / part.rate for part in parts)
    waits = sum(part.steps for part in parts)
    if collective.kind == "all-to-all":
        waits = min(waits, 1)  # messages follow each other, only the last one is waited for
    time = sending + waits * latency_us
    return ClosedForm(
        time_us=time,
        bound_low_us=max((part.steps * part.size / part.rate for part in parts), default=0.0),
        busbw_gbytes_per_s=collective.bus_bandwidth(time),
        binds=_binds(parts, waits * latency_us),
        formula=formula,
    )


def _parts(collective: Collective, rate: float, per_host: int, inside: float | None) -> tuple[tuple[_Part, ...], str]:
    kind, ranks, size = collective.kind, collective.ranks, float(collective.size_bytes)
    passes = 2 if kind == "all-reduce" else 1
    if collective.algorithm == "hierarchical" and kind in {"all-reduce", "all-gather", "reduce-scatter"}:
        if per_host < 1 or ranks % per_host or (inside is None and per_host > 1):
            raise SpecError(
                "spec.closed-form",
                f"{ranks} ranks with {per_host} per host need whole hosts and the rate inside them",
                "give inside_host_gbytes_per_s and a multiple of the ranks per host",
            )
        hosts = ranks // per_host
        within = _Part("network inside the host", passes * (per_host - 1), size / per_host, (inside or 1.0) * 1000.0)
        between = _Part("NICs", passes * (hosts - 1), size / ranks, rate)
        return (within, between), f"{passes}(g-1)(M/(g V) + L) + {passes}(H-1)(M/(g H B) + L)"
    if collective.algorithm == "ring":
        if kind == "permutation":
            return (_Part("NICs", min(ranks - 1, 1), size, rate),), "M/B + L"
        formula = "(N-1)M/(N B) + L" if kind == "all-to-all" else f"{passes}(N-1)(M/(N B) + L)"
        return (_Part("NICs", passes * (ranks - 1), size / ranks, rate),), formula
    raise SpecError(
        "spec.closed-form", f"{kind} by {collective.algorithm} has no closed form here", "simulate it instead"
    )


def _binds(parts: tuple[_Part, ...], waiting: float) -> str:
    shares = [(part.steps * part.size / part.rate, f"bytes through the {part.name}") for part in parts]
    shares.append((waiting, "latency of messages that wait for each other"))
    longest = max(shares)
    return longest[1] if longest[0] > 0 else "nothing is sent"
