"""A collective over placed ranks becomes flows."""

from __future__ import annotations

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import I32
from weftline.model.traffic import Collective, CollectiveKind, Flows, Placement
from weftline.schedule.direct import all_to_all, gather, permutation, scatter
from weftline.schedule.halving import halving_doubling
from weftline.schedule.rings import RING_STEPS, flat_ring, hierarchical_ring
from weftline.schedule.transfers import Transfers, check_count, make_flows
from weftline.schedule.trees import broadcast_chain, broadcast_tree, double_binary_tree, pipelined_chunks, tree
from weftline.units import MAX_BYTES

ALGORITHMS: dict[CollectiveKind, tuple[str, ...]] = {
    "all-reduce": ("ring", "hierarchical", "tree", "double-binary-tree", "halving-doubling"),
    "all-gather": ("ring", "hierarchical", "halving-doubling"),
    "reduce-scatter": ("ring", "hierarchical", "halving-doubling"),
    "all-to-all": ("ring",),
    "broadcast": ("ring", "tree"),
    "gather": ("ring",),
    "scatter": ("ring",),
    "permutation": ("ring",),
}
"""What each collective can be done by; where ``ring`` is all, it means straight to the next, the one after it, ...

Of a broadcast it means a chain.
"""


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
    edges = ranks - 1
    if collective.kind == "broadcast":
        return edges * pipelined_chunks(collective)
    if collective.algorithm in {"tree", "double-binary-tree"}:
        return (2 if collective.algorithm == "tree" else 4) * edges * pipelined_chunks(collective)
    passes = RING_STEPS.get(collective.kind, 1)
    if collective.algorithm == "halving-doubling":
        return passes * ranks * edges.bit_length()
    if collective.kind in {"permutation", "gather", "scatter"}:
        return ranks
    return ranks * edges * passes


def _transfers(collective: Collective, placement: Placement) -> Transfers:
    size, ranks, kind = float(collective.size_bytes), collective.ranks, collective.kind
    if kind == "permutation":
        return permutation(ranks, size, placement.seed)
    if collective.algorithm == "hierarchical":
        return hierarchical_ring(kind, host_grid(placement)[None], size)
    if collective.algorithm == "halving-doubling":
        return halving_doubling(kind, ranks, size)
    by_kind_and_way = {
        ("all-to-all", "ring"): all_to_all,
        ("gather", "ring"): gather,
        ("scatter", "ring"): scatter,
        ("broadcast", "ring"): broadcast_chain,
        ("broadcast", "tree"): broadcast_tree,
        ("all-reduce", "tree"): tree,
        ("all-reduce", "double-binary-tree"): double_binary_tree,
    }
    way = by_kind_and_way.get((kind, collective.algorithm))
    if way is not None:
        return way(ranks, size)
    return flat_ring(kind, np.arange(ranks, dtype=np.int32).reshape(1, -1), size)


def host_grid(placement: Placement) -> I32:
    """Arrange ranks as ``[hosts, rails]``, hosts in the order of their first rank.

    Raises:
        SpecError: ``spec.uneven-hosts``.
    """
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
    return order.astype(np.int32).reshape(len(hosts), per_host)
