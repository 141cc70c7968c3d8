"""Rows of a platform's headroom table: what a lossless group gets at a speed and a cable length."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.errors import Place


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One row of a ``pg_profile_lookup.ini``, in bytes."""

    speed_mbps: int
    cable_m: int
    size: int
    xon: int
    xoff: int
    threshold: int
    """Share of the free pool as a power of two, or bytes where the pool is static."""
    xon_offset: int | None
    where: Place
