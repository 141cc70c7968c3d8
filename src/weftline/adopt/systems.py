"""A topology file of systems becomes a discovery of switches and adapters, as if the fabric had been dumped."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from weftline.adopt.boxes import Box, Plug, build_box, plain_box
from weftline.errors import Problem
from weftline.formats.ibdm_topo import TopoCable, Topology, TopoSystem
from weftline.formats.ibnl import MAX_PORT, Netlist
from weftline.formats.text import ProblemLog
from weftline.model.discovery import Discovery, NodeRecord, PortRecord

MAX_NODES = 200_000
WHERE = (
    "IBNL files describe types of systems; Debian's libibdm1 has those of ibutils under "
    "/usr/lib/*/ibdm*/ibnl, and --ibnl or WEFTLINE_IBNL names another folder"
)
_PLAIN = re.compile(r"P?([1-9]\d{0,2})")
_ADAPTER_PORTS = 2


@dataclass(frozen=True, slots=True)
class Systems:
    """The types of systems that are known, and what was wrong with the files that describe them."""

    netlists: Mapping[str, Netlist] = field(default_factory=dict[str, Netlist])
    problems: tuple[Problem, ...] = ()
    folder: str = ""
    """Where they were read; empty where no folder was found."""


def collect_systems(found: Iterable[Netlist | tuple[Problem, ...]], folder: str) -> Systems:
    """Index netlists by the types that they describe; of two that describe one type the first counts."""
    netlists: dict[str, Netlist] = {}
    problems: list[Problem] = []
    for item in found:
        if isinstance(item, Netlist):
            for name in item.names:
                netlists.setdefault(name, item)
        else:
            problems.extend(item)
    return Systems(netlists, tuple(problems), folder)


@dataclass(slots=True)
class _Work:
    """The file and what is known of its systems."""

    topology: Topology
    systems: Systems
    log: ProblemLog
    cache: dict[tuple[str, tuple[tuple[str, str], ...]], Box | None] = field(
        default_factory=dict[tuple[str, tuple[tuple[str, str], ...]], Box | None]
    )
    boxes: dict[str, Box] = field(default_factory=dict[str, Box])


def expand_topology(topology: Topology, systems: Systems) -> Discovery | tuple[Problem, ...]:
    """Expand every system into its chips and join them by the wires inside and the cables outside.

    Nothing in such a file is an address, so GUIDs and LIDs stay unknown. A type that no IBNL file describes is taken
    as one switch or adapter where its plugs are plain port numbers, with a warning; else the file is refused.
    """
    work = _Work(topology, systems, ProblemLog(topology.file))
    guessed = _guess_types(work)
    for system in topology.systems:
        box = guessed.get(system.type) or _find_box(work, system)
        if box is not None:
            work.boxes[system.name] = box
    nodes = sum(len(box.chips) for box in work.boxes.values())
    if nodes > MAX_NODES:
        work.log.add("artifact.dump-too-large", f"the systems hold {nodes:,} switches and adapters", "", 1)
    if work.log.has_error:
        return (*topology.problems, *work.log.close(), *systems.problems)
    ports = _wire_inside(work)
    for cable in topology.cables:
        _wire_outside(work, cable, ports)
    records = tuple(_records(work, ports))
    ignored = tuple(replace(problem, severity="warning") for problem in systems.problems) if guessed else ()
    problems = (*topology.problems, *work.log.close(), *ignored)
    return Discovery("ibdm-topo", topology.file, topology.digest, records, problems)


def _guess_types(work: _Work) -> dict[str, Box]:
    """Take types that no file describes as single chips where their plugs allow it, and report the others.

    Two ports or fewer make an adapter, unless such systems are wired to each other; more make a switch.
    """
    lines: dict[str, TopoSystem] = {}
    for system in work.topology.systems:
        if system.type not in work.systems.netlists:
            lines.setdefault(system.type, system)
    if not lines:
        return {}
    top, odd = _look_at_plugs(work.topology)
    small = {name for name in lines if name not in odd and top[name] <= _ADAPTER_PORTS}
    kind = {system.name: system.type for system in work.topology.systems}
    for cable in work.topology.cables:
        pair = {kind[cable.a_system], kind[cable.b_system]}
        odd |= pair if pair <= small else set()
    found: dict[str, Box] = {}
    for name, first in lines.items():
        if name in odd:
            near = difflib.get_close_matches(name, work.systems.netlists, 1)
            hint = f"did you mean {near[0]}? {WHERE}" if near else WHERE
            message = f"no IBNL file describes a system of type {name}, and its plugs do not tell what is inside"
            work.log.add("artifact.unknown-system", message, hint, first.line)
            continue
        is_switch = name not in small
        found[name] = plain_box(max(top[name], 1), is_switch=is_switch)
        what = f"one switch of {top[name]} ports" if is_switch else "one adapter"
        message = f"no IBNL file describes a system of type {name}; each is taken as {what}, by its plugs alone"
        work.log.add("artifact.inferred-system", message, WHERE, first.line, severity="warning")
    return found


def _look_at_plugs(topology: Topology) -> tuple[dict[str, int], set[str]]:
    """Return per type its highest plug, and the types whose plugs are no plain port numbers."""
    kind = {system.name: system.type for system in topology.systems}
    top: dict[str, int] = defaultdict(int)
    odd = {system.type for system in topology.systems if system.modifiers}
    for cable in topology.cables:
        for name, plug in ((cable.a_system, cable.a_plug), (cable.b_system, cable.b_plug)):
            match = _PLAIN.fullmatch(plug)
            if match is None or int(match[1]) > MAX_PORT:
                odd.add(kind[name])
            else:
                top[kind[name]] = max(top[kind[name]], int(match[1]))
    return top, odd


def _find_box(work: _Work, system: TopoSystem) -> Box | None:
    """Expand a system of a known type."""
    netlist = work.systems.netlists.get(system.type)
    if netlist is None:
        return None
    key = (system.type, system.modifiers)
    if key not in work.cache:
        found = build_box(netlist, dict(system.modifiers))
        if isinstance(found, str):
            work.log.add("artifact.unknown-board", f"{system.name} cannot be built: {found}", WHERE, system.line)
            found = None
        elif unknown := _unknown_boards(netlist, system):
            message = f"{system.name} changes {unknown}, which a {system.type} does not have"
            work.log.add("artifact.unknown-board", message, f"see {netlist.file}", system.line)
        work.cache[key] = found
    return work.cache[key]


def _unknown_boards(netlist: Netlist, system: TopoSystem) -> str:
    """Name a board that is changed and does not exist."""
    known = {part.name for part in netlist.top.parts}
    return next((board for board, _ in system.modifiers if board.partition("/")[0] not in known), "")


Ports = dict[tuple[str, int], dict[int, PortRecord]]
"""Ports by system and chip, then by number."""


def _key(work: _Work, system: str, chip: int) -> str:
    """Name a chip: its system, and its place there where it is not alone."""
    box = work.boxes[system]
    return system if len(box.chips) == 1 else f"{system}/{box.chips[chip].path}"


def _wire_inside(work: _Work) -> Ports:
    """Join the chips inside each system."""
    ports: Ports = defaultdict(dict)
    for system in work.topology.systems:
        for (chip, port), (far, far_port), width, speed in work.boxes[system.name].wires:
            for own, number, other, other_number in ((chip, port, far, far_port), (far, far_port, chip, port)):
                peer = _key(work, system.name, other)
                record = PortRecord(number, peer, other_number, width=width, speed=speed, line=system.line)
                ports[(system.name, own)][number] = record
    return ports


def _find_plug(work: _Work, name: str, plug: str, line: int, column: int) -> Plug | None:
    """Find a plug of a system, or report that there is none."""
    box = work.boxes[name]
    found = box.plugs.get(plug)
    if found is None:
        near = difflib.get_close_matches(plug, box.plugs, 1)
        hint = f"did you mean {near[0]}?" if near else f"its first plug is {next(iter(box.plugs), 'none')}"
        work.log.add("artifact.unknown-plug", f"{name} has no plug {plug[:60]}", hint, line, column)
    return found


def _wire_outside(work: _Work, cable: TopoCable, ports: Ports) -> None:
    """Join two systems by a cable; a port that has one already is reported."""
    ends = (
        (cable.a_system, cable.a_plug, cable.columns[0]),
        (cable.b_system, cable.b_plug, cable.columns[1]),
    )
    found = [_find_plug(work, name, plug, cable.line, column) for name, plug, column in ends]
    a, b = found
    if a is None or b is None:
        return
    for (name, plug, column), place in zip(ends, (a, b), strict=True):
        if place.end[1] in ports[(name, place.end[0])]:
            message = f"{name} {plug} is a port that is wired already"
            work.log.add("artifact.asymmetric-cable", message, "a port takes one cable", cable.line, column)
            return
    width = a.width or b.width or cable.width
    speed = a.speed or b.speed or cable.speed
    for (name, _, column), own, (other, _, _), far in (
        (ends[0], a, ends[1], b),
        (ends[1], b, ends[0], a),
    ):
        chip, number = own.end
        peer = _key(work, other, far.end[0])
        record = PortRecord(
            number, peer, far.end[1], width=width, speed=speed, line=cable.line, column=column
        )  # fmt: skip
        ports[(name, chip)][number] = record


def _records(work: _Work, ports: Ports) -> Iterable[NodeRecord]:
    """Make the nodes; an adapter that no cable leads to is left out, since nobody could find it."""
    for system in work.topology.systems:
        box = work.boxes[system.name]
        for at, chip in enumerate(box.chips):
            wired = ports.get((system.name, at), {})
            if not chip.is_switch and not wired:
                message = f"no cable leads to {system.name}"
                work.log.add("artifact.dark-system", message, "", system.line, severity="warning")
                continue
            key = _key(work, system.name, at)
            yield NodeRecord(
                "switch" if chip.is_switch else "ca",
                key,
                chip.port_count,
                tuple(wired[number] for number in sorted(wired)),
                device_id=chip.device,
                description=key,
                line=system.line,
            )
