"""Secrets: values that no output shows; only what deploys a fabric holds them, and only for as long as it does."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Secret:
    """One management key by name."""

    name: str
    value: str = field(repr=False)
    """``0x`` and 16 hexadecimal digits."""
