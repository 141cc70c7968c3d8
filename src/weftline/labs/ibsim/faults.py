"""Faults put into a lab by the console of ibsim, and taken out again."""

from __future__ import annotations

import contextlib
from pathlib import Path

from weftline.errors import EnactError, UsageError
from weftline.kernels.column import NIL
from weftline.labs import holding
from weftline.labs.finding import find_link, find_lit_ports
from weftline.labs.ibsim import seats, settling, simulator, state
from weftline.labs.ibsim.topology import list_parts, name_place
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.lab import Injection, LabDesign, LabFault

COUNTERS = {
    "symbol": "SymbolErrorCounter",
    "recovery": "LinkErrorRecoveryCounter",
    "downed": "LinkDownedCounter",
    "receive": "PortRcvErrors",
    "discard": "PortXmitDiscards",
    "wait": "PortXmitWait",
}
SETTLE_S = 60.0
BITS = {"symbol": 16, "recovery": 8, "downed": 8, "receive": 16, "discard": 16, "wait": 32}
Steps = list[tuple[tuple[int, int], str, str]]
"""Plane and part, the command that puts a fault in, and the one that takes it out."""


def inject(design: LabDesign, folder: Path, injection: Injection) -> LabFault:
    """Put a fault in and write down how it is taken out.

    Raises:
        SpecError: ``spec.unknown-device`` when a name is not in the fabric or has no cable.
        UsageError: ``usage.fault`` for one that it cannot show, ``usage.counter`` when a counter or its value does not
            exist.
    """
    if injection.is_silent:
        message = "ibsim has no link that loses packets and looks up"
        raise UsageError("usage.fault", message, "leave --silent out")
    with holding.held(folder):
        note = state.read(folder)
        names = {(record.plane, record.part): record.name for record in note.subnets}
        steps = _plan(design, injection)
        undo = tuple((names[subnet], command) for subnet, _, command in reversed(steps) if command)
        fault = state.FaultRecord(kind=injection.kind, subject=" ".join(injection.subjects), undo=undo)
        state.write(folder, note.model_copy(update={"faults": (*note.faults, fault)}))
        _tell_all([(folder / names[subnet], command) for subnet, command, _ in steps])
    return LabFault(fault.kind, fault.subject, fault.undo)


def _tell_all(commands: list[tuple[Path, str]]) -> None:
    """Give the commands of a fault; a cable that an earlier fault took out is no reason to leave the others in."""
    refused: list[EnactError] = []
    for folder, command in commands:
        try:
            simulator.tell(folder, command)
        except EnactError as error:
            if not command.startswith("Unlink ") or "is not linked" not in str(error):
                raise
            refused.append(error)
    if len(refused) == len(commands):
        raise refused[0]


def heal(folder: Path) -> tuple[LabFault, ...]:
    """Take every fault out, the last one first, and wait until the managers are through with it."""
    with holding.held(folder):
        note = state.read(folder)
        undone = [undo for fault in note.faults if fault.kind != "degrade" for undo in fault.undo]
        marks = settling.mark(folder, {subnet for subnet, _ in undone})
        for fault in reversed(note.faults):
            for subnet, command in fault.undo:
                with contextlib.suppress(EnactError):  # a fault that was put in by half has nothing to undo there
                    simulator.tell(folder / subnet, command)
        state.write(folder, note.model_copy(update={"faults": ()}))
        if marks:
            settling.settle_after(folder, marks, SETTLE_S)
        unseen = seats.stop_unseen(folder, undone)
        restarted = seats.restart(folder)  # a manager that is replaced in the middle of a sweep leaves it undone
        if restarted:
            settling.settle(folder, SETTLE_S)
    found = (LabFault(fault.kind, fault.subject, fault.undo) for fault in note.faults)
    return (*found, *(fault for fault in restarted if fault.subject not in unseen))


def _plan(design: LabDesign, injection: Injection) -> Steps:
    fabric = design.fabric
    if injection.kind == "break":
        ports = find_lit_ports(fabric, injection.subjects[0])
        node = int(fabric.port_node[ports[0]])
        if fabric.node_kind[node] == NodeKind.SWITCH and injection.subjects[0] == fabric.node_name[node]:
            name = name_place(fabric, ports[0])[0]
            # in one command, as a switch goes: all its cables at once
            return [(_subnet(fabric, ports[0]), f'Unlink "{name}"', f'ReLink "{name}"')]
        return [
            (_subnet(fabric, port), f"Unlink {_place(design, port)}", f"ReLink {_place(design, port)}")
            for port in ports
        ]
    if injection.kind == "miscable":
        first, second = (find_link(fabric, name) for name in injection.subjects)
        if _subnet(fabric, first) != _subnet(fabric, second):
            raise UsageError("usage.counter", "the two links are in different subnets", "give links of one subnet")
        return _swap(design, first, second)
    port = find_link(fabric, injection.subjects[0])
    name, value = injection.counter, injection.value
    if name not in COUNTERS or not 0 <= value < 2 ** BITS[name]:
        known = ", ".join(f"{counter} (to {2**bits - 1:,})" for counter, bits in BITS.items())
        raise UsageError("usage.counter", f"{name}={value} is no counter with a value that it can hold", known)
    word = f"PerformanceSet {_place(design, port)} PortCounters.{COUNTERS[name]}="
    return [(_subnet(fabric, port), f"{word}{value}", f"{word}0")]


def _swap(design: LabDesign, first: int, second: int) -> Steps:
    """Exchange the far ends of two links."""
    fabric = design.fabric
    subnet = _subnet(fabric, first)
    a, b = _place(design, first), _place(design, second)
    c, d = (_place(design, int(fabric.port_peer[port])) for port in (first, second))
    return [
        (subnet, f"Unlink {a}", f"Link {a} {c}"),
        (subnet, f"Unlink {b}", f"Link {b} {d}"),
        (subnet, f"Link {a} {d}", f"Unlink {a}"),
        (subnet, f"Link {b} {c}", f"Unlink {b}"),
    ]


def _subnet(fabric: Fabric, port: int) -> tuple[int, int]:
    """Find the plane of a lit port, and the connected part of the plane."""
    plane = int(fabric.port_plane[port])
    plane = plane if plane != NIL else max(int(fabric.node_plane[fabric.port_node[port]]), 0)
    parts = list_parts(fabric, plane)
    return plane, next((number for number, part in enumerate(parts) if part.within[port]), 0)


def _place(design: LabDesign, port: int) -> str:
    node, number = name_place(design.fabric, port)
    return f'"{node}"[{number}]'
