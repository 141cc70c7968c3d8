"""Ways through groups, told slowly: by sets of switches and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class World:
    """Switches by group and place; a link is a pair of switches and a port of the first."""

    group: Sequence[int]
    place: Sequence[int]
    is_spine: Sequence[bool]
    links: Sequence[tuple[int, int, int]]

    def ports(self, row: int, others: set[int]) -> set[int]:
        """List the ports of a switch towards others."""
        return {port for a, b, port in self.links if a == row and b in others}

    def near(self, row: int) -> set[int]:
        """List the neighbours of a switch."""
        return {b for a, b, _ in self.links if a == row}

    def members(self, group: int) -> set[int]:
        """List the switches of a group."""
        return {row for row, own in enumerate(self.group) if own == group}

    def is_direct(self, one: int, two: int) -> bool:
        """Judge whether two groups are joined."""
        return any(self.near(row) & self.members(two) for row in self.members(one))

    def sends(self, one: int, goal: int) -> bool:
        """Judge whether a group sends detours to a goal."""
        count, two = len(set(self.group)), self.group[goal]
        return not self.is_direct(one, two) or (one - two + self.place[goal] % 2) % count % 2 == 0

    def carriers(self, one: int, goal: int, *, is_ordered: bool) -> set[int]:
        """List the groups that may carry packets from a group to a goal."""
        count, two = len(set(self.group)), self.group[goal]
        found = {middle for middle in set(self.group) - {one, two} if not self.sends(middle, goal)}
        if not is_ordered:
            return found
        low, high = sorted((one, two))
        return {middle for middle in found if (middle > low if count - 1 - low >= high else middle < high)}


def group_ways(world: World, row: int, goal: int, *, detours: bool) -> set[int]:
    """List the ports by which a switch of a dragonfly leads to a switch."""
    own, target = world.group[row], world.group[goal]
    if own == target:
        return world.ports(row, {goal})
    there = world.members(target)
    carriers: set[int] = set()
    if detours and world.sends(own, goal):
        carriers = {r for g in world.carriers(own, goal, is_ordered=True) for r in world.members(g)}
    found = world.ports(row, there | carriers)
    if world.near(row) & there or (found and not world.is_direct(own, target)):
        return found
    wanted = there if world.is_direct(own, target) else carriers
    gates = {other for other in world.members(own) - {row} if world.near(other) & wanted}
    return found | world.ports(row, gates)


def spine_rank(world: World, row: int, goal: int) -> int:
    """Say how a spine leads to a switch without a detour: 2 best, 1 by a leaf and up again, 0 not."""
    own, target = world.group[row], world.group[goal]
    if own == target:
        if row == goal:
            return 2
        if not world.is_spine[goal]:
            return 2 if goal in world.near(row) else 0
        return int(any(not world.is_spine[leaf] and goal in world.near(leaf) for leaf in world.near(row)))
    others = [other for other in world.near(row) if world.group[other] == target]
    return max((spine_rank(world, other, goal) for other in others), default=0)


def spine_ways(world: World, row: int, goal: int, *, detours: bool) -> set[int]:
    """List the ports by which a switch of a dragonfly+ leads to a switch."""
    own, target, near = world.group[row], world.group[goal], world.near(row)
    if own == target and goal in near:
        return world.ports(row, {goal})
    sends = detours and own != target and world.sends(own, goal)

    def middles(spine: int) -> set[int]:
        carriers = world.carriers(own, goal, is_ordered=False) if sends else set[int]()
        return {o for o in world.near(spine) if world.group[o] in carriers and spine_rank(world, o, goal)}

    if not world.is_spine[row]:
        rank = {spine: spine_rank(world, spine, goal) for spine in near}
        best = max(rank.values(), default=0)
        return world.ports(row, {s for s in near if (best and rank[s] == best) or (sends and middles(s))})
    if own == target:
        turns = {leaf for leaf in near if not world.is_spine[leaf] and goal in world.near(leaf)}
        return world.ports(row, turns) if world.is_spine[goal] else set()
    rank_here = spine_rank(world, row, goal)
    direct = {o for o in near if world.group[o] == target and rank_here and spine_rank(world, o, goal) == rank_here}
    return world.ports(row, direct | middles(row))
