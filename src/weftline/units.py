"""Rates, sizes and times in SI units, read from and written as a person would."""

from __future__ import annotations

import re

from weftline.errors import UsageError

_SIZE = re.compile(r"^\s*([0-9]{1,20}(?:\.[0-9]{1,12})?)\s*([kKMGTP]i?)?B?\s*$")
_FACTOR = {
    "": 1,
    "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
    "ki": 2**10, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50,
}  # fmt: skip
MAX_BYTES = 2**60


def gbps_to_bytes_per_us(gbps: float) -> float:
    """Convert a rate in Gb/s to bytes per microsecond."""
    return gbps * 125.0


def parse_size(text: str) -> int:
    """Read ``64MiB``, ``1.5GB`` or ``4096`` as bytes; ``GB`` is 1e9, ``GiB`` is 2**30.

    Raises:
        UsageError: ``usage.size`` when the text is no size or is not between 1 byte and 1 EiB.
    """
    match = _SIZE.match(text) if len(text) <= 40 else None
    if match is None:
        raise UsageError("usage.size", f"{text[:40]!r} is not a size", "write a number and a unit, as 64MiB or 1GB")
    size = round(float(match[1]) * _FACTOR[match[2] or ""])
    if not 1 <= size <= MAX_BYTES:
        raise UsageError("usage.size", f"{text[:40]!r} is out of range", "a size lies between 1 byte and 1 EiB")
    return size


def format_size(size: float) -> str:
    """Write bytes in SI units, as ``67.1 MB``."""
    for unit, factor in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(size) >= factor:
            return f"{size / factor:.3g} {unit}" if size / factor < 1000 else f"{size / factor:.0f} {unit}"
    return f"{size:.0f} B"


def format_time_us(time_us: float) -> str:
    """Write microseconds with a unit that suits them, as ``2.55 ms``."""
    if abs(time_us) >= 1e6:
        return f"{time_us / 1e6:.3f} s"
    if abs(time_us) >= 1e3:
        return f"{time_us / 1e3:.3f} ms"
    return f"{time_us:.3f} us"


def format_busbw(gbytes_per_s: float | None) -> str:
    """Write a bus bandwidth in GB/s, or a dash where nothing was sent."""
    if gbytes_per_s is None:
        return "-"
    return f"{gbytes_per_s:,.2f} GB/s" if gbytes_per_s >= 1 else f"{gbytes_per_s:.3g} GB/s"
