"""How loads spread over links and patterns of traffic, and what no routes could better."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.kernels.column import F64, I64

LOAD_EDGES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Loads relative to the rate of the link at which classes end: idle, up to a half, ..., above the last."""


@dataclass(frozen=True, eq=False)
class Family:
    """P patterns of one kind, all judged in the same way."""

    name: str
    """``shifts``, ``permutations`` or ``job NAME``."""
    pattern: I64
    """Which: the shift, or the number of the permutation from 0."""
    of: int
    """How many there are in all; 0 where they are beyond count."""
    worst: F64
    """Highest load of a link between switches or to an endpoint, relative to its rate, per pattern."""
    optimum: F64
    """What no routes could have brought the worst below, per pattern."""
    share_mean: F64
    """What the most loaded link on its way leaves a flow, mean over the flows of each pattern."""
    share_least: F64
    load_count: I64
    """Links between switches over all patterns, by classes of load (``LOAD_EDGES`` and above)."""
    lost: int
    """Flows that are not delivered; they load their own link alone and are left with nothing."""
    worst_pattern: int
    worst_link: str
    at_most: float | None = None
    """What no pattern of all exceeds, by an argument; None where there is none."""


@dataclass(frozen=True, eq=False)
class LoadSpread:
    """Loads of one set of routes over families of patterns."""

    of: str
    """Digest of the routes."""
    endpoints: int
    seed: int
    is_single: bool
    """Whether every entry names one port; else flows are hashed over sets."""
    is_rated: bool
    """Whether all rates are known; else each flow and link counts as 1."""
    families: tuple[Family, ...]
