"""The routing engines that OpenSM has, and what to give each of them for a fabric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weftline.errors import UsageError
from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL
from weftline.model.fabric import NodeKind
from weftline.model.lab import EngineTrial, LabDesign

ENGINES = ("minhop", "updn", "dnup", "ftree", "dor", "lash", "dfsssp", "sssp", "nue", "torus-2QoS")
"""Of OpenSM 3.3.23; ``file`` is ours."""
ROOTED = ("updn", "ftree")
"""Engines that also take the roots of the tree from a file; else they look for them."""
WITH_ROOTS = "+roots"
ON_LANES = ("lash", "dfsssp", "nue", "torus-2QoS")
"""Engines that put paths on several lanes, so that no lane holds a cycle; nue needs no more than one."""
ROOTS, HOSTS = "roots.conf", "hosts.conf"
LABELS = tuple(label for name in ENGINES for label in ((name, name + WITH_ROOTS) if name in ROOTED else (name,)))


def list_trials(design: LabDesign, labels: Sequence[str], limit_s: float, lanes: bool) -> tuple[EngineTrial, ...]:  # noqa: FBT001  (a record of functions has no names)
    """Say how each named engine is tried on a fabric; all of them without names.

    Raises:
        UsageError: ``usage.engine`` when OpenSM has no such engine.
    """
    unknown = [label for label in labels if label not in LABELS]
    if unknown:
        raise UsageError("usage.engine", f"{unknown[0][:40]!r} is no engine to try", f"engines: {', '.join(LABELS)}")
    roots, hosts = _list_roots(design), _list_hosts(design)
    trials: list[EngineTrial] = []
    for label in dict.fromkeys(labels or LABELS):
        name = label.removesuffix(WITH_ROOTS)
        options = {"qos": "TRUE"} if lanes else {}
        files: dict[str, bytes] = {}
        if label != name:
            options["root_guid_file"] = ROOTS
            files[ROOTS] = roots
            if name == "ftree":
                options["cn_guid_file"] = HOSTS
                files[HOSTS] = hosts
        trials.append(EngineTrial(label, name, options, files, limit_s, is_laned=lanes and name in ON_LANES))
    return tuple(trials)


def _list_roots(design: LabDesign) -> bytes:
    """List the switches of the top tier, plane by plane, by node GUID."""
    fabric = design.fabric
    switches = fabric.switch_node
    roots: list[int] = []
    for plane in np.unique(fabric.node_plane[switches]).tolist():
        own = switches[fabric.node_plane[switches] == plane]
        roots += own[fabric.node_tier[own] == fabric.node_tier[own].max(initial=0)].tolist()
    return _write(sorted(int(design.addresses.node_id[node]) for node in roots))


def _list_hosts(design: LabDesign) -> bytes:
    """List the endpoints with a cable that are no extras, by port GUID."""
    fabric = design.fabric
    ports = fabric.endpoint_port
    is_host = (fabric.node_kind[fabric.port_node[ports]] == NodeKind.HOST) & (fabric.port_peer[ports] != NIL)
    return _write(design.addresses.port_id[ports[is_host]].tolist())


def _write(guids: Sequence[int]) -> bytes:
    return "".join(f"{format_guid(guid)}\n" for guid in guids).encode()
