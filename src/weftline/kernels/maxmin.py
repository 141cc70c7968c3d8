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


@kernel
def maxmin_rates(path_ptr: I32, path_resource: I32, path_cap: F64, capacity: F64) -> tuple[F64, I32]:
    """Share resources among flows: no rate can grow without shrinking one that is no larger.

    Flow ``f`` crosses ``path_resource[path_ptr[f]:path_ptr[f + 1]]``, each once, and has a rate of at most
    ``path_cap[f]``, which must be finite. Returns the rates and the resource that binds each flow (NIL: its cap).
    """
    flows = len(path_ptr) - 1
    rate = np.zeros(flows, dtype=np.float64)
    bind = np.full(flows, NIL, dtype=np.int32)
    open_count = np.zeros(len(capacity), dtype=np.int32)
    for hop in range(len(path_resource)):
        open_count[path_resource[hop]] += 1
    tight = np.arange(len(capacity)).astype(np.int32)
    own = np.arange(flows).astype(np.int32)
    fill_rates(
        own.copy(), flows, own, path_ptr, path_resource, path_cap, tight, len(tight), capacity.copy(), open_count,
        rate, bind,
    )  # fmt: skip
    return rate, bind
