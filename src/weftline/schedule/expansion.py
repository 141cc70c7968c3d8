"""A collective over placed ranks becomes flows."""

from __future__ import annotations

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import I32
from weftline.model.traffic import Collective, CollectiveKind, Flows, Placement
from weftline.schedule.direct import all_to_all, count_chunks, permutation, tree
from weftline.schedule.rings import RING_STEPS, flat_ring, hierarchical_ring
from weftline.schedule.transfers import Transfers, check_count, make_flows
from weftline.units import MAX_BYTES

ALGORITHMS: dict[CollectiveKind, tuple[str, ...]] = {
    "all-reduce": ("ring", "hierarchical", "tree"),
    "all-gather": ("ring", "hierarchical"),
    "reduce-scatter": ("ring", "hierarchical"),
    "all-to-all": ("ring",),
    "permutation": ("ring",),
}
"""What each collective can be done by; for the last two, ``ring`` means straight to the next, the one after it, ..."""


def expand(collective: Collective, placement: Placement) -> Flows:
    """Turn a collective into flows, each of which waits for what it passes on.

    A size that the ranks do not divide gives fractions of bytes, so that totals are exact. A single rank sends nothing.

    Raises:
        SpecError: ``spec.collective`` for what cannot be done, ``spec.uneven-hosts``, ``spec.too-many-flows``.
    """
    check_collective(collective, placement)
    planes = placement.rank_port.shape[1]
    what = f"{collective.kind} by {collective.algorithm} over {collective.ranks} ranks"
    check_count(_count_transfers(collective), planes, what)
    return make_flows(_transfers(collective, placement), placement)


def check_collective(collective: Collective, placement: Placement) -> None:
    """Refuse what no algorithm here can do.

    Raises:
        SpecError: ``spec.collective``.
    """
    known = ALGORITHMS.get(collective.kind)
    if known is None:
        raise SpecError(
            "spec.collective", f"{collective.kind!r} is no collective", f"choose one of {', '.join(ALGORITHMS)}"
        )
    if collective.algorithm not in known:
        raise SpecError(
            "spec.collective",
            f"{collective.kind} is not done by {collective.algorithm}",
            f"choose {' or '.join(known)}",
        )
    if not 1 <= collective.size_bytes <= MAX_BYTES:
        raise SpecError(
            "spec.collective", f"a size of {collective.size_bytes} bytes is out of range", "give 1 byte to 1 EiB"
        )
    if collective.ranks != placement.ranks:
        raise SpecError(
            "spec.collective",
            f"the collective has {collective.ranks} ranks and {placement.ranks} are placed",
            "place as many ranks as take part",
        )


def _count_transfers(collective: Collective) -> int:
    ranks = collective.ranks
    if collective.algorithm == "tree":
        return 2 * (ranks - 1) * count_chunks(collective.size_bytes)
    if collective.kind == "permutation":
        return ranks
    return ranks * (ranks - 1) * RING_STEPS.get(collective.kind, 1)


def _transfers(collective: Collective, placement: Placement) -> Transfers:
    size, ranks = float(collective.size_bytes), collective.ranks
    if collective.kind == "all-to-all":
        return all_to_all(ranks, size)
    if collective.kind == "permutation":
        return permutation(ranks, size, placement.seed)
    if collective.algorithm == "tree":
        return tree(ranks, size)
    if collective.algorithm == "hierarchical":
        return hierarchical_ring(collective.kind, _grid(placement), size)
    return flat_ring(collective.kind, np.arange(ranks, dtype=np.int32).reshape(1, -1), size)


def _grid(placement: Placement) -> I32:
    """Arrange ranks as ``[1, hosts, rails]``, hosts in the order of their first rank."""
    hosts, first, index = np.unique(placement.rank_host, return_index=True, return_inverse=True)
    row = np.argsort(np.argsort(first, kind="stable"), kind="stable")[index]
    order = np.lexsort((placement.rank_rail, row))
    per_host = placement.ranks // len(hosts)
    rails = placement.rank_rail[order]
    even = (np.bincount(row) == per_host).all()
    if not even or (rails.reshape(len(hosts), per_host) != rails[:per_host]).any():
        raise SpecError(
            "spec.uneven-hosts",
            f"{placement.ranks} ranks on {len(hosts)} hosts do not use the same rails of each host",
            "choose a multiple of the rails and placement order, or the algorithm ring",
        )
    return order.astype(np.int32).reshape(1, len(hosts), per_host)
