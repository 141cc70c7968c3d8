"""Trees of shortest ways by the definition: dictionaries of links, cycles found by search."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

from tests.kernels.reference.turns import Lane

FRESH = 1 << 40
Tree = dict[int, tuple[int, int]]
"""Per switch its link and the switch at the other end."""


@dataclass
class World:
    """A graph of switches: the links of each, as (channel, switch at the other end)."""

    out: list[list[tuple[int, int]]]
    sender: list[int]

    def hops(self, home: int) -> tuple[dict[int, int], list[int]]:
        """Count hops to ``home``, and list the switches in the order in which they are found."""
        hop, order, queue = {home: 0}, [home], deque([home])
        while queue:
            row = queue.popleft()
            for _, other in self.out[row]:
                if other not in hop:
                    hop[other] = hop[row] + 1
                    order.append(other)
                    queue.append(other)
        return hop, order

    def turns_of(self, tree: Tree, home: int) -> list[tuple[int, int]]:
        """List the turns of a tree below the switches that send."""
        found: set[tuple[int, int]] = set()
        for start, count in enumerate(self.sender):
            row = start
            while count and row in tree and tree[row][1] != home:
                found.add((tree[row][0], tree[tree[row][1]][0]))
                row = tree[row][1]
        return sorted(found)

    def answers_of(self, trees: Sequence[Tree], homes: Sequence[int], home: int) -> list[tuple[int, int]]:
        """List once the turns of the ways from a switch to all goals."""
        found: set[tuple[int, int]] = set()
        for tree, goal_home in zip(trees, homes, strict=True):
            if home in tree:
                found |= set(way_of(tree, home, goal_home))
        return sorted(found)


def way_of(tree: Tree, row: int, home: int) -> list[tuple[int, int]]:
    """List the turns from one switch on."""
    turns: list[tuple[int, int]] = []
    while row != home and tree[row][1] != home:
        turns.append((tree[row][0], tree[tree[row][1]][0]))
        row = tree[row][1]
    return turns


def grow(
    world: World, hop: dict[int, int], order: list[int], load: Counter[int], lane: Lane | None, *, strictly: bool
) -> Tree | None:
    """Grow a tree of least weight, where a turn that ``lane`` has not weighs most.

    ``strictly``: each switch that sends takes the best link that closes no cycle, and None where one has none.
    """
    home = order[0]
    tree: Tree = {}
    cost: dict[int, int] = {home: 0}
    kept: list[tuple[int, int]] = []
    for row in order[1:]:
        ranked: list[tuple[int, int, tuple[int, int]]] = []
        for place, (channel, other) in enumerate(world.out[row]):
            if hop[other] == hop[row] - 1:
                is_fresh = lane is not None and other != home and (channel, tree[other][0]) not in lane.held
                ranked.append((cost[other] + load[channel] + (FRESH if is_fresh else 0), place, (channel, other)))
        for weight, _, link in sorted(ranked):
            tree[row], cost[row] = link, weight
            if lane is None or not strictly or not world.sender[row]:
                break
            way = [turn for turn in way_of(tree, row, home) if turn not in kept]
            if lane.fits(way):
                kept += way
                break
        else:
            assert lane is not None
            lane.drop(kept)
            return None
    return tree


def grow_all(world: World, homes: Sequence[int], toll: Sequence[int], *, balances: bool, adapts: bool) -> list[Tree]:
    """Choose a tree for every goal; a sender weighs ``toll`` on a channel, which begins with one."""
    trees: list[Tree] = []
    lane = Lane() if adapts else None
    load: Counter[int] = Counter(dict(enumerate(toll)) if balances else {})
    for home in homes:
        hop, order = world.hops(home)
        tree = grow(world, hop, order, load, lane, strictly=True)
        if tree is None:
            tree = grow(world, hop, order, load, lane, strictly=False)
        assert tree is not None
        trees.append(tree)
        for start, count in enumerate(world.sender):
            row = start
            while balances and row in tree:
                load[tree[row][0]] += count * toll[tree[row][0]]
                row = tree[row][1]
    return trees
