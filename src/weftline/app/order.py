"""From tables that run to tables that shall: read, laid over one fabric, ordered into stages, and written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from weftline.adopt import find_adaptive, find_overlay, lay_over, read_programmed
from weftline.app.audit import read_place
from weftline.app.check import problems_error
from weftline.app.files import is_folder
from weftline.app.pipeline import Progress, run_to_routes, silent
from weftline.app.workspace import SUFFIXES
from weftline.enact import BUDGET, Ordering, Pieces, order_change
from weftline.errors import ArtifactError, CapabilityError, Place, UsageError
from weftline.kernels.column import I64, NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.model.technology import Technology
from weftline.prove.witness import name_destination
from weftline.route import compute_routes
from weftline.technologies import TECHNOLOGIES
from weftline.vendors import VENDORS

TECHNOLOGY = "infiniband"
"""Of dumps, which name none."""
TO_AUTO = "auto"
DECLARED = ".weftline"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a change: a fabric, its addresses, and tables."""

    place: Path
    fabric: Fabric
    addresses: Addresses
    routes: Routes
    technology: Technology


@dataclass(frozen=True, slots=True)
class Ordered:
    """A change of tables in its order."""

    old: Path
    new: str
    """Where the new tables come from, or the engine that computed them."""
    side: Side
    """The fabric that holds all cables of both."""
    ordering: Ordering
    budget: int
    written: tuple[Path, ...] = ()

    @property
    def is_accepted(self) -> bool:
        """Whether stages keep every destination."""
        return self.ordering.verdict is Verdict.PROVED

    @property
    def drained(self) -> tuple[str, ...]:
        """Name the destinations to which nothing may be sent while the stages go out."""
        drain = self.ordering.drain
        goals = () if drain is None else drain.destinations.tolist()
        return tuple(name_destination(self.side.fabric, self.ordering.new, goal) for goal in goals)


@dataclass(frozen=True, slots=True)
class Wish:
    """What an order may cost, and what is asked of it."""

    engine: str | None = None
    roots: tuple[str, ...] = ()
    budget: int = BUDGET
    out: Path | None = None


def order(old: Path, new: Path | None, wish: Wish, progress: Progress = silent) -> Ordered:
    """Order the change from the tables of ``old`` to those of ``new``, or to those that an engine computes there.

    Raises:
        UsageError: ``usage.order`` unless there is either a new place or an engine.
        ArtifactError: ``artifact.no-tables`` where a place has none, ``artifact.two-fabrics`` where neither fabric
            holds all cables of the other.
    """
    if (new is None) == (wish.engine is None):
        hint = "give a second PLACE, or --engine NAME to compute new tables for the first"
        raise UsageError("usage.order", "there must be new tables to go to, and only one set of them", hint)
    progress(f"reading {old.name}", None)
    first = _read(old, None, progress)
    if new is None:
        side, routes, name = first, _compute(first, wish, progress), f"computed by {wish.engine}"
        tables = (first.routes, routes)
    else:
        progress(f"reading {new.name}", None)
        second = _read(new, first, progress)
        side, tables = _bring_together(first, second)
        name = str(new)
    progress("looking for stages", None)
    ordering = order_change(side.fabric, *tables, _find_pieces(side), wish.budget)
    ordered = Ordered(old, name, side, ordering, wish.budget)
    return ordered if wish.out is None else replace(ordered, written=_write(ordered, wish.out))


