"""One path through a fabric, hop by hop, with the reason for each step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hop:
    """One device on a path."""

    node: str
    in_port: int | None
    """Number of the port that the packet comes in by; None at the sender."""
    out_port: int | None
    """Number of the port that it leaves by; None at the receiver."""
    alternatives: int
    """How many ports the table offers here; 1 where there is no choice, 0 at the receiver."""
    why: str


@dataclass(frozen=True, slots=True)
class Path:
    """A delivered path from an endpoint port to a destination."""

    source: str
    target: str
    hops: tuple[Hop, ...]
    lane: int = 0
    """The lane that packets to this destination hold on every link."""
