"""Ways up and then down by the definition, goals put into lanes one by one, and hops more than the shortest way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.kernels.reference.climb import climb
from tests.kernels.reference.shortest import Tree, World, grow
from tests.kernels.reference.turns import Lane


def place(world: World, homes: Sequence[int], trees: Sequence[Tree], wanted: Sequence[int], lanes: int) -> list[int]:
    """Put each goal that is wanted into the first lane that takes its turns; -1 for those that no lane takes."""
    made = [Lane() for _ in range(lanes)]
    found = [-1] * len(homes)
    for goal in wanted:
        turns = world.turns_of(trees[goal], homes[goal])
        found[goal] = next((at for at, lane in enumerate(made) if lane.fits(turns)), -1)
    return found


def list_edges(world: World) -> set[tuple[int, int]]:
    """List the pairs of switches that links join."""
    return {(row, other) for row, links in enumerate(world.out) for _, other in links}


def compare(world: World, order: Sequence[int], home: int) -> tuple[int, int, int]:
    """Count the endpoints whose legal way is longer than the shortest, the hops together, and the most."""
    near, _ = world.hops(home)
    hop, _ = climb(order, list_edges(world), home)
    more = [(hop[row] - hops, world.sender[row]) for row, hops in near.items() if world.sender[row] and row != home]
    return sum(n for at, n in more if at), sum(at * n for at, n in more), max((at for at, _ in more), default=0)


def grow_legal(
    world: World, homes: Sequence[int], trees: Sequence[Tree], lane: Sequence[int], order: Sequence[int],
    toll: Sequence[int],
) -> list[Tree]:  # fmt: skip
    """Choose for every goal without a lane the lightest of its legal trees; the others stay, and load first."""
    load: Counter[int] = Counter(dict(enumerate(toll)))

    def count(tree: Tree) -> None:
        for start, many in enumerate(world.sender):
            row = start
            while row in tree:
                load[tree[row][0]] += many * toll[tree[row][0]]
                row = tree[row][1]

    for goal, tree in enumerate(trees):
        if lane[goal] >= 0:
            count(tree)
    made = list(trees)
    for goal, home in enumerate(homes):
        if lane[goal] >= 0:
            continue
        hop, falls = climb(order, list_edges(world), home)
        out = [
            [
                (link, other)
                for link, other in links
                if (order[other] > order[row] and falls[other] if falls[row] else order[other] < order[row])
            ]
            for row, links in enumerate(world.out)
        ]
        rows = sorted((row for row in range(len(hop)) if hop[row] >= 0), key=lambda row: hop[row])
        tree = grow(World(out, world.sender), dict(enumerate(hop)), rows, load, None, strictly=False)
        assert tree is not None
        made[goal] = tree
        count(tree)
    return made
