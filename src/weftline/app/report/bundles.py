"""Boxes and bundles: a fabric of any size gathered into a picture of bounded size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import F64, I32, NIL
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind, Tier

MAX_BOXES = 32
"""Boxes per row; a larger tier is gathered by pod, or else into equal runs of neighbours."""


@dataclass(frozen=True, slots=True)
class Box:
    """One drawn node, or several gathered into one."""

    label: str
    detail: str
    row: int
    """0 at the bottom: units of hosts, then leaf, spine, core."""
    column: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Bundle:
    """All links between two boxes; loads are the worst link of the bundle, as a share of its capacity."""

    lower: int
    upper: int
    links: int
    load_up: float
    load_down: float


@dataclass(frozen=True, slots=True)
class Picture:
    """What the topology figure draws."""

    boxes: tuple[Box, ...]
    bundles: tuple[Bundle, ...]
    rows: tuple[str, ...]


def gather_picture(fabric: Fabric, port_load: F64) -> Picture:
    """Gather nodes into at most ``MAX_BOXES`` boxes a row and links into bundles; O(nodes + ports)."""
    boxes: list[Box] = []
    rows: list[str] = []
    box_of = np.full(fabric.node_count, NIL, dtype=np.int64)
    for row, members in enumerate(_row_members(fabric)):
        rows.append("hosts" if row == 0 else TIER_NAMES[row])
        for column, nodes in enumerate(_split(fabric, row, members)):
            box_of[nodes] = len(boxes)
            boxes.append(_make_box(fabric, row, column, nodes))
    return Picture(tuple(boxes), _gather_bundles(fabric, box_of, port_load), tuple(rows))


def _row_members(fabric: Fabric) -> list[I32]:
    top = max(int(fabric.node_tier.max(initial=0)), int(Tier.LEAF))
    is_switch = fabric.node_kind == NodeKind.SWITCH
    rows = [np.flatnonzero(~is_switch)]
    rows.extend(np.flatnonzero(is_switch & (fabric.node_tier == tier)) for tier in range(Tier.LEAF, top + 1))
    return [row.astype(np.int32) for row in rows]


def _split(fabric: Fabric, row: int, members: I32) -> list[I32]:
    if len(members) == 0:
        return []
    if row and len(members) <= MAX_BOXES:
        return [members[i : i + 1] for i in range(len(members))]
    key = fabric.node_unit if row == 0 else fabric.node_group
    keys = np.stack([key[members], fabric.node_rail[members], fabric.node_component[members]])
    if row == 0:
        keys = keys[:1]
    _, inverse = np.unique(keys, axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    if 1 < inverse.max(initial=0) + 1 <= MAX_BOXES or (row == 0 and inverse.max(initial=0) == 0):
        return [members[inverse == value] for value in range(int(inverse.max()) + 1)]
    return [part for part in np.array_split(members, min(MAX_BOXES, len(members))) if len(part)]


def _make_box(fabric: Fabric, row: int, column: int, nodes: I32) -> Box:
    first, last = fabric.node_name[int(nodes[0])], fabric.node_name[int(nodes[-1])]
    if len(nodes) == 1:
        return Box(first, first, row, column, 1)
    unit = int(fabric.node_unit[nodes[0]])
    label = f"{first} …" if row else "others" if unit == NIL else f"unit {unit + 1}"
    what = "hosts" if row == 0 else f"{TIER_NAMES[row]} switches"
    return Box(label, f"{len(nodes)} {what}: {first} to {last}", row, column, len(nodes))


def _gather_bundles(fabric: Fabric, box_of: np.ndarray, port_load: F64) -> tuple[Bundle, ...]:
    ports = np.flatnonzero(fabric.port_peer != NIL)
    peers = fabric.port_peer[ports]
    tier_rank = fabric.node_tier.astype(np.int64)
    tier_rank[fabric.node_kind != NodeKind.SWITCH] = 0
    here, there = fabric.port_node[ports], fabric.port_node[peers]
    going_up = (tier_rank[here] < tier_rank[there]) | ((tier_rank[here] == tier_rank[there]) & (ports < peers))
    ports, peers, here, there = ports[going_up], peers[going_up], here[going_up], there[going_up]
    count = int(box_of.max(initial=0)) + 1
    key = box_of[here] * count + box_of[there]
    keys, inverse = np.unique(key, return_inverse=True)
    links = np.bincount(inverse, minlength=len(keys))
    load_up, load_down = np.zeros(len(keys)), np.zeros(len(keys))
    np.maximum.at(load_up, inverse, port_load[ports])
    np.maximum.at(load_down, inverse, port_load[peers])
    return tuple(
        Bundle(int(k // count), int(k % count), int(n), float(up), float(down))
        for k, n, up, down in zip(keys, links, load_up, load_down, strict=True)
    )
