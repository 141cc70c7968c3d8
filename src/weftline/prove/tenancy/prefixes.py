"""Prefixes as pairs of numbers, and which owners have addresses inside one."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TypeAlias

Prefix: TypeAlias = tuple[int, int, int]
"""Version, first and last address."""
DEFAULT_TEXTS = frozenset({"0.0.0.0/0", "::/0", "default"})
_V4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:/(\d{1,2}))?", re.ASCII)
_BITS = {4: 32, 6: 128}
_BYTE = 255
_MOST_TEXT = 64


def parse_prefix(text: str) -> Prefix | None:
    """Read a prefix, an address with the length of its subnet, or a lone address; None where it is none."""
    found = _V4.fullmatch(text)
    if found is None:
        return _parse_slowly(text)
    first_text, second_text, third_text, last_text, length_text = found.groups()
    a, b, c, d = int(first_text), int(second_text), int(third_text), int(last_text)
    length = 32 if length_text is None else int(length_text)
    if max(a, b, c, d) > _BYTE or length > _BITS[4]:
        return None
    size = 1 << (_BITS[4] - length)
    first = ((a << 24) | (b << 16) | (c << 8) | d) & ~(size - 1)
    return 4, first, first + size - 1


def _parse_slowly(text: str) -> Prefix | None:
    if text == "default":
        return 4, 0, (1 << _BITS[4]) - 1
    if len(text) > _MOST_TEXT:
        return None
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    return network.version, int(network.network_address), int(network.broadcast_address)


def is_default(prefix: Prefix) -> bool:
    """Tell whether a prefix holds every address."""
    return prefix[1] == 0 and prefix[2] == (1 << _BITS[prefix[0]]) - 1


def is_inside(inner: Prefix, outer: Prefix) -> bool:
    """Tell whether one prefix lies in another."""
    return inner[0] == outer[0] and outer[1] <= inner[1] and inner[2] <= outer[2]


class PrefixIndex:
    """Which owners, as bits, have a prefix that overlaps a given one; a question costs what it finds, once."""

    def __init__(self, held: Iterable[tuple[Prefix, int]]) -> None:
        """Take prefixes with the bits of their owners."""
        exact: dict[Prefix, int] = {}
        for prefix, bits in held:
            exact[prefix] = exact.get(prefix, 0) | bits
        self._exact = exact
        self._sorted = sorted(exact)
        self._bits = [exact[prefix] for prefix in self._sorted]
        self._sizes = {
            version: sorted({p[2] - p[1] + 1 for p in exact if p[0] == version}) for version in {p[0] for p in exact}
        }
        self._known: dict[Prefix, int] = {}

    def find(self, prefix: Prefix) -> int:
        """Find the owners that have an address inside, or whose prefix holds this one."""
        if prefix not in self._known:
            self._known[prefix] = self._search(prefix)
        return self._known[prefix]

    def _search(self, prefix: Prefix) -> int:
        version, first, last = prefix
        found = 0
        low = bisect_left(self._sorted, (version, first, 0))
        high = bisect_right(self._sorted, (version, last, 1 << _BITS[version]))
        for bits in set(self._bits[low:high]):
            found |= bits
        # prefixes nest or are apart, so one that holds this one starts where a block of its size does
        for size in self._sizes.get(version, ()):
            start = first & ~(size - 1)
            found |= self._exact.get((version, start, start + size - 1), 0)
        return found
