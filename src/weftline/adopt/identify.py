"""Facts of several files are brought to the nodes of one topology, by GUID, port GUID or LID."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from weftline.formats.lid import MAX_UNICAST
from weftline.kernels.column import NIL
from weftline.model.discovery import Discovery
from weftline.model.survey import ArbitrationFact, KeyFact, LaneFact, NodeFact, PortFact, SurveyPart

_Laned = TypeVar("_Laned", NodeFact, LaneFact, ArbitrationFact)
_Ported = TypeVar("_Ported", PortFact, KeyFact)


@dataclass(frozen=True, slots=True)
class Directory:
    """Who has which GUID and LID in one topology; ports are (node GUID, number), 0 the port of a switch itself."""

    nodes: frozenset[int]
    by_port_guid: dict[int, tuple[int, int]]
    by_lid: dict[int, tuple[int, int]]

    def node_of(self, guid: int) -> int:
        """Return the node GUID of a node or port GUID; 0 where nobody has it."""
        return guid if guid in self.nodes else self.by_port_guid.get(guid, (0, 0))[0]


def make_directory(discovery: Discovery) -> Directory:
    """List the GUIDs and LIDs of a topology; a LID that two ports claim names neither."""
    by_port_guid: dict[int, tuple[int, int]] = {}
    by_lid: dict[int, tuple[int, int]] = {}
    taken: set[int] = set()

    def hold(lid: int, lmc: int, owner: tuple[int, int]) -> None:
        for each in range(lid, min(lid + (1 << lmc), MAX_UNICAST + 1)) if lid > 0 else ():
            if by_lid.setdefault(each, owner) != owner:
                taken.add(each)

    for node in discovery.nodes:
        if node.kind == "switch":
            hold(node.lid, node.lmc, (node.guid, 0))
        for port in node.ports:
            if node.kind != "switch":
                hold(port.lid, port.lmc, (node.guid, port.number))
                if port.guid:
                    by_port_guid[port.guid] = (node.guid, port.number)
    for lid in taken:
        del by_lid[lid]
    return Directory(frozenset(node.guid for node in discovery.nodes if node.guid), by_port_guid, by_lid)


def identify(part: SurveyPart, directory: Directory) -> SurveyPart:
    """Give the node GUID to each fact that names its port otherwise; what nobody has stays as it is."""
    return replace(
        part,
        nodes=_laned(part.nodes, directory),
        ports=_ported(part.ports, directory),
        keys=_ported(part.keys, directory),
        lanes=_laned(part.lanes, directory),
        arbitration=_laned(part.arbitration, directory),
    )


def _ported(facts: Iterable[_Ported], directory: Directory) -> tuple[_Ported, ...]:
    """Identify facts about ports."""
    out: list[_Ported] = []
    for fact in facts:
        if fact.node in directory.nodes and fact.number != NIL:
            out.append(fact)
            continue
        owner = directory.by_port_guid.get(fact.port_guid) or directory.by_port_guid.get(fact.node)
        if owner is None and not fact.node and not fact.port_guid:
            owner = directory.by_lid.get(fact.lid)
        if owner is not None:
            number = owner[1] if fact.number == NIL else fact.number
            out.append(replace(fact, node=owner[0], number=number))
        elif fact.port_guid in directory.nodes and not fact.node:
            out.append(replace(fact, node=fact.port_guid, number=max(fact.number, 0)))
        else:
            out.append(fact)
    return tuple(out)


def _laned(facts: Iterable[_Laned], directory: Directory) -> tuple[_Laned, ...]:
    """Identify facts about nodes and their lanes."""
    out: list[_Laned] = []
    for fact in facts:
        node = directory.node_of(fact.node) if fact.node else directory.by_lid.get(fact.lid, (0, 0))[0]
        out.append(replace(fact, node=node) if node and node != fact.node else fact)
    return tuple(out)
