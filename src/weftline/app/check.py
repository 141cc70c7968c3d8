"""The first stage: a declaration read, resolved and checked, without building anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.app.workspace import Workspace, open_place
from weftline.compile import check_expect, plan_counts
from weftline.declare import load_catalog, read_spec, resolve_spec
from weftline.errors import Problem, SpecError
from weftline.model.counts import FabricCounts
from weftline.model.design import ResolvedSpec
from weftline.model.technology import Technology
from weftline.technologies import TECHNOLOGIES


@dataclass(frozen=True, slots=True)
class Checked:
    """A declaration that holds together, with every ``auto`` resolved."""

    workspace: Workspace
    design: ResolvedSpec
    technology: Technology
    warnings: tuple[Problem, ...]


def check(place: Path) -> Checked:
    """Read and check a declaration.

    Raises:
        SpecError: with every problem that was found.
    """
    workspace = open_place(place)
    catalog = load_catalog()
    declaration = read_spec(workspace.declaration)
    if isinstance(declaration, tuple):
        raise problems_error(declaration)
    design = resolve_spec(declaration, catalog)
    if isinstance(design, tuple):
        raise problems_error(design)
    technology = TECHNOLOGIES[design.spec.technology]
    counts = plan_counts(design)
    if isinstance(counts, tuple):
        raise problems_error(counts)
    return Checked(workspace, design, technology, check_counts(design, technology, counts))


def check_counts(design: ResolvedSpec, technology: Technology, counts: FabricCounts) -> tuple[Problem, ...]:
    """Hold counts against what is declared and what the technology can address; returns the warnings.

    Raises:
        SpecError: with every problem that was found.
    """
    endpoints, switches = counts.endpoints + counts.extra_endpoints, sum(counts.switches.values())
    problems = check_expect(design, counts) + technology.design.count_problems(design, endpoints, switches)
    if any(problem.is_error for problem in problems):
        raise problems_error(problems)
    return problems


def problems_error(problems: tuple[Problem, ...]) -> SpecError:
    """Turn problems into the one error that carries them all; the first stands for it."""
    errors = [problem for problem in problems if problem.is_error] or list(problems)
    first = errors[0]
    return SpecError(first.code, first.message, first.hint, first.where, problems)
