"""Small declarations taken to their files, which a test may change, and to what packets meet."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from weftline.app.devices import observe_devices
from weftline.app.parameters import gather
from weftline.app.pipeline import Routed, run_to_routes
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.packet import LaneProfile, Medium
from weftline.model.parameters import CarriageChoice, PacketSource
from weftline.render import render
from weftline.technologies import TECHNOLOGIES
from weftline.vendors import VENDORS

SMALL = """
fabric: {{ name: small }}
technology: {technology}
hosts: {{ count: 4, part: small-host, rate_gbps: 400, unit_size: 2 }}
topology: {{ kind: fat-tree, tiers: 2, leaf: small-switch, spine: small-switch }}
parts:
  hosts:
    small-host: {{ base: DGX-H100, gpus: 1, rails: 1 }}
  switches:
    small-switch: {{ base: {base}, ports: [{{ rate_gbps: 400, count: 4 }}] }}
"""
"""Four hosts, two leaves and two spines of four ports."""
BASES = {"roce": "SN5600", "infiniband": "QM9700"}
Edit = Callable[[str], str]


@functools.cache
def route(technology: str, more: str = "", base: str = "") -> Routed:
    """Take the small declaration, with more sections, to its routes."""
    text = SMALL.format(technology=technology, base=base or BASES[technology]) + more
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.yaml"
        path.write_text(text, encoding="utf-8")
        return run_to_routes(path)


_RENDERED: dict[str, ArtifactSet] = {}


def files_of(routed: Routed) -> ArtifactSet:
    """Render every file of every device, once."""
    digest = routed.built.checked.design.digest
    if digest not in _RENDERED:
        _RENDERED[digest] = _render(routed)
    return _RENDERED[digest]


def _render(routed: Routed) -> ArtifactSet:
    technology, design = routed.built.checked.technology.design, routed.built.checked.design
    intents = technology.intents(design, routed.built.fabric, routed.addresses, routed.routes)
    vendors = tuple(VENDORS[name] for name in technology.list_vendors(design))
    return render(intents, vendors, of=routed.routes.digest)


def edited(routed: Routed, edits: Mapping[str, Edit | None]) -> PacketSource:
    """Read the files back after edits by path, each of which must change its file; None takes the file away."""
    files = files_of(routed)
    kept: list[Artifact] = []
    met: set[str] = set()
    for one in files.artifacts:
        names = [path for path in edits if one.path.startswith(path)]
        content = one.content
        met.update(names)
        for name in names:
            edit = edits[name]
            if edit is None:
                break
            content = edit(content.decode()).encode()
            assert content != one.content, f"{name} is as it was"
        else:
            kept.append(replace(one, content=content))
    assert met == set(edits), met
    names = routed.built.checked.technology.design.list_vendors(routed.built.checked.design)
    observed = observe_devices(replace(files, artifacts=tuple(kept)), names)
    built = routed.built
    return PacketSource(built.checked.design, built.fabric, routed.routes, {one.name: one for one in observed})


def change(*path: str, to: Any) -> Edit:
    """Set one value of a JSON file; the last key may be new."""

    def edit(text: str) -> str:
        data = json.loads(text)
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = to
        return json.dumps(data, indent=2)

    return edit


def swap(old: str, new: str) -> Edit:
    """Replace words of a file."""
    return lambda text: text.replace(old, new)


def source_of(routed: Routed) -> PacketSource:
    """Gather what the program itself gathers."""
    return gather(routed)


def medium_of(source: PacketSource, choice: CarriageChoice | None = None) -> Medium:
    """Lay out what packets meet."""
    return TECHNOLOGIES[source.design.spec.technology].transport.medium(source, choice or CarriageChoice())


def port_of(source: PacketSource, name: str) -> int:
    """Find a port by its name."""
    return next(port for port in range(source.fabric.port_count) if source.fabric.port_name(port) == name)


def profile_of(source: PacketSource, medium: Medium, name: str, lane: int = 0) -> LaneProfile:
    """Find the profile of a lane at a port."""
    return medium.profiles[int(medium.profile[port_of(source, name), lane])]


def differing(source: PacketSource, one: Medium, other: Medium) -> set[tuple[str, int]]:
    """List the ports and lanes whose profiles differ."""
    return {
        (source.fabric.port_name(port), lane)
        for port in np.flatnonzero(source.fabric.port_peer >= 0).tolist()
        for lane in range(one.lanes)
        if one.profiles[int(one.profile[port, lane])] != other.profiles[int(other.profile[port, lane])]
    }
