"""A need: one thing that an intent asks of the software of a device."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.errors import Place

Wanted = bool | int | str | tuple[int, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """What is asked of a platform: a field of ``PlatformPart`` and the value that it must hold or reach."""

    field: str
    wanted: Wanted
    """``True``, a number that must not be above the platform's, or words or numbers that must all be in its list."""
    what: str
    """For the message, as ``tenants over VXLAN``."""
    where: Place | None = None
