"""Faults in time as the simulator takes them: names become ports, and new tables come when the fault is noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from weftline.app.fault_words import FaultWords
from weftline.app.pipeline import Progress, Routed
from weftline.app.rehearse import prepare_routed
from weftline.errors import UsageError
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.happening import (
    BitErrors,
    Happening,
    LinkChange,
    NewRoutes,
    PauseAsked,
    RateChange,
    SwitchChange,
    flap_link,
    order_happenings,
    slow_receiver,
)
from weftline.model.packet import FlowControl, Medium
from weftline.model.routes import Routes
from weftline.prove.transient import cut_foreign
from weftline.rehearse.names import Index
from weftline.rehearse.whole import LAST, Plan, degrade, make_anew
from weftline.units import format_time_us

PS_PER_US = 1e6
Spans: TypeAlias = dict[tuple[str, int], list[tuple[float, float]]]
"""When each link has a fault of each kind."""
MOST_STATES = 64
"""Different sets of dead links for which tables are made; each costs what routing the fabric costs."""
MOST_CHANGES = 100_000
"""Pauses and the like that all faults together may come to."""
MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What happens to a fabric in a run, in words and as the simulator takes it."""

    happenings: tuple[Happening, ...]
    told: tuple[str, ...]
    """Each fault in words."""
    marks_us: tuple[float, ...]
    """When something begins or ends, for pictures."""
    assumptions: tuple[str, ...]


def plan_disturbance(
    routed: Routed, medium: Medium, faults: Sequence[FaultWords], reroute_us: float | None, progress: Progress
) -> Disturbance:
    """Turn words into happenings; with ``reroute_us`` the tables change so long after each change of what is left.

    Raises:
        UsageError: ``usage.fault-words`` for what is not there, cannot be or contradicts another fault.
    """
    fabric = routed.built.fabric
    index = Index(fabric)
    has_credits = any(one.control is FlowControl.CREDIT for one in medium.profiles)
    happenings: list[Happening] = []
    told: list[str] = []
    taken: Spans = {}
    # In order of time, so that where one fault begins as another ends, the end comes first.
    for fault in sorted(faults, key=lambda one: one.at_us):
        ports = _find_ports(fault, index, has_credits=has_credits)
        _claim(fault, ports, taken, fabric)
        happenings += _happen(fault, ports, index)
        told.append(tell_fault(fault))
        if len(happenings) > MOST_CHANGES:
            raise _refuse(fault, f"the faults come to more than {MOST_CHANGES:,} changes", "make them last shorter")
    assumptions: list[str] = []
    changes = [one for one in happenings if isinstance(one, LinkChange | SwitchChange)]
    if changes and reroute_us is None:
        assumptions.append("tables stay as they were: add --reroute-after US for new ones that much after each change")
    elif changes and reroute_us is not None:
        made, said = _reroute(routed, changes, reroute_us, progress)
        happenings += made
        assumptions += said
    told += _tell_cut_off(fabric, changes)
    marks = sorted({one.at_ps / PS_PER_US for one in happenings if not isinstance(one, PauseAsked)})
    return Disturbance(tuple(happenings), tuple(told), tuple(marks), tuple(assumptions))


def tell_fault(fault: FaultWords) -> str:
    """Say a fault in words."""
    until = f" until {format_time_us(fault.until_us)}" if fault.until_us is not None else ""
    span = f"from {format_time_us(fault.at_us)}{until}"
    match fault.kind:
        case "down":
            return f"{fault.what} is down {span}"
        case "flap":
            each = f"for {format_time_us(fault.down_us or 0)} every {format_time_us(fault.every_us or 0)}"
            return f"{fault.what} goes down {fault.times} times {each}, from {format_time_us(fault.at_us)}"
        case "rate":
            return f"{fault.what} runs at {fault.gbps:g} Gb/s {span}"
        case "errors":
            retry = ", sent again by the link" if fault.has_retry else ""
            return f"{fault.what} has a bit error ratio of {fault.ratio:g} {span}{retry}"
        case _:
            return f"{fault.what} asks for pauses for {fault.share:.0%} of the time {span}"


