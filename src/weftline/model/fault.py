"""Faults: what may fail together, as the ports that go dark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from weftline.kernels.column import I32, digest_parts, freeze


@dataclass(frozen=True, eq=False)
class Faults:
    """F states of failure; the ports that fault ``f`` takes away are ``port[ptr[f]:ptr[f + 1]]``, both ends."""

    name: tuple[str, ...]
    kind: tuple[str, ...]
    """``link``, ``switch``, ``pair``, ``group`` or ``line``, which is a line of a file."""
    ptr: I32
    port: I32

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.ptr, self.port)

    @property
    def count(self) -> int:
        """Count the states."""
        return len(self.name)

    def ports_of(self, fault: int) -> I32:
        """The ports that a fault takes away."""
        return self.port[self.ptr[fault] : self.ptr[fault + 1]]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names, kinds and ports."""
        return digest_parts((self.name, self.kind, self.ptr, self.port))
