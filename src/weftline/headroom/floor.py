"""The floor under every headroom: what arrives after a pause was sent, whatever the chip; tables held against it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from weftline.headroom.switch import cable_bytes, peer_response
from weftline.model.headroom import HeadroomAsic, HeadroomFloor, HeadroomRow, TableDoubt


def find_floor(speed_mbps: int, cable_m: float, mtu: int, asic: HeadroomAsic | None = None) -> HeadroomFloor | None:
    """Find what no headroom can be below; None where a figure is no length or speed.

    A pause travels to the peer while bytes come the other way, and the peer ends the frame that it had begun. Whatever
    the peer sends before it obeys comes on top; the standard bounds it (IEEE 802.3, 31B.3.7), so a shorter headroom
    may hold against one peer and lose with the next.
    """
    if not math.isfinite(cable_m) or cable_m < 0 or speed_mbps <= 0 or mtu <= 0:
        return None
    cable = float(cable_bytes(speed_mbps, cable_m))
    return HeadroomFloor(cable=cable, frame=mtu, response=peer_response(speed_mbps, asic))


def judge_rows(rows: Iterable[HeadroomRow], mtu: int) -> tuple[TableDoubt, ...]:
    """Name the rows of one table that are hard to believe.

    More cable and more speed never need less headroom, and none may be below the certain floor for ``mtu``. A row that
    stands in the table twice with different figures is named too. A doubt is no proof of loss: a table may count a
    cable one way only.
    """
    by_length: dict[float, dict[int, HeadroomRow]] = defaultdict(dict)
    by_speed: dict[int, dict[float, HeadroomRow]] = defaultdict(dict)
    doubts: list[TableDoubt] = []
    for row in rows:
        first = by_speed[row.speed_mbps].setdefault(row.cable_m, row)
        by_length[row.cable_m].setdefault(row.speed_mbps, row)
        if first.xoff != row.xoff:
            doubts.append(TableDoubt("said-twice", row, first))
        floor = find_floor(row.speed_mbps, row.cable_m, mtu)
        if floor is not None and row.xoff < floor.certain:
            doubts.append(TableDoubt("below-floor", row, floor))
    for _, lengths in sorted(by_speed.items()):
        pairs = pairwise(row for _, row in sorted(lengths.items()))
        doubts += [TableDoubt("falls-with-length", row, shorter) for shorter, row in pairs if row.xoff < shorter.xoff]
    for _, speeds in sorted(by_length.items()):
        pairs = pairwise(row for _, row in sorted(speeds.items()))
        doubts += [TableDoubt("falls-with-speed", row, slower) for slower, row in pairs if row.xoff < slower.xoff]
    return tuple(doubts)
