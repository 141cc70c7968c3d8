"""How each load fared among the others: when it was over, and how long its messages took."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from weftline.app.loads import Workload
from weftline.app.reduction import Reduction
from weftline.model.result import SimResult
from weftline.model.traffic import Flows, Load, Via


@dataclass(frozen=True, slots=True)
class LoadTimes:
    """How one load fared among the others."""

    load: Load
    size_bytes: float
    """Of all its messages."""
    finish_us: float | None
    """None where some of it never arrived."""
    busbw_gbytes_per_s: float | None
    median_us: float
    """Of its messages that arrived, from the start of each to its arrival."""
    p99_us: float
    reduction: Reduction | None = None
    """How it went through switches, where that was asked for."""


def time_loads(workload: Workload, result: SimResult) -> tuple[LoadTimes, ...]:
    """Measure every load."""
    return tuple(
        replace(time_load(load, workload.flows, result), reduction=reduction)
        for load, reduction in zip(workload.loads, workload.reductions, strict=True)
    )


def time_load(load: Load, flows: Flows, result: SimResult) -> LoadTimes:
    """Measure one load: when it was over, and how long its messages took."""
    own = slice(load.first, load.first + load.count)
    start, finish = result.start_us[own], result.finish_us[own]
    took = (finish - start)[flows.via[own] != Via.WORK]
    took = took[np.isfinite(took)]
    end = float(finish.max(initial=0.0))
    over = None if math.isnan(end) else end
    middle, late = (float(np.quantile(took, share)) if len(took) else 0.0 for share in (0.5, 0.99))
    busbw = load.collective.bus_bandwidth(over - load.start_us) if load.collective and over is not None else None
    return LoadTimes(load, float(flows.size_bytes[own].sum()), over, busbw, middle, late)
