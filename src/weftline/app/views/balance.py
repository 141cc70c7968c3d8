"""The JSON of a spread of loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weftline.kernels.column import F64
from weftline.model.spread import LOAD_EDGES, Family

if TYPE_CHECKING:
    from weftline.app.balance import Balanced

DIGITS = 9
SHARES = {"p01": 0.01, "median": 0.5, "p90": 0.9, "p99": 0.99}


def view_balance(balanced: Balanced) -> dict[str, object]:
    """Show the spread of every family of patterns."""
    spread = balanced.spread
    return {
        "schema": "weftline/balance/1",
        "of": spread.of,
        "engine": balanced.routed.routes.engine,
        "endpoints": spread.endpoints,
        "seed": spread.seed,
        "one_port_per_entry": spread.is_single,
        "rates_known": spread.is_rated,
        "load_edges": list(LOAD_EDGES),
        "families": [view_family(family) for family in spread.families],
    }


def view_family(family: Family) -> dict[str, object]:
    """Show one family: the worst load per pattern, the optimum and the distance from it, what flows are left with."""
    distance = np.divide(family.worst, family.optimum, out=np.ones(len(family.worst)), where=family.optimum > 0)
    return {
        "name": family.name,
        "judged": len(family.pattern),
        "of": family.of or None,
        "worst_load": spread_out(family.worst),
        "optimum": spread_out(family.optimum),
        "worst_over_optimum": spread_out(distance),
        "no_shift_exceeds": None if family.at_most is None else round(family.at_most, DIGITS),
        "bandwidth": {**spread_out(family.share_mean), "least_flow": round(float(family.share_least.min()), DIGITS)},
        "link_loads": family.load_count.tolist(),
        "worst_pattern": family.worst_pattern,
        "worst_link": family.worst_link or None,
        "flows_lost": family.lost,
    }


def spread_out(values: F64) -> dict[str, float]:
    """Tell a distribution by its ends, its mean and some of its quantiles, each a value that occurs."""
    ordered = np.sort(values)
    places = {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for name, share in SHARES.items()}
    whole = {"min": ordered[0], "mean": values.mean(), **places, "max": ordered[-1]}
    return {name: round(float(value), DIGITS) for name, value in whole.items()}
