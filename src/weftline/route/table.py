"""Tables in the making: their element type, the entries that deliver, and the groups behind them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes
from weftline.model.routes import GroupTable, local_delivery, no_route
from weftline.route.graph import Destinations, PortGroups

MOST_ENTRIES = 2**32
"""4 GiB of one-byte entries: twelve times the largest fabric of the house, so a hostile input ends early."""

MOST_GROUPS = 65_533
"""Two bytes name a group, 'delivered here' or 'no route'."""


@dataclass(frozen=True, eq=False)
class Tables:
    """What an engine returns: entries, and groups as in ``Routes``."""

    group: GroupTable
    group_ptr: I32
    member_ptr: I32
    member_port: I32
    lanes: Lanes | None = None
    """Lane per destination, where the engine needs several."""
    guarantee: str = ""
    """What these tables promise; empty: what the engine does."""
    member_weight: I32 | None = None
    """Per member its part of what its group carries; None: all alike."""


def check_size(switches: int, destinations: int) -> None:
    """Refuse tables that would not fit, before anything is allocated."""
    entries = switches * destinations
    if entries > MOST_ENTRIES:
        raise CapabilityError(
            "capability.table-too-large",
            f"{switches:,} switches x {destinations:,} destinations = {entries:,} entries, at most {MOST_ENTRIES:,}",
            "split the fabric into planes or subnets",
        )


def empty_table(fabric: Fabric, goals: Destinations, groups: int) -> GroupTable:
    """Make a table of 'no route': a byte per entry up to 253 groups per switch, else two bytes."""
    table = blank_table(fabric, goals, groups)
    table.fill(no_route(table))
    return table


def blank_table(fabric: Fabric, goals: Destinations, groups: int) -> GroupTable:
    """Make a table whose every entry is still to be written."""
    if groups > MOST_GROUPS:
        raise CapabilityError(
            "capability.too-many-groups",
            f"a switch needs {groups:,} groups of ports, an entry can name {MOST_GROUPS:,}",
            "use engine updown, which needs one group per port",
        )
    shape = (len(fabric.switch_node), len(goals.home))
    return np.empty(shape, dtype=np.uint8) if groups <= 253 else np.empty(shape, dtype=np.uint16)


def deliver(groups: PortGroups, goals: Destinations, table: GroupTable) -> I32:
    """Name the group by which the home of each destination delivers; NIL where it has no home."""
    group = np.where(goals.home == NIL, NIL, local_delivery(table)).astype(np.int32)
    by_port = np.flatnonzero(goals.home_port != NIL)
    group[by_port] = groups.of_port[goals.home_port[by_port]]
    return group