def _read(place: Path, beside: Side | None, progress: Progress) -> Side:
    """Read a declaration, a workspace, or dumps; tables without a fabric are those of the fabric beside them."""
    if place.suffix in SUFFIXES or (is_folder(place) and place.parent.name == DECLARED):
        routed = run_to_routes(place, progress)
        built = routed.built
        return Side(place, built.fabric, routed.addresses, routed.routes, built.checked.technology)
    survey, adoption = read_place(place, progress)
    if adoption is not None:
        fabric, addresses, technology = adoption.fabric, adoption.addresses, TECHNOLOGIES[TECHNOLOGY]
    elif beside is not None:
        fabric, addresses, technology = beside.fabric, beside.addresses, beside.technology
    else:
        raise _miss(place, "no file says what is wired to what", "add the output of ibnetdiscover")
    files = [(source.file, source.data) for source in survey.sources if source.data]
    if not files:
        raise _miss(place, "no file holds forwarding tables", "add the output of dump_lfts, or opensm-lfts.dump")
    found = read_programmed(files, fabric, addresses, find_adaptive(survey))
    if isinstance(found, tuple):
        raise problems_error(found)
    if found.unseen:
        raise _miss(place, found.unseen, "add the adaptive-routing tables, as ibdiagnet writes them")
    return Side(place, fabric, addresses, found.routes, technology)


def _miss(place: Path, why: str, hint: str) -> ArtifactError:
    return ArtifactError(
        "artifact.no-tables", f"{place} has no tables to go from or to: {why}", hint, Place(str(place))
    )


def _compute(side: Side, wish: Wish, progress: Progress) -> Routes:
    progress("computing the new tables", None)
    engine = side.technology.design.engine if wish.engine == TO_AUTO else str(wish.engine)
    held = side.technology.design.engines
    if engine not in held:
        message = f"{side.technology.name} devices cannot forward by the tables of engine {engine[:40]}"
        raise CapabilityError("capability.engine-not-held", message, f"choose {', '.join(held)}, or {TO_AUTO}")
    has_switches = bool(np.any(side.routes.destination_port == NIL))
    return compute_routes(side.fabric, engine, to_switches=has_switches, roots=wish.roots, paths=side.routes.paths)


def _bring_together(first: Side, second: Side) -> tuple[Side, tuple[Routes, Routes]]:
    """Lay the tables of the smaller fabric over the larger one."""
    if first.fabric.digest == second.fabric.digest:
        return first, (first.routes, second.routes)
    inside = find_overlay(first.fabric, second.fabric, first.addresses, second.addresses)
    if not isinstance(inside, str):
        return first, (first.routes, lay_over(inside, second.routes))
    around = find_overlay(second.fabric, first.fabric, second.addresses, first.addresses)
    if not isinstance(around, str):
        return second, (lay_over(around, first.routes), second.routes)
    message = f"neither fabric holds all cables of the other: of {second.place} in {first.place}, {inside}"
    raise ArtifactError(
        "artifact.two-fabrics", message, "go in two steps, first to tables that use only what both have",
        Place(str(second.place)),
    )  # fmt: skip


def _find_pieces(side: Side) -> Pieces:
    """Say in which pieces the devices take tables."""
    change = side.technology.change
    if change is None or change.addresses == 1:
        return Pieces()
    addresses = side.addresses

    def list_addresses(routes: Routes) -> I64:
        port = routes.destination_port
        own = np.where(port == NIL, addresses.node_address[routes.destination_node], addresses.port_address[port])
        return np.where(own > 0, own + routes.path, 0).astype(np.int64)

    return Pieces(change.addresses, list_addresses)


def _write(ordered: Ordered, out: Path) -> tuple[Path, ...]:
    """Write the tables of each stage as the devices take them, a folder each and in it one for each plane."""
    side = ordered.side
    design = side.technology.design
    files = [VENDORS[name].tables for name in design.vendors]
    file = next((one for one in files if one is not None), None)
    if design.table is None or file is None:
        message = f"devices of technology {side.technology.name} take no tables, so that there are none to write"
        raise CapabilityError("capability.no-tables", message, "leave --out away; --json lists the stages")
    written: list[Path] = []
    for number, stage in enumerate(ordered.ordering.stages, start=1):
        for plane in range(max(side.fabric.planes, 1)):
            path = out / f"stage-{number:02d}" / f"subnet-{plane + 1}" / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.write(design.table(side.fabric, side.addresses, stage.routes, plane), b"", None))
            written.append(path)
    return tuple(written)
