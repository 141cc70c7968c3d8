"""Which owners have addresses inside a prefix."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property

from weftline.admit.prefix import BITS, Prefix


class PrefixIndex:
    """Which owners, as bits, have a prefix that overlaps a given one; a question costs what it finds, once."""

    def __init__(self, held: Iterable[tuple[Prefix, int]]) -> None:
        """Take prefixes with the bits of their owners; they are put in order when the first question is asked."""
        self._held = held
        self._known: dict[Prefix, int] = {}

    @cached_property
    def _exact(self) -> dict[Prefix, int]:
        exact: dict[Prefix, int] = {}
        for prefix, bits in self._held:
            exact[prefix] = exact.get(prefix, 0) | bits
        return exact

    @cached_property
    def _sorted(self) -> list[Prefix]:
        return sorted(self._exact)

    @cached_property
    def _bits(self) -> list[int]:
        return [self._exact[prefix] for prefix in self._sorted]

    @cached_property
    def _sizes(self) -> dict[int, list[int]]:
        found: dict[int, set[int]] = {}
        for version, first, last in self._exact:
            found.setdefault(version, set()).add(last - first + 1)
        return {version: sorted(sizes) for version, sizes in found.items()}

    def find(self, prefix: Prefix) -> int:
        """Find the owners that have an address inside, or whose prefix holds this one."""
        if prefix not in self._known:
            self._known[prefix] = self._search(prefix)
        return self._known[prefix]

    def _search(self, prefix: Prefix) -> int:
        version, first, last = prefix
        found = 0
        low = bisect_left(self._sorted, (version, first, 0))
        high = bisect_right(self._sorted, (version, last, 1 << BITS[version]))
        for bits in set(self._bits[low:high]):
            found |= bits
        # prefixes nest or are apart, so one that holds this one starts where a block of its size does
        for size in self._sizes.get(version, ()):
            start = first & ~(size - 1)
            found |= self._exact.get((version, start, start + size - 1), 0)
        return found
