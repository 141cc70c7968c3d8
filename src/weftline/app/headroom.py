"""The headroom table that a declaration names, read and bound to the design."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from weftline.app.files import read_bytes
from weftline.errors import ArtifactError, Problem
from weftline.formats import pg_profile_lookup
from weftline.model.design import ResolvedSpec


def bind_headroom(design: ResolvedSpec, folder: Path) -> ResolvedSpec | tuple[Problem, ...]:
    """Read the headroom table, if one is declared; its path is relative to the folder of the declaration."""
    named = design.spec.roce.headroom_table
    if named is None:
        return design
    where = design.places.get("roce.headroom_table")
    path = folder / named
    try:
        data = read_bytes(path, pg_profile_lookup.MAX_BYTES, "a headroom table has a few kilobytes")
    except ArtifactError as error:
        return (Problem(error.code, error.message, f"roce.headroom_table names it; {error.hint}", where),)
    rows, problems = pg_profile_lookup.parse(data, str(path))
    return problems if any(problem.is_error for problem in problems) else replace(design, headroom_rows=rows)
