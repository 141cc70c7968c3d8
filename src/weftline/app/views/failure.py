"""The JSON of an error, of the problems behind it, and of what a code means."""

from __future__ import annotations

from weftline.app.explain import Explanation
from weftline.errors import Place, Problem, WeftlineError

MAX_PROBLEMS = 1000


def view_place(place: Place | None) -> dict[str, object] | None:
    """Show a place, or None where there is none."""
    if place is None:
        return None
    return {"file": place.file, "line": place.line, "column": place.column, "path": place.path}


def view_problem(problem: Problem) -> dict[str, object]:
    """Show one problem."""
    return {
        "severity": problem.severity,
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
        "where": view_place(problem.where),
    }


def view_error(error: WeftlineError) -> dict[str, object]:
    """Show an error; ``problems`` lists everything that was found."""
    return {
        "schema": "weftline/error/1",
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "where": view_place(error.where),
        "problems": [view_problem(problem) for problem in error.problems[:MAX_PROBLEMS]],
        "problem_count": len(error.problems),
    }


def view_explanation(explanation: Explanation) -> dict[str, object]:
    """Show what a code means."""
    return {"schema": "weftline/explanation/1", "code": explanation.code, "text": explanation.text}
