"""Cables of a dump: what both ends say, and where they do not agree."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.formats.speed import link_gbps
from weftline.formats.text import ProblemLog
from weftline.model.discovery import NodeRecord, PortRecord

Ref = tuple[int, int]
"""A port: position of its node among the records, and its number."""


@dataclass(frozen=True, slots=True)
class Cable:
    """A link of the dump, with the lines of its ends; ``rate_gbps`` is 0 where no end says it."""

    a: Ref
    b: Ref
    rate_gbps: float
    words: str
    """Width and speed as printed by the slower end."""
    line: int
    ends_differ: bool


def index_nodes(records: tuple[NodeRecord, ...], log: ProblemLog) -> list[NodeRecord]:
    """Drop nodes that repeat a key or a GUID, and report them."""
    by_key: dict[str, NodeRecord] = {}
    by_guid: dict[int, NodeRecord] = {}
    kept: list[NodeRecord] = []
    for record in records:
        first = by_key.get(record.key) or (by_guid.get(record.guid) if record.guid else None)
        if first is not None:
            message = f"{record.title} ({record.key}) has the GUID of {first.title} on line {first.line}"
            hint = "two nodes with one GUID cannot be told apart; correct the GUID of one"
            log.add("artifact.duplicate-guid", message, hint, record.line)
            continue
        by_key[record.key] = record
        if record.guid:
            by_guid[record.guid] = record
        kept.append(record)
    _check_port_guids(kept, log)
    return kept


def _check_port_guids(records: list[NodeRecord], log: ProblemLog) -> None:
    """Report port GUIDs that two adapters claim."""
    owner: dict[int, PortRecord] = {}
    for record in records:
        if record.kind == "switch":
            continue
        for port in record.ports:
            first = owner.setdefault(port.guid, port) if port.guid else port
            if first is not port:
                message = (
                    f"port {port.number} of {record.title} has the port GUID 0x{port.guid:016x} of line {first.line}"
                )
                log.add("artifact.duplicate-guid", message, "correct the GUID of one", port.line, port.column)


def join_cables(records: list[NodeRecord], log: ProblemLog) -> list[Cable]:
    """Join ports into cables: first those on which both ends agree, then those that one end alone names."""
    index = {record.key: at for at, record in enumerate(records)}
    claims: dict[Ref, tuple[Ref, PortRecord]] = {}
    for at, record in enumerate(records):
        for port in record.ports:
            if not port.peer:
                continue
            peer = index.get(port.peer)
            if peer is None:
                _dangling(record, port, log)
            elif port.peer_number > records[peer].port_count:
                message = f"{records[peer].title} has {records[peer].port_count} ports, so no port {port.peer_number}"
                log.add("artifact.port-range", message, "", port.line, port.column)
            elif (peer, port.peer_number) == (at, port.number):
                message = f"port {port.number} of {record.title} is wired to itself"
                log.add("artifact.asymmetric-cable", message, "", port.line, port.column)
            else:
                claims[(at, port.number)] = ((peer, port.peer_number), port)
    cables: list[Cable] = []
    taken: set[Ref] = set()
    doubtful: list[Ref] = []
    for own, (peer, port) in claims.items():
        answer = claims.get(peer)
        if answer is None or answer[0] != own:
            doubtful.append(own)
        elif own < peer:
            cables.append(_cable(own, peer, port, answer[1]))
            taken.update((own, peer))
    cables.extend(_judge_doubtful(records, claims, doubtful, taken, log))
    return cables


def _dangling(record: NodeRecord, port: PortRecord, log: ProblemLog) -> None:
    """Report a cable whose far end is not in the dump."""
    far = f"{port.peer_description} ({port.peer})" if port.peer_description else port.peer
    message = f"port {port.number} of {record.title} is wired to {far}, which is not in the dump"
    hint = "the dump is cut off, or the node stopped answering; take it again"
    log.add("artifact.dangling-cable", message, hint, port.line, port.column)


def _judge_doubtful(
    records: list[NodeRecord],
    claims: dict[Ref, tuple[Ref, PortRecord]],
    doubtful: list[Ref],
    taken: set[Ref],
    log: ProblemLog,
) -> list[Cable]:
    """Report ports whose far end says otherwise or nothing, and keep such a cable where both ports are free."""
    cables: list[Cable] = []
    named: set[Ref] = set()
    for own in doubtful:
        peer, port = claims[own]
        answer = claims.get(peer)
        if answer is None:
            continue
        named.update((own, peer))
        third, other = answer
        message = (
            f"{_say(records, own)} is wired to {_say(records, peer)}, "
            f"which on line {other.line} is wired to {_say(records, third)}"
        )
        hint = "both ends of a cable must say the same; the cabling changed while the dump was taken, or it was edited"
        log.add("artifact.asymmetric-cable", message, hint, port.line, port.column)
    for own in doubtful:
        peer, port = claims[own]
        if peer not in claims and own not in named and peer not in named:
            message = f"{_say(records, own)} is wired to {_say(records, peer)}, which is not listed"
            hint = "both ends of a cable are listed in a whole dump"
            log.add("artifact.one-sided-cable", message, hint, port.line, port.column)
        if own not in taken and peer not in taken:
            taken.update((own, peer))
            first, second = min(own, peer), max(own, peer)
            cables.append(_cable(first, second, port, port))
    return cables


def _say(records: list[NodeRecord], ref: Ref) -> str:
    """Name a port for a message."""
    return f"port {ref[1]} of {records[ref[0]].title}"


def _cable(a: Ref, b: Ref, first: PortRecord, second: PortRecord) -> Cable:
    """Make a cable of its two lines; the slower end rules."""
    known = [
        (link_gbps(port.width, port.speed), f"{port.width}x{port.speed}", port.line)
        for port in (first, second)
        if link_gbps(port.width, port.speed)
    ]
    rate, words, line = min(known) if known else (0.0, "", first.line)
    differ = len(known) == 2 and known[0][0] != known[1][0]
    return Cable(a, b, rate, words, line, differ)
