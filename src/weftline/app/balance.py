"""How evenly a declaration's routes load its links: shifts, random permutations and the declared jobs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.app.pipeline import Progress, Routed, proof_rules, run_to_routes, silent
from weftline.errors import UsageError
from weftline.model.spread import LoadSpread
from weftline.prove.spread import SpreadChoice, measure_spread
from weftline.schedule import job_pairs

MOST_SHIFTS = 1 << 40
"""More than any fabric has."""


@dataclass(frozen=True, slots=True)
class Balanced:
    """The routes and how their loads spread."""

    routed: Routed
    spread: LoadSpread


def balance_place(place: Path, choice: SpreadChoice, progress: Progress = silent) -> Balanced:
    """Go from a declaration to the spread of its loads; a job counts as in its balance proof."""
    return measure(run_to_routes(place, progress), choice, progress)


def measure(routed: Routed, choice: SpreadChoice, progress: Progress = silent) -> Balanced:
    """Measure the spread of loads of computed routes."""
    design, fabric = routed.built.checked.design, routed.built.fabric
    jobs = [
        (job.name, (source, fabric.endpoint_port[target]))
        for index, job in enumerate(design.spec.jobs)
        for source, target in (job_pairs(design, fabric, index),)
    ]
    spread = measure_spread(fabric, routed.routes, proof_rules(design, fabric), choice, jobs, progress)
    return Balanced(routed, spread)


def choose(shifts: str, permutations: int, seed: int) -> SpreadChoice:
    """Read the options; ``shifts`` is ``auto``, ``all`` or a number.

    Raises:
        UsageError: ``usage.shifts`` for anything else.
    """
    if shifts == "auto":
        return SpreadChoice(None, permutations, seed)
    if shifts == "all":
        return SpreadChoice(MOST_SHIFTS, permutations, seed)
    if not shifts.isascii() or not shifts.isdigit() or len(shifts) > 9:
        raise UsageError("usage.shifts", f"--shifts takes auto, all or a number, not {shifts[:40]!r}", "leave it out")
    return SpreadChoice(int(shifts), permutations, seed)
