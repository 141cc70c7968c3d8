"""Extra endpoints: which free switch ports they are plugged into."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from weftline.compile.columns import LinkColumns, NodeColumns
from weftline.compile.groups import GroupPlan
from weftline.compile.layout import Layout
from weftline.compile.place import find_place, refuse
from weftline.compile.plan import ClosPlan
from weftline.compile.torus import TorusPlan
from weftline.errors import Problem
from weftline.kernels.column import I32, I64
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import TIER_NAMES, NodeKind, Tier
from weftline.model.spec import AUTO


@dataclass(slots=True)
class _Free:
    """Switch ports that no host or switch uses, by node and number, and how far each order has been taken."""

    node: I64
    number: I64
    is_taken: NDArray[np.bool_]
    orders: dict[str, Iterator[int]] = field(default_factory=dict[str, Iterator[int]])

    def take(self, where: str, count: int) -> list[int]:
        """Take the next ports of an order; fewer than asked for where it is at its end."""
        chosen = list(islice((i for i in self.orders[where] if not self.is_taken[i]), count))
        self.is_taken[chosen] = True
        return chosen


@dataclass(frozen=True, slots=True)
class Room:
    """Where ``auto`` looks first, and what a refusal says."""

    first: int
    """Node of the first extra endpoint."""
    rails: int
    unit: int
    """Unit whose leaves come first."""
    slots: I32 | int
    """Ports for hosts: of every leaf, or by node."""
    leaf_words: str
    """The arithmetic of free ports of the leaves."""
    absent: frozenset[str] = frozenset()
    """Tiers that the fabric does not have."""


def clos_room(plan: ClosPlan) -> Room:
    """Look first at the free host ports of the last unit."""
    leaf, spine, core = plan.switches
    words = f"{leaf:,} leaves x {plan.switch_ports[0]} ports - {plan.endpoints:,} endpoints"
    words += f" - {leaf:,} x {plan.uplinks} uplinks, less what other extra endpoints took"
    absent = frozenset(tier for tier, count in (("spine", spine), ("core", core)) if not count)
    return Room(plan.hosts, plan.rails, plan.units - 1, plan.slots, words, absent)


def direct_room(plan: GroupPlan | TorusPlan, layout: Layout, first_switch: int) -> Room:
    """Look first at the free endpoint ports of the last group, or of the last switch of a torus that has hosts."""
    graph = layout.graph
    slots = np.concatenate((np.zeros(first_switch, dtype=np.int32), graph.endpoints))
    used = len(layout.home) + 2 * graph.links
    words = f"{int(graph.radix.sum(dtype=np.int64)):,} ports of all switches - {used:,} in use"
    absent = frozenset({"core"} if (graph.tier == Tier.SPINE).any() else {"spine", "core"})
    last = int(layout.host_unit[-1])
    unit = last if isinstance(plan, TorusPlan) else len(plan.shapes) - 1
    return Room(layout.hosts, layout.rails, unit, slots, words, absent)


def check_extras(design: ResolvedSpec) -> tuple[Problem, ...]:
    """Refuse extra endpoints whose names are used twice or could be taken for a host or switch."""
    problems: list[Problem] = []
    seen: set[str] = set()
    for index, extra in enumerate(design.spec.hosts.extra_endpoints):
        prefix, dash, rest = extra.name.rpartition("-")
        where = find_place(design, f"hosts.extra_endpoints[{index}].name")
        if extra.name in seen:
            problems.append(
                Problem("spec.duplicate-name", f"two extra endpoints are called {extra.name}", "rename one", where)
            )
        elif dash and prefix in TIER_NAMES and rest.isdigit():
            message = f"{extra.name} is a name that Weftline gives to a {prefix}"
            problems.append(Problem("spec.duplicate-name", message, "rename the extra endpoint", where))
        seen.add(extra.name)
    return tuple(problems)


def place_extras(
    design: ResolvedSpec, room: Room, nodes: NodeColumns, links: LinkColumns, first_cable: int
) -> LinkColumns | tuple[Problem, ...]:
    """Plug every extra endpoint in, in the order declared, or say which one found too few free ports.

    ``auto`` takes the free host ports of the last unit, one per leaf in turn, rail by rail; then any other free port
    of a leaf. A tier or one switch takes free ports there, lowest numbers first, one per switch in turn.
    """
    free = _free_ports(nodes, links)
    switches = {nodes.name[i]: i for i in np.flatnonzero(nodes.kind == NodeKind.SWITCH).tolist()}
    taken: list[int] = []
    for index, extra in enumerate(design.spec.hosts.extra_endpoints):
        if extra.where not in free.orders:
            order = _candidates(extra.where, room, nodes, free, switches)
            if order is None:
                message = f"extra endpoint {extra.name}: no switch is called {extra.where}"
                hint = _near_hint(extra.where, switches)
                return refuse(design, "spec.unknown-switch", message, hint, f"hosts.extra_endpoints[{index}].where")
            free.orders[extra.where] = iter(order.tolist())
        chosen = free.take(extra.where, extra.ports)
        if len(chosen) < extra.ports:
            return _refuse_full(design, index, len(chosen), room)
        taken.extend(chosen)
    ports = [extra.ports for extra in design.spec.hosts.extra_endpoints]
    a_node = room.first + np.repeat(np.arange(len(ports)), ports)
    a_number = np.concatenate([np.arange(1, count + 1) for count in ports])
    b_node = free.node[taken]
    rates = np.array([0.0, design.leaf.rate_gbps, design.spine.rate_gbps, design.core.rate_gbps])
    return LinkColumns(
        a_node=a_node.astype(np.int32),
        a_number=a_number.astype(np.int32),
        b_node=b_node.astype(np.int32),
        b_number=free.number[taken].astype(np.int32),
        cable=(first_cable + np.arange(len(a_node))).astype(np.int32),
        rate_gbps=np.minimum(design.rate_gbps, rates[nodes.tier[b_node]]),
    )


def _free_ports(nodes: NodeColumns, links: LinkColumns) -> _Free:
    ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(nodes.ports, dtype=np.int64)))
    free = np.repeat(nodes.kind == NodeKind.SWITCH, nodes.ports)
    ends: tuple[tuple[I32, I32], ...] = ((links.a_node, links.a_number), (links.b_node, links.b_number))
    for node, number in ends:
        free[ptr[node] + number - 1] = False
    port = np.flatnonzero(free)
    node = np.searchsorted(ptr, port, side="right") - 1
    return _Free(node=node, number=port - ptr[node] + 1, is_taken=np.zeros(len(node), dtype=np.bool_))


def _candidates(where: str, room: Room, nodes: NodeColumns, free: _Free, switches: Mapping[str, int]) -> I64 | None:
    """Order the indices of the free ports that suit; None where no switch has that name."""
    if where == AUTO:
        leaf = np.flatnonzero(nodes.tier[free.node] == TIER_NAMES.index("leaf"))
        node, number = free.node[leaf], free.number[leaf]
        slots = room.slots if isinstance(room.slots, int) else room.slots[node]
        late = ~((nodes.unit[node] == room.unit) & (number <= slots))
        return leaf[np.lexsort((nodes.plane[node], nodes.rail[node], number, late))]
    if where in TIER_NAMES[1:]:
        chosen = np.flatnonzero(nodes.tier[free.node] == TIER_NAMES.index(where))
        return chosen[np.lexsort((free.node[chosen], free.number[chosen]))]
    if where not in switches:
        return None
    low, high = np.searchsorted(free.node, (switches[where], switches[where] + 1))
    return np.arange(int(low), int(high), dtype=np.int64)


def _near_hint(where: str, switches: Mapping[str, int]) -> str:
    near = difflib.get_close_matches(where[:63], [*TIER_NAMES[1:], *islice(switches, 5000)], 1)
    return f"did you mean {near[0]}?" if near else "write auto, leaf, spine, core or a switch, as leaf-001"


def _refuse_full(design: ResolvedSpec, index: int, found: int, room: Room) -> tuple[Problem, ...]:
    extra = design.spec.hosts.extra_endpoints[index]
    place, verb, detail = extra.where, "has", ""
    if extra.where in {AUTO, "leaf"}:
        place, verb = "the leaves", "have"
        detail = room.leaf_words
    elif extra.where in room.absent:
        detail = f"the fabric has no {extra.where} switches"
    hosts = math.ceil((extra.ports - found) / room.rails)
    return refuse(
        design,
        "spec.no-free-port",
        f"extra endpoint {extra.name} needs {extra.ports:,} ports, but {place} {verb} {found:,} free"
        + (f": {detail}" if detail else ""),
        f"remove {hosts:,} host(s) from the last unit, or say where else: leaf, spine, core or the name of a switch",
        f"hosts.extra_endpoints[{index}].where",
    )
