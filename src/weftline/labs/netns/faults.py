"""Faults put into a lab of namespaces and taken out again: links that go down, and links that only look up."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from weftline.errors import EnactError, UsageError
from weftline.labs import holding
from weftline.labs.finding import find_lit_ports
from weftline.labs.netns import entering, state
from weftline.labs.netns.entering import World
from weftline.labs.netns.layout import Layout, lay_out
from weftline.labs.netns.outages import choose_flows, measure
from weftline.labs.netns.timers import foretell, foretell_return
from weftline.model.fabric import NodeKind
from weftline.model.lab import Injection, LabDesign, LabFault

FLOWS = "flows.json"
"""The flows that the last fault was about, which its end may hit again."""
RETURN_S = 5.0
"""How long flows are watched when a link returns: sessions come back within that time."""

Command = tuple[str, str, str]
"""Namespace, program and what it reads: ``ip`` a batch, ``nft`` a script."""


def inject(design: LabDesign, folder: Path, injection: Injection) -> LabFault:
    """Put a fault into a lab that runs, write down how it is taken out, and measure what flows lose.

    Raises:
        SpecError: ``spec.unknown-device`` when the name is not in the fabric or has no cable.
        UsageError: ``usage.fault`` for a fault that this lab does not know.
    """
    if injection.kind != "break":
        message = (
            f"the lab netns knows no fault {injection.kind}: its links have no counters and no far ends to exchange"
        )
        raise UsageError("usage.fault", message, "weftline lab break PLACE LINK, with or without --silent")
    layout = lay_out(design)
    ports = _choose_ends(design, find_lit_ports(design.fabric, injection.subjects[0]))
    with holding.held(folder):
        note = state.read(folder)
        world = entering.find_world(folder)
        steps = _plan(layout, ports, len(note.faults), is_silent=injection.is_silent)
        record = state.FaultRecord(
            subject=injection.subjects[0], is_silent=injection.is_silent, undo=tuple(undo for _, undo in steps)
        )
        broken = {port for near in ports for port in (near, int(design.fabric.port_peer[near]))}
        order = choose_flows(design, layout, broken)
        (folder / FLOWS).write_text(json.dumps(order), encoding="utf-8")

        def act() -> None:
            state.write(folder, note.model_copy(update={"faults": (*note.faults, record)}))
            for command, _ in steps:
                _tell(world, command)

        foretold = foretell(note.timers, len(ports), is_silent=injection.is_silent)
        return replace(describe(record), outage=measure(world, order, foretold, act))


def heal(folder: Path) -> tuple[LabFault, ...]:
    """Take every fault out, the last one first, and measure what flows lose by that."""
    with holding.held(folder):
        note = state.read(folder)
        world = entering.find_world(folder)

        def act() -> None:
            for fault in reversed(note.faults):
                for command in fault.undo:
                    with contextlib.suppress(EnactError):  # a fault that was put in by half has nothing to undo there
                        _tell(world, command)
            state.write(folder, note.model_copy(update={"faults": ()}))

        if not note.faults:
            return ()
        outage = measure(world, _read_flows(folder), foretell_return(), act, least_s=RETURN_S)
    *others, last = (describe(fault) for fault in note.faults)
    return (*others, replace(last, outage=outage))


def _read_flows(folder: Path) -> dict[str, Any]:
    """Read which flows the last fault was about."""
    with contextlib.suppress(OSError, ValueError):
        return cast("dict[str, Any]", json.loads((folder / FLOWS).read_text(encoding="utf-8")))
    return {"endpoints": [], "flows": []}


def describe(record: state.FaultRecord) -> LabFault:
    """Say what a fault is, as the file of the lab has it."""
    subject = f"{record.subject} (silent)" if record.is_silent else record.subject
    return LabFault("break", subject, ())


def _plan(layout: Layout, ports: list[int], number: int, *, is_silent: bool) -> list[tuple[Command, Command]]:
    """Say what to do and how it is undone, one command per namespace: a switch loses all its cables at once."""
    by_space: dict[str, list[str]] = {}
    for port in ports:
        end = layout.ends[port]
        by_space.setdefault(end.namespace, []).append(end.interface)
    if not is_silent:
        known = {one.name: one.commands for one in layout.namespaces.values()}
        return [
            (
                (space, "ip", "".join(f"link set dev {name} down\n" for name in names)),
                (space, "ip", "".join(f"{line}\n" for line in _list_returns(known[space], names))),
            )
            for space, names in by_space.items()
        ]
    return [
        ((space, "nft", _write_drops(number, names)), (space, "nft", f"delete table netdev weftline{number}\n"))
        for space, names in by_space.items()
    ]


def _list_returns(commands: list[str], names: list[str]) -> list[str]:
    """List what brings interfaces back: an interface that goes down loses the neighbours that were written down."""
    lost = [line for line in commands if line.startswith("neigh ") and any(f" dev {name} " in line for name in names)]
    return [*(f"link set dev {name} up" for name in names), *lost]


def _choose_ends(design: LabDesign, ports: list[int]) -> list[int]:
    """Take the switch end of each link: a host whose own interface goes down would lose its routes for good."""
    fabric = design.fabric
    peers = [int(fabric.port_peer[port]) for port in ports]
    is_switch = fabric.node_kind[fabric.port_node] == NodeKind.SWITCH
    return [port if is_switch[port] else peer for port, peer in zip(ports, peers, strict=True)]


def _write_drops(number: int, interfaces: list[str]) -> str:
    """Drop what comes in and what goes out at one end: nothing passes the link, and its carrier stays up."""
    chains = [
        f'chain {hook}{place} {{ type filter hook {hook} device "{name}" priority 0; policy drop; }}'
        for place, name in enumerate(interfaces)
        for hook in ("ingress", "egress")
    ]
    return "\n".join([f"table netdev weftline{number} {{", *chains, "}", ""])


def _tell(world: World, command: Command) -> None:
    space, program, text = command
    words = ["ip", "-n", space, "-batch", "-"] if program == "ip" else ["ip", "netns", "exec", space, "nft", "-f", "-"]
    entering.run(world, words, text)
