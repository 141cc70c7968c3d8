"""Marks before pauses: the ECN threshold of a queue against the pause threshold of the groups that fill it.

Source: Zhu et al., Congestion Control for Large-Scale RDMA Deployments (DCQCN), SIGCOMM 2015, section 4. Marks are
judged per egress queue and pauses per ingress group, so one group can fill several queues that stay below their mark.
"""

from __future__ import annotations

from weftline.headroom.sorting import get_group, read_map
from weftline.model.headroom import MarkVerdict, PauseLimit
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort


def judge_marks(min_bytes: int, limit: PauseLimit, fan: int) -> tuple[MarkVerdict, MarkVerdict] | None:
    """Judge whether a queue marks before its senders are paused: for an incast, and in the worst case.

    The incast is ``fan`` groups to one queue: at worst all of it came from one group. The worst case is one group to
    ``fan`` queues, each just below its mark. What a group has reserved is left out, so a verdict is on the safe side.
    None where the limit says neither a size nor a share of a pool.
    """
    incast, worst = mark_limit(limit, 1), mark_limit(limit, max(fan, 1))
    if incast is None or worst is None:
        return None
    return (
        MarkVerdict("incast", min_bytes < incast, min_bytes, incast, max(fan, 1), _tell(limit, 1, incast)),
        MarkVerdict("worst", min_bytes < worst, min_bytes, worst, max(fan, 1), _tell(limit, max(fan, 1), worst)),
    )


def find_limit(device: ObservedDevice, port: ObservedPort, number: int, classes: int) -> PauseLimit | None:
    """Find when the group that a class waits in asks for a pause; None where no file has such a group.

    ``classes`` are the lossless classes that share its pool. What no file says of a group stays None in the limit.
    """
    group = get_group(port, read_map(port.group_of_class).get(number, number))
    if group is None:
        return None
    if group.static_bytes is not None:
        return PauseLimit(static_bytes=group.static_bytes.value)
    name = None if group.pool is None else group.pool.value
    size = next((pool.size_bytes for pool in device.pools if pool.name == name), None)
    return PauseLimit(
        pool_bytes=None if size is None else size.value,
        alpha=None if group.dynamic_th is None else alpha_of(group.dynamic_th.value),
        classes=classes,
    )


def mark_limit(limit: PauseLimit, queues: int) -> float | None:
    """Find the smallest mark threshold that is too high when one group fills ``queues`` queues; None when unknown.

    Static: t_PFC / n. Dynamic: a group may hold alpha times the free pool, and n queues of each of c lossless classes
    fill the pool meanwhile: n * K < alpha * (S - c * n * K). With alpha = beta / 8, c = 8 and S = B - 8 * n * t_flight
    that is the paper's beta * (B - 8 * n * t_flight) / (8 * n * (beta + 1)).
    """
    if limit.static_bytes is not None:
        return limit.static_bytes / queues
    if limit.pool_bytes is None or limit.alpha is None:
        return None
    return limit.alpha * limit.pool_bytes / (queues * (1 + limit.alpha * _filling(limit, queues)))


def equal_share(pool_bytes: float, ports: int, classes: int) -> float:
    """Share a pool out evenly: the highest static pause threshold with which all groups fit at once."""
    return pool_bytes / (ports * classes)


def alpha_of(dynamic_th: int) -> float:
    """Turn SONiC's ``dynamic_th`` into a share of the free pool: a power of two."""
    return 2.0 ** max(min(dynamic_th, 64), -64)


def _filling(limit: PauseLimit, queues: int) -> int:
    """Count the classes that fill the pool: in an incast the one queue alone."""
    return limit.classes if queues > 1 else 1


def _tell(limit: PauseLimit, queues: int, most: float) -> str:
    if limit.static_bytes is not None:
        return f"{limit.static_bytes:,} B / {queues} = {most:,.0f} B"
    alpha = f"{limit.alpha:g}"
    filled = f"{queues} * (1 + {alpha} * {_filling(limit, queues)})"
    return f"{alpha} * {limit.pool_bytes:,} B / ({filled}) = {most:,.0f} B"
