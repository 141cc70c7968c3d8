"""A cluster that exists: its discovery dump judged, and compared with a declaration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.adopt import build_fabric, compare, read_discovery, read_programmed
from weftline.app.build import build
from weftline.app.check import check, problems_error
from weftline.app.choose import RULES, choose_routes
from weftline.app.files import is_folder, read_bytes
from weftline.app.ibnl import read_systems
from weftline.app.pipeline import Progress, silent
from weftline.app.workspace import SUFFIXES
from weftline.errors import ArtifactError, Place, Problem
from weftline.formats import ibdm_topo
from weftline.model.addresses import Addresses
from weftline.model.adoption import Adoption, Tables
from weftline.model.difference import Difference
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofReport
from weftline.model.routes import Routes
from weftline.prove import prove

MAX_DUMP_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Adopted:
    """A discovered fabric, the tables that were judged, and the verdict."""

    dump: Path
    adoption: Adoption
    routes: Routes
    are_programmed: bool
    """Whether the tables are those that the switches really hold."""
    engine_reason: str
    problems: tuple[Problem, ...]
    """Everything that is wrong with the dump and the tables."""
    report: ProofReport

    @property
    def is_accepted(self) -> bool:
        """Whether no problem is an error and every required claim is proved."""
        return self.report.is_accepted and not any(problem.is_error for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Compared:
    """What differs between two fabrics."""

    declared: Path
    discovered: Path
    differences: tuple[Difference, ...]


def adopt(
    dump: Path, tables: tuple[Path, ...], engine: str, progress: Progress = silent, ibnl: Path | None = None
) -> Adopted:
    """Judge a discovery dump; on the programmed tables where given, else on tables that we compute.

    ``ibnl`` is the folder that describes the systems of an IBDM topology.
    """
    progress("reading the dump", None)
    adoption = read_adoption(dump, ibnl)
    fabric = adoption.fabric
    if tables:
        progress("reading the tables", None)
        files = [(str(path), _read_dump(path)) for path in tables]
        found = read_programmed(files, fabric, adoption.addresses)
        if isinstance(found, tuple):
            raise problems_error(found)
        progress("proving the claims", None)
        report = prove(fabric, found.routes, RULES, None, found.unseen)
        problems = adoption.problems + found.problems
        return Adopted(
            dump, adoption, found.routes, are_programmed=True, engine_reason=tell_tables(found), problems=problems,
            report=report,
        )  # fmt: skip
    chosen = choose_routes(fabric, engine, 1 << adoption.addresses.multipath_bits, progress)
    return Adopted(
        dump, adoption, chosen.routes, are_programmed=False, engine_reason=chosen.reason, problems=adoption.problems,
        report=chosen.report,
    )  # fmt: skip


def diff(declared: Path, discovered: Path, progress: Progress = silent, ibnl: Path | None = None) -> Compared:
    """Compare two fabrics, each a declaration, a workspace or a dump."""
    progress(f"reading {declared.name}", None)
    first, first_addresses = _read_fabric(declared, ibnl)
    progress(f"reading {discovered.name}", None)
    second, second_addresses = _read_fabric(discovered, ibnl)
    progress("comparing", None)
    return Compared(declared, discovered, compare(first, second, first_addresses, second_addresses))


def _read_dump(path: Path) -> bytes:
    return read_bytes(path, MAX_DUMP_BYTES, "a dump of one subnet is far smaller")


def read_adoption(dump: Path, ibnl: Path | None = None) -> Adoption:
    """Read a discovery dump; raises what stands in the way."""
    if dump.suffix in SUFFIXES:
        message = f"{dump} is a declaration, not a discovery dump"
        hint = f"weftline prove {dump} judges it; weftline diff compares it with a dump"
        raise ArtifactError("artifact.not-a-dump", message, hint, Place(str(dump)))
    data = _read_dump(dump)
    systems = read_systems(ibnl) if ibdm_topo.looks_like(data) else None
    discovery = read_discovery(data, str(dump), systems)
    if isinstance(discovery, tuple):
        raise problems_error(discovery)
    adoption = build_fabric(discovery)
    if isinstance(adoption, tuple):
        raise problems_error(adoption)
    return adoption


def _read_fabric(place: Path, ibnl: Path | None) -> tuple[Fabric, Addresses | None]:
    if place.suffix in SUFFIXES or is_folder(place):
        return build(check(place)).fabric, None
    adoption = read_adoption(place, ibnl)
    return adoption.fabric, adoption.addresses


def tell_tables(tables: Tables) -> str:
    """Say what tables were judged, and whether the choices of adaptive routing are among them."""
    adaptive, text = tables.adaptive, "the tables that the switches hold"
    if adaptive.state == "judged":
        text += (
            f", with every port that adaptive routing may choose ({adaptive.entries:,} entries of "
            f"{adaptive.switches:,} switches)"
        )
    if adaptive.state == "unknown":
        text += "; adaptive routing is on, and its choices are not in the files"
    if tables.routes.paths > 1:
        text += f"; each of the {tables.routes.paths} LIDs of a port is a path of its own"
    return text
