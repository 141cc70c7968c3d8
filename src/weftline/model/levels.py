"""Service levels of a subnet: the lane of each, what the lanes get, and which pairs of endpoints use which level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LEVELS: Final = 16
"""Service levels of InfiniBand. IBTA vol 1, 7.6.5."""
MAX_LANES: Final = 15
"""Data lanes of a port at most; lane 15 is for management. IBTA vol 1, 7.6.3."""
NO_LANE: Final = 15
"""Lane of a level that nothing may use: its packets are dropped. IBTA vol 1, 7.6.6."""
DEFAULT_LEVEL: Final = "DEFAULT"
"""Name of the level of all pairs that no match is for."""


@dataclass(frozen=True, slots=True)
class WeightIntent:
    """What one lane gets: its weight among lanes of high and of low priority, each 0 to 255, 0 for none."""

    key: int
    """Number of the lane."""
    high: int
    low: int


@dataclass(frozen=True, slots=True)
class LevelIntent:
    """One service level by name."""

    key: str
    level: int


@dataclass(frozen=True, slots=True)
class GroupIntent:
    """A named set of endpoints."""

    key: str
    members: tuple[str, ...]
    """Port ids in hex, ascending."""


@dataclass(frozen=True, slots=True)
class MatchIntent:
    """The level of pairs of endpoints; None means any. Of several matches that fit, the first counts.

    A match by partition is for questions that name the partition; who names none gets the level of a later match.
    So levels of tenants are said by groups.
    """

    key: int
    """Place in the order of matches, counted from 1."""
    level: str
    """Name of the level."""
    source: str | None = None
    """Name of a group."""
    destination: str | None = None
    partition: int | None = None
    """Number of a partition, without its membership bit."""


@dataclass(frozen=True, slots=True)
class ServiceIntent:
    """Service levels of one subnet; the same lanes and weights on every port."""

    lanes: int
    """Data lanes in use, counted from lane 0."""
    lane_of_level: tuple[int, ...]
    """A lane for each of the ``LEVELS`` service levels, or ``NO_LANE``."""
    high_limit: int
    """Data of high priority that may go before one packet of low priority, in 4 KiB; 255 means no limit."""
    weights: tuple[WeightIntent, ...]
    """One for each lane in use."""
    levels: tuple[LevelIntent, ...] = ()
    """Levels that matches name; empty when every pair uses level 0, and else ``DEFAULT_LEVEL`` is one of them."""
    groups: tuple[GroupIntent, ...] = ()
    matches: tuple[MatchIntent, ...] = ()
