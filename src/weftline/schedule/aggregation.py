"""Aggregation trees planned on a fabric: for each rail and plane one, within what its switches can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.reduction import AggregationTree, ReductionLimits, ReductionPlan
from weftline.model.traffic import Placement
from weftline.schedule.expansion import host_grid

TRIED = 64
"""Roots that are tried where each one makes trees share links: then the one with the fewest is taken."""


class _Refused(Exception):  # noqa: N818 - not an error: the ring stands in
    """Why a tree cannot be."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A tree being made: the way up of each switch, and how many ports it shares with other trees."""

    up: dict[int, int]
    """Port to the switch above, by node; the root has none."""
    shared: int


def plan_trees(fabric: Fabric, placement: Placement, limits: Sequence[ReductionLimits]) -> ReductionPlan:
    """Plan one tree for each rail and plane of an all-reduce; ``limits`` are those of leaves, spines and cores.

    The members of one rail have one link each in a plane, and a tree fills it: a second tree there would only halve the
    first. Roots are the lowest switches above all members; trees share no link where that can be, and else as few as
    can be. Equal roots and links are taken by how many trees use them, then by name. O(trees x roots x leaves).
    """
    planner = _Planner(fabric, tuple(limits))
    try:
        grid = host_grid(placement)
    except SpecError as error:
        return ReductionPlan((), 0, str(error), ())
    if len(grid) < 2:
        return ReductionPlan((), int(grid.shape[1]), "all ranks stand on one host: no switch is between them", ())
    trees: list[AggregationTree] = []
    try:
        for rail in range(grid.shape[1]):
            for plane in range(placement.rank_port.shape[1]):
                rank = grid[:, rail]
                trees.append(planner.plan(rail, plane, rank, placement.rank_port[rank, plane]))
    except _Refused as refused:
        return ReductionPlan((), int(grid.shape[1]), str(refused), planner.used())
    shared = int(np.count_nonzero(planner.port_trees > 1)) // 2
    return ReductionPlan(tuple(trees), int(grid.shape[1]), None, planner.used(), shared, planner.assume())


