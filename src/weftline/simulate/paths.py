"""The resources that each pair of a sender and a receiver uses, and their capacities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weftline.errors import Problem, SpecError
from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.pairs import group_pairs
from weftline.kernels.tables import DELIVERED, NO_ROUTE, TOO_LONG, walk_pairs
from weftline.model.fabric import Fabric
from weftline.model.result import SimOptions
from weftline.model.routes import Routes, local_delivery, no_route
from weftline.model.traffic import Flows, Via
from weftline.units import gbps_to_bytes_per_us

MAX_NAMED = 20
"""Pairs named in one refusal."""
BYTES_PER_US = 1000.0
"""Bytes per microsecond in one GB/s."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Distinct pairs of the flows, and the resources on each one's path.

    Resource r < P is the directed link that port r transmits on; P + r and 2P + r are the ways out of and into the
    network inside the host for the GPU of endpoint port r. A message to oneself has an empty path.
    """

    flow_pair: I32
    pair_ptr: I32
    pair_resource: I32
    capacity: F64
    """Bytes per microsecond of each resource."""

    @property
    def pairs(self) -> int:
        """Count the pairs."""
        return len(self.pair_ptr) - 1


def resolve_paths(flows: Flows, fabric: Fabric, routes: Routes, options: SimOptions) -> Paths:
    """Walk the tables for every pair that sends through the fabric.

    Raises:
        SpecError: ``spec.unreachable-pair`` with the pairs that the tables do not connect, ``spec.inside-host-rate``,
            ``spec.link-rate``.
    """
    pair, first = group_pairs(flows.source, flows.target, flows.via)
    source, target, via = flows.source[first], flows.target[first], flows.via[first]
    inside = via == Via.HOST
    outside = np.flatnonzero((via == Via.FABRIC) & (source != target))
    walk_ptr, walk_port = walk_ports(source[outside], target[outside], fabric, routes, options)
    length = np.where(inside, 2, 0).astype(np.int64)
    length[outside] = np.diff(walk_ptr)
    over = np.flatnonzero(via == Via.LINK)
    length[over] = 1
    ptr = np.concatenate(([0], np.cumsum(length))).astype(np.int32)
    resource = np.empty(int(ptr[-1]), dtype=np.int32)
    resource[np.repeat(np.isin(np.arange(len(first)), outside), length)] = walk_port
    resource[ptr[over]] = source[over]
    within = np.flatnonzero(inside)
    resource[ptr[within]] = fabric.port_count + source[within]
    resource[ptr[within] + 1] = 2 * fabric.port_count + target[within]
    return Paths(pair, ptr, resource, _capacities(fabric, resource, options))


def name_resource(fabric: Fabric, resource: int) -> str:
    """Name a resource as a person would."""
    kind, port = divmod(resource, fabric.port_count)
    if kind == 0:
        return f"link {fabric.link_name(port)}"
    way = "out of" if kind == 1 else "into"
    return f"network inside the host {way} the GPU of {fabric.port_name(port)}"


def _capacities(fabric: Fabric, used: I32, options: SimOptions) -> F64:
    ports = fabric.port_count
    inside = options.inside_host_gbytes_per_s
    if inside is None and used.max(initial=0) >= ports:
        raise SpecError(
            "spec.inside-host-rate",
            "messages go through the network inside a host, whose rate is not known",
            "give policy.inside_host_gbytes_per_s, or a host part that has the figure",
        )
    peer = fabric.port_peer
    # A link is as fast as its slower end: ports that adoption read may disagree.
    rate = np.where(peer == NIL, fabric.port_rate_gbps, np.fmin(fabric.port_rate_gbps, fabric.port_rate_gbps[peer]))
    capacity = np.full(3 * ports, (inside or 1.0) * BYTES_PER_US)
    capacity[:ports] = gbps_to_bytes_per_us(1.0) * rate
    wrong = used[~(np.isfinite(capacity[used]) & (capacity[used] > 0))]
    if len(wrong):
        raise SpecError(
            "spec.link-rate",
            f"the rate of {name_resource(fabric, int(wrong[0]))} is not known",
            "give the rate of both ports of each link that carries traffic",
        )
    return capacity


def walk_ports(source: I32, target: I32, fabric: Fabric, routes: Routes, options: SimOptions) -> tuple[I64, I32]:
    """Walk the tables from each source port to its target: the ports that send on each way, as a CSR pair.

    Raises:
        SpecError: ``spec.unreachable-pair``.
    """
    goal = find_goals(fabric, routes)[target]
    if (goal == NIL).any():
        missing = np.flatnonzero(goal == NIL)
        _refuse(fabric, source[missing], target[missing], ["the routes do not know the receiver"] * len(missing))
    ptr, port, status = _walk(source, goal, fabric, routes, options)
    lost = np.flatnonzero(status != DELIVERED)
    if len(lost):
        reasons = {NO_ROUTE: "a switch on the way has no route", TOO_LONG: f"over {options.max_hops} switches: a loop"}
        words = [reasons.get(int(status[pair]), "the way ends elsewhere") for pair in lost[:MAX_NAMED]]
        _refuse(fabric, source[lost], target[lost], words)
    return ptr, port


def find_goals(fabric: Fabric, routes: Routes) -> I32:
    """Find the destination that stands for each port in the tables; NIL for ports that are none."""
    known = (routes.destination_port != NIL) & (routes.path == 0)
    goal = np.full(fabric.port_count, NIL, dtype=np.int32)
    goal[routes.destination_port[known]] = np.flatnonzero(known)
    return goal


def tell_reached(source: I32, target: I32, fabric: Fabric, routes: Routes, options: SimOptions) -> NDArray[np.bool_]:
    """Tell for each pair whether the tables lead from its source port to its target."""
    goal = find_goals(fabric, routes)[target]
    is_reached = goal != NIL
    there = np.flatnonzero(is_reached)
    _, _, status = _walk(source[there], goal[there], fabric, routes, options)
    is_reached[there] = status == DELIVERED
    return is_reached


def _walk(source: I32, goal: I32, fabric: Fabric, routes: Routes, options: SimOptions) -> tuple[I64, I32, I32]:
    share_ptr, member = routes.shares
    return walk_pairs(
        source, goal, routes.destination_node, routes.destination_port, fabric.port_node, fabric.port_peer,
        fabric.switch_row, routes.group, routes.group_ptr, share_ptr, routes.member_port[member],
        no_route(routes.group), local_delivery(routes.group), options.seed, options.max_hops,
    )  # fmt: skip


def _refuse(fabric: Fabric, source: I32, target: I32, reasons: list[str]) -> None:
    hint = "use the algorithm hierarchical where rails are separate, or look at one way with `weftline trace`"
    problems = tuple(
        Problem(
            "spec.unreachable-pair",
            f"{fabric.port_name(int(a))} does not reach {fabric.port_name(int(b))}: {reason}",
            hint,
        )
        for a, b, reason in zip(source[:MAX_NAMED], target[:MAX_NAMED], reasons, strict=False)
    )
    more = f", and {len(source) - 1} more pairs" if len(source) > 1 else ""
    raise SpecError("spec.unreachable-pair", problems[0].message + more, hint, problems=problems)
