"""What a kind of topology needs, and which keys mean nothing with it."""

from __future__ import annotations

import re

from weftline.declare.places import Places
from weftline.errors import Problem
from weftline.model.spec import AUTO, HostsSection, TopologySection
from weftline.model.topology import DIRECT, GROUPED

_TREE_KEYS = ("tiers", "core", "oversubscription")
_GROUP_KEYS = ("groups", "local_links", "global_links", "arrangement")
_TORUS_KEYS = ("sizes", "dimension_links", "endpoints")
_GIVEN = re.compile(r"(host|leaf|spine|core)")


def check_shape(topology: TopologySection, places: Places) -> list[Problem]:
    """Find what a kind lacks, and keys that belong to other kinds."""
    return [*_check_unused(topology, places), *_check_needed(topology, places)]


def check_unit(hosts: HostsSection, topology: TopologySection, places: Places) -> list[Problem]:
    """Refuse a unit size where groups or switches say how many hosts stand together."""
    if topology.kind not in DIRECT or hosts.unit_size == AUTO:
        return []
    hint = "write hosts in topology.groups" if topology.kind in GROUPED else "write topology.endpoints"
    message = f"hosts.unit_size means nothing with kind: {topology.kind}"
    return [Problem("spec.topology-unused", message, f"remove it; {hint}", places.value("hosts", "unit_size"))]


def _check_unused(topology: TopologySection, places: Places) -> list[Problem]:
    """A key that the kind does not read would be silently without effect."""
    kind = topology.kind
    useless: list[tuple[str, str]] = []
    if kind in DIRECT:
        useless += [(key, "the Clos kinds") for key in _TREE_KEYS]
        useless += [("spine", "kinds with spines")] if kind != "dragonfly-plus" else []
    else:
        useless += [("trunk_gbps", ", ".join(DIRECT))]
    if kind not in GROUPED:
        useless += [(key, " and ".join(GROUPED)) for key in _GROUP_KEYS]
    if kind != "torus":
        useless += [(key, "torus") for key in _TORUS_KEYS]
    problems: list[Problem] = []
    for key, owner in useless:
        if places.has("topology", key):
            message = f"topology.{key} means nothing with kind: {kind}"
            hint = f"remove {key}; it belongs to {owner}"
            problems.append(Problem("spec.topology-unused", message, hint, places.key("topology", key)))
    return problems


def _check_needed(topology: TopologySection, places: Places) -> list[Problem]:
    where = places.value("topology", "kind")
    if topology.kind in GROUPED:
        if topology.groups:
            return _check_groups(topology, places)
        message = f"kind: {topology.kind} needs topology.groups, and there are none"
        hint = "add groups: [{count: 8, leaf: 16"
        hint += ", spine: 16}]" if topology.kind == "dragonfly-plus" else "}]"
        return [Problem("spec.shape-missing", message, hint, where)]
    if topology.kind == "torus":
        if not topology.sizes:
            message = "kind: torus needs topology.sizes, and there are none"
            return [Problem("spec.shape-missing", message, "add sizes: [4, 4, 4]", where)]
        if topology.dimension_links and len(topology.dimension_links) != len(topology.sizes):
            message = f"topology.dimension_links has {len(topology.dimension_links)} numbers, and the torus has "
            message += f"{len(topology.sizes)} dimensions"
            hint = "give one number per dimension, or leave it out"
            return [Problem("spec.shape-missing", message, hint, places.value("topology", "dimension_links"))]
    return []


def _check_groups(topology: TopologySection, places: Places) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[str, int] = {}
    for index, group in enumerate(topology.groups):
        path = ("topology", "groups", index)
        if group.name in first:
            message = f"topology.groups[{index}].name is {group.name!r} as that of [{first[group.name]}] is"
            hint = "give each kind of group its own name"
            problems.append(Problem("spec.duplicate-name", message, hint, places.value(*path, "name")))
        first.setdefault(group.name, index)
        if group.others and _GIVEN.fullmatch(group.name):
            message = f"the others of topology.groups[{index}] would be called {group.name}-0001, as Weftline's own"
            hint = "choose another name of the group, as storage"
            problems.append(Problem("spec.duplicate-name", message, hint, places.value(*path, "name")))
        if topology.kind == "dragonfly" and group.spine:
            message = f"topology.groups[{index}] has {group.spine} spines, and a dragonfly has none"
            hint = "remove spine, or write kind: dragonfly-plus"
            problems.append(Problem("spec.group-shape", message, hint, places.value(*path, "spine")))
        if topology.kind == "dragonfly-plus" and not group.spine:
            message = f"topology.groups[{index}] has no spines, and a dragonfly-plus joins its leaves by them"
            hint = "add spine: and their number, or write kind: dragonfly"
            problems.append(Problem("spec.group-shape", message, hint, places.value(*path)))
    return problems
