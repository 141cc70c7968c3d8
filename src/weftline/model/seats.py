"""Subnet managers: where they run, who is the master, and how long what they set holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SeatIntent:
    """One manager that may run; of those that do, the one of the highest priority is the master."""

    key: str
    """Port id in hex."""
    name: str
    priority: int


@dataclass(frozen=True, slots=True)
class ManagerIntent:
    """How the managers of one subnet work; all of them read the same files."""

    sweep_interval_s: int
    seats: tuple[SeatIntent, ...]
    """In the order of their priority."""
    secrets: tuple[str, ...] = ()
    """Names of the management keys that are set, ascending; their values are filled in at deployment."""
    lease_s: int | None = None
    """Seconds after which a device lets go of its key; None where there is no key."""
    protection: int | None = None
    """How a device that has a key guards it, 0 to 3. IBTA vol 1, 14.2.4.1."""