class _Planner:
    """What the trees planned so far use."""

    def __init__(self, fabric: Fabric, limits: tuple[ReductionLimits, ...]) -> None:
        self.fabric = fabric
        self.limits = limits
        self.port_trees: I64 = np.zeros(fabric.port_count, dtype=np.int64)
        self.node_trees: I64 = np.zeros(fabric.node_count, dtype=np.int64)
        self.plane_trees: dict[int, int] = {}
        self.met: set[int] = set()
        """Tiers that reduce."""
        self.above: list[int] = self._find_above()
        """By node: a bit for itself and for each switch that its links upwards lead to."""

    def used(self) -> tuple[ReductionLimits, ...]:
        """List the limits of the tiers that were met, equal ones once."""
        return tuple(dict.fromkeys(self.limits[tier - 1] for tier in sorted(self.met)))

    def assume(self) -> tuple[str, ...]:
        """Say what of the switches nobody publishes."""
        texts: list[str] = []
        for one in self.used():
            if one.children is None:
                texts.append(f"{one.part}: one tree may gather from every port; override with reduction_children")
            if one.latency_ns is None:
                words = "adding up takes no time besides the way through the switch"
                texts.append(f"{one.part}: {words}; override with reduction_latency_ns")
            if one.trees_per_switch is None and one.trees_per_port is None:
                words = "no limit of trees is known; override with reduction_trees or reduction_trees_per_port"
                texts.append(f"{one.part}: {words}")
        return tuple(texts)

    def _find_above(self) -> list[int]:
        fabric = self.fabric
        above = [0] * fabric.node_count
        tier = fabric.node_tier
        for node in sorted(fabric.switch_node.tolist(), key=lambda one: -int(tier[one])):
            bits = 1 << node
            for port in self._ups(node):
                bits |= above[int(fabric.port_node[fabric.port_peer[port]])]
            above[node] = bits
        return above

    def _ups(self, node: int) -> list[int]:
        """List the ports of a switch to switches of a higher tier."""
        fabric = self.fabric
        ports: I64 = np.arange(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        ports = ports[fabric.port_peer[ports] != NIL]
        far = fabric.port_node[fabric.port_peer[ports]]
        is_up = (fabric.node_kind[far] == NodeKind.SWITCH) & (fabric.node_tier[far] > fabric.node_tier[node])
        up: list[int] = ports[is_up].tolist()
        return up

    def plan(self, rail: int, plane: int, rank: I32, member_port: I32) -> AggregationTree:
        """Plan one tree, and count what it uses."""
        fabric = self.fabric
        peer = fabric.port_peer[member_port]
        if (peer == NIL).any():
            raise _Refused(f"{fabric.port_name(int(member_port[np.argmin(peer)]))} has no link")
        node = fabric.port_node[peer]
        if (fabric.node_kind[node] != NodeKind.SWITCH).any():
            at = int(np.argmax(fabric.node_kind[node] != NodeKind.SWITCH))
            raise _Refused(f"{fabric.link_name(int(member_port[at]))} leads to no switch")
        for port in member_port.tolist():
            self._check_port(port)
            self._check_port(int(fabric.port_peer[port]))
        leaves = np.unique(node)
        for leaf in leaves.tolist():
            self._check_switch(leaf)
        draft = self._choose(leaves)
        tree = self._lay(draft, (rail, plane), rank, member_port)
        self._check_children(tree)
        self._count(tree)
        self.plane_trees[plane] = self.plane_trees.get(plane, 0) + 1
        self._check_fabric(plane, tree)
        return tree

    def _limit(self, node: int) -> ReductionLimits:
        tier = int(self.fabric.node_tier[node])
        self.met.add(tier)
        return self.limits[tier - 1]

    def _check_switch(self, node: int) -> None:
        name, limit = self.fabric.node_name[node], self._limit(node)
        if not limit.reduces:
            raise _Refused(f"switch {name} ({limit.part}) does not reduce, as far as its part says")
        most = limit.trees_per_switch
        if most is not None and self.node_trees[node] >= most:
            raise _Refused(f"switch {name} ({limit.part}) takes part in {_count(most, 'tree')} at one time at most")

    def _check_port(self, port: int) -> None:
        node = int(self.fabric.port_node[port])
        if self.fabric.node_kind[node] != NodeKind.SWITCH:
            return
        most = self._limit(node).trees_per_port
        if most is not None and self.port_trees[port] >= most:
            words = f"port {self.fabric.port_name(port)} ({self._limit(node).part})"
            raise _Refused(f"{words} takes part in {_count(most, 'tree')} at one time at most")

    def _check_children(self, tree: AggregationTree) -> None:
        size = len(tree.switch)
        inner = np.bincount(tree.parent[tree.parent != NIL], minlength=size)
        children = inner + np.bincount(tree.member_parent, minlength=size)
        for at, node in enumerate(tree.switch.tolist()):
            limit = self._limit(node)
            if limit.children is not None and children[at] > limit.children:
                words = f"switch {self.fabric.node_name[node]} ({limit.part}) gathers from {limit.children} ports"
                raise _Refused(f"{words} at most, and {children[at]} are needed")

    def _check_fabric(self, plane: int, tree: AggregationTree) -> None:
        for node in tree.switch.tolist():
            limit = self._limit(node)
            if limit.trees_in_fabric is not None and self.plane_trees[plane] > limit.trees_in_fabric:
                words = f"a fabric with {self.fabric.node_name[node]} ({limit.part}) has"
                raise _Refused(f"{words} {_count(limit.trees_in_fabric, 'tree')} at most")

    def _choose(self, leaves: I32) -> _Draft:
        """Choose the root: of the lowest tier above all leaves the first that shares nothing, else the best of some."""
        best: _Draft | None = None
        why: _Refused | None = None
        for turn, root in enumerate(self._roots(leaves)):
            try:
                draft = self._climb(root, leaves)
            except _Refused as refused:
                why = why or refused
                continue
            if best is None or draft.shared < best.shared:
                best = draft
            if best.shared == 0 or turn >= TRIED:
                break
        if best is None:
            raise why or _Refused("no root can be reached")
        return best

    def _roots(self, leaves: I32) -> Iterator[int]:
        fabric = self.fabric
        listed: list[int] = leaves.tolist()
        common = self.above[listed[0]]
        for leaf in listed:
            if not common & self.above[leaf]:
                names = f"{fabric.node_name[listed[0]]} and {fabric.node_name[leaf]}"
                raise _Refused(f"no switch stands above {names}, over links that are up")
            common &= self.above[leaf]
        if not common:
            raise _Refused(f"no switch stands above all of the {len(leaves)} leaves")
        switches: list[int] = fabric.switch_node.tolist()
        nodes = [node for node in switches if common >> node & 1]
        lowest = min(int(fabric.node_tier[node]) for node in nodes)
        nodes = [node for node in nodes if fabric.node_tier[node] == lowest]
        return iter(sorted(nodes, key=lambda node: (int(self.node_trees[node]), fabric.node_name[node])))

    def _climb(self, root: int, leaves: I32) -> _Draft:
        """Find a way from each leaf up to a root; over a switch that the tree has already where there is one."""
        fabric, bit = self.fabric, 1 << root
        up: dict[int, int] = {root: NIL}
        shared = 0
        self._check_switch(root)
        listed: list[int] = leaves.tolist()
        for leaf in sorted(listed, key=lambda node: fabric.node_name[node]):
            node = leaf
            while node not in up:
                options = [port for port in self._ups(node) if self.above[self._far(port)] & bit]
                port = min(options, key=lambda one: self._cost(one, up))
                self._check_port(port)
                self._check_port(int(fabric.port_peer[port]))
                self._check_switch(self._far(port))
                up[node] = port
                shared += int(self.port_trees[port] > 0)
                node = self._far(port)
        return _Draft(up, shared)

    def _far(self, port: int) -> int:
        return int(self.fabric.port_node[self.fabric.port_peer[port]])

    def _cost(self, port: int, up: dict[int, int]) -> tuple[int, bool, int, str, int]:
        far = self._far(port)
        return (int(self.port_trees[port]), far not in up, int(self.node_trees[far]), self.fabric.node_name[far], port)

    def _lay(self, draft: _Draft, where: tuple[int, int], rank: I32, member_port: I32) -> AggregationTree:
        fabric = self.fabric

        def depth(node: int) -> int:
            port = draft.up[node]
            return 0 if port == NIL else 1 + depth(self._far(port))

        order = sorted(draft.up, key=lambda node: (depth(node), fabric.node_name[node]))
        place = {node: at for at, node in enumerate(order)}
        parent = [NIL if draft.up[node] == NIL else place[self._far(draft.up[node])] for node in order]
        inner = [place[int(node)] for node in fabric.port_node[fabric.port_peer[member_port]]]
        return AggregationTree(
            rail=where[0],
            plane=where[1],
            switch=_thin(order),
            level=_thin([depth(node) for node in order]),
            parent=_thin(parent),
            up_port=_thin([draft.up[node] for node in order]),
            rank=rank.astype(np.int32),
            member_port=member_port.astype(np.int32),
            member_parent=_thin(inner),
        )

    def _count(self, tree: AggregationTree) -> None:
        ports = np.concatenate((tree.member_port, tree.up_port[tree.up_port != NIL]))
        self.port_trees[ports] += 1
        self.port_trees[self.fabric.port_peer[ports]] += 1
        self.node_trees[tree.switch] += 1


def _thin(values: Sequence[int]) -> I32:
    return np.array(values, dtype=np.int32)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
