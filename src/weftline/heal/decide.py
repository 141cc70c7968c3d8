"""Tables for what is left of a fabric, with the proof that every pair which cables still join is delivered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weftline.model.proof import Proof, ProofRules
from weftline.model.routes import Routes
from weftline.prove.transient import count_undelivered, prove_rest
from weftline.route.repair import Repair


@dataclass(frozen=True, eq=False)
class Decision:
    """What should run now."""

    repair: Repair
    proof: Proof
    changed: int
    """Entries that differ from what runs."""
    columns: int
    """Destinations towards which they do."""


def judge_repair(repair: Repair, running: Routes, seen: NDArray[np.bool_], rules: ProofRules) -> Decision:
    """Prove a repair, and say what it changes of what runs on the switches (rows) that are ``seen``."""
    proof = prove_rest(repair.fabric, repair.routes, rules)
    unlike = (running.group != repair.routes.group) & seen[:, None]
    changed, columns = int(np.count_nonzero(unlike)), int(np.count_nonzero(unlike.any(axis=0)))
    return Decision(repair, proof, changed, columns)


def is_urgent(repair: Repair, running: Routes, rules: ProofRules) -> bool:
    """Say whether what runs leaves a pair undelivered that cables join."""
    return count_undelivered(repair.fabric, running, rules.max_hops) > 0
