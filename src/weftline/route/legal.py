"""The order of switches in which what fits no lane goes up and then down, and how much longer its ways are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, I64
from weftline.kernels.csr import label_components, spread_distance
from weftline.kernels.legal import compare_hops
from weftline.route.graph import count_to_ptr

TRIED = 16
"""Switches of each component that are tried as its root."""


@dataclass(frozen=True, eq=False)
class Rest:
    """A total order with one top per component, and what it costs per goal."""

    component: I32
    component_ptr: I32
    sequence: I32
    order: I32
    longer: I64
    """Per goal, endpoints that have a longer way than the shortest."""
    extra: I64
    """Per goal, the hops that they all take more."""
    most: I32
    """Per goal, the most hops that one takes more."""
    others: I64
    """Per goal, the endpoints of its component, without itself where it is one."""

    @property
    def columns(self) -> tuple[I32, I32, I32, I32]:
        """The order as kernels want it."""
        return self.component, self.component_ptr, self.sequence, self.order


def choose_order(link_ptr: I32, link_row: I32, home: I32, sender: I32) -> Rest:
    """Order switches by distance from a root, that one of some whose legal ways to all goals are shortest together.

    Tried are half a dozen of the switches with most links and as many spread over the others; O(those * homes * links).
    """
    component = label_components(link_ptr, link_row)
    parts = int(component.max(initial=-1)) + 1
    homes, inverse, goals = np.unique(home, return_inverse=True, return_counts=True)
    candidates = _list_candidates(component, parts, np.diff(link_ptr))
    tops, least = candidates[0].copy(), np.full(parts, np.iinfo(np.int64).max)
    for some in candidates:
        placed = _measure((link_ptr, link_row), component, parts, some, (homes.astype(np.int32), sender))
        cost = np.zeros(parts, dtype=np.int64)
        np.add.at(cost, component[homes], placed.extra * goals)
        better = cost < least
        tops[better], least[better] = some[better], cost[better]
        if not least.any():
            break
    placed = _measure((link_ptr, link_row), component, parts, tops, (homes.astype(np.int32), sender))
    at = inverse.reshape(-1)
    return Rest(*placed.columns, placed.longer[at], placed.extra[at], placed.most[at], placed.others[at])


def _list_candidates(component: I32, parts: int, degree: NDArray[Any]) -> list[I32]:
    """List roots to try, one of each component at a time; a component with few repeats them."""
    ranked = np.lexsort((np.arange(len(component)), -degree, component))
    chosen: list[NDArray[Any]] = []
    for part in range(parts):
        mine = ranked[component[ranked] == part]
        spread = np.linspace(0, len(mine) - 1, TRIED // 2).astype(np.int64)
        some = np.concatenate((mine[: TRIED // 2], mine[spread]))
        chosen.append(np.resize(some, TRIED))
    return [np.array([some[at] for some in chosen], dtype=np.int32) for at in range(TRIED)]


def _measure(links: tuple[I32, I32], component: I32, parts: int, tops: I32, ends: tuple[I32, I32]) -> Rest:
    """Order switches by distance from the tops, and measure the legal ways to some homes."""
    link_ptr, link_row = links
    homes, sender = ends
    rank = spread_distance(link_ptr, link_row, tops)
    sequence = np.lexsort((np.arange(len(rank)), rank, component)).astype(np.int32)
    order = np.empty_like(sequence)
    order[sequence] = np.arange(len(rank), dtype=np.int32)
    columns = (component, count_to_ptr(component, parts), sequence, order)
    longer, extra = np.zeros(len(homes), dtype=np.int64), np.zeros(len(homes), dtype=np.int64)
    most = np.zeros(len(homes), dtype=np.int32)
    compare_hops(homes, *columns, link_ptr, link_row, sender, longer, extra, most)
    others = np.bincount(component, weights=sender, minlength=parts).astype(np.int64)[component[homes]] - 1
    return Rest(*columns, longer, extra, most, others)


def state_rest(rest: NDArray[np.bool_], is_endpoint: NDArray[np.bool_], placed: Rest, last: int) -> str:
    """Say what is promised where the goals ``rest`` go up and then down in the lane ``last``."""
    rest = rest & is_endpoint
    words = (
        "All paths go up and then down in one total order of the switches, so it is free of deadlock on one lane"
        if last == 0
        else f"Every path is a shortest one in a lane without a cycle, or, to {int(rest.sum()):,} endpoints, goes up "
        f"and then down in one total order of the switches on lane {last}, so it is free of deadlock for traffic that "
        "asks the subnet manager for its lane"
    )
    pairs = int(placed.others[is_endpoint].sum())
    longer, extra = int(placed.longer[rest].sum()), int(placed.extra[rest].sum())
    if not longer:
        return f"{words}; all paths are shortest ones."
    return (
        f"{words}; {longer:,} of {pairs:,} pairs ({longer / pairs:.1%}) take more hops than a shortest path, "
        f"{extra / longer:.2f} more on average and {int(placed.most[rest].max())} at most."
    )
