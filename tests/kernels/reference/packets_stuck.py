"""Who waits for whom when nothing moves any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Place = tuple[int, int]
"""A transmitting port and a lane."""


def find_cycle(waits: Mapping[Place, Sequence[Place]]) -> list[Place]:
    """Follow waits depth first, lowest first; the first cycle, turned so that its lowest stands first."""
    done: set[Place] = set()
    for root in sorted(waits):
        trail: list[Place] = []
        rest: list[list[Place]] = [[root]]
        while rest:
            if not rest[-1]:
                rest.pop()
                if trail:
                    done.add(trail.pop())
                continue
            place = rest[-1].pop(0)
            if place in trail:
                cycle = trail[trail.index(place) :]
                least = cycle.index(min(cycle))
                return cycle[least:] + cycle[:least]
            if place not in done:
                trail.append(place)
                rest.append(sorted(set(waits.get(place, ()))))
    return []
