"""Cabling: the list of links by cable that a technician works from, written as CSV."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass

import numpy as np

from weftline.compile.switches import DIRECT_SHAPES
from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Fabric, NodeKind

COLUMNS = ("a_device", "a_port", "b_device", "b_port", "length_m", "part", "cable", "label")


@dataclass(frozen=True, slots=True)
class CablingRow:
    """One link; ``a`` is the end nearer to the hosts in lists that Weftline writes."""

    a_device: str
    a_port: str
    b_device: str
    b_port: str
    length_m: float | None
    part: str
    cable: str
    """Links of one cable share this; empty where the link has a cable of its own."""
    label: str
    line: int = 0
    """Line of the file that it was read from; 0 where it was not read."""
    columns: tuple[int, int, int, int] = (1, 1, 1, 1)
    """Columns of the file where the devices and ports stand: a_device, a_port, b_device, b_port."""


@dataclass(frozen=True, slots=True)
class CablingList:
    """A cabling list that was read."""

    file: str
    rows: tuple[CablingRow, ...]


def list_cables(fabric: Fabric) -> tuple[CablingRow, ...]:
    """List every link, cable by cable.

    The label names cable and link. Where several links share a cable, it says ``twin 1/2`` when all of them join the
    same two devices, and ``breakout 1/2`` when the cable fans out. A link between groups says which.
    """
    port = _ordered_ports(fabric)
    peer = fabric.port_peer[port]
    cable = fabric.port_cable[port]
    names = _port_texts(fabric)
    device = fabric.node_name
    ends = (port, peer, fabric.port_node[port], fabric.port_node[peer], cable)
    a_ports, b_ports, a_nodes, b_nodes, cables = (_integers(column) for column in ends)
    marks = _cable_marks(cable.astype(np.int64), fabric.port_node[port], fabric.port_node[peer])
    spans = _group_marks(fabric, port)
    width = max(4, len(str(len(fabric.cable_part))))
    rows: list[CablingRow] = []
    both = zip(a_ports, b_ports, a_nodes, b_nodes, strict=True)
    for (a, b, na, nb), index, mark, span in zip(both, cables, marks, spans, strict=True):
        length = math.nan if index == NIL else float(fabric.cable_length_m[index])
        name = "" if index == NIL else f"cable-{index + 1:0{width}d}"
        link = f"{device[na]}/{names[a]}~{device[nb]}/{names[b]}"
        rows.append(
            CablingRow(
                a_device=device[na],
                a_port=names[a],
                b_device=device[nb],
                b_port=names[b],
                length_m=None if math.isnan(length) else length,
                part="" if index == NIL else fabric.cable_part[index],
                cable=name,
                label=" ".join(word for word in (name, mark, link, span) if word),
            )
        )
    return tuple(rows)


def write_cabling(fabric: Fabric) -> str:
    """Write the cabling list as CSV with a header; ``read_cabling`` takes it back."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in list_cables(fabric):
        length = "" if row.length_m is None else _number(row.length_m)
        writer.writerow((row.a_device, row.a_port, row.b_device, row.b_port, length, row.part, row.cable, row.label))
    return out.getvalue()


def _integers(column: I32 | I64) -> list[int]:
    return column.tolist()


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _ordered_ports(fabric: Fabric) -> I64:
    """Give one port per link, the one nearer to the hosts, ordered by cable."""
    port = np.flatnonzero(fabric.port_peer != NIL)
    peer = fabric.port_peer[port].astype(np.int64)
    tier = fabric.node_tier[fabric.port_node]
    port = port[(tier[port] < tier[peer]) | ((tier[port] == tier[peer]) & (port < peer))]
    cable = fabric.port_cable[port]
    return port[np.lexsort((port, cable, cable == NIL))]


def _port_texts(fabric: Fabric) -> list[str]:
    number = fabric.port_number.tolist()
    is_host = (fabric.node_kind[fabric.port_node] == NodeKind.HOST).tolist()
    planes = fabric.planes
    if planes == 1:
        return [f"nic{n}" if host else str(n) for n, host in zip(number, is_host, strict=True)]
    return [
        f"nic{(n - 1) // planes + 1}p{(n - 1) % planes + 1}" if host else str(n)
        for n, host in zip(number, is_host, strict=True)
    ]


def _group_marks(fabric: Fabric, port: I64) -> list[str]:
    """Say which two groups a link joins; empty where it joins none, as in a tree, whose groups are pods."""
    if fabric.shape not in DIRECT_SHAPES:
        return [""] * len(port)
    near = fabric.node_group[fabric.port_node[port]].tolist()
    far = fabric.node_group[fabric.port_node[fabric.port_peer[port]]].tolist()
    return [
        f"groups {a + 1} and {b + 1}" if a != b and NIL not in {a, b} else "" for a, b in zip(near, far, strict=True)
    ]


def _cable_marks(cable: I64, a_node: I32, b_node: I32) -> list[str]:
    """Say of each link, in order of cables, which part of a twin or breakout it is; empty for a plain cable."""
    size = np.bincount(cable[cable != NIL], minlength=1)
    pair = a_node.astype(np.int64) * (int(b_node.max(initial=0)) + 1) + b_node
    is_same = np.ones(len(size), dtype=np.bool_)
    follows = np.flatnonzero((cable[1:] == cable[:-1]) & (cable[1:] != NIL)) + 1
    is_same[cable[follows[pair[follows] != pair[follows - 1]]]] = False
    marks: list[str] = []
    last, place = NIL, 0
    for index in cable.tolist():
        place = place + 1 if index == last else 1
        last = index
        total = 1 if index == NIL else int(size[index])
        word = "twin" if is_same[index] else "breakout"
        marks.append("" if total == 1 else f"{word} {place}/{total}")
    return marks
