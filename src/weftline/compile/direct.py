"""Direct: fabrics of the families without a tree by their textbook parameters, a host of one NIC on every endpoint.

``build_dragonfly(p, a, h, g)``, ``build_dragonfly_plus(p, leaves, spines, h, g)``, ``build_torus(sizes)``,
``build_hyperx(sizes)`` and ``build_slim_fly(q)`` need no declaration; a declared fabric is built from the same graphs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weftline.compile.dragonfly import Arrangement, GroupShape, group_graph
from weftline.compile.lattice import hyperx_graph, torus_graph
from weftline.compile.slimfly import slim_fly_graph
from weftline.compile.switches import plain_fabric
from weftline.kernels.column import I32
from weftline.model.fabric import Fabric

RATE_GBPS = 400.0


def build_dragonfly(
    p: int, a: int, h: int, g: int, *, per_pair: int | None = None, arrangement: Arrangement = "palmtree"
) -> Fabric:
    """Build a dragonfly: g groups of a switches joined all to all, p endpoints and h global ports on each switch.

    Kim, Dally, Scott and Abts, ISCA 2008. ``per_pair`` global links join every two groups; by default as many as all
    pairs can have alike, ``a * h // (g - 1)``, so that ports stay dark where that leaves a rest.
    """
    group = GroupShape(leaves=a, endpoints=p, leaf_ports=p + a - 1 + h)
    pairs = equal_pairs(g, a * h, per_pair)
    return plain_fabric(group_graph("dragonfly", [group] * g, pairs, arrangement), "dragonfly", RATE_GBPS)


def build_dragonfly_plus(  # noqa: PLR0913
    p: int, leaves: int, spines: int, h: int, g: int, *, per_pair: int | None = None, parallel: int = 1
) -> Fabric:
    """Build a dragonfly+: g groups of leaves and spines, all joined; p endpoints per leaf, h global ports per spine.

    Shpiner et al., HiPINEB 2017. ``parallel`` links join a leaf to a spine; ``per_pair`` as in a dragonfly.
    """
    group = GroupShape(leaves, spines, parallel, p, leaf_ports=p + spines * parallel, spine_ports=leaves * parallel + h)
    pairs = equal_pairs(g, spines * h, per_pair)
    return plain_fabric(group_graph("dragonfly-plus", [group] * g, pairs), "dragonfly-plus", RATE_GBPS)


def build_torus(sizes: Sequence[int], *, cables: Sequence[int] | None = None, endpoints: int = 1) -> Fabric:
    """Build a torus of the given sizes, ``cables[d]`` links per neighbour in dimension d, endpoints on every switch."""
    each = [1] * len(sizes) if cables is None else list(cables)
    ports = endpoints + sum(min(size - 1, 2) * count for size, count in zip(sizes, each, strict=True))
    return plain_fabric(torus_graph(sizes, each, endpoints, ports), "torus", RATE_GBPS)


def build_hyperx(sizes: Sequence[int], *, cables: Sequence[int] | None = None, endpoints: int = 1) -> Fabric:
    """Build a HyperX of sizes S and multiplicities K (``cables``), T endpoints on every switch."""
    each = [1] * len(sizes) if cables is None else list(cables)
    ports = endpoints + sum((size - 1) * count for size, count in zip(sizes, each, strict=True))
    return plain_fabric(hyperx_graph(sizes, each, endpoints, ports), "hyperx", RATE_GBPS)


def build_slim_fly(q: int, *, endpoints: int | None = None) -> Fabric:
    """Build a Slim Fly over the field of q elements; ``endpoints`` per switch default to half its links, rounded up."""
    return plain_fabric(slim_fly_graph(q, endpoints), "slim-fly", RATE_GBPS)


def equal_pairs(groups: int, group_ports: int, per_pair: int | None) -> I32:
    """Make the matrix of global links with the same number for every pair of groups; refuse more than the ports."""
    most = group_ports // max(groups - 1, 1)
    each = most if per_pair is None else per_pair
    if groups > 1 and not 1 <= each <= most:
        msg = f"{groups - 1} other groups x {max(each, 1)} links > {group_ports} global ports of a group"
        raise ValueError(msg)
    return np.where(np.eye(groups, dtype=np.bool_), 0, each).astype(np.int32)
