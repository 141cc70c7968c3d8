"""Wiring: the fabric that a cabling list describes, regular or not."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

from weftline.compile.cabling import CablingList, CablingRow
from weftline.compile.columns import CableColumns, LinkColumns, NodeColumns, assemble, fill, name_nodes
from weftline.compile.parts import connected_parts, uniform_value
from weftline.compile.place import refuse
from weftline.compile.plan import MAX_PORTS
from weftline.compile.reading import MAX_PROBLEMS
from weftline.errors import Place, Problem
from weftline.kernels.column import I8, I32, I64, NIL
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind, Tier

MAX_LINKS_PER_CABLE = 8

_NUMBERED = re.compile(r"(leaf|spine|core)-([0-9]{1,9})")
_TIERS = {"leaf": Tier.LEAF, "spine": Tier.SPINE, "core": Tier.CORE}
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(slots=True)
class _Wiring:
    """The list being turned into numbers: end by end, problems as they are found."""

    design: ResolvedSpec
    listed: CablingList
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, code: str, message: str, hint: str, row: CablingRow, column: int = 1) -> None:
        self.problems.append(Problem(code, message, hint, Place(self.listed.file, row.line, column)))


def wire_cabling(design: ResolvedSpec, listed: CablingList) -> Fabric | tuple[Problem, ...]:
    """Build the fabric of a cabling list, or return its problems.

    Hosts are ``host-0001`` to the declared count, extra endpoints have their declared names, everything else is a
    switch. A switch called ``leaf-``, ``spine-`` or ``core-`` and a number is of that tier; any other has the tier of
    its distance from the hosts. Connected switches make a component. A part or length left empty stays unknown.
    """
    wiring = _Wiring(design, listed)
    hosts = name_nodes(Tier.HOST, design.spec.hosts.count)
    extras = [extra.name for extra in design.spec.hosts.extra_endpoints]
    ends = _index_ends(wiring, hosts, extras)
    if wiring.problems:
        return tuple(wiring.problems[:MAX_PROBLEMS])
    names, node = ends
    tier = _switch_tiers(names, node, len(hosts), len(extras))
    order: I64 = np.array(
        [*range(len(hosts) + len(extras)), *_ordered_switches(names, tier, len(hosts) + len(extras))], dtype=np.int64
    )
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    names, tier, node = [names[int(i)] for i in order], tier[order], rank[node].astype(np.int32)
    kind: I8 = np.full(len(names), NodeKind.SWITCH, dtype=np.int8)
    kind[: len(hosts) + len(extras)] = NodeKind.EXTRA
    kind[: len(hosts)] = NodeKind.HOST
    ports = _node_ports(design, tier, kind)
    total = int(ports.sum(dtype=np.int64))
    if total > MAX_PORTS:
        message = f"the {len(names):,} devices of the list have {total:,} ports; one fabric holds at most {MAX_PORTS:,}"
        return refuse(design, "spec.too-large", message, "split the fabric by plane", "topology.cabling")
    number = _port_numbers(wiring, node, kind, ports)
    links, cables = _link_columns(wiring, node, number, tier)
    if wiring.problems:
        return tuple(wiring.problems[:MAX_PROBLEMS])
    nodes = _describe(design, tuple(names), kind, tier, ports, links)
    return assemble(design, "cabling", nodes, links, cables)


def _index_ends(wiring: _Wiring, hosts: list[str], extras: list[str]) -> tuple[list[str], I32]:
    """Number the devices as met, hosts and extra endpoints first; give their names and the node of both ends."""
    index = {name: i for i, name in enumerate([*hosts, *extras])}
    numbered: dict[tuple[str, int], str] = {}
    node = np.empty((len(wiring.listed.rows), 2), dtype=np.int32)
    for i, row in enumerate(wiring.listed.rows):
        for side, device in enumerate((row.a_device, row.b_device)):
            found = index.get(device)
            if found is None:
                found = index[device] = len(index)
                _check_device(wiring, row, device, row.columns[2 * side], numbered)
            node[i, side] = found
    fixed = len(hosts) + len(extras)
    count = np.bincount(node.ravel(), minlength=len(index))
    names = list(index)
    rows = wiring.listed.rows
    unused: list[int] = np.flatnonzero(count[:fixed] == 0)[:MAX_PROBLEMS].tolist()
    for i in unused:
        message = f"{names[i]} is declared but has no cable in the list"
        wiring.add("spec.cabling-host", message, "add its cables, or correct hosts in the declaration", rows[-1])
    direct: list[int] = np.flatnonzero((node < fixed).all(axis=1))[:MAX_PROBLEMS].tolist()
    for i in direct:
        message = f"{rows[i].a_device} and {rows[i].b_device} are both endpoints"
        wiring.add("spec.cabling-device", message, "one end of a link must be a switch", rows[i], rows[i].columns[2])
    return names, node


def _check_device(
    wiring: _Wiring, row: CablingRow, device: str, column: int, numbered: dict[tuple[str, int], str]
) -> None:
    if device.startswith("host-") and device[5:].isdigit():
        count = wiring.design.spec.hosts.count
        number = int(device[5:])
        hint = "correct hosts.count or the list"
        if 1 <= number <= count:
            hint = f"write host-{number:0{max(4, len(str(count)))}d}"
        wiring.add("spec.cabling-host", f"{device} is none of the {count:,} declared hosts", hint, row, column)
    match = _NUMBERED.fullmatch(device)
    if match:
        first = numbered.setdefault((match[1], int(match[2])), device)
        if first != device:
            message = f"{device} and {first} are the same switch by number"
            wiring.add("spec.cabling-device", message, "write every name in one way", row, column)


def _switch_tiers(names: list[str], node: I32, hosts: int, extras: int) -> I8:
    """Give each node its tier: switches by name, else by distance from the hosts."""
    tier: I8 = np.full(len(names), Tier.HOST, dtype=np.int8)
    unnamed = np.zeros(len(names), dtype=np.bool_)
    for i in range(hosts + extras, len(names)):
        match = _NUMBERED.fullmatch(names[i])
        unnamed[i] = match is None
        tier[i] = _TIERS[match[1]] if match else Tier.CORE
    a, b = node[:, 0], node[:, 1]
    reached = np.arange(len(names)) < hosts
    for step in (Tier.LEAF, Tier.SPINE):
        near = np.zeros(len(names), dtype=np.bool_)
        near[b[reached[a]]] = True
        near[a[reached[b]]] = True
        near &= ~reached
        near[hosts : hosts + extras] = False
        tier[near & unnamed] = step
        reached |= near
    return tier


def _ordered_switches(names: list[str], tier: I8, first: int) -> list[int]:
    """Order the switches by tier, then by name with its numbers read as numbers."""

    def key(i: int) -> tuple[int, list[tuple[int, int, str]], str]:
        pieces = _DIGITS.split(names[i])
        return int(tier[i]), [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in pieces], names[i]

    return sorted(range(first, len(names)), key=key)


def _node_ports(design: ResolvedSpec, tier: I8, kind: I8) -> I32:
    by_tier = (design.rails * design.spec.topology.planes, design.leaf.ports, design.spine.ports, design.core.ports)
    ports = np.array(by_tier, dtype=np.int32)[tier]
    ports[kind == NodeKind.EXTRA] = [extra.ports for extra in design.spec.hosts.extra_endpoints]
    return ports


def _port_numbers(wiring: _Wiring, node: I32, kind: I8, ports: I32) -> I32:
    """Read the port number of both ends of every link, and refuse those that the device does not have."""
    planes = wiring.design.spec.topology.planes
    number = np.zeros(node.shape, dtype=np.int32)
    is_host = kind == NodeKind.HOST
    limit = ports.tolist()
    hosts = is_host.tolist()
    for i, (row, pair) in enumerate(zip(wiring.listed.rows, node.tolist(), strict=True)):
        for side, text in enumerate((row.a_port, row.b_port)):
            at = pair[side]
            value = _nic_number(text, planes) if hosts[at] else int(text)
            if not 1 <= value <= limit[at]:
                device = row.b_device if side else row.a_device
                hint = "correct the port, or declare a part that has it"
                message = f"{device} has {limit[at]} ports, not {text}"
                if hosts[at]:
                    message = f"{device} has no {text}: {limit[at] // planes} NICs of {planes} port(s)"
                    hint = "write nic1p2 for the second port of the first NIC" if planes > 1 else "write nic1"
                wiring.add("spec.cabling-port", message, hint, row, row.columns[2 * side + 1])
            number[i, side] = value
    return number


def _nic_number(text: str, planes: int) -> int:
    """Turn ``nic3p2`` into a port number, 0 where it is none."""
    nic, mark, plane = text.removeprefix("nic").partition("p")
    if (planes > 1) != bool(mark) or (mark and int(plane) > planes):
        return 0
    return (int(nic) - 1) * planes + (int(plane) if mark else 1)


def _link_columns(wiring: _Wiring, node: I32, number: I32, tier: I8) -> tuple[LinkColumns, CableColumns]:
    design = wiring.design
    swap = (tier[node[:, 0]] > tier[node[:, 1]]) | ((tier[node[:, 0]] == tier[node[:, 1]]) & (node[:, 0] > node[:, 1]))
    node = np.where(swap[:, None], node[:, ::-1], node)
    number = np.where(swap[:, None], number[:, ::-1], number)
    rates = np.array([design.rate_gbps, design.leaf.rate_gbps, design.spine.rate_gbps, design.core.rate_gbps])
    cable, cables = _cable_columns(wiring)
    return (
        LinkColumns(
            a_node=np.ascontiguousarray(node[:, 0]),
            a_number=np.ascontiguousarray(number[:, 0]),
            b_node=np.ascontiguousarray(node[:, 1]),
            b_number=np.ascontiguousarray(number[:, 1]),
            cable=cable,
            rate_gbps=np.minimum(rates[tier[node[:, 0]]], rates[tier[node[:, 1]]]),
        ),
        cables,
    )


def _cable_columns(wiring: _Wiring) -> tuple[I32, CableColumns]:
    """Number the cables as met; links of one cable must agree on part and length."""
    index: dict[str, int] = {}
    first: list[CablingRow] = []
    links: list[int] = []
    cable = fill(len(wiring.listed.rows), NIL)
    for i, row in enumerate(wiring.listed.rows):
        found = index.get(row.cable) if row.cable else None
        if found is None:
            found = len(first)
            first.append(row)
            links.append(0)
            if row.cable:
                index[row.cable] = found
        cable[i] = found
        links[found] += 1
        head = first[found]
        if (row.part, row.length_m) != (head.part, head.length_m):
            message = f"{row.cable} has another part or length than on line {head.line}"
            wiring.add("spec.cabling-cable", message, "links of one cable share part and length", row)
        if links[found] == MAX_LINKS_PER_CABLE + 1:
            message = f"{row.cable} carries more than {MAX_LINKS_PER_CABLE} links"
            wiring.add("spec.cabling-cable", message, "give each cable an id of its own", row)
    lengths = [math.nan if row.length_m is None else row.length_m for row in first]
    return cable, CableColumns(tuple(row.part for row in first), np.array(lengths, dtype=np.float64))


def _describe(
    design: ResolvedSpec, names: tuple[str, ...], kind: I8, tier: I8, ports: I32, links: LinkColumns
) -> NodeColumns:
    """Work out plane, rail, unit and component of every node from what is plugged into what."""
    planes, count = design.spec.topology.planes, len(names)
    is_switch = kind == NodeKind.SWITCH
    inner = is_switch[links.a_node]
    component = connected_parts(count, links.a_node[inner], links.b_node[inner])
    component[~is_switch] = NIL
    component[is_switch] = np.unique(component[is_switch], return_inverse=True)[1]
    at_host = kind[links.a_node] == NodeKind.HOST
    host, leaf, port = links.a_node[at_host], links.b_node[at_host], links.a_number[at_host] - 1
    unit = fill(count, NIL)
    unit[kind == NodeKind.HOST] = np.arange(int(np.count_nonzero(kind == NodeKind.HOST))) // design.unit_size
    unit = np.where(is_switch, uniform_value(count, leaf, unit[host]), unit).astype(np.int32)
    rail = uniform_value(count, leaf, port // planes) if design.rails > 1 else fill(count, NIL)
    for low, high in ((Tier.LEAF, Tier.SPINE), (Tier.SPINE, Tier.CORE)):
        up = (tier[links.a_node] == low) & (tier[links.b_node] == high)
        above = uniform_value(count, links.b_node[up], rail[links.a_node[up]])
        rail = np.where(tier == high, above, rail).astype(np.int32)
    plane = np.zeros(count, dtype=np.int32)
    if planes > 1:
        parts = int(component.max(initial=0)) + 1
        by_part = uniform_value(parts, component[leaf], port % planes)
        plane = np.where(is_switch, by_part[component], NIL).astype(np.int32)
    group = _groups(tier, component, rail, links)
    return NodeColumns(names, kind, tier, plane, rail, unit, group, component, ports)


def _groups(tier: I8, component: I32, rail: I32, links: LinkColumns) -> I32:
    """Number the pods of a fabric with cores within their component and rail; NIL everywhere without cores."""
    count = len(tier)
    group = fill(count, NIL)
    if not (tier == Tier.CORE).any():
        return group
    inside = (tier[links.a_node] == Tier.LEAF) & (tier[links.b_node] == Tier.SPINE)
    pod = connected_parts(count, links.a_node[inside], links.b_node[inside])
    member = np.flatnonzero((tier == Tier.LEAF) | (tier == Tier.SPINE))
    heads: list[int] = np.unique(pod[member]).tolist()
    seen: dict[tuple[int, int], int] = {}
    for head in heads:
        key = (int(component[head]), int(rail[head]))
        group[head] = seen[key] = seen.get(key, -1) + 1
    group[member] = group[pod[member]]
    return group
