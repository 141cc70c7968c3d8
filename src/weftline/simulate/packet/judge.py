"""What packets came to, judged: a bound that nothing beats, and the chain of messages and links that took the time."""

from __future__ import annotations

import math

import numpy as np

from weftline.errors import InternalError
from weftline.kernels.chains import count_waits, invert_needs, link_queues, longest_chain
from weftline.kernels.column import F64, NIL
from weftline.model.fabric import Fabric
from weftline.model.packet import Bound, Leg, Machine, PacketResult
from weftline.model.traffic import Flows, Via

PS_PER_US = 1e6
BIT_PS = 8e6
"""Picoseconds of a byte at 1 Mb/s."""


def find_bound(flows: Flows, fabric: Fabric, machine: Machine) -> Bound:
    """Bound the end from below: bytes of the busiest adapter at its line, or the longest chain of messages.

    Bytes on the wire with their headers; without any latency, so that it holds for every way through the fabric.
    O(flows).

    Raises:
        InternalError: ``internal.flow-circle``.
    """
    if flows.count == 0:
        return Bound(0, "nothing is sent")
    is_sent = np.isin(flows.via, (Via.FABRIC, Via.LINK)) & (flows.source != flows.target)
    wire = np.where(is_sent, count_wire(flows.size_bytes, machine), 0.0)
    rate = machine.medium.rate_mbps.astype(np.float64)
    ports = fabric.port_count
    out = np.bincount(flows.source, weights=wire, minlength=ports) * BIT_PS / rate
    into = np.bincount(flows.target, weights=wire, minlength=ports) * BIT_PS / rate
    busiest, words = max((out, "sent by"), (into, "sent to"), key=lambda item: float(item[0].max()))
    worst = int(busiest.argmax())
    # A switch takes a packet of its own while it still comes in, where it passes packets on like that.
    full = np.where(flows.via == Via.LINK, machine.carriage.mtu_bytes + machine.carriage.overhead_bytes, 0)
    duration = np.maximum(wire - full, 0.0) * BIT_PS / np.minimum(rate[flows.source], rate[flows.target]) / PS_PER_US
    successor = link_queues(flows.queue, int(flows.queue.max(initial=NIL)) + 1)
    after_ptr, after_flow = invert_needs(flows.need_ptr, flows.need_flow)
    waiting = count_waits(flows.need_ptr, successor)
    chain, last, ordered = longest_chain(
        duration, 0.0, flows.via, flows.start_us, flows.delay_us, waiting, successor, after_ptr, after_flow
    )
    if ordered < flows.count:
        raise InternalError("internal.flow-circle", f"{flows.count - ordered} flows wait for each other")
    if chain * PS_PER_US > float(busiest[worst]):
        end = fabric.port_name(int(flows.target[last]))
        name = f"longest chain of messages that wait for each other, ending at {end}"
        return Bound(math.floor(chain * PS_PER_US), name)
    return Bound(math.floor(float(busiest[worst])), f"bytes {words} {fabric.port_name(worst)}")


def count_wire(size_bytes: F64, machine: Machine) -> F64:
    """Bytes of messages on the wire, with the headers of each of their packets."""
    carriage = machine.carriage
    size = np.ceil(size_bytes)
    return size + np.ceil(size / carriage.mtu_bytes) * carriage.overhead_bytes


def hold_against(result: PacketResult, bound: Bound) -> None:
    """Refuse a result that is better than can be.

    Raises:
        InternalError: ``internal.beats-bound``.
    """
    if result.ending == "done" and result.end_ps < bound.at_ps - 1:
        words = f"{result.end_ps} ps is less than the lower bound of {bound.at_ps} ps ({bound.name})"
        raise InternalError("internal.beats-bound", words)


def find_critical(result: PacketResult) -> tuple[Leg, ...]:
    """Follow the last message back to what let it go, and so on: the first leg began at the start; O(legs).

    Each leg names the link before which its last packet waited longest.
    """
    if not len(result.finish_ps) or int(result.finish_ps.max()) == NIL:
        return ()
    at = int(result.finish_ps.argmax())
    legs: list[Leg] = []
    while at != NIL:
        held, wait = int(result.longest_at[at]), int(result.longest_ps[at])
        legs.append(Leg(at, int(result.start_ps[at]), int(result.finish_ps[at]), held, wait))
        at = int(result.cause[at])
    return tuple(reversed(legs))


def rank_holders(legs: tuple[Leg, ...]) -> list[tuple[int, int]]:
    """Rank the ports that held a critical path by the time that its packets waited there: (port, picoseconds)."""
    waits: dict[int, int] = {}
    for leg in legs:
        if leg.held_at != NIL:
            waits[leg.held_at] = waits.get(leg.held_at, 0) + leg.held_ps
    return sorted(waits.items(), key=lambda item: (-item[1], item[0]))
