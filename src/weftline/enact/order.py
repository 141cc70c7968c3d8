"""The order in which new tables go out: at once where every mixture is safe, else in stages of one file and sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof, Verdict
from weftline.model.routes import Routes, no_route
from weftline.prove.transient import Mixture, prove_mixture


@dataclass(frozen=True, eq=False)
class Stage:
    """One file and sweep."""

    words: str
    routes: Routes
    proof: Proof
    """That no mixture of what may run before with these tables loops or deadlocks."""
    entries: int = 0
    """Entries that change."""
    writes: int = 0
    """Pieces in which the devices take them, each at its own moment."""


def order_tables(fabric: Fabric, standing: Sequence[Routes], new: Routes) -> tuple[Stage, ...]:
    """Order the change from any of ``standing``, which may run now, to ``new``; every stage carries its proof.

    Where every mixture is safe, one stage. Else what changes in the columns that could loop, or in all columns, is
    dropped first and set then: a mixture of a table with itself and dropped entries has no way that it did not have
    before, so that two stages suffice wherever the old and the new are safe each. A stage begins when the one before
    was read back; packets of the tables before that are delivered or dropped by then. A last stage whose proof is not
    proved means that the change must not go out.
    """
    whole = prove_mixture(fabric, (*standing, new))
    if whole.proof.verdict is Verdict.PROVED:
        return (Stage("at once", new, whole.proof),)
    changed = np.zeros(new.group.shape, dtype=bool)
    for routes in standing:
        changed |= routes.group != new.group
    for columns in _choose_columns(whole, changed):
        first = _drop(new, changed, columns)
        before = prove_mixture(fabric, (*standing, first))
        after = prove_mixture(fabric, (first, new))
        if before.proof.verdict is Verdict.PROVED and after.proof.verdict is Verdict.PROVED:
            return (
                Stage(f"drop what changes towards {len(columns):,} destinations", first, before.proof),
                Stage("set it", new, after.proof),
            )
    return (Stage("at once", new, whole.proof),)


def _choose_columns(whole: Mixture, changed: NDArray[np.bool_]) -> list[I32]:
    """Choose the columns to drop first: those that could loop, else all that change."""
    every = np.flatnonzero(changed.any(axis=0)).astype(np.int32)
    return [whole.looping, every] if len(whole.looping) else [every]


def _drop(new: Routes, changed: NDArray[np.bool_], columns: I32) -> Routes:
    """Drop what changes in some columns; the others are set as they will be."""
    table = new.group.copy()
    for goal in columns.tolist():
        table[changed[:, goal], goal] = no_route(table)
    return replace(new, group=table)
