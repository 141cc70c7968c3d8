"""Counts of a fabric: what a plan, a bill of materials and ``build --json`` speak of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SwitchCounts:
    """Switches per tier."""

    leaf: int = 0
    spine: int = 0
    core: int = 0

    @property
    def total(self) -> int:
        """Add the tiers up."""
        return self.leaf + self.spine + self.core


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Links, or cables, per pair of tiers; those of extra endpoints stand apart, wherever they are plugged in."""

    host_leaf: int = 0
    leaf_spine: int = 0
    spine_core: int = 0
    extra: int = 0
    other: int = 0
    """Between any other pair, such as leaf to leaf on a ring."""

    @property
    def total(self) -> int:
        """Add all up except those of extra endpoints."""
        return self.host_leaf + self.leaf_spine + self.spine_core + self.other


@dataclass(frozen=True, slots=True)
class PlaneCounts:
    """What one plane is made of; links without those of extra endpoints."""

    plane: int
    endpoints: int
    switches: SwitchCounts
    links: RunCounts


@dataclass(frozen=True, slots=True)
class FabricCounts:
    """How many of everything; ``links`` are logical, a cable may carry several."""

    hosts: int
    gpus: int
    units: int
    endpoints: int
    """NIC ports of hosts."""
    extra_endpoints: int
    """Ports of endpoints that are no hosts; in no other figure except ``RunCounts.extra``."""
    switches: SwitchCounts
    cables: RunCounts
    links: RunCounts
    by_plane: tuple[PlaneCounts, ...]
