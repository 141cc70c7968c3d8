"""IPv4 addresses as numbers and as text."""

from __future__ import annotations


def format_ipv4(value: int) -> str:
    """Write a number as ``10.0.0.1``."""
    return ".".join(str(byte) for byte in int(value).to_bytes(4, "big"))
