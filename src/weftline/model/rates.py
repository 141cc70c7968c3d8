"""Rates of links as whole numbers of one unit, so that they can be told and added."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import I64, NIL
from weftline.model.fabric import Fabric


def count_units(fabric: Fabric) -> I64:
    """Count the units of rate of the link at each port: the greatest common part of all links between switches.

    A link is as fast as its slower end. All count as 1 where a rate is not known.
    """
    peer = fabric.port_peer
    row = fabric.switch_row[fabric.port_node]
    units = np.ones(fabric.port_count, dtype=np.int64)
    inner = np.flatnonzero((row != NIL) & (peer != NIL))
    inner = inner[row[peer[inner]] != NIL]
    rate = np.minimum(fabric.port_rate_gbps[inner], fabric.port_rate_gbps[peer[inner]]) * 1000
    if not len(inner) or not np.all(np.isfinite(rate) & (rate >= 1)):
        return units
    whole = np.round(rate).astype(np.int64)
    units[inner] = whole // np.gcd.reduce(whole)
    return units
