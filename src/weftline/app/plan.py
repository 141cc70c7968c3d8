"""A cabling plan held against a discovery dump."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.adopt import hold_plan
from weftline.app.adopt import read_adoption
from weftline.app.check import problems_error
from weftline.app.files import is_folder, read_bytes
from weftline.app.pipeline import Progress, silent
from weftline.app.workspace import SUFFIXES
from weftline.errors import Problem
from weftline.formats import ndt
from weftline.model.plan import PlanVerdict


@dataclass(frozen=True, slots=True)
class Held:
    """A plan, a dump, and what the one says of the other."""

    plan: Path
    dump: Path
    verdict: PlanVerdict
    problems: tuple[Problem, ...]
    """What is wrong with the plan, and the errors of the dump."""

    @property
    def is_accepted(self) -> bool:
        """Whether every planned cable is there, nothing else is, and the plan could be read."""
        return self.verdict.is_as_planned and not any(problem.is_error for problem in self.problems)


def is_plan(place: Path) -> bool:
    """Say whether a file is a cabling plan in CSV."""
    if place.suffix in SUFFIXES or is_folder(place):
        return False
    return place.suffix.casefold() == ".ndt" or ndt.looks_like(_read_plan(place))


def hold(plan: Path, dump: Path, progress: Progress = silent, ibnl: Path | None = None) -> Held:
    """Hold a plan against a dump.

    Raises:
        ArtifactError: when one of the two cannot be read at all; single broken rows are problems of the result.
    """
    progress("reading the plan", None)
    part = ndt.parse(_read_plan(plan), str(plan))
    if not part.plan:
        raise problems_error(part.problems)
    progress("reading the dump", None)
    adoption = read_adoption(dump, ibnl)
    progress("comparing", None)
    errors = tuple(problem for problem in adoption.problems if problem.is_error)
    return Held(plan, dump, hold_plan(part.plan, adoption), part.problems + errors)


def _read_plan(path: Path) -> bytes:
    return read_bytes(path, ndt.MAX_BYTES, "a plan of one subnet is far smaller")