def _find_ports(fault: FaultWords, index: Index, *, has_credits: bool) -> I32:
    """Find the ports, one of each link, that a fault befalls.

    Raises:
        UsageError: ``usage.fault-words``.
    """
    ports = index.find(fault.what)
    if ports is None:
        raise _refuse(fault, f"nothing is called {fault.what[:60]!r}", index.suggest(fault.what))
    if not len(ports):
        raise _refuse(fault, f"no cable is plugged into {fault.what[:60]!r}", "name a link that is plugged in")
    fabric = index.fabric
    if fault.kind == "slow":
        if has_credits:
            raise _refuse(
                fault, "a receiver asks for pauses on RoCE only",
                "a slow InfiniBand receiver keeps credit back: use rate with the Gb/s that it takes",
            )  # fmt: skip
        is_host = fabric.node_kind[fabric.port_node[ports]] == NodeKind.HOST
        if not is_host.any():
            raise _refuse(fault, f"{fault.what[:60]!r} is no port of a host", "name a host or one of its ports")
        return ports[is_host]
    if fault.kind == "errors" and fault.has_retry and not has_credits:
        raise _refuse(fault, "Ethernet links send nothing again", "leave retry out: the adapters send again")
    near = ports[ports < fabric.port_peer[ports]]
    if fault.kind == "rate":
        most = float(fabric.port_rate_gbps[near].min())
        if fault.gbps > most:
            raise _refuse(fault, f"{fault.gbps:g} Gb/s is above the {most:g} Gb/s of the link", "give a lower rate")
    return near


def _claim(fault: FaultWords, ports: I32, taken: Spans, fabric: Fabric) -> None:
    """Refuse two faults of one kind on one link at one time: the end of the first would end the second too."""
    kind = "down" if fault.kind == "flap" else fault.kind
    end = float("inf") if fault.until_us is None else fault.until_us
    if fault.kind == "flap":
        end = fault.at_us + (fault.times - 1) * (fault.every_us or 0) + (fault.down_us or 0)
    for port in ports.tolist():
        spans = taken.setdefault((kind, port), [])
        if any(fault.at_us < other_end and begin < end for begin, other_end in spans):
            name = fabric.link_name(port)
            raise _refuse(fault, f"{name} already has such a fault at that time", "give each its own time")
        spans.append((fault.at_us, end))


def _happen(fault: FaultWords, ports: I32, index: Index) -> list[Happening]:
    at = round(fault.at_us * PS_PER_US)
    until = None if fault.until_us is None else round(fault.until_us * PS_PER_US)
    found: list[Happening] = []
    node = index.node.get(fault.what.strip())
    if fault.kind == "down" and node is not None and index.fabric.switch_row[node] != NIL:
        found.append(SwitchChange(at, node, is_up=False))
        return found if until is None else [*found, SwitchChange(until, node, is_up=True)]
    for port in ports.tolist():
        match fault.kind:
            case "down":
                found.append(LinkChange(at, port, is_up=False))
                found += [] if until is None else [LinkChange(until, port, is_up=True)]
            case "flap":
                every, down = round((fault.every_us or 0) * PS_PER_US), round((fault.down_us or 0) * PS_PER_US)
                found += flap_link(port, at, every, down, fault.times)
            case "rate":
                own = float(index.fabric.port_rate_gbps[port])
                found.append(RateChange(at, port, fault.gbps))
                found += [] if until is None else [RateChange(until, port, own)]
            case "errors":
                has_retry = bool(fault.has_retry)
                found.append(BitErrors(at, port, fault.ratio, has_retry))
                found += [] if until is None else [BitErrors(until, port, 0.0, has_retry)]
            case _:
                end = at if until is None else until
                every = round((fault.every_us or fault.until_us or 0) * PS_PER_US)
                if (end - at) / max(every, 1) > MOST_CHANGES:
                    raise _refuse(fault, f"it comes to more than {MOST_CHANGES:,} pauses", "give a longer every_us")
                found += slow_receiver(port, at, end, every, fault.share)
    return found


