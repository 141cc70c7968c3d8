"""Rings without some ranks, as lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Flow = tuple[int, int, float]


def flows(
    rings: Sequence[Sequence[int]],
    ports: Mapping[int, Sequence[int]],
    host: Mapping[int, int],
    dead: set[int],
) -> tuple[set[int], set[Flow]] | None:
    """Say who leaves, and list (port, port, rate) of every flow at a rate of 1; None where neighbours do not meet."""
    gone = {rank for rank, own in ports.items() if all(port in dead for port in own)}
    found: set[Flow] = set()
    for ring in rings:
        left = [rank for rank in ring if rank not in gone]
        for rank, after in zip(left, [*left[1:], *left[:1]], strict=True):
            if rank == after or host[rank] == host[after]:
                continue
            planes = [(a, b) for a, b in zip(ports[rank], ports[after], strict=True) if a not in dead and b not in dead]
            if not planes:
                return None
            found |= {(a, b, len(ports[rank]) / len(planes)) for a, b in planes}
    return gone, found
