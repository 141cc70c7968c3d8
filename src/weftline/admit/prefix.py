"""Prefixes as pairs of numbers."""

from __future__ import annotations

import ipaddress
import re
from typing import TypeAlias

Prefix: TypeAlias = tuple[int, int, int]
"""Version, first and last address."""
_V4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:/(\d{1,2}))?", re.ASCII)
BITS = {4: 32, 6: 128}
_BYTE = 255
_MOST_TEXT = 64
_OCTETS = tuple({str(octet): octet << shift for octet in range(_BYTE + 1)} for shift in (24, 16, 8, 0))
"""The numbers of an address as they are usually written, each where it stands."""
_SIZES = {"": 1, **{f"/{length}": 1 << (BITS[4] - length) for length in range(BITS[4] + 1)}}
"""How many addresses a prefix has, by its length as it is usually written."""


def parse_prefix(text: str) -> Prefix | None:
    """Read a prefix, an address with the length of its subnet, or a lone address; None where it is none."""
    address, slash, length = text.partition("/")
    try:
        a, b, c, d = address.split(".")
        first = _OCTETS[0][a] | _OCTETS[1][b] | _OCTETS[2][c] | _OCTETS[3][d]
        size = _SIZES[slash + length]
    except (KeyError, ValueError):
        return _parse_odd(text)
    first &= -size
    return 4, first, first + size - 1


def _parse_odd(text: str) -> Prefix | None:
    """Read what is not written as almost all are: with leading zeros, by name, of version 6, or no prefix at all."""
    found = _V4.fullmatch(text)
    if found is None:
        return _parse_slowly(text)
    first_text, second_text, third_text, last_text, length_text = found.groups()
    a, b, c, d = int(first_text), int(second_text), int(third_text), int(last_text)
    length = 32 if length_text is None else int(length_text)
    if max(a, b, c, d) > _BYTE or length > BITS[4]:
        return None
    size = 1 << (BITS[4] - length)
    first = ((a << 24) | (b << 16) | (c << 8) | d) & ~(size - 1)
    return 4, first, first + size - 1


def _parse_slowly(text: str) -> Prefix | None:
    if text == "default":
        return 4, 0, (1 << BITS[4]) - 1
    if len(text) > _MOST_TEXT:
        return None
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    return network.version, int(network.network_address), int(network.broadcast_address)


def is_default(prefix: Prefix) -> bool:
    """Tell whether a prefix holds every address."""
    return prefix[1] == 0 and prefix[2] == (1 << BITS[prefix[0]]) - 1


def is_inside(inner: Prefix, outer: Prefix) -> bool:
    """Tell whether one prefix lies in another."""
    return inner[0] == outer[0] and outer[1] <= inner[1] and inner[2] <= outer[2]


def overlaps(a: Prefix, b: Prefix) -> bool:
    """Tell whether two prefixes have an address in common."""
    return a[0] == b[0] and a[1] <= b[2] and b[1] <= a[2]
