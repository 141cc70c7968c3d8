"""A cabling plan held against what was found: every planned cable is as planned, is not, or cannot be judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from weftline.adopt.match import ENOUGH
from weftline.adopt.names import split_unit
from weftline.adopt.places import Directory, Found, make_directory
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption
from weftline.model.fabric import NodeKind
from weftline.model.plan import PlanDifference, PlanKind, PlanVerdict
from weftline.model.survey import PlannedCable


@dataclass(slots=True)
class _Work:
    """The plan with its ends found, and what was judged so far."""

    directory: Directory
    adoption: Adoption
    peers: list[int]
    nodes: list[int]
    is_switch: list[bool]
    names_agree: bool = False
    """Whether plan and dump use one set of names, so that a device that was not found is not there by another name."""
    named: set[int] = field(default_factory=set[int])
    """Nodes that the plan names."""
    planned_at: Counter[int] = field(default_factory=Counter[int])
    """How many cables of the plan end at each port."""
    kinds: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Kinds of links that the plan has, with a node that has them."""
    judged: set[int] = field(default_factory=set[int])
    """Ports whose cable a line of the plan speaks of."""
    counts: Counter[str] = field(default_factory=Counter[str])
    differences: list[PlanDifference] = field(default_factory=list[PlanDifference])

    def say(self, port: int) -> str:
        """Name a port of the fabric, with the words of the dump where they are others."""
        fabric = self.adoption.fabric
        name = fabric.port_name(port)
        adapter = self.adoption.port_adapter[port]
        return f"{name} ({adapter})" if adapter and adapter != fabric.node_name[self.nodes[port]] else name

    def kind_of(self, a: int, b: int) -> str:
        """Say which kind of nodes a link joins."""
        return "switches" if self.is_switch[a] and self.is_switch[b] else "host"

    def add(self, kind: PlanKind, cable: PlannedCable, message: str, found: tuple[str, ...] = ()) -> None:
        """Note a cable that is not as planned."""
        self.counts[kind] += 1
        subject = say_cable(cable)
        device = cable.b_device
        nodes = self.directory.find_nodes(cable.a_device)
        if nodes and self.is_switch[min(nodes)]:
            device = cable.a_device
        self.differences.append(PlanDifference(kind, subject, message, device, found, cable.where))


def say_cable(cable: PlannedCable) -> str:
    """Name a planned cable as the plan does."""
    return f"{cable.a_device}/{cable.a_port}~{cable.b_device}/{cable.b_port}"


def hold_plan(plan: Sequence[PlannedCable], adoption: Adoption) -> PlanVerdict:
    """Hold a plan against a fabric that was found; O(cables + ports).

    A cable is *as planned* where both ports are found and wired to each other, *missing* where its ports are dark,
    *miswired* where one of them is wired to a port that the plan can tell from the planned one, else *unknown*: a
    device that was not found may be there under another name. Where half of the plan's devices or more were found,
    the names agree, and a device that was not is missing. A found link is *unplanned* where the plan names one of its
    nodes with that kind of link and neither of its ports.
    """
    fabric = adoption.fabric
    is_switch = (fabric.node_kind == NodeKind.SWITCH).tolist()
    work = _Work(make_directory(adoption), adoption, fabric.port_peer.tolist(), fabric.port_node.tolist(), is_switch)
    ends = [_find_ends(work, cable) for cable in plan]
    names = dict.fromkeys(name for cable in plan for name in (cable.a_device, cable.b_device))
    absent = {cable.a_device for (a, _), cable in zip(ends, plan, strict=True) if not a.nodes}
    absent |= {cable.b_device for (_, b), cable in zip(ends, plan, strict=True) if not b.nodes}
    work.names_agree = len(absent) <= (1 - ENOUGH) * len(names)
    for (a, b), cable in zip(ends, plan, strict=True):
        if cable.is_expected:
            _judge(work, cable, a, b)
        else:
            work.counts["excused"] += 1
    unplanned, outside = _judge_links(work)
    return PlanVerdict(
        planned=len(plan) - work.counts["excused"],
        as_planned=work.counts["as-planned"],
        miswired=work.counts["miswired"],
        missing=work.counts["missing"],
        unknown=work.counts["unknown"],
        unplanned=unplanned,
        excused=work.counts["excused"],
        outside=outside,
        devices=len(names),
        absent=tuple(name for name in names if name in absent),
        differences=tuple(work.differences),
    )


