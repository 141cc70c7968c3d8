"""Counts of a fabric: what a plan, a bill of materials and ``build --json`` speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlaneCounts:
    """What one plane is made of; the links without those of extra endpoints."""

    plane: int
    endpoints: int
    switches: Mapping[str, int]
    """By tier: ``leaf``, ``spine``, ``core``."""
    links: int


@dataclass(frozen=True, slots=True)
class FabricCounts:
    """How many of everything.

    Ports, links and cables of extra endpoints stand apart: they are in no figure but their own three.
    """

    hosts: int
    gpus: int
    units: int
    endpoints: int
    """NIC ports of hosts."""
    extra_endpoints: int
    """Ports of endpoints that are no hosts."""
    switches: Mapping[str, int]
    """By tier: ``leaf``, ``spine``, ``core``."""
    cables: Mapping[str, int]
    """By pair of tiers: ``host_leaf``, ``leaf_spine``, ``spine_core``, and without a tree ``leaf_leaf`` and
    ``between_groups``; a cable may carry several links."""
    links: int
    """Logical links between all pairs, such as leaf to leaf on a ring too."""
    run_links: Mapping[str, int]
    """Logical links by pair of tiers."""
    extra_cables: int
    extra_links: int
    by_plane: tuple[PlaneCounts, ...]
    groups: int = 0
    """Groups of a dragonfly or dragonfly-plus; 0 in other kinds."""
    is_complete: bool = True
    """False while a cabling list is still to be read: switches, cables and links are then 0."""
