"""Slow twins of the kernels of mixtures: every walk of every mixture, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Member = tuple[int, int, int]
"""Port, row of the switch at the other end (-1: an endpoint, -2: nowhere), port there."""
Entries = Sequence[Sequence[Sequence[Member]]]
"""Per row the members of each of its entries."""


def walk(entries: Entries, row: int, target: int, path: tuple[int, ...] = ()) -> Iterator[str]:
    """Walk every walk from a row to an endpoint port, and say how each ends: ``good``, ``lost`` or ``loops``."""
    if row in path:
        yield "loops"
        return
    for members in entries[row]:
        if not members:
            yield "lost"
        for _, step, there in members:
            if step >= 0:
                yield from walk(entries, step, target, (*path, row))
            else:
                yield "good" if step == -1 and there == target else "lost"


def turns(entries: Entries, senders: Sequence[int]) -> set[tuple[int, int, int]]:
    """List the turns (row, port in, port out) from switch to switch to switch."""
    seen, found = set(senders), set[tuple[int, int, int]]()
    waiting = list(senders)
    while waiting:
        row = waiting.pop()
        for _, step, there in (member for members in entries[row] for member in members):
            if step < 0:
                continue
            if step not in seen:
                seen.add(step)
                waiting.append(step)
            found |= {(step, there, out) for members in entries[step] for out, after, _ in members if after >= 0}
    return found
