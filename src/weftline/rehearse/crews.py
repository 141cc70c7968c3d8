"""The ranks of all jobs together: their ports, their rings, and the flows of the steady step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import F64, I32, NIL


@dataclass(frozen=True, eq=False)
class Crews:
    """N ranks of J jobs with P ports each; ranks of one job follow each other."""

    names: tuple[str, ...]
    first: I32
    """Where each job begins, and the end."""
    job: I32
    port: I32
    """``[N, P]``: endpoint ports, one per plane."""
    host: I32
    after: I32
    """The next rank of the ring; itself where it is alone or left out."""
    before: I32
    planes: I32
    """Live ports of each rank on the whole fabric."""
    absent: I32
    """Ranks that are left out on the whole fabric already: no live port, or none in common with the ring."""
    seat_ptr: I32
    seat_rank: I32
    """The ranks at each port of the fabric."""
    capacity: F64
    """Rate of each link, that of its slower end; 1 everywhere where a rate is unknown."""
    fan: F64
    """``[N, P]``: ranks of the same job that share the port."""
    goal: I32
    """Destination of each port; NIL where it is none."""
    row: I32
    """Switch at the other end of each endpoint port, NIL where there is none."""

    @property
    def ranks(self) -> int:
        """Count the ranks."""
        return len(self.host)


@dataclass(frozen=True, eq=False)
class Sends:
    """Flows of one steady step."""

    rank: I32
    plane: I32
    port: I32
    goal: I32
    rate: F64


def skip(crews: Crews, leaving: I32) -> Crews:
    """Take ranks out of their rings, so that their neighbours follow each other."""
    after, before = crews.after.copy(), crews.before.copy()
    for rank in leaving.tolist():
        left, right = before[rank], after[rank]
        after[left], before[right] = right, left
        after[rank] = before[rank] = rank
    return replace(crews, after=after, before=before)


def find_leaving(crews: Crews, lit: NDArray[np.bool_], part: I32) -> I32:
    """Find the ranks that must leave where only the ports ``lit`` work, in the parts of the fabric ``part``.

    A rank leaves that has no port left. Where a ring falls into parts that no link joins, those of the largest part
    stay (of equal ones that of the lowest rank); and of two neighbours without a plane in common the second leaves.
    """
    out: set[int] = set()
    alive = lit & (crews.row != NIL) & (crews.goal != NIL)
    seen = np.zeros(crews.ranks, dtype=np.bool_)
    for start in range(crews.ranks):
        if seen[start]:
            continue
        ring = [start]
        while crews.after[ring[-1]] != start:
            ring.append(int(crews.after[ring[-1]]))
        seen[ring] = True
        if start in crews.absent:
            continue
        out.update(_leave_ring(crews, ring, alive, part))
    return np.array(sorted(out), dtype=np.int32)


def _leave_ring(crews: Crews, ring: list[int], alive: NDArray[np.bool_], part: I32) -> set[int]:
    ports = crews.port[ring]
    held = np.where(alive[ports], part[ports], NIL)
    if bool((held != NIL).all()) and bool((held == held[:1]).all()):
        return set()
    out = {rank for rank, own in zip(ring, held.tolist(), strict=True) if max(own) == NIL}
    stay = [rank for rank in ring if rank not in out]
    rows = dict(zip(ring, held.tolist(), strict=True))
    # keep the largest set of ranks that share a part on some plane
    best: list[int] = []
    for plane in range(held.shape[1]):
        for value in sorted({rows[rank][plane] for rank in stay} - {NIL}):
            same = [rank for rank in stay if rows[rank][plane] == value]
            if (len(same), -min(same, default=0)) > (len(best), -min(best, default=0)):
                best = same
    reach = set(best)
    for rank in stay:  # a rank without that plane stays where it meets both neighbours on another
        if rank not in reach and any(_meet(rows[rank], rows[other]) for other in best):
            reach.add(rank)
    kept = [rank for rank in stay if rank in reach]
    while len(kept) > 1:
        gone = [b for a, b in zip(kept, [*kept[1:], kept[0]], strict=True) if not _meet(rows[a], rows[b])]
        if not gone:
            break
        kept.remove(gone[0])
    return set(ring) - set(kept)


def _meet(one: list[int], other: list[int]) -> bool:
    return any(a == b != NIL for a, b in zip(one, other, strict=True))


def list_sends(crews: Crews, lit: NDArray[np.bool_], part: I32) -> Sends:
    """List the flows of the steady step: each rank to the next of its ring, over every plane that both have.

    A pair that shares fewer planes than a NIC has sends as much over those that are left.
    """
    rank = np.flatnonzero((crews.after != np.arange(crews.ranks)) & (crews.host != crews.host[crews.after]))
    source, target = crews.port[rank], crews.port[crews.after[rank]]
    alive = lit & (crews.row != NIL) & (crews.goal != NIL)
    use = alive[source] & alive[target] & (part[source] == part[target])
    common = use.sum(axis=1, keepdims=True)
    rate = np.minimum(crews.capacity[source], crews.capacity[target]) / np.maximum(
        crews.fan[rank], crews.fan[crews.after[rank]]
    )
    rate = rate * source.shape[1] / np.maximum(common, 1)
    which, plane = np.nonzero(use)
    return Sends(
        rank[which].astype(np.int32),
        plane.astype(np.int32),
        source[use],
        crews.goal[target[use]],
        rate[use],
    )
