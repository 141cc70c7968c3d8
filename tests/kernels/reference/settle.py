"""Routers that tell each other of one origin, slowly: rounds of messages with whole paths until nothing changes."""

from __future__ import annotations

import random

Session = tuple[int, int, int, int]
"""A router, its port, the router at the other end, and its port."""
Path = tuple[int, ...]


def settle(
    origin: int, sessions: list[Session], numbers: list[int], seed: int | None = None
) -> tuple[dict[int, set[int]], bool]:
    """Return by router the ports of its equal shortest paths, and whether a choice among paths could decide anything.

    A router tells the first of its best paths, by port, or with a seed any other one, always the same to everybody.
    """
    best: dict[int, dict[int, Path]] = {}
    while True:
        after: dict[int, dict[int, Path]] = {}
        was_choice = False
        for router, port, far, _ in sorted(sessions):
            if router == origin:
                continue
            told = [()] if far == origin else [path for _, path in sorted(best.get(far, {}).items())]
            if seed is not None:
                random.Random(f"{seed} {far}").shuffle(told)
            paths = [(numbers[far], *path) for path in told]
            refused = {numbers[router] in path for path in paths}
            was_choice |= len(refused) > 1
            if paths and numbers[router] not in paths[0]:
                after.setdefault(router, {})[port] = paths[0]
        for router, known in after.items():
            least = min(map(len, known.values()))
            after[router] = {port: path for port, path in known.items() if len(path) == least}
        if after == best:
            return {router: set(known) for router, known in best.items()}, was_choice
        best = after


def are_mixed(origin: int, sessions: list[Session], numbers: list[int], router: int) -> bool:
    """Tell whether equal paths of a router can differ in their numbers, whichever its neighbours tell."""
    ways, _ = settle(origin, sessions, numbers)
    far_of = {port: far for _, port, far, _ in sessions}

    def contents(at: int) -> set[Path]:
        if at == origin:
            return {()}
        return {(numbers[far_of[port]], *path) for port in ways.get(at, set()) for path in contents(far_of[port])}

    return len(contents(router)) > 1
