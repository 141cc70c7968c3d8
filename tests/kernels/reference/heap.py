"""A heap that is a dictionary of keys, searched for its least."""

from __future__ import annotations


class Heap:
    """Items with keys."""

    def __init__(self) -> None:
        """Start empty."""
        self.keys: dict[int, float] = {}

    def put(self, item: int, key: float) -> None:
        """Insert an item or change its key."""
        self.keys[item] = key

    def pop(self, item: int) -> float:
        """Remove an item, whose key must be the least of all; the key."""
        key = self.keys.pop(item)
        assert all(key <= other for other in self.keys.values())
        return key
