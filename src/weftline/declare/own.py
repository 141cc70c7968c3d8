"""Parts that a declaration brings along: laid over the catalogue, with bases and their cycles."""

from __future__ import annotations

from typing import Any, cast

from pydantic import ValidationError

from weftline.declare.fields import nearest
from weftline.declare.places import Places
from weftline.declare.problems import Subject, model_problems, quote
from weftline.errors import Problem
from weftline.model.parts import CablePart, Catalog, HostPart, NicPart, Part, SwitchPart
from weftline.model.spec import FabricSpec, PartKind

PART_MODELS: dict[PartKind, type[Part]] = {
    "switches": SwitchPart,
    "nics": NicPart,
    "hosts": HostPart,
    "cables": CablePart,
}
MAX_BASES = 8
"""Parts that stand on one another."""


def add_own_parts(spec: FabricSpec, catalog: Catalog, places: Places) -> Catalog | list[Problem]:
    """Lay the declaration's own parts over the catalogue, or say what is wrong with them."""
    problems: list[Problem] = []
    merged: dict[str, dict[str, Part]] = {}
    for kind, own in spec.parts.items():
        known = cast("dict[str, Part]", getattr(catalog, kind))
        merged[kind] = dict(known)
        for name in own:
            part = _own_part(kind, name, own, known, places)
            if isinstance(part, Part):
                merged[kind][name] = part
            else:
                problems += part
    if problems:
        return problems
    whole = catalog.model_copy(update=merged)
    return _check_nics(spec, whole, places) or whole


def _check_nics(spec: FabricSpec, catalog: Catalog, places: Places) -> list[Problem]:
    """Refuse a host of the user's own whose NIC is nowhere described."""
    problems: list[Problem] = []
    for name in spec.parts.get("hosts", {}):
        nic = catalog.hosts[name].nic
        if nic not in catalog.nics:
            near = nearest(nic, catalog.nics)
            hint = f"did you mean {near!r}?" if near else "describe it under parts.nics"
            where = places.value("parts", "hosts", name, "nic")
            message = f"parts.hosts.{name}.nic: there is no part {quote(nic)}"
            problems.append(Problem("spec.unknown-part", message, hint, where))
    return problems


def _own_part(
    kind: PartKind, name: str, own: dict[str, dict[str, object]], known: dict[str, Part], places: Places
) -> Part | list[Problem]:
    layers = _layers(kind, name, own, known, places)
    if isinstance(layers, Problem):
        return [layers]
    data: dict[str, Any] = {"title": name, "sources": []}
    for layer in layers:
        data = _lay(data, layer)
    model = PART_MODELS[kind]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        return model_problems(error, Subject(model, data, places, ("parts", kind, name)))


def _layers(
    kind: PartKind, name: str, own: dict[str, dict[str, object]], known: dict[str, Part], places: Places
) -> list[dict[str, object]] | Problem:
    """Follow the bases of a part down to the catalogue or to a part without a base; lowest first."""
    layers: list[dict[str, object]] = []
    chain: list[str] = []
    at: str = name
    while True:
        chain.append(at)
        layers.insert(0, own[at])
        where = places.value("parts", kind, at, "base")
        base = own[at].get("base", at if at in known else None)
        if base is None:
            return layers
        if not isinstance(base, str):
            return Problem(
                "spec.wrong-type", f"parts.{kind}.{at}.base must be the name of a part", "write base: NAME", where
            )
        if base in own and base != at:
            if base in chain:
                return _cycle(kind, chain[chain.index(base) :], places)
            if len(chain) >= MAX_BASES:
                message = f"parts.{kind}.{name} stands on more than {MAX_BASES} bases, one below the other"
                return Problem("spec.part-cycle", message, "give the figures in fewer parts", where)
            at = base
        elif base in known:
            layers.insert(0, known[base].model_dump(mode="json"))
            return layers
        else:
            near = nearest(base, (*own, *known))
            hint = f"did you mean {near!r}?" if near and near != at else "name a part of the catalogue or of parts"
            return Problem("spec.unknown-part", f"parts.{kind}.{at}.base: there is no part {quote(base)}", hint, where)


def _cycle(kind: PartKind, ring: list[str], places: Places) -> Problem:
    """Word a ring of parts that stand on one another, the same from whichever part it was found."""
    first = ring.index(min(ring))
    ring = [*ring[first:], *ring[:first], ring[first]]
    message = f"parts.{kind}: {' -> '.join(ring)[:200]} stand on one another"
    hint = "give the figures in one of them instead of a base"
    return Problem("spec.part-cycle", message, hint, places.value("parts", kind, ring[0], "base"))


def _lay(below: dict[str, Any], above: dict[str, object]) -> dict[str, Any]:
    """Lay figures over those of the base; a source no longer stands behind a figure that is replaced."""
    given = {key: value for key, value in above.items() if key not in {"base", "sources"}}
    kept: list[Any] = []
    for source in below["sources"]:
        figures = [figure for figure in source["figures"] if figure not in given]
        if figures:
            kept.append({**source, "figures": figures})
    added = above.get("sources", [])
    sources = [*kept, *cast("list[Any]", added)] if isinstance(added, list) else added
    return {**below, **given, "sources": sources}
