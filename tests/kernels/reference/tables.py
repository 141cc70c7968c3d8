"""A walk through tables that are dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def mix(value: int) -> int:
    """Scramble 32 bits."""
    word = value % 2**32
    word = (word ^ word >> 16) * 0x85EBCA6B % 2**32
    word = (word ^ word >> 13) * 0xC2B2AE35 % 2**32
    return word ^ word >> 16


def walk_pair(
    source: int,
    goal: int,
    table: Mapping[tuple[int, int], Sequence[int] | None],
    peer: Mapping[int, int],
    switch_of: Mapping[int, int],
    goal_port: Sequence[int],
    max_hops: int,
) -> tuple[list[int], str]:
    """Walk one pair; an entry is a list of ports, empty for delivery here, None for no route."""
    path = [source]
    hops = 0
    while True:
        end = peer.get(path[-1], -1)
        if end < 0:
            return path, "misdelivered"
        if end not in switch_of:
            return path, "delivered" if end == goal_port[goal] else "misdelivered"
        row = switch_of[end]
        ports = table[row, goal]
        if ports is None:
            return path, "no route"
        if not ports:
            return path, "delivered"
        if hops == max_hops:
            return path, "too long"
        hops += 1
        choice = mix(mix(mix(source) + goal) + row) % len(ports) if len(ports) > 1 else 0
        path.append(ports[choice])
