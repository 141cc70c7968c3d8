"""Groups: the sizes of a declared dragonfly or dragonfly+ by arithmetic, and the refusal of what cannot be built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from weftline.compile.dragonfly import GroupShape
from weftline.compile.place import refuse
from weftline.compile.ports import LeafPorts, leaf_ports
from weftline.compile.spread import hosts_held
from weftline.errors import Problem
from weftline.kernels.column import I32
from weftline.model.design import ResolvedSpec
from weftline.model.topology import MAX_GROUPS, GroupSpec


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """Sizes of a dragonfly or dragonfly+; a column over groups where groups may differ."""

    kind: Literal["dragonfly", "dragonfly-plus"]
    rails: int
    names: tuple[str, ...]
    """Name of the kind of each group."""
    shapes: tuple[GroupShape, ...]
    """Of each group."""
    hosts: I32
    """Hosts of each group."""
    others: I32
    """Other endpoints of each group."""
    pairs: I32
    """Global links between each two groups."""
    arrangement: Literal["palmtree", "absolute"]

    @property
    def local_links(self) -> int:
        """Count the links inside all groups."""
        return sum(shape.local_links for shape in self.shapes)

    @property
    def global_links(self) -> int:
        """Count the links between all groups."""
        return int(self.pairs.sum(dtype=np.int64)) // 2

    @property
    def switches(self) -> tuple[int, int]:
        """Count leaves and spines."""
        return sum(shape.leaves for shape in self.shapes), sum(shape.spines for shape in self.shapes)

    @property
    def other_names(self) -> list[str]:
        """Name the other endpoints after the kind of their group, counted through."""
        total: dict[str, int] = {}
        for name, count in zip(self.names, self.others.tolist(), strict=True):
            total[name] = total.get(name, 0) + count
        at = dict.fromkeys(total, 0)
        found: list[str] = []
        for name, count in zip(self.names, self.others.tolist(), strict=True):
            width = max(4, len(str(total[name])))
            found.extend(f"{name}-{at[name] + i:0{width}d}" for i in range(1, count + 1))
            at[name] += count
        return found


def plan_groups(design: ResolvedSpec) -> GroupPlan | tuple[Problem, ...]:
    """Work out all sizes, or say with the arithmetic why the fabric cannot be built."""
    topology = design.spec.topology
    kinds, ports = topology.groups, leaf_ports(design)
    total = sum(group.count for group in kinds)
    if total > MAX_GROUPS:
        message = f"{total:,} groups are declared; one fabric holds at most {MAX_GROUPS:,}"
        return refuse(design, "spec.too-large", message, "declare several fabrics", "topology.groups")
    ends: list[int] = []
    for index, group in enumerate(kinds):
        found = _endpoints(design, group, index)
        if isinstance(found, tuple):
            return found
        ends.append(found)
    shapes: list[GroupShape] = []
    for index, group in enumerate(kinds):
        shape = _shape(design, ports, (group, ends[index]), index)
        if isinstance(shape, tuple):
            return shape
        shapes.append(shape)
    each = np.repeat(np.arange(len(kinds)), [group.count for group in kinds])
    pairs = _pairs(design, shapes, each)
    if isinstance(pairs, tuple):
        return pairs
    hosts = _share_hosts(design, ends, each)
    if isinstance(hosts, tuple):
        return hosts
    return GroupPlan(
        kind="dragonfly" if topology.kind == "dragonfly" else "dragonfly-plus",
        rails=design.rails,
        names=tuple(kinds[i].name for i in each.tolist()),
        shapes=tuple(shapes[i] for i in each.tolist()),
        hosts=hosts,
        others=np.array([kinds[i].others for i in each.tolist()], dtype=np.int32),
        pairs=pairs,
        arrangement=topology.arrangement,
    )


def _endpoints(design: ResolvedSpec, group: GroupSpec, index: int) -> int | tuple[Problem, ...]:
    """Give the endpoint ports of each leaf of a kind: as declared, else what hosts and others need."""
    rails, path = design.rails, f"topology.groups[{index}]"
    if group.endpoints != "auto":
        hosts = 0 if group.hosts == "auto" else group.hosts
        room = group.leaf * group.endpoints
        if hosts <= hosts_held(group.leaf, group.endpoints, rails) and hosts * rails + group.others <= room:
            return group.endpoints
        return refuse(
            design,
            "spec.group-hosts",
            f"a group {group.name!r} has {group.leaf} leaves x {group.endpoints} endpoints = {room:,} ports for "
            f"{hosts:,} hosts x {rails} rails + {group.others:,} others = {hosts * rails + group.others:,}",
            f"declare endpoints: {_needed(group, hosts, rails)}, more leaves, or fewer hosts",
            f"{path}.hosts" if hosts else path,
        )
    if group.hosts == "auto" and len(design.spec.topology.groups) > 1 and not group.others:
        return refuse(
            design,
            "spec.group-hosts",
            f"groups {group.name!r} have neither endpoints nor hosts, and there are other kinds of groups",
            "declare hosts of each group, or endpoints of each leaf; hosts: 0 where there are none",
            path,
        )
    return _needed(group, _wanted_hosts(design, group), rails)


def _wanted_hosts(design: ResolvedSpec, group: GroupSpec) -> int:
    """Give the hosts that are to be in a group; 0 where its endpoint ports say it."""
    if group.hosts != "auto":
        return group.hosts
    is_alone = len(design.spec.topology.groups) == 1 and group.endpoints == "auto"
    return -(-design.spec.hosts.count // group.count) if is_alone else 0


def _needed(group: GroupSpec, hosts: int, rails: int) -> int:
    """Find the fewest endpoint ports of a leaf that hold hosts and others."""
    least = -(-(hosts * rails + group.others) // group.leaf)
    while hosts_held(group.leaf, least, rails) < hosts:
        least += 1
    return least


def _shape(
    design: ResolvedSpec, ports: LeafPorts, sized: tuple[GroupSpec, int], index: int
) -> GroupShape | tuple[Problem, ...]:
    """Size a group of a kind, and hold its local links against the ports of its switches."""
    group, ends = sized
    topology, path = design.spec.topology, f"topology.groups[{index}]"
    far = design.spine.ports
    left = ports.left(ends)
    if group.spine:
        fit = min(left // group.spine, max(far // 2 // group.leaf, 1))
        parallel = max(fit, 1) if topology.local_links == "auto" else topology.local_links
        local, words = group.spine * parallel, f"{group.spine} spines x {parallel} = {group.spine * parallel}"
    else:
        parallel = 1 if topology.local_links == "auto" else topology.local_links
        local = (group.leaf - 1) * parallel
        words = f"{group.leaf - 1} other leaves x {parallel} = {local}"
    if local > left:
        return refuse(
            design,
            "spec.switch-ports",
            f"a leaf of group {group.name!r} needs {ports.tell(ends)} and {words} for local links, "
            f"{ports.used(ends)} + {local} = {ports.used(ends) + local} > {ports.trunk} ports of {ports.name}",
            "declare fewer switches in a group, fewer endpoints on each, or a leaf with more ports",
            path,
        )
    if group.spine and group.leaf * parallel > far:
        down = group.leaf * parallel
        return refuse(
            design,
            "spec.switch-ports",
            f"a spine of group {group.name!r} needs {group.leaf} leaves x {parallel} = {down} ports > {far} ports of "
            f"{design.spine.name}",
            "declare fewer leaves in a group, fewer local_links, or a spine with more ports",
            path,
        )
    return GroupShape(group.leaf, group.spine, parallel, ends, leaf_ports=ports.total(ends), spine_ports=far)


def _free(design: ResolvedSpec, shape: GroupShape) -> int:
    """Count the ports for global links of each switch that has them."""
    if shape.spines:
        return design.spine.ports - shape.leaves * shape.parallel
    return leaf_ports(design).left(shape.endpoints) - (shape.leaves - 1) * shape.parallel


def _pairs(design: ResolvedSpec, shapes: list[GroupShape], each: np.ndarray) -> I32 | tuple[Problem, ...]:
    """Make the matrix of global links, and hold every group's against the ports of its switches."""
    topology, count = design.spec.topology, len(each)
    wish = _wish(design, shapes, count)
    if isinstance(wish, tuple):
        return wish
    limits = [wish if group.global_links == "auto" else group.global_links for group in topology.groups]
    limit = np.array(limits, dtype=np.int32)[each]
    pairs = np.minimum(limit[:, None], limit[None, :])
    np.fill_diagonal(pairs, 0)
    totals = pairs.sum(axis=1, dtype=np.int64)
    for index, shape in enumerate(shapes):
        free = _free(design, shape)
        total = int(totals[int(np.flatnonzero(each == index)[0])])
        need = -(-total // shape.edge)
        if need > free:
            return _refuse_global(design, index, shape, (total, need, free, count))
    return pairs.astype(np.int32)


def _wish(design: ResolvedSpec, shapes: list[GroupShape], count: int) -> int | tuple[Problem, ...]:
    """Give the links between two groups: as declared, else the most that the ports of every group hold."""
    topology = design.spec.topology
    if topology.global_links != "auto":
        return topology.global_links
    if count == 1:
        return 0
    open_ended = [i for i, group in enumerate(topology.groups) if group.global_links == "auto"]
    room = [(shapes[i].edge * _free(design, shapes[i]) // (count - 1), i) for i in open_ended]
    least, index = min(room, default=(1, 0))
    if least:
        return least
    shape = shapes[index]
    return _refuse_global(design, index, shape, (count - 1, -(-(count - 1) // shape.edge), _free(design, shape), count))


def _refuse_global(
    design: ResolvedSpec, index: int, shape: GroupShape, figures: tuple[int, int, int, int]
) -> tuple[Problem, ...]:
    total, need, free, count = figures
    group = design.spec.topology.groups[index]
    what, part = ("spine", design.spine.name) if shape.spines else ("leaf", design.leaf.name)
    most = shape.edge * free // max(count - 1, 1)
    hint = f"declare global_links: {most}, or" if most else f"{shape.edge} x {free} + 1 groups are the most; declare"
    return refuse(
        design,
        "spec.global-reach",
        f"a group {group.name!r} needs {total:,} global links to {count - 1:,} other groups, {need} on each of "
        f"{shape.edge} {what} switches, and a {what} ({part}) has {free} ports left: {shape.edge} x {free} = "
        f"{shape.edge * free:,}",
        f"{hint} fewer groups, or switches with more ports",
        "topology.global_links" if most else f"topology.groups[{index}]",
    )


def _share_hosts(design: ResolvedSpec, ends: list[int], each: np.ndarray) -> I32 | tuple[Problem, ...]:
    """Share the hosts out: groups are filled in order, up to what each is declared to have or holds."""
    kinds, rails = design.spec.topology.groups, design.rails
    room: list[int] = []
    for group, endpoints in zip(kinds, ends, strict=True):
        held = hosts_held(group.leaf, endpoints, rails)
        wanted = _wanted_hosts(design, group)
        room.append(wanted or min(held, (group.leaf * endpoints - group.others) // rails))
        if group.hosts == 0:
            room[-1] = 0
    most = np.array(room, dtype=np.int64)[each]
    before = np.cumsum(most) - most
    count = design.spec.hosts.count
    if int(most.sum()) < count:
        parts = " + ".join(f"{group.count} x {held:,} ({group.name})" for group, held in zip(kinds, room, strict=True))
        return refuse(
            design,
            "spec.group-hosts",
            f"the groups hold {parts} = {int(most.sum()):,} hosts, and {count:,} are declared",
            "declare more groups, more hosts or endpoints in each, or correct hosts.count",
            "hosts.count",
        )
    return np.clip(count - before, 0, most).astype(np.int32)
