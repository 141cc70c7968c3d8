"""A cabling plan held against a fabric that was found: what is as planned, what is not, and what cannot be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.errors import Place

PlanKind = Literal["miswired", "missing", "unplanned", "unknown"]


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """One cable that is not as planned, or of which that cannot be said."""

    kind: PlanKind
    subject: str
    """The planned cable in the words of the plan; of an unplanned one its name in the fabric."""
    message: str
    """What was expected and what was found."""
    device: str
    """Device by which such differences are gathered: of the two ends the switch, else the first."""
    found: tuple[str, ...] = ()
    """Links that are there instead, by their names in the fabric."""
    where: Place | None = None
    """Line of the plan."""


@dataclass(frozen=True, slots=True)
class PlanVerdict:
    """A whole plan held against a whole fabric; every planned cable is counted once."""

    planned: int
    """Cables that the plan says are in place."""
    as_planned: int
    miswired: int
    missing: int
    unknown: int
    """Planned cables of which nothing can be said; they are not fine."""
    unplanned: int
    """Links found, of devices and kinds that the plan speaks of, that it does not name."""
    excused: int
    """Cables of the plan that need not be there."""
    outside: int
    """Links found of a kind that the plan does not speak of, such as those inside a director."""
    devices: int
    """Devices that the plan names."""
    absent: tuple[str, ...]
    """Devices that the plan names and that were not found."""
    differences: tuple[PlanDifference, ...]

    @property
    def is_as_planned(self) -> bool:
        """Whether everything that was planned is so, and nothing else is there."""
        return self.planned == self.as_planned and not self.unplanned
