"""Ways on a torus, told slowly: every ring is walked both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Place = tuple[int, ...]
Joined = Callable[[Place, Place], bool]


def neighbour(here: Place, axis: int, way: int, sizes: Sequence[int]) -> Place:
    """Find the place next to another one."""
    return (*here[:axis], (here[axis] + way) % sizes[axis], *here[axis + 1 :])


def is_whole(here: Place, axis: int, way: int, steps: int, sizes: Sequence[int], joined: Joined) -> bool:
    """Judge whether so many steps along a ring can be taken."""
    for _ in range(steps):
        then = neighbour(here, axis, way, sizes)
        if not joined(here, then):
            return False
        here = then
    return True


def heading(here: Place, goal: int, axis: int, sizes: Sequence[int], joined: Joined) -> int:
    """Find the way round a ring to a coordinate: the shorter whole one, 0 for none."""
    size = sizes[axis]
    up, down = (goal - here[axis]) % size, (here[axis] - goal) % size
    fits = {way: is_whole(here, axis, way, steps, sizes, joined) for way, steps in ((1, up), (-1, down))}
    if size == 2:
        fits[-1] = False
    if fits[1] and fits[-1] and up == down:
        # of equal ways the one within 0 to size - 1 where the lower end is even
        stays = min(here[axis], goal) % 2 == 0
        return 1 if (here[axis] < goal) == stays else -1
    best = [way for _, way in sorted(((up, 1), (down, -1)), key=lambda one: one[0]) if fits[way]]
    return best[0] if best else 0


def next_step(here: Place, goal: Place, sizes: Sequence[int], joined: Joined) -> tuple[int, int, int] | None:
    """Find axis, way and whether the step is past a corner; None where there is none."""
    for axis in range(len(sizes)):
        if here[axis] == goal[axis]:
            continue
        way = heading(here, goal[axis], axis, sizes, joined)
        if way:
            return axis, way, 0
        for side in (1, -1) if axis + 1 < len(sizes) else ():
            other = neighbour(here, axis + 1, side, sizes)
            is_there = joined(here, other) and (side == 1 or sizes[axis + 1] > 2)
            if is_there and heading(other, goal[axis], axis, sizes, joined):
                return axis + 1, side, 1
        return None
    return None
