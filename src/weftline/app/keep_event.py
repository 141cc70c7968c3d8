"""What a run that keeps a lab tells: each change and what was done about it, and what all of it came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from weftline.model.proof import Proof

KeepKind = Literal["start", "change", "refused", "failed", "cut-off", "returned"]
Emit = Callable[["KeepEvent"], None]


@dataclass(frozen=True, slots=True)
class KeepEvent:
    """What happened and what was done about it."""

    kind: KeepKind
    gone: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    down: tuple[str, ...] = ()
    """Everything that is down now."""
    wrong: tuple[str, ...] = ()
    """Wrong cables, each in words."""
    changed: int = 0
    columns: int = 0
    """Destinations towards which entries changed."""
    is_anew: bool = False
    stages: tuple[str, ...] = ()
    proofs: tuple[Proof, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """``notice``, ``recompute``, ``prove``, ``write`` are ours; ``manager`` is the sweep of the manager."""
    why: str = ""
    cut_off: tuple[str, ...] = ()
    """Subnets whose manager is cut off from them: of their cables nothing is known, and no tables reach them."""
    is_told_more: bool = False
    """Whether another change came before this one was read back; what follows covers both."""

    @property
    def ours(self) -> float:
        """Sum our own share."""
        return sum(value for name, value in self.seconds.items() if name != "manager")


@dataclass(frozen=True, slots=True)
class KeepRules:
    """When a run ends."""

    limit_s: float | None = None
    until_quiet: bool = False
    is_over: Callable[[], bool] = lambda: False
    """Asked again and again: whether somebody wants it to end."""


@dataclass(slots=True)
class Counts:
    """What a run came to."""

    changes: int = 0
    refused: int = 0
    failed: int = 0
    wrong: int = 0
    cut_off: tuple[str, ...] = ()
    """Subnets whose manager was cut off at the end."""
