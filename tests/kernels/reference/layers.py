"""Lanes by the definition: each goal into the first that takes its turns and answers, then the fullest share out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.kernels.reference.shortest import Tree, World
from tests.kernels.reference.turns import Lane

Turns = list[tuple[int, int]]


@dataclass
class Layers:
    """The lane of each goal; shorter than the goals where one found none."""

    lane: list[int]
    lanes: list[Lane]


def fill(world: World, homes: Sequence[int], answers: Sequence[int], trees: Sequence[Tree], most: int) -> Layers:
    """Put all goals into lanes; turns that several goals need are counted for each, answers once per switch."""
    made = Layers([], [Lane() for _ in range(most)])
    speaking: list[list[int]] = []

    def turns_of(goal: int, level: int) -> Turns:
        """List what a goal adds to a lane."""
        turns = world.turns_of(trees[goal], homes[goal])
        if answers[goal] and speaking_in(homes[goal], level) == 0:
            turns += world.answers_of(trees, homes, homes[goal])
        return turns

    def speaking_in(home: int, level: int) -> int:
        return sum(one == [home, level] for one in speaking)

    for goal, home in enumerate(homes):
        level = next((at for at, lane in enumerate(made.lanes) if lane.fits(turns_of(goal, at))), None)
        if level is None:
            return made
        made.lane.append(level)
        if answers[goal]:
            speaking.append([home, level])
    count = max(made.lane, default=-1) + 1
    for goal, home in enumerate(homes):
        held = [made.lane.count(level) for level in range(count)]
        own = made.lane[goal]
        if held[own] <= -(-len(homes) // count):
            continue
        for level in sorted(range(count), key=lambda at: (held[at], at)):
            if held[level] >= held[own] - 1:
                break
            if made.lanes[level].fits(turns_of(goal, level)):
                if answers[goal]:
                    speaking.remove([home, own])
                made.lanes[own].drop(turns_of(goal, own))
                if answers[goal]:
                    speaking.append([home, level])
                made.lane[goal] = level
                break
    return made
