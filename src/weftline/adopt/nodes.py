"""Records of a dump are sorted into hosts, extra endpoints and switches, named and ordered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from weftline.adopt.cables import Cable, index_nodes, join_cables
from weftline.adopt.names import HostGroup, group_hosts, is_extra, natural, plain_name, split_adapter, unique_names
from weftline.adopt.tiers import Graph, Shape
from weftline.formats.text import ProblemLog
from weftline.model.discovery import Discovery, NodeRecord
from weftline.model.fabric import NodeKind, Tier


@dataclass(frozen=True, slots=True)
class Node:
    """A node to be: its records, and the number and adapter port of each of its ports."""

    kind: NodeKind
    name: str
    members: tuple[int, ...]
    ports: tuple[tuple[int, int, int], ...]
    """(number, member, port of the member), in the order of the numbers."""
    has_rails: bool = False


@dataclass(slots=True)
class Work:
    """What is known so far."""

    records: list[NodeRecord]
    cables: list[Cable]
    hosts: list[Node]
    extras: list[Node]
    switches: list[int]
    """Positions of the switches among the records."""


def prepare(discovery: Discovery, log: ProblemLog) -> Work:
    """Join cables, and sort nodes into hosts, extra endpoints and switches."""
    records = index_nodes(discovery.nodes, log)
    cables = join_cables(records, log)
    lit: dict[int, list[int]] = {}
    for at, number in sorted(ref for cable in cables for ref in (cable.a, cable.b)):
        lit.setdefault(at, []).append(number)
    switches = [at for at, record in enumerate(records) if record.kind == "switch"]
    extras = [at for at, record in enumerate(records) if is_extra(record)]
    apart = {*switches, *extras}
    groups = group_hosts(records, [at for at in range(len(records)) if at not in apart])
    hosts = _hosts(records, groups, lit)
    names = unique_names([(plain_name(node.name), records[node.members[0]].key) for node in hosts])
    order = sorted(range(len(hosts)), key=lambda at: natural(names[at]))
    named = [Node(hosts[at].kind, names[at], hosts[at].members, hosts[at].ports, hosts[at].has_rails) for at in order]
    return Work(records, cables, named, _extras(records, extras, lit), switches)


def _hosts(records: list[NodeRecord], groups: list[HostGroup], lit: dict[int, list[int]]) -> list[Node]:
    """Make hosts; ports are numbered by adapter, then by port of the adapter, alike on hosts of equal adapters."""
    wired = [[lit.get(member, []) for member in group.members] for group in groups]
    width: dict[tuple[int, ...], int] = {}
    is_named = [split_adapter(records[group.members[0]].description) is not None for group in groups]
    for group, ports, named in zip(groups, wired, is_named, strict=True):
        if named:
            most = max((number for numbers in ports for number in numbers), default=1)
            width[group.slots] = max(width.get(group.slots, 1), most)
    nodes: list[Node] = []
    for group, ports, named in zip(groups, wired, is_named, strict=True):
        step = width[group.slots] if named else 1
        numbered = sorted(
            (slot * step + number, member, number)
            for member, slot, numbers in zip(group.members, group.slots, ports, strict=True)
            for number in numbers
        )
        nodes.append(Node(NodeKind.HOST, group.name, group.members, tuple(numbered), named))
    return nodes


def _extras(records: list[NodeRecord], members: list[int], lit: dict[int, list[int]]) -> list[Node]:
    """Make the extra endpoints, one per adapter."""
    names = unique_names([(plain_name(records[at].description), records[at].key) for at in members])
    nodes = [
        Node(NodeKind.EXTRA, name, (at,), tuple((number, at, number) for number in lit.get(at, [])))
        for name, at in zip(names, members, strict=True)
    ]
    return sorted(nodes, key=lambda node: natural(node.name))


def make_graph(work: Work) -> Graph:
    """Make the graph that tiers are recognised from."""
    row = {at: number for number, at in enumerate(work.switches)}
    home = {
        (member, port): (host, number - 1)
        for host, node in enumerate(work.hosts)
        for number, member, port in node.ports
    }
    graph = Graph(
        [Counter() for _ in row],
        [[] for _ in row],
        {host for host, node in enumerate(work.hosts) if node.has_rails},
        len(work.hosts),
        [work.records[at].title for at in work.switches],
    )
    for cable in work.cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            if near[0] in row and far[0] in row:
                if near[0] != far[0]:
                    graph.neighbours[row[near[0]]][row[far[0]]] += 1
            elif near[0] in row and far in home:
                graph.hosts[row[near[0]]].append(home[far])
    return graph


def order_nodes(work: Work, shape: Shape) -> list[Node]:
    """Order all nodes: hosts, extras, leaves by unit and rail, spines by rail and group, cores; then by name."""
    records = work.records
    names = unique_names([(plain_name(records[at].description), records[at].key) for at in work.switches])
    taken = {node.name for node in (*work.hosts, *work.extras)}
    switches: list[tuple[tuple[object, ...], int, str]] = []
    for row, at in enumerate(work.switches):
        name = names[row] if names[row] not in taken else f"{names[row]}.{records[at].key}"
        tier, rail = shape.tier[row], shape.rail[row]
        place = (shape.unit[row], rail) if tier == Tier.LEAF else (rail, shape.group[row])
        key = (tier, *place, natural(name))
        switches.append((key, row, name))
    switches.sort(key=lambda entry: entry[0])  # type: ignore[arg-type,return-value]
    ordered = [*work.hosts, *work.extras]
    for _, row, name in switches:
        at = work.switches[row]
        ports = tuple((number, at, number) for number in range(1, records[at].port_count + 1))
        ordered.append(Node(NodeKind.SWITCH, name, (at,), ports))
    return ordered
