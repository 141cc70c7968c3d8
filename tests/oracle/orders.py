"""Orders of single entries, looked for to the end: ``python -m tests.oracle.orders COUNT`` prints how many we find."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from unittest.mock import patch

import networkx as nx
import numpy as np

from tests.brute import is_channel, lit_endpoints, walk_all
from tests.fabrics import from_links
from tests.tables import change_entries, minimal_routes
from weftline.enact import order_change
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.prove.unite import unite_tables
from weftline.route import compute_routes

MOST = 12
"""Entries that change; their mixtures are two to the power of these."""
Waits = frozenset[tuple[int, int]]


@dataclass
class Oracle:
    """Old and new tables, whose entries change one at a time, each once."""

    fabric: Fabric
    old: Routes
    new: Routes
    off: frozenset[int] = frozenset()
    known: dict[tuple[int, int], tuple[bool, Waits]] = field(default_factory=dict[tuple[int, int], tuple[bool, Waits]])

    def __post_init__(self) -> None:
        """List the entries that change of each destination."""
        differs = self.old.group != self.new.group
        self.rows = [np.flatnonzero(differs[:, goal]).tolist() for goal in range(differs.shape[1])]
        self.goals = [goal for goal, rows in enumerate(self.rows) if rows and goal not in self.off]

    def exists(self) -> bool:
        """Tell whether some order of single entries is safe at every step; depth first, each mixture once."""
        start = tuple(0 for _ in self.goals)
        still = [self.judge(goal, 0) for goal in range(len(self.rows)) if goal not in {*self.goals, *self.off}]
        self.base = frozenset[tuple[int, int]]().union(*(waits for _, waits in still))
        seen, trail = {start}, [start]
        while trail:
            state = trail.pop()
            if all(one == (1 << len(self.rows[goal])) - 1 for goal, one in zip(self.goals, state, strict=True)):
                return True
            for then in self._list_next(state):
                if then not in seen and self._may_go(state, then):
                    seen.add(then)
                    trail.append(then)
        return False

    def _list_next(self, state: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for at, goal in enumerate(self.goals):
            for bit in range(len(self.rows[goal])):
                if not state[at] >> bit & 1:
                    yield (*state[:at], state[at] | 1 << bit, *state[at + 1 :])

    def _may_go(self, state: tuple[int, ...], then: tuple[int, ...]) -> bool:
        judged = [self.judge(goal, one) for both in (state, then) for goal, one in zip(self.goals, both, strict=True)]
        if not all(is_good for is_good, _ in judged):
            return False
        return nx.is_directed_acyclic_graph(nx.DiGraph(self.base.union(*(waits for _, waits in judged))))

    def judge(self, goal: int, state: int) -> tuple[bool, Waits]:
        """Walk every packet to a destination where some of its entries are new: whether all arrive, and who waits."""
        if (goal, state) not in self.known:
            chosen = [row for at, row in enumerate(self.rows[goal]) if state >> at & 1]
            table = change_entries(self.old, {(row, goal): int(self.new.group[row, goal]) for row in chosen})
            waits: set[tuple[int, int]] = set()
            is_good = True
            for source in lit_endpoints(self.fabric):
                row = int(self.fabric.switch_row[self.fabric.port_node[self.fabric.port_peer[source]]])
                if source == self.old.destination_port[goal]:
                    continue
                for how, steps in walk_all(self.fabric, table, row, goal):
                    is_good &= how == "delivered"
                    taken = [port for _, port in steps if port != NIL and is_channel(self.fabric, port)]
                    waits |= set(itertools.pairwise(taken))
            self.known[goal, state] = is_good, frozenset(waits)
        return self.known[goal, state]


def draw(seed: int) -> tuple[Fabric, Routes, Routes] | None:
    """Draw a small graph and two tables of it, good by themselves and not at once; None where the draw has none."""
    rng = random.Random(seed)
    count = rng.randint(4, 6)
    links = [(i, (i + 1) % count) for i in range(count)]
    if rng.random() < 0.5:
        links = [(rng.randrange(i), i) for i in range(1, count)]
        links += [(a, b) for a, b in ((rng.randrange(count), rng.randrange(count)) for _ in range(count)) if a != b]
    fabric = from_links(count, 1, links)
    tables = [_draw_table(fabric, rng) for _ in range(2)]
    united = unite_tables(tables[0], tables[1])
    changes = int((united.old.group != united.new.group).sum())
    if not 2 <= changes <= MOST:
        return None
    whole = (1 << count) - 1
    for side in (united.old, united.new):
        oracle = Oracle(fabric, side, side)
        judged = [oracle.judge(goal, whole) for goal in range(count)]
        waits = frozenset[tuple[int, int]]().union(*(one for _, one in judged))
        if not all(is_good for is_good, _ in judged) or not nx.is_directed_acyclic_graph(nx.DiGraph(waits)):
            return None
    return fabric, united.old, united.new


def _draw_table(fabric: Fabric, rng: random.Random) -> Routes:
    if rng.random() < 0.3:
        root = fabric.node_name[int(rng.choice(fabric.switch_node.tolist()))]
        return compute_routes(fabric, "updown", to_switches=False, roots=(root,))
    return minimal_routes(fabric, tie=lambda _r, _d, ports: [rng.choice(list(ports))])


def count_least(fabric: Fabric, old: Routes, new: Routes, most: int) -> int:
    """Count the destinations that must be drained at least, up to so many."""
    for size in range(most):
        for off in itertools.combinations(range(old.group.shape[1]), size):
            if Oracle(fabric, old, new, frozenset(off)).exists():
                return size
    return most


def main(count: int) -> None:
    """Print of how many draws there is an order, and how many of them are found."""
    there, plain, found, none, least, seed = 0, 0, 0, 0, 0, 0
    while there + none < count:
        seed += 1
        drawn = draw(seed)
        if drawn is None:
            continue
        ordering = order_change(*drawn)
        if ordering.direct.verdict is Verdict.PROVED:
            continue
        if Oracle(*drawn).exists():
            there += 1
            found += ordering.verdict is Verdict.PROVED
            with patch("weftline.enact.search.MOST_FLIPS", 0):
                plain += order_change(*drawn).verdict is Verdict.PROVED
            continue
        none += 1
        assert ordering.verdict is not Verdict.PROVED
        assert ordering.drain is not None
        drained = len(ordering.drain.destinations)
        least += drained == count_least(*drawn, drained)
    sys.stdout.write(f"{there + none} changes that are not safe at once: {there} have an order, {none} have none\n")
    sys.stdout.write(f"found: {found} of {there}; without going back: {plain} of {there}\n")
    sys.stdout.write(f"of those without, the least is drained: {least} of {none}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
