"""Windows, told slowly: every window is laid around the ring of places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def spread(
    waits: Mapping[int, Iterable[int]], own: Mapping[int, tuple[int, int]], ports: Sequence[int]
) -> dict[int, tuple[int, int] | None]:
    """Find for each port the run of its own sources and those of all ports from which a chain of waits leads to it."""
    found: dict[int, tuple[int, int] | None] = {}
    for port in ports:
        behind, todo = {port}, [port]
        while todo:
            here = todo.pop()
            for one, after in waits.items():
                if here in after and one not in behind:
                    behind.add(one)
                    todo.append(one)
        runs = [own[one] for one in behind if one in own]
        found[port] = (min(low for low, _ in runs), max(high for _, high in runs)) if runs else None
    return found


def most_in_window(places: Iterable[int], around: int, width: int) -> int:
    """Count the most places that some window of ``width`` places holds."""
    held = set(places)
    return max((sum((start + at) % around in held for at in range(width)) for start in range(around)), default=0)
