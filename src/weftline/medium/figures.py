"""Figures in force: each noted where it holds, and equal ones told together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind, Tier
from weftline.model.packet import LaneProfile
from weftline.model.parameters import Figure, FigureValue, Origin, Parameter
from weftline.model.parts import NicPart, SwitchPart

PLURALS = {Tier.LEAF: "leaves", Tier.SPINE: "spines", Tier.CORE: "cores"}
NAMED = 3
"""Holders that are named one by one."""
Holder = Literal["port", "node", "cable", "all"]
_Key: TypeAlias = tuple[str, str, str, FigureValue, Origin, str, Holder]


@dataclass(frozen=True, slots=True)
class Note:
    """One figure by name, not yet where it holds."""

    name: str
    unit: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure where it holds: indices of ports, nodes or cables; none where it holds everywhere."""

    group: str
    note: Note
    holder: Holder
    indices: I64


@dataclass(slots=True)
class Profiles:
    """Distinct lane profiles, each with the figures that it was made from."""

    profiles: list[LaneProfile] = field(default_factory=list[LaneProfile])
    notes: list[tuple[Note, ...]] = field(default_factory=list[tuple[Note, ...]])
    known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def add(self, profile: LaneProfile, notes: Sequence[Note]) -> int:
        """Number a profile; those that differ only in the file that says so are one."""
        said = tuple((note.name, note.figure.value, note.figure.origin, note.figure.source) for note in notes)
        key = (profile, said)
        if key not in self.known:
            self.known[key] = len(self.profiles)
            self.profiles.append(profile)
            self.notes.append(tuple(notes))
        return self.known[key]

    def list_entries(self, column: I32, group: str, used: I64) -> Iterator[Entry]:
        """List the figures of one lane, given the profile of each port and the ports that are in use."""
        met = sorted((int(one) for one in np.unique(column[used])), key=lambda one: -len(self.notes[one]))
        for index in met:  # the one with most figures first, since that gives names their order
            ports = used[column[used] == index]
            yield from (Entry(group, note, "port", ports) for note in self.notes[index])


def cite(part: SwitchPart | NicPart, name: str, key: str) -> str:
    """Say which source stands behind a figure of a part."""
    found = next((one for one in part.sources if key in one.figures), None)
    return name if found is None else f"{name}, {found.text} ({found.date})"


def list_parameters(entries: Iterable[Entry], fabric: Fabric) -> tuple[Parameter, ...]:
    """Put equal figures together and say where each holds, in the order in which groups and names came."""
    first: dict[_Key, Entry] = {}
    held: dict[_Key, list[I64]] = {}
    groups: dict[tuple[str, str], int] = {}
    for entry in entries:
        figure = entry.note.figure
        key = (entry.group, entry.note.name, entry.note.unit, figure.value, figure.origin, figure.source, entry.holder)
        first.setdefault(key, entry)
        held.setdefault(key, []).append(entry.indices)
        groups.setdefault((entry.group, ""), len(groups))
        groups.setdefault((entry.group, entry.note.name), len(groups))
    rows: list[tuple[tuple[int, int, int], Parameter]] = []
    for key, entry in first.items():
        group, name, unit, value, origin, source, holder = key
        indices = np.unique(np.concatenate(held[key]))
        where = entry.note.figure.where
        count = 1 if holder == "all" else len(indices)
        holds = _describe(fabric, holder, indices)
        order = (groups[group, ""], groups[group, name], -count)
        rows.append((order, Parameter(group, name, value, unit, holds, count, origin, source, where)))
    return tuple(row for _, row in sorted(rows, key=lambda item: item[0]))


def _describe(fabric: Fabric, holder: Holder, indices: I64) -> str:
    """Name a set of ports, nodes or cables: as all of a kind, else its first members."""
    if holder == "all":
        return "everywhere"
    for words, members in _list_kinds(fabric, holder):
        if len(members) == len(indices) > 1 and bool((members == indices).all()):
            return f"all {len(indices):,} {words}"
    names = [_name(fabric, holder, int(one)) for one in indices[:NAMED]]
    if len(indices) > NAMED:
        return f"{len(indices):,} {holder}s: {', '.join(names)} ..."
    return ", ".join(names)


def _list_kinds(fabric: Fabric, holder: Holder) -> Iterator[tuple[str, I64]]:
    if holder == "cable":
        yield "cables", np.arange(len(fabric.cable_part))
        return
    if holder == "node":
        yield "switches", fabric.switch_node.astype(np.int64)
        yield "hosts", np.flatnonzero(fabric.node_kind == NodeKind.HOST)
        yield "hosts and other endpoints", np.flatnonzero(fabric.node_kind != NodeKind.SWITCH)
        for tier in (Tier.LEAF, Tier.SPINE, Tier.CORE):
            members = np.flatnonzero((fabric.node_kind == NodeKind.SWITCH) & (fabric.node_tier == tier))
            yield f"{TIER_NAMES[tier]} switches", members
        return
    joined = fabric.port_peer != NIL
    near, far = fabric.node_tier[fabric.port_node], fabric.node_tier[fabric.port_node[fabric.port_peer]]
    is_switch = fabric.node_kind[fabric.port_node] == NodeKind.SWITCH
    to_switch = is_switch[fabric.port_peer]
    yield "ports", np.flatnonzero(joined)
    yield "switch ports", np.flatnonzero(joined & is_switch)
    yield "ports of endpoints", np.flatnonzero(joined & ~is_switch)
    yield "ports of links to endpoints", np.flatnonzero(joined & ~(is_switch & to_switch))
    yield "switch ports to endpoints", np.flatnonzero(joined & is_switch & ~to_switch)
    yield "switch ports to switches", np.flatnonzero(joined & is_switch & to_switch)
    for a in (Tier.LEAF, Tier.SPINE, Tier.CORE):
        yield f"{TIER_NAMES[a]} ports", np.flatnonzero(joined & is_switch & (near == a))
        for b in (Tier.LEAF, Tier.SPINE, Tier.CORE):
            members = joined & is_switch & to_switch & (near == a) & (far == b)
            yield f"{TIER_NAMES[a]} ports to {PLURALS[b]}", np.flatnonzero(members)


def _name(fabric: Fabric, holder: Holder, index: int) -> str:
    if holder == "node":
        return fabric.node_name[index]
    if holder == "port":
        return fabric.port_name(index)
    ports = np.flatnonzero(fabric.port_cable == index)
    return fabric.link_name(int(ports[0])) if len(ports) else f"cable {index}"
