"""The ranks of all jobs gathered on the whole fabric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import F64, I32, NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.model.traffic import JobTraffic
from weftline.rehearse.crews import Crews, find_leaving, skip
from weftline.schedule import job_rings


def gather_crews(fabric: Fabric, routes: Routes, traffics: Sequence[JobTraffic]) -> Crews:
    """Gather the jobs; ranks that cannot take part in the whole fabric are left out of their rings."""
    sizes = [traffic.placement.ranks for traffic in traffics]
    first = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int32)
    planes = max((traffic.placement.rank_port.shape[1] for traffic in traffics), default=1)
    port = np.zeros((int(first[-1]), planes), dtype=np.int32)
    host = np.zeros(int(first[-1]), dtype=np.int32)
    after, before = np.arange(int(first[-1]), dtype=np.int32), np.arange(int(first[-1]), dtype=np.int32)
    for at, traffic in enumerate(traffics):
        span = slice(int(first[at]), int(first[at + 1]))
        port[span], host[span] = traffic.placement.rank_port, traffic.placement.rank_host
        rings = job_rings(traffic) + first[at]
        after[rings] = np.roll(rings, -1, axis=1)
        before[rings] = np.roll(rings, 1, axis=1)
    seats = port.reshape(-1)
    by_port = np.argsort(seats, kind="stable")
    counts = np.bincount(seats, minlength=fabric.port_count)
    crews = Crews(
        names=tuple(traffic.job for traffic in traffics),
        first=first,
        job=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        port=port,
        host=host,
        after=after,
        before=before,
        planes=np.zeros(len(host), dtype=np.int32),
        absent=np.zeros(0, dtype=np.int32),
        seat_ptr=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        seat_rank=(by_port // planes).astype(np.int32),
        capacity=_measure_capacity(fabric),
        fan=_count_sharing(fabric, port, first),
        goal=_find_goals(fabric, routes),
        row=_find_rows(fabric),
    )
    lit = fabric.port_peer != NIL
    part = np.where(lit, fabric.port_component, NIL)
    leaving = find_leaving(crews, lit, part)
    crews = replace(crews, planes=_count_live(crews, lit), absent=leaving)
    return skip(crews, leaving)


def _count_sharing(fabric: Fabric, port: I32, first: I32) -> F64:
    fan = np.ones(port.shape)
    for begin, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        own = port[begin:end]
        fan[begin:end] = np.bincount(own.reshape(-1), minlength=fabric.port_count)[own]
    return fan


def _measure_capacity(fabric: Fabric) -> F64:
    lit = fabric.port_peer != NIL
    rate = fabric.port_rate_gbps
    capacity = np.ones(fabric.port_count)
    if np.all(np.isfinite(rate[lit]) & (rate[lit] > 0)):
        capacity[lit] = np.minimum(rate[lit], rate[fabric.port_peer[lit]])
    return capacity


def _find_goals(fabric: Fabric, routes: Routes) -> I32:
    goal = np.full(fabric.port_count, NIL, dtype=np.int32)
    base = np.flatnonzero((routes.destination_port != NIL) & (routes.path == 0))
    goal[routes.destination_port[base]] = base
    return goal


def _find_rows(fabric: Fabric) -> I32:
    row = np.full(fabric.port_count, NIL, dtype=np.int32)
    port = fabric.endpoint_port
    lit = port[fabric.port_peer[port] != NIL]
    row[lit] = fabric.switch_row[fabric.port_node[fabric.port_peer[lit]]]
    return row


def _count_live(crews: Crews, lit: NDArray[np.bool_]) -> I32:
    use = lit[crews.port] & (crews.row[crews.port] != NIL) & (crews.goal[crews.port] != NIL)
    return use.sum(axis=1).astype(np.int32)
