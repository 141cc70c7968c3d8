"""Campaigns: the same load sent many times, over seeds and settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of a grid: what differs from one setting to the next, as ``(spread, spray)``."""

    words: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Name the setting by its values."""
        return ", ".join(value for _, value in self.words) or "as given"

    @property
    def axes(self) -> str:
        """Name what differs from one setting to the next."""
        return ", ".join(key for key, _ in self.words) or "setting"


@dataclass(frozen=True, slots=True)
class Spread:
    """The runs of one setting, from the quickest to the slowest; quantiles are of runs that were made."""

    runs: int
    bad: int
    least_us: float
    median_us: float
    p90_us: float
    most_us: float
    median_over_bound: float
    median_busbw_gbytes_per_s: float | None
    dropped: int
    pauses: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one run."""

    setting: int
    seed: int
    ending: str
    end_us: float
    bound_us: float
    busbw_gbytes_per_s: float | None
    dropped: int
    discarded: int
    again: int
    marks: int
    pauses: int
    lost: int
    """Packets lost where nothing may be lost."""

    @property
    def is_bad(self) -> bool:
        """Whether something happened that must not."""
        return self.ending in {"deadlock", "stuck"} or self.lost > 0

    @property
    def over_bound(self) -> float:
        """How many times the bound it took."""
        return self.end_us / self.bound_us if self.bound_us > 0 else 0.0
