"""The turns of a lane as a set, and cycles found by taking away what nothing waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


def closes_cycle(turns: set[tuple[int, int]]) -> bool:
    """Tell whether turns (channel waits for channel) form a cycle, by taking away what nothing waits for."""
    left = set(turns)
    while left:
        waited = {second for _, second in left}
        free = {turn for turn in left if turn[0] not in waited}
        if not free:
            return True
        left -= free
    return False


@dataclass
class Lane:
    """The turns of a lane, and how many trees need each."""

    turns: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])

    def fits(self, turns: Sequence[tuple[int, int]]) -> bool:
        """Put all turns in, or none where that closes a cycle."""
        if closes_cycle({*self.held, *turns}):
            return False
        self.turns.update(turns)
        return True

    def drop(self, turns: Sequence[tuple[int, int]]) -> None:
        """Take turns out."""
        self.turns.subtract(turns)

    @property
    def held(self) -> set[tuple[int, int]]:
        """The turns that some tree needs."""
        return {turn for turn, count in self.turns.items() if count > 0}
