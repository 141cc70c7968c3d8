"""A wrong declaration read around its mistakes, so that what later stages would say is said at once too."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from weftline.declare.read import Declaration, parse_spec
from weftline.errors import Problem

MOST_ROUNDS = 6
MOST_BYTES = 100_000
"""A larger file is read once only: declarations have a few kilobytes, hostile files more."""

Judge = Callable[[Declaration], tuple[Problem, ...]]
"""What the later stages find wrong with a declaration."""


def look_further(data: bytes, path: Path, problems: tuple[Problem, ...], judge: Judge) -> tuple[Problem, ...]:
    """Add what ``judge`` finds once the keys that are known to be wrong are left out, so that their defaults hold.

    Only problems with a place of their own that is written down are added, and none at or below a key that was left
    out: the rest may follow from the leaving out. At most ``MOST_ROUNDS`` rounds, each as dear as reading the file.
    """
    found = list(problems)
    left_out: set[str] = set()
    for _ in range(MOST_ROUNDS if len(data) <= MOST_BYTES else 0):
        fresh = {_holder(problem) for problem in found} - left_out - {""}
        if not fresh:
            break
        left_out |= fresh
        declaration = _read_without(data, path, left_out)
        if declaration is None:
            break
        known = {(problem.code, problem.where) for problem in found}
        written = declaration.places.all()
        found += [
            problem
            for problem in judge(declaration)
            if (problem.code, problem.where) not in known
            and problem.where is not None
            and problem.where.path in written
            and _holder(problem) not in left_out
        ]
    return tuple(sorted(found, key=_spot))


def _spot(problem: Problem) -> tuple[int, int]:
    where = problem.where
    return (0, 0) if where is None else (where.line or 0, where.column or 0)


def _holder(problem: Problem) -> str:
    """Name the key that a problem is about; an item of a list stands for the whole list."""
    text = problem.where.path if problem.where else ""
    return text.split("[", maxsplit=1)[0]


def _read_without(data: bytes, path: Path, keys: Collection[str]) -> Declaration | None:
    """Read a declaration as if some keys were not written; None where it is still wrong."""
    declaration = parse_spec(data, path, without=tuple(sorted(keys)))
    return declaration if isinstance(declaration, Declaration) else None
