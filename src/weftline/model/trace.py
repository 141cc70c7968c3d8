"""A list of flows that a file gives, with names of endpoints instead of ports."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.errors import Place, Problem
from weftline.kernels.column import F64, I32, I64, freeze


@dataclass(frozen=True, slots=True)
class FlowTrace:
    """R rows of a trace; ends are numbered in the order in which they first occur."""

    end_name: tuple[str, ...]
    end_place: tuple[Place, ...]
    """Where each end occurs first."""
    source: I32
    target: I32
    size_bytes: F64
    start_us: F64
    """Earliest start of each row; empty where the file has no such column."""
    need_ptr: I64
    need: I32
    """Rows that each row waits for: all of them stand above it."""
    problems: tuple[Problem, ...]
    """What could not be read; then the rows are not all there."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.source, self.target, self.size_bytes, self.start_us, self.need_ptr, self.need)
