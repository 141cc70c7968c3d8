"""Max-min fair rates by progressive filling."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I32, NIL

TIE = 1e-12
"""Levels that differ relatively by less than this are one level."""


@kernel
def fill_rates(
    members: I32,
    count: int,
    member_path: I32,
    path_ptr: I32,
    path_resource: I32,
    path_cap: F64,
    tight: I32,
    tight_count: int,
    spare: F64,
    open_count: I32,
    rate: F64,
    bind: I32,
) -> None:
    """Raise all rates together and freeze each flow where its cap or one of its resources is full.

    ``members[:count]`` are flows (reordered and used up), ``tight[:tight_count]`` the resources that may bind, with
    ``spare`` their capacity and ``open_count`` their number of members. Any other resource has ``open_count`` 0 and
    is passed over. Every ``open_count`` is 0 at the end. Rates, and the resource that binds each flow (NIL: its cap),
    are written at the members' own indices. O(levels * (flows * path + resources)).
    """
    while count > 0:
        level = np.inf
        for index in range(count):
            level = min(level, path_cap[member_path[members[index]]])
        kept = 0
        for index in range(tight_count):
            resource = tight[index]
            if open_count[resource] > 0:
                level = min(level, spare[resource] / open_count[resource])
                tight[kept] = resource
                kept += 1
        tight_count = kept
        limit = level * (1.0 + TIE)
        for index in range(tight_count):
            resource = tight[index]
            if spare[resource] <= limit * open_count[resource]:
                open_count[resource] = -open_count[resource]
        kept = 0
        for index in range(count):
            member = members[index]
            path = member_path[member]
            binding = np.int64(NIL)
            if path_cap[path] > limit:
                for hop in range(path_ptr[path], path_ptr[path + 1]):
                    if open_count[path_resource[hop]] < 0:
                        binding = np.int64(path_resource[hop])
                        break
                if binding == NIL:
                    members[kept] = member
                    kept += 1
                    continue
            value = min(level, path_cap[path])
            rate[member] = value
            bind[member] = binding
            for hop in range(path_ptr[path], path_ptr[path + 1]):
                resource = path_resource[hop]
                if open_count[resource] > 0:
                    open_count[resource] -= 1
                    spare[resource] -= value
                elif open_count[resource] < 0:
                    open_count[resource] += 1
        count = kept
