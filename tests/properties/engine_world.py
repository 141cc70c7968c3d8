"""Every topology and every class of faults that engines are held against, with what covers which registry."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import numpy as np

from tests.fabrics import from_links, make_fabric
from tests.unit.route.walks import switch_links
from weftline.compile.direct import (
    build_dragonfly,
    build_dragonfly_plus,
    build_hyperx,
    build_slim_fly,
    build_torus,
)
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.route.repair import cut_fabric

TOPOLOGIES: dict[str, tuple[str, Callable[[], Fabric]]] = {
    "tree of two tiers": ("fat-tree", lambda: make_fabric("fat-tree", hosts=12, ports=8)),
    "tree of two tiers with bundles": ("fat-tree", lambda: make_fabric("fat-tree", hosts=8, ports=8, unit_size=4)),
    "tree of three tiers": ("fat-tree", lambda: make_fabric("fat-tree", hosts=24, ports=6)),
    "rail-optimised": ("rail-optimised", lambda: make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4)),
    "rail-only": ("rail-only", lambda: make_fabric("rail-only", hosts=10, rails=2, ports=8, unit_size=4)),
    "dragonfly": ("dragonfly", lambda: build_dragonfly(1, 4, 2, 9)),
    "dragonfly of two links a pair": ("dragonfly", lambda: build_dragonfly(1, 4, 2, 5)),
    "dragonfly-plus": ("dragonfly-plus", lambda: build_dragonfly_plus(2, 3, 3, 2, 4)),
    "dragonfly-plus of one link a pair": ("dragonfly-plus", lambda: build_dragonfly_plus(1, 3, 3, 2, 7)),
    "dragonfly-plus with bundles": ("dragonfly-plus", lambda: build_dragonfly_plus(1, 2, 2, 2, 3, parallel=2)),
    "ring": ("torus", lambda: build_torus([7])),
    "ring of even size": ("torus", lambda: build_torus([6])),
    "torus": ("torus", lambda: build_torus([4, 5])),
    "torus with a side of two": ("torus", lambda: build_torus([2, 5])),
    "torus of three dimensions": ("torus", lambda: build_torus([4, 4, 3])),
    "torus of four dimensions": ("torus", lambda: build_torus([3, 2, 3, 2])),
    "torus with bundles": ("torus", lambda: build_torus([3, 4], cables=[2, 1])),
    "hyperx": ("hyperx", lambda: build_hyperx([3, 4])),
    "slim fly": ("slim-fly", lambda: build_slim_fly(5, endpoints=1)),
    "irregular": (
        "cabling",
        lambda: from_links(9, 1, [(i, (i + 1) % 9) for i in range(9)] + [(0, 4), (2, 7), (2, 7), (3, 8), (1, 5)]),
    ),
}
"""The kind of each, as a declaration or the name of its generator says it, and how it is made."""
FAULTS = ("none", "link", "host link", "link of a bundle", "switch", "group", "several", "disconnected")
WITHOUT_BUNDLES = {
    "dragonfly", "dragonfly of two links a pair", "dragonfly-plus", "dragonfly-plus of one link a pair", "ring",
    "ring of even size", "torus", "torus of three dimensions", "torus of four dimensions", "torus with a side of two",
    "hyperx", "slim fly", "tree of three tiers",
}  # fmt: skip
"""Where no two links join the same switches: a link of a bundle cannot fail there."""


@cache
def build(name: str) -> Fabric:
    """Build a topology once."""
    return TOPOLOGIES[name][1]()


@cache
def broken(name: str, fault: str) -> Fabric | None:
    """Lose what a class of faults says, by a choice that the names seed; None where there is no bundle to lose from."""
    fabric = build(name)
    lost = lose(fabric, fault, random.Random(f"{name} {fault}"))
    if lost is None:
        return None
    return cut_fabric(fabric, np.array(lost, dtype=np.int32)) if lost else fabric


def lose(fabric: Fabric, fault: str, rng: random.Random) -> list[int] | None:
    """List the ports whose links are lost."""
    links, switches = switch_links(fabric), fabric.switch_node.tolist()
    lit = [port for port in fabric.endpoint_port.tolist() if fabric.port_peer[port] != NIL]
    bottom = fabric.node_tier[switches].min()
    leaf = rng.choice([node for node in switches if fabric.node_tier[node] == bottom])
    lost: dict[str, list[int] | None] = {
        "none": [],
        "link": [rng.choice(links)],
        "host link": [rng.choice(lit)],
        "link of a bundle": lose_strand(fabric, links, rng),
        "switch": ports_of(fabric, rng.choice(switches)),
        "group": [port for node in share_risk(fabric, rng) for port in ports_of(fabric, node)],
        "several": [*rng.sample(links, min(3, len(links))), rng.choice(lit)],
        "disconnected": [p for p in links if leaf in fabric.port_node[[p, fabric.port_peer[p]]].tolist()],
    }
    return lost[fault]


def lose_strand(fabric: Fabric, links: list[int], rng: random.Random) -> list[int] | None:
    """Pick a link that is not the only one of its two switches; None where there is none."""
    ends = [tuple(sorted(fabric.port_node[[port, fabric.port_peer[port]]].tolist())) for port in links]
    several = [port for port, pair in zip(links, ends, strict=True) if ends.count(pair) > 1]
    return [rng.choice(several)] if several else None


def share_risk(fabric: Fabric, rng: random.Random) -> list[int]:
    """Pick switches that fail together: a group where there are any, else two switches of one tier."""
    one = rng.choice(fabric.switch_node.tolist())
    named = int(fabric.node_group[one])
    if named != NIL:
        return [node for node in fabric.switch_node.tolist() if fabric.node_group[node] == named]
    alike = [node for node in fabric.switch_node.tolist() if fabric.node_tier[node] == fabric.node_tier[one]]
    return [one, rng.choice(alike)]


def ports_of(fabric: Fabric, node: int) -> list[int]:
    """List the lit ports of a node."""
    own = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
    return [port for port in own if fabric.port_peer[port] != NIL]
