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
    """What goes through one network: bytes one after the other on the longest way, and how often that waits."""

    name: str
    size: float
    """Bytes."""
    waits: int
    rate: float
    """Bytes per microsecond."""
    port_bytes: float | None = None
    """Bytes through the busiest port; None: ``size``."""

    @property
    def sending(self) -> float:
        """Microseconds that the bytes take."""
        return self.size / self.rate

    @property
    def bound(self) -> float:
        """Microseconds in which no schedule gets the bytes through the busiest port."""
        return (self.size if self.port_bytes is None else self.port_bytes) / self.rate


def closed_form(
    collective: Collective,
    *,
    rate_gbps: float,
    latency_us: float,
    ranks_per_host: int = 1,
    inside_host_gbytes_per_s: float | None = None,
    chunks: int = 1,
) -> ClosedForm:
    """Predict a collective by arithmetic.

    ``rate_gbps`` is what one rank's NIC sends over all planes; ``chunks`` is how many pieces a tree or chain pipelines
    (of each half, where there are two trees). Ring all-reduce: 2(N-1)(M/(N B) + L). All are exact on a fabric without
    contention but the all-reduces by trees, whose chunks meet at the NIC: those are estimates, a little high.

    Raises:
        SpecError: ``spec.closed-form`` where there is none, or a figure is missing or out of range.
    """
    if not (0 < rate_gbps < math.inf and 0 <= latency_us < math.inf and chunks >= 1):
        raise SpecError("spec.closed-form", "a rate above 0 and a latency of 0 or more are needed", "give both")
    rate = gbps_to_bytes_per_us(rate_gbps)
    if collective.ranks < 2:
        parts, formula = (), "0"
    elif collective.algorithm == "hierarchical" and collective.kind in {"all-reduce", "all-gather", "reduce-scatter"}:
        parts, formula = _hierarchical(collective, rate, ranks_per_host, inside_host_gbytes_per_s)
    else:
        parts, formula = _flat(collective, rate, chunks)
    sending = sum(part.sending for part in parts)
    waiting = sum(part.waits for part in parts) * latency_us
    return ClosedForm(
        time_us=sending + waiting,
        bound_low_us=max((part.bound for part in parts), default=0.0),
        busbw_gbytes_per_s=collective.bus_bandwidth(sending + waiting),
        binds=_binds(parts, waiting),
        formula=formula,
    )


def _hierarchical(
    collective: Collective, rate: float, per_host: int, inside: float | None
) -> tuple[tuple[_Part, ...], str]:
    kind, ranks, size = collective.kind, collective.ranks, float(collective.size_bytes)
    passes = 2 if kind == "all-reduce" else 1
    if per_host < 1 or ranks % per_host or (inside is None and per_host > 1):
        raise SpecError(
            "spec.closed-form",
            f"{ranks} ranks with {per_host} per host need whole hosts and the rate inside them",
            "give inside_host_gbytes_per_s and a multiple of the ranks per host",
        )
    near, far = passes * (per_host - 1), passes * (ranks // per_host - 1)
    within = _Part("network inside the host", near * size / per_host, near, (inside or 1.0) * 1000.0)
    between = _Part("NICs", far * size / ranks, far, rate)
    return (within, between), f"{passes}(g-1)(M/(g V) + L) + {passes}(H-1)(M/(g H B) + L)"


def _flat(collective: Collective, rate: float, chunks: int) -> tuple[tuple[_Part, ...], str]:
    kind, ranks, size = collective.kind, collective.ranks, float(collective.size_bytes)
    passes = 2 if kind == "all-reduce" else 1
    share = passes * (ranks - 1) * size / ranks
    levels = (ranks - 1).bit_length()
    match kind, collective.algorithm:
        case (("all-reduce" | "all-gather" | "reduce-scatter"), "ring"):
            part, formula = _Part("NICs", share, passes * (ranks - 1), rate), f"{passes}(N-1)(M/(N B) + L)"
        case (("all-reduce" | "all-gather" | "reduce-scatter"), "halving-doubling"):
            part = _Part("NICs", share, passes * levels, rate)
            formula = f"{passes}((N-1)M/(N B) + ceil(log2 N) L)"
        case (("all-to-all" | "gather" | "scatter"), "ring"):
            # Messages follow each other: only the last one is waited for.
            part, formula = _Part("NICs", share, 1, rate), "(N-1)M/(N B) + L"
        case "permutation", "ring":
            part, formula = _Part("NICs", size, 1, rate), "M/B + L"
        case "broadcast", "ring":
            part = _Part("NICs", (ranks - 2 + chunks) * size / chunks, ranks - 1, rate, size)
            formula = "(N-1)(c/B + L) + (C-1)c/B, c = M/C"
        case _:
            part, formula = _trees(collective, rate, chunks)
    return (part,), formula


def _trees(collective: Collective, rate: float, chunks: int) -> tuple[_Part, str]:
    ranks, chunk = collective.ranks, float(collective.size_bytes) / chunks
    fill, depth = _heap_levels(ranks)
    match collective.kind, collective.algorithm:
        case "broadcast", "tree":
            children = min(2, ranks - 1)
            part = _Part("NICs", (fill + (chunks - 1) * children) * chunk, depth, rate, children * chunks * chunk)
            return part, "D(2c/B + L) + 2(C-1)c/B, c = M/C"
        case "all-reduce", "tree":
            busiest = min(3, (ranks + 1) // 2)
            size = (2 * fill + (chunks - 1) * busiest) * chunk
            return _Part("NICs", size, 2 * depth, rate, busiest * chunks * chunk), "about 2D(2c/B + L) + 3(C-1)c/B"
        case "all-reduce", "double-binary-tree":
            # One rank more stands above an even number; it has one child.
            depth = (ranks - 1).bit_length() if ranks % 2 == 0 else ranks.bit_length() - 1
            fill = 2 * depth - (ranks + 1) % 2
            busiest = min(4, ranks)
            size = (2 * fill + (chunks - 1) * busiest) * chunk / 2
            bound = busiest * chunks * chunk / 2
            return _Part("NICs", size, 2 * depth, rate, bound), "about 2D(2c/B + L) + 4(C-1)c/B, c = M/(2C)"
        case _:
            raise SpecError(
                "spec.closed-form",
                f"{collective.kind} by {collective.algorithm} has no closed form here",
                "simulate it instead",
            )


def _heap_levels(ranks: int) -> tuple[int, int]:
    """Count the messages that follow each other on the way from the root to the last leaf, and the levels."""
    depth = ranks.bit_length() - 1
    alone = ranks & (ranks - 1) == 0  # the last leaf is the only one of its level
    return 2 * depth - alone, depth


def _binds(parts: tuple[_Part, ...], waiting: float) -> str:
    shares = [(part.sending, f"bytes through the {part.name}") for part in parts]
    shares.append((waiting, "latency of messages that wait for each other"))
    longest = max(shares)
    return longest[1] if longest[0] > 0 else "nothing is sent"
