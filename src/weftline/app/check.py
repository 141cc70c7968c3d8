"""The first stage: a declaration read, resolved and checked, without building anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.app.headroom import bind_headroom
from weftline.app.workspace import Workspace, open_place
from weftline.compile import check_expect, plan_counts
from weftline.declare import Declaration, load_catalog, look_further, parse_spec, read_bytes, resolve_spec
from weftline.errors import Problem, SpecError
from weftline.model.counts import FabricCounts
from weftline.model.design import ResolvedSpec
from weftline.model.parts import Catalog
from weftline.model.spec import AUTO
from weftline.model.technology import Technology
from weftline.render import check_needs
from weftline.technologies import TECHNOLOGIES
from weftline.vendors import VENDORS


@dataclass(frozen=True, slots=True)
class Checked:
    """A declaration that holds together, with every ``auto`` resolved."""

    workspace: Workspace
    design: ResolvedSpec
    technology: Technology
    warnings: tuple[Problem, ...]


def check(place: Path) -> Checked:
    """Read and check a declaration; what is wrong with it is said at once, also what later stages would find.

    Raises:
        SpecError: with every problem that was found.
    """
    workspace = open_place(place)
    data = read_bytes(workspace.declaration)
    if isinstance(data, Problem):
        raise problems_error((data,))
    catalog = load_catalog()

    def judge(declaration: Declaration) -> tuple[Problem, ...]:
        judged = _judge(workspace, declaration, catalog)
        return judged if isinstance(judged, tuple) else ()

    declaration = parse_spec(data, workspace.declaration)
    judged = declaration if isinstance(declaration, tuple) else _judge(workspace, declaration, catalog)
    if isinstance(judged, tuple):
        raise problems_error(look_further(data, workspace.declaration, judged, judge))
    return judged


def _judge(workspace: Workspace, declaration: Declaration, catalog: Catalog) -> Checked | tuple[Problem, ...]:
    """Resolve a declaration and count what it makes; its problems where one is an error."""
    design = resolve_spec(declaration, catalog)
    if not isinstance(design, tuple):
        design = bind_headroom(design, workspace.declaration.parent)
    if isinstance(design, tuple):
        return design
    technology = TECHNOLOGIES[design.spec.technology]
    counts = plan_counts(design)
    problems = engine_problems(design, technology) + _platform_problems(design, technology, catalog)
    problems += counts if isinstance(counts, tuple) else judge_counts(design, technology, counts)
    if any(problem.is_error for problem in problems):
        return problems
    return Checked(workspace, design, technology, problems)


def _platform_problems(design: ResolvedSpec, technology: Technology, catalog: Catalog) -> tuple[Problem, ...]:
    """Refuse what the software of the switches cannot carry, or nobody here writes."""
    missing = [name for name in technology.design.list_vendors(design) if name not in VENDORS]
    if missing:
        message = f"configuration for {missing[0]} is not written yet"
        where = design.places.get("roce.platform.system")
        return (Problem("capability.not-rendered", message, "choose another platform", where),)
    if technology.design.needs is None:
        return ()
    name, needs = technology.design.needs(design)
    return check_needs(name, needs, catalog.platforms)


def engine_problems(design: ResolvedSpec, technology: Technology) -> tuple[Problem, ...]:
    """Refuse an engine whose tables the devices of the technology cannot hold."""
    engine, able = design.spec.routing.engine, technology.design.engines
    if engine == AUTO or engine in able:
        return ()
    message = f"{technology.name} devices cannot forward by the tables of engine {engine}"
    if engine in technology.design.not_held:
        message += f": {technology.design.not_held[engine]}"
    hint = f"choose {' or '.join(able)}, or auto"
    return (Problem("capability.engine-not-held", message, hint, design.places.get("routing.engine")),)


def check_counts(design: ResolvedSpec, technology: Technology, counts: FabricCounts) -> tuple[Problem, ...]:
    """Hold counts against what is declared and what the technology can address; returns the warnings.

    Raises:
        SpecError: with every problem that was found.
    """
    problems = judge_counts(design, technology, counts)
    if any(problem.is_error for problem in problems):
        raise problems_error(problems)
    return problems


def judge_counts(design: ResolvedSpec, technology: Technology, counts: FabricCounts) -> tuple[Problem, ...]:
    """List what counts get wrong: against the plan that was copied, and against what the technology can address."""
    endpoints, switches = counts.endpoints + counts.extra_endpoints, sum(counts.switches.values())
    return check_expect(design, counts) + technology.design.count_problems(design, endpoints, switches)


def problems_error(problems: tuple[Problem, ...]) -> SpecError:
    """Turn problems into the one error that carries them all; the first stands for it."""
    errors = [problem for problem in problems if problem.is_error] or list(problems)
    first = errors[0]
    return SpecError(first.code, first.message, first.hint, first.where, problems)