def _reroute(
    routed: Routed, changes: Sequence[LinkChange | SwitchChange], reroute_us: float, progress: Progress
) -> tuple[list[Happening], list[str]]:
    """Make the tables for what is left after each change."""
    fabric = routed.built.fabric
    progress("computing tables for what is left", None)
    plan = prepare_routed(routed).plan
    known: dict[bytes, Routes | None] = {}
    found: list[Happening] = []
    is_down = np.zeros(fabric.port_count, dtype=bool)
    is_off = np.zeros(len(fabric.node_name), dtype=bool)
    missing = 0
    order = sorted(changes, key=lambda one: one.at_ps)
    for turn, change in enumerate(order):
        if isinstance(change, LinkChange):
            is_down[[change.port, int(fabric.port_peer[change.port])]] = not change.is_up
        else:
            is_off[change.node] = not change.is_up
        if turn + 1 < len(order) and order[turn + 1].at_ps == change.at_ps:
            continue
        peer = np.where(fabric.port_peer == NIL, 0, fabric.port_peer)
        lost = (fabric.port_peer != NIL) & (is_down | is_off[fabric.port_node] | is_off[fabric.port_node[peer]])
        key = lost.tobytes()
        if key not in known:
            if len(known) == MOST_STATES:
                message = f"--reroute-after: the faults leave more than {MOST_STATES} different fabrics"
                raise UsageError("usage.fault-words", message, "give fewer faults, or leave --reroute-after out")
            known[key] = _make_tables(plan, np.flatnonzero(lost).astype(np.int32))
            progress("computing tables for what is left", (turn + 1) / len(order))
        routes = known[key]
        if routes is None:
            missing += 1
        else:
            found.append(NewRoutes(change.at_ps + round(reroute_us * PS_PER_US), routes))
    said = [f"new tables {format_time_us(reroute_us)} after each change, all switches at once (--reroute-after)"]
    if missing:
        said.append(f"no engine has tables for {missing} of the states: there the old ones stay")
    return found, said


def _tell_cut_off(fabric: Fabric, changes: Sequence[LinkChange | SwitchChange]) -> list[str]:
    """Name the ports of hosts whose link stays down: no table leads there."""
    is_down = np.zeros(fabric.port_count, dtype=bool)
    is_off = np.zeros(len(fabric.node_name), dtype=bool)
    for change in order_happenings(changes):
        if isinstance(change, LinkChange):
            is_down[[change.port, int(fabric.port_peer[change.port])]] = not change.is_up
        elif isinstance(change, SwitchChange):
            is_off[change.node] = not change.is_up
    ends = fabric.endpoint_port
    peer = fabric.port_peer[ends]
    lost = ends[(peer != NIL) & (is_down[ends] | is_off[fabric.port_node[peer]])].tolist()
    if not lost:
        return []
    names = ", ".join(fabric.port_name(port) for port in lost[:MOST_NAMES])
    more = f" and {len(lost) - MOST_NAMES:,} more" if len(lost) > MOST_NAMES else ""
    return [f"cut off for good: {names}{more}"]


def _make_tables(plan: Plan, lost: I32) -> Routes | None:
    """Make the tables without some links, as a rehearsal does; None where no engine can."""
    if not len(lost):
        return plan.routes
    cut, made = degrade(plan, lost)
    routes = made if made is not None else make_anew(plan, cut, LAST)
    if routes is None:
        return None
    return replace(routes, fabric_digest=plan.fabric.digest, group=cut_foreign(cut, routes))


def _refuse(fault: FaultWords, message: str, hint: str) -> UsageError:
    return UsageError("usage.fault-words", f"--fault {fault.kind}: {message}", hint, fault.where)