def _find_ends(work: _Work, cable: PlannedCable) -> tuple[Found, Found]:
    """Find both ends of a cable, and note what the plan speaks of."""
    ends = (
        work.directory.find(cable.a_device, cable.a_port),
        work.directory.find(cable.b_device, cable.b_port),
    )
    for end in ends:
        work.named.update(end.nodes)
        if end.port >= 0:
            work.planned_at[end.port] += 1
            work.judged.add(end.port)
            if cable.is_expected and work.peers[end.port] != NIL:
                work.judged.add(work.peers[end.port])
    kinds = [work.is_switch[min(end.nodes)] if end.nodes else False for end in ends]
    kind = "switches" if all(kinds) else "host"
    work.kinds.update((kind, node) for end in ends for node in end.nodes)
    return ends


def _judge(work: _Work, cable: PlannedCable, a: Found, b: Found) -> None:
    """Judge one cable."""
    twice = [end for end in (a, b) if end.port >= 0 and work.planned_at[end.port] > 1]
    if twice:
        message = f"the plan has {work.planned_at[twice[0].port]} cables at {work.say(twice[0].port)}"
        work.add("unknown", cable, message)
    elif a.port >= 0 and b.port >= 0:
        _judge_both(work, cable, a.port, b.port)
    elif a.port >= 0 or b.port >= 0:
        _judge_one(work, cable, *((a.port, b) if a.port >= 0 else (b.port, a)))
    elif work.names_agree and (not a.nodes or not b.nodes):
        work.add("missing", cable, f"{a.reason}, and {b.reason}")
    else:
        work.add("unknown", cable, f"{a.reason}, and {b.reason}")


def _judge_both(work: _Work, cable: PlannedCable, a: int, b: int) -> None:
    """Judge a cable both ports of which are there."""
    if work.peers[a] == b:
        work.counts["as-planned"] += 1
        return
    lit = [port for port in (a, b) if work.peers[port] != NIL]
    if not lit:
        work.add("missing", cable, f"no cable was found at {work.say(a)} and {work.say(b)}")
        return
    words = " and ".join(f"{work.say(port)} is wired to {work.say(work.peers[port])}" for port in lit)
    dark = "".join(f", {work.say(port)} is dark" for port in (a, b) if port not in lit)
    links = tuple(dict.fromkeys(work.adoption.fabric.link_name(port) for port in lit))
    work.add("miswired", cable, f"{words}{dark}", links)


def _judge_one(work: _Work, cable: PlannedCable, port: int, other: Found) -> None:
    """Judge a cable one end of which was not found."""
    peer = work.peers[port]
    if peer == NIL:
        work.add("missing", cable, f"{work.say(port)} is dark, and {other.reason}")
        return
    link = (work.adoption.fabric.link_name(port),)
    there = f"{work.say(port)} is wired to {work.say(peer)}"
    # A port that the plan names, or a node of which it names another cable, is not the planned one by another name.
    if work.planned_at[peer] or (work.nodes[peer] in work.named and _has_own_name(work, peer)):
        work.add("miswired", cable, f"{there}; {other.reason}", link)
    else:
        work.add("unknown", cable, f"{there}, which the plan does not name, and {other.reason}", link)


def _has_own_name(work: _Work, port: int) -> bool:
    """Say whether a port can be told from others of its node: by its number, or the name of its adapter."""
    node = work.nodes[port]
    if work.is_switch[node]:
        return True
    adapter = work.adoption.port_adapter[port]
    return " " in adapter and adapter != work.adoption.fabric.node_name[node]


def _judge_links(work: _Work) -> tuple[int, int]:
    """Count found links that the plan does not name, where it speaks of such links, and all others outside of it."""
    unplanned = outside = 0
    for port, peer in enumerate(work.peers):
        if peer <= port or port in work.judged or peer in work.judged:
            continue
        near, far = work.nodes[port], work.nodes[peer]
        kind = work.kind_of(near, far)
        if _is_inside(work, near, far) or not ({(kind, near), (kind, far)} & work.kinds):
            outside += 1
            continue
        unplanned += 1
        name = work.adoption.fabric.link_name(port)
        message = f"{work.say(port)} is wired to {work.say(peer)}, which the plan does not name"
        device = work.adoption.fabric.node_name[far if work.is_switch[far] else near]
        work.differences.append(PlanDifference("unplanned", name, message, device, (name,)))
    return unplanned, outside


def _is_inside(work: _Work, near: int, far: int) -> bool:
    """Say whether a link is inside one director."""
    units = [split_unit(work.adoption.node_description[node]) for node in (near, far)]
    return units[0] is not None and units[1] is not None and units[0].name == units[1].name
