"""Maps from classes to lanes while they change: what a packet can hold where some switches have the new one."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import I8, NIL, U16
from weftline.model.fabric import Fabric
from weftline.model.lanes import LaneSteps
from weftline.prove.steps import Maps, Walkers, list_answers, mark_classes, place_walkers
from weftline.prove.tables import Tables


def mix_steps(before: LaneSteps | None, after: LaneSteps | None) -> tuple[Maps, U16, int] | None:
    """Mix two maps and the classes that packets carry: each pair of ports of each switch has the map of either.

    A dependency joins the lane behind one switch to that behind the next, and each of both has its map at its own
    moment, so that every pair of lanes counts. Returns the maps, the classes by source and destination, and a bit for
    each class that one of both maps does not name; None where both are not told by the same classes of ports.
    """
    if before is None or after is None or before.lane.shape != after.lane.shape:
        return None
    if not np.array_equal(before.port_class, after.port_class):
        return None
    unsaid = [one for one in range(len(before.lane)) if NIL in before.lane[one] or NIL in after.lane[one]]
    maps = Maps(before.port_class, _mark_lanes(before.lane) | _mark_lanes(after.lane))
    return maps, mark_classes(before) | mark_classes(after), sum(1 << one for one in unsaid)


def _mark_lanes(lane: I8) -> U16:
    """Mark the lane of each class and pair of ports; none where the map does not say."""
    return np.where(lane == NIL, 0, np.left_shift(1, np.maximum(lane, 0).astype(np.int32))).astype(np.uint16)


def gather_mixed(fabric: Fabric, tables: Tables, maps: Maps, mask: U16, *, with_answers: bool) -> Walkers:
    """Gather who sends to which destination by which class, answers by the class of what they answer."""
    wide = mask | list_answers(tables, mask) if with_answers else mask
    return place_walkers(fabric, tables, wide, maps.port_class)
