"""One question answered: may this link, switch or port be disabled now, what does it cost, and how is it done.

Small to import: a fabric that is kept answers before the rest of the program would be loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weftline.app.prepared import Prepared, Reason, read_prepared
from weftline.app.workspace import open_place
from weftline.errors import SpecError
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import NodeKind
from weftline.model.rehearsal import Answer, Command, Limits
from weftline.rehearse.faults import gather
from weftline.rehearse.names import Index, name_ports
from weftline.rehearse.quick import Bench
from weftline.rehearse.scene import Found, Scene
from weftline.rehearse.tally import close_tally, open_tally
from weftline.rehearse.verdicts import list_bases, say_load, tell

ANEW = "tables that {engine} makes anew, as the {tables} do not hold"


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that somebody wants to disable."""

    kind: str
    """``link``, ``switch`` or ``port``."""
    name: str


@dataclass(frozen=True, eq=False)
class Desk:
    """What a question is answered from."""

    scene: Scene
    judge: Callable[[I32], Found | None]
    worst: tuple[float, ...]
    port: tuple[int, ...]
    """Of the whole fabric, job by job."""
    limits: Limits
    tables: str
    """How tables come about once something fails, in words."""
    command: Callable[[int], Command | None]
    """What disables a port of a switch."""


def ask_prepared(place: Path, question: Question) -> Answer | Reason:
    """Answer from what an earlier run prepared, or say why that does not do.

    Raises:
        SpecError: ``spec.unknown-name`` with the nearest names.
    """
    prepared = read_prepared(open_place(place))
    if isinstance(prepared, Reason):
        return prepared
    answer = answer_question(open_desk(prepared), question)
    return Reason.NOT_BY_PARTS if answer is None else answer


def open_desk(prepared: Prepared) -> Desk:
    """Take what is kept to answer from."""
    bench = Bench(prepared.scene, prepared.ways, prepared.flows, prepared.base)
    base = prepared.base
    return Desk(
        prepared.scene, bench.judge_parts, base.worst, base.port, prepared.limits, prepared.tables,
        prepared.switchings.find,
    )  # fmt: skip


def answer_question(desk: Desk, question: Question) -> Answer | None:
    """Answer a question; None where the desk cannot judge that state.

    Raises:
        SpecError: ``spec.unknown-name`` with the nearest names.
    """
    scene = desk.scene
    name, ports = find_asked(scene, question)
    found = desk.judge(ports)
    if found is None:
        return None
    tally = open_tally(1, len(scene.crews.names))
    tally.put(0, found)
    bases = list_bases(scene, desk.worst, desk.port)
    state = tell(scene, gather(((name, question.kind, ports),)), close_tally(tally), bases, desk.limits, 0)
    return Answer(
        question=f"{question.kind} {name}",
        state=state,
        jobs=bases,
        limits=desk.limits,
        dark=not len(ports),
        cut=tuple(name_ports(scene.fabric, ports[scene.crews.row[ports] != NIL])),
        repaired=_say_anew(scene, desk) if state.is_anew else desk.tables,
        commands=list_commands(desk, name, ports),
        of=scene.routes.digest,
        load=say_load(scene),
    )


def _say_anew(scene: Scene, desk: Desk) -> str:
    """Say which tables hold where the usual ones do not."""
    engines = dict.fromkeys((scene.routes.engine, "updown"))
    return ANEW.format(engine=" or ".join(engines), tables=desk.tables)


def find_asked(scene: Scene, question: Question) -> tuple[str, I32]:
    """Find the ports that are asked about."""
    index = Index(scene.fabric)
    text = question.name.strip()
    ports = index.find(text)
    is_right = {"link": "/" in text, "port": "/" in text and "~" not in text, "switch": "/" not in text}[question.kind]
    if ports is not None and is_right and question.kind == "switch":
        node = index.node.get(text)
        is_right = node is not None and scene.fabric.node_kind[node] == NodeKind.SWITCH
    if ports is None or not is_right:
        hint = (
            index.suggest(text) if ports is None else f"{text[:80]} is no {question.kind}; see weftline rehearse --help"
        )
        raise SpecError("spec.unknown-name", f"there is no {question.kind} {text[:80]!r}", hint)
    return text, ports


def list_commands(desk: Desk, name: str, ports: I32) -> tuple[Command, ...]:
    """List the commands that disable the ports and enable them again: at one end of a link, at the switch of a host."""
    fabric = desk.scene.fabric
    wanted = name.partition("/")[0]
    seen: set[int] = set()
    commands: list[Command] = []
    by_name = sorted(ports.tolist(), key=lambda port: (fabric.node_name[int(fabric.port_node[port])] != wanted, port))
    for port in by_name:
        if port in seen or fabric.switch_row[fabric.port_node[port]] == NIL:
            continue
        seen |= {port, int(fabric.port_peer[port])}
        command = desk.command(port)
        if command is not None:
            commands.append(command)
    return tuple(commands)
