"""The cable of each run: by name, or the first of the catalogue with the rate, the links and the reach."""

from __future__ import annotations

from weftline.declare.choose import Desk, HostChoice, find_part
from weftline.model.design import RunPart
from weftline.model.parts import RunName
from weftline.model.spec import AUTO

RUNS: tuple[RunName, RunName, RunName] = ("host_leaf", "leaf_spine", "spine_core")
DIRECT_RUNS: tuple[RunName, RunName] = ("leaf_leaf", "between_groups")
UNNAMED = "unnamed"
"""Name of a cable that neither the user nor the catalogue knows."""


def choose_direct_runs(desk: Desk, choice: HostChoice, trunk_gbps: float) -> tuple[RunPart, ...]:
    """Resolve the cables of a fabric without a tree, those of ``RUNS`` and then ``DIRECT_RUNS``: one link in each."""
    runs = [
        _run(desk, run, choice.ports.rate_gbps if run == "host_leaf" else trunk_gbps, 1)
        for run in (*RUNS, *DIRECT_RUNS)
    ]
    for name, run in zip((*RUNS, *DIRECT_RUNS), runs, strict=True):
        if run.links > 1:
            kind = desk.spec.topology.kind
            message = f"cables.{name}: {run.name} carries {run.links} links, and a {kind} has a cable for every link"
            hint = "name a cable that carries one link, or auto"
            desk.note("capability.cable-links", message, hint, desk.places.value("cables", name, "part"))
    return tuple(runs)


def choose_runs(desk: Desk, choice: HostChoice, leaf_per_cage: int) -> tuple[RunPart, RunPart, RunPart]:
    """Resolve the cables of all runs.

    A cable carries as many links as a NIC's cage has ports in use: one plane, one link per cable; two planes out of
    one cage, two links per cable, where the switch's cage holds as many.
    """
    links = min(choice.ports.per_cage, desk.spec.topology.planes)
    if leaf_per_cage % links:
        links = 1
    first, second, third = (_run(desk, run, choice.ports.rate_gbps, links) for run in RUNS)
    return first, second, third


def _run(desk: Desk, run: RunName, rate: float, links: int) -> RunPart:
    declared = getattr(desk.spec.cables, run)
    length = desk.catalog.defaults.lengths_m[run] if declared.length_m == AUTO else float(declared.length_m)
    if declared.part != AUTO:
        return _named(desk, run, declared.part, rate, RunPart(declared.part, None, links, length))
    names = [
        name
        for preference in desk.catalog.defaults.cables
        if preference.rate_gbps == rate and preference.links == links
        for name in preference.parts
        if name in desk.catalog.cables and desk.spec.technology in desk.catalog.cables[name].technologies
    ]
    for name in names:
        part = desk.catalog.cables[name]
        if part.max_length_m is None or length <= part.max_length_m:
            return RunPart(name, part, part.links, length)
    if names:
        reach = max(desk.catalog.cables[name].max_length_m or 0 for name in names)
        message = f"cables.{run}: no cable of the catalogue reaches {length:g} m at {rate:g} Gb/s"
        message += f"; the longest has {reach:g} m"
        desk.note(
            "capability.cable-length",
            message,
            "name your own cable part, or a shorter length",
            desk.places.value("cables", run, "length_m"),
        )
    return RunPart(UNNAMED, None, links, length)


def _named(desk: Desk, run: RunName, name: str, rate: float, unknown: RunPart) -> RunPart:
    """Take a named cable; one that no catalogue knows has no figures, and that is allowed."""
    if not any(known.casefold() == name.casefold() for known in desk.catalog.cables):
        return unknown
    found = find_part(desk, desk.catalog.cables, name, ("cables", run, "part"))
    if found is None:
        return unknown
    known, part = found
    where = desk.places.value("cables", run, "part")
    if part.rate_gbps != rate:
        message = f"cables.{run}: {known} carries {part.rate_gbps:g} Gb/s per link, the links run at {rate:g} Gb/s"
        desk.note("capability.cable-rate", message, "choose a cable of the links' rate, or auto", where)
    if part.max_length_m is not None and unknown.length_m > part.max_length_m:
        message = f"cables.{run}: {known} reaches {part.max_length_m:g} m, the run is {unknown.length_m:g} m"
        desk.note("capability.cable-length", message, "choose a cable that reaches, or a shorter length", where)
    return RunPart(known, part, part.links, unknown.length_m)
