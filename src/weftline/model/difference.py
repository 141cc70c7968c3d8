"""A difference between two fabrics: what was declared, what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DifferenceKind = Literal[
    "missing-node", "extra-node", "missing-cable", "extra-cable", "moved-cable", "swapped-cables", "wrong-rate"
]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as declared; link and port names are those of the declared fabric where it has them."""

    kind: DifferenceKind
    subject: str
    """The node, or the first link."""
    message: str
    declared: tuple[str, ...] = ()
    """Links that are declared and were not found."""
    found: tuple[str, ...] = ()
    """Links that were found and are not declared."""
