"""Layered shortest paths by the definition: trees as dictionaries, lanes as sets of turns."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

from tests.kernels.reference.turns import Lane

FRESH = 1 << 40


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

    def turns_of(self, tree: dict[int, tuple[int, int]], home: int) -> list[tuple[int, int]]:
        """List the turns of a tree below the switches that send."""
        found: set[tuple[int, int]] = set()
        for start, count in enumerate(self.sender):
            row = start
            while count and row in tree and tree[row][1] != home:
                found.add((tree[row][0], tree[tree[row][1]][0]))
                row = tree[row][1]
        return sorted(found)


def grow(
    world: World, hop: dict[int, int], order: list[int], load: Counter[int], lane: Lane | None
) -> dict[int, tuple[int, int]] | None:
    """Grow a tree; in a lane each switch that sends takes the best link that closes no cycle, None where none is."""
    home = order[0]
    tree: dict[int, tuple[int, int]] = {}
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
            if lane is None or not world.sender[row]:
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


def way_of(tree: dict[int, tuple[int, int]], row: int, home: int) -> list[tuple[int, int]]:
    """List the turns from one switch on."""
    turns: list[tuple[int, int]] = []
    while tree[row][1] != home:
        turns.append((tree[row][0], tree[tree[row][1]][0]))
        row = tree[row][1]
    return turns


@dataclass
class Layers:
    """Trees and lanes of the goals; ``lane`` is shorter than the goals where one found none."""

    trees: list[dict[int, tuple[int, int]]]
    lane: list[int]
    lanes: list[Lane]


def fill(world: World, homes: Sequence[int], most: int, *, balances: bool, adapts: bool) -> Layers:
    """Choose trees and lanes for all goals, each in the first lane that takes it."""
    made = Layers([], [], [Lane() for _ in range(most)])
    load: Counter[int] = Counter()
    for home in homes:
        hop, order = world.hops(home)
        tree = None if adapts else grow(world, hop, order, load, None)
        found: int | None = None
        for level, lane in enumerate(made.lanes):
            if adapts:
                tree = grow(world, hop, order, load, lane)
            if tree is not None and (adapts or lane.fits(world.turns_of(tree, home))):
                found = level
                break
        if tree is None or found is None:
            return made
        made.trees.append(tree)
        made.lane.append(found)
        if balances:
            for start, count in enumerate(world.sender):
                row = start
                while row in tree:
                    load[tree[row][0]] += count
                    row = tree[row][1]
    return made


def level_out(world: World, homes: Sequence[int], made: Layers, lanes: int) -> None:
    """Move goals from lanes with more than their share to the emptiest that take them, once through."""
    held = [made.lane.count(level) for level in range(lanes)]
    share = -(-len(homes) // lanes)
    for goal, home in enumerate(homes):
        own = made.lane[goal]
        if held[own] <= share:
            continue
        turns = world.turns_of(made.trees[goal], home)
        for level in sorted(range(lanes), key=lambda at: (held[at], at)):
            if held[level] >= held[own] - 1:
                break
            if made.lanes[level].fits(turns):
                made.lanes[own].drop(turns)
                made.lane[goal] = level
                held[level] += 1
                held[own] -= 1
                break
