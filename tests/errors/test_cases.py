"""Bad declarations and the exact text of what is wrong with them: one folder per case.

``UPDATE_EXPECTED=1`` writes the texts anew; say in the commit why they moved.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weftline.compile import check_expect, plan_counts
from weftline.declare import Declaration, load_catalog, parse_spec, resolve_spec
from weftline.errors import Problem
from weftline.model.design import ResolvedSpec

CASES = sorted(path for path in (Path(__file__).parent / "cases").iterdir() if path.is_dir())


def show(problems: tuple[Problem, ...]) -> str:
    """Write problems as a person reads them."""
    return "\n".join(
        f"{problem.where}: {problem.code} [{problem.where.path if problem.where else ''}]\n"
        f"  {problem.message}\n"
        f"  hint: {problem.hint}\n"
        for problem in problems
    )


def judge(declaration: Declaration) -> ResolvedSpec | tuple[Problem, ...]:
    """Resolve a declaration and count what it makes, as ``weftline check`` does before it builds."""
    design = resolve_spec(declaration, load_catalog())
    if isinstance(design, tuple):
        return design
    counts = plan_counts(design)
    return counts if isinstance(counts, tuple) else check_expect(design, counts) or design


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_says_exactly_what_is_wrong(case: Path) -> None:
    found = parse_spec((case / "input.yaml").read_bytes(), Path("input.yaml"))
    if not isinstance(found, tuple):
        found = judge(found)
    assert isinstance(found, tuple), "the declaration is not refused"
    expected = case / "expected.txt"
    if os.environ.get("UPDATE_EXPECTED"):
        expected.write_text(show(found), encoding="utf-8")
    assert show(found) == expected.read_text(encoding="utf-8")
