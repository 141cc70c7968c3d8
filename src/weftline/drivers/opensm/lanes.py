"""Lanes as OpenSM's options name them: a lane per service level, and weights per lane."""

from __future__ import annotations

from collections.abc import Mapping

LEVELS = 16
HIGH_PARTS = (3, 4)
LOW_PARTS = (1, 2)
ENTRIES_PER_PART = 32


def wants_lanes(options: Mapping[str, str]) -> bool:
    """Tell whether the options let OpenSM program lanes."""
    return options.get("qos", "FALSE").upper() in {"TRUE", "YES", "1"}


def read_lanes(options: Mapping[str, str], role: str) -> bytes | None:
    """Pack the lanes of the service levels as on the wire, two to a byte; None where the options name none.

    ``role`` is ``ca`` for adapters and ``swe`` for the ports of switches, whose own options come first.
    """
    text = _find(options, "sl2vl", role)
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if len(words) != LEVELS or not all(word.isdigit() and int(word) < LEVELS for word in words):
        return None
    values = [int(word) for word in words]
    return bytes(first << 4 | second for first, second in zip(values[::2], values[1::2], strict=True))


def read_weights(options: Mapping[str, str], role: str) -> dict[int, bytes] | None:
    """Pack lanes and weights by part of the arbitration table; None where the options name none."""
    parts: dict[int, bytes] = {}
    for name, places in (("vlarb_low", LOW_PARTS), ("vlarb_high", HIGH_PARTS)):
        text = _find(options, name, role)
        if text is None:
            return None
        pairs = [word.split(":") for word in text.split(",")]
        if not all(len(pair) == 2 and pair[0].strip().isdigit() and pair[1].strip().isdigit() for pair in pairs):
            return None
        raw = bytes(min(int(word), 255) for pair in pairs for word in pair)
        for index, place in enumerate(places):
            size = 2 * ENTRIES_PER_PART
            parts[place] = raw[size * index : size * index + size].ljust(size, b"\0")
    return parts


def _find(options: Mapping[str, str], name: str, role: str) -> str | None:
    return options.get(f"qos_{role}_{name}", options.get(f"qos_{name}"))
