"""Place: where in the declaration a value stands that cannot be built."""

from __future__ import annotations

import re

from weftline.errors import Place, Problem
from weftline.model.design import ResolvedSpec

_LAST_STEP = re.compile(r"(\.?[^.\[\]]+|\[[0-9]+\])$")


def find_place(design: ResolvedSpec, path: str) -> Place:
    """Find where the value of a key path stands; what is not written down stands at its nearest parent."""
    step = path
    while step:
        if step in design.places:
            found = design.places[step]
            return Place(found.file, found.line, found.column, path)
        step = _LAST_STEP.sub("", step)
    return Place(file="", path=path)


def refuse(design: ResolvedSpec, code: str, message: str, hint: str, path: str) -> tuple[Problem, ...]:
    """Make the one problem that refuses a design."""
    return (Problem(code, message, hint, find_place(design, path)),)
