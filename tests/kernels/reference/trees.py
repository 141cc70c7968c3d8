"""The position rule of full trees of two and three tiers, written with the names of the parts."""

from __future__ import annotations


def next_device(device: tuple[object, ...], goal: tuple[int, int, int], half: int) -> tuple[object, ...]:
    """Find the next device towards host (pod, leaf, place) of a full tree of switches with ``2 * half`` ports.

    Devices are ("leaf", pod, leaf), ("spine", pod, position) and ("core", position, index); hosts are the goal.
    """
    pod, leaf, place = goal
    kind = device[0]
    if kind == "leaf":
        return ("host", *goal) if device[1:] == (pod, leaf) else ("spine", device[1], place)
    if kind == "spine":
        return ("leaf", pod, leaf) if device[1] == pod else ("core", device[2], leaf)
    return ("spine", pod, device[1])


def count_pods(half: int) -> int:
    """Count the pods of a full tree of three tiers."""
    return 2 * half
