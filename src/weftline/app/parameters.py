"""What a simulation of packets is made from, and every figure of it with who says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weftline.app.bulk import without_collector
from weftline.app.devices import observe_devices
from weftline.app.lint import HEAD, read_all, recognise
from weftline.app.pipeline import Progress, Routed, run_to_routes, silent
from weftline.errors import ArtifactError, Place, Problem
from weftline.formats import opensm_conf
from weftline.lint.merging import merge_devices
from weftline.model.artifact import Artifact
from weftline.model.observed import ObservedDevice
from weftline.model.parameters import CarriageChoice, PacketSource, Parameter
from weftline.model.survey import OptionFact
from weftline.render import render
from weftline.vendors import VENDORS

PLANE_MARK = "subnet-"
"""How the folder of a plane's manager begins, among rendered files."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Every figure in force for a place."""

    routed: Routed
    parameters: tuple[Parameter, ...]
    assumptions: tuple[str, ...]
    """What was not read from files but assumed."""


def list_parameters(
    place: Path, choice: CarriageChoice, files: Path | None = None, progress: Progress = silent
) -> Parameters:
    """Go from a declaration to the figures that packets would meet, without simulating any."""
    routed = run_to_routes(place, progress)
    source = gather(routed, files, progress)
    transport = routed.built.checked.technology.transport
    medium, carriage = transport.medium(source, choice), transport.carriage(source, choice)
    assumptions = tuple(dict.fromkeys((*medium.assumptions, *carriage.assumptions)))
    return Parameters(routed, transport.parameters(source, choice), assumptions)


@without_collector()
def gather(routed: Routed, files: Path | None = None, progress: Progress = silent) -> PacketSource:
    """Gather what packets depend on: rendered files read back, or those of a folder in their place.

    A folder may hold files that were rendered for another declaration, so that a fabric can be watched with them: its
    cables are those of the fabric, and everything else is what the files say.

    Raises:
        ArtifactError: ``artifact.packet-files`` where the folder has none that anybody here knows, or the code of what
            is wrong with a file of which nothing can be read.
    """
    design = routed.built.checked.design
    if files is None:
        progress("rendering device files", None)
        devices, options = _read_rendered(routed)
        return PacketSource(design, routed.built.fabric, routed.routes, devices, options)
    progress("reading device files", None)
    devices, options = _read_folder(files)
    if not devices and not options:
        message = f"nobody here knows a configuration in {files}"
        hint = "give a folder of device files, as `weftline render` writes them"
        raise ArtifactError("artifact.packet-files", message, hint, Place(str(files)))
    return PacketSource(design, routed.built.fabric, routed.routes, devices, options)


_Read = tuple[dict[str, ObservedDevice], tuple[tuple[OptionFact, ...], ...]]


def _read_rendered(routed: Routed) -> _Read:
    technology, design = routed.built.checked.technology, routed.built.checked.design
    names = technology.design.list_vendors(design)
    make = technology.transport.intents or technology.design.intents
    intents = make(design, routed.built.fabric, routed.addresses, routed.routes)
    artifacts = render(intents, tuple(VENDORS[name] for name in names), of=routed.routes.digest)
    observed = observe_devices(artifacts, names) if technology.transport.intents is None else ()
    return {device.name: device for device in observed}, _read_options(artifacts.artifacts)


def _read_options(artifacts: Sequence[Artifact]) -> tuple[tuple[OptionFact, ...], ...]:
    return _sort_options([(one.path, one.content) for one in artifacts])


def _sort_options(files: Sequence[tuple[str, bytes]]) -> tuple[tuple[OptionFact, ...], ...]:
    """Read options of managers; the folder of each says its plane, else they come in the order of their names."""
    found: dict[str, tuple[OptionFact, ...]] = {}
    for path, content in files:
        if opensm_conf.looks_like(content[:HEAD]):
            part = opensm_conf.parse(content, path)
            _refuse_wrong(part.problems)
            found[path] = part.options
    return tuple(options for _, options in sorted(found.items(), key=lambda item: (_find_plane(item[0]), item[0])))


def _refuse_wrong(problems: Sequence[Problem]) -> None:
    """Refuse a file of which nothing can be read: its device would only seem to be missing."""
    wrong = [problem for problem in problems if problem.is_error]
    if wrong:
        raise ArtifactError(wrong[0].code, wrong[0].message, wrong[0].hint, wrong[0].where, tuple(problems))


def _find_plane(path: str) -> int:
    marked = [part.removeprefix(PLANE_MARK) for part in Path(path).parts if part.startswith(PLANE_MARK)]
    return int(marked[-1]) if marked and marked[-1].isascii() and marked[-1].isdigit() else 0


def _read_folder(folder: Path) -> _Read:
    by_vendor: dict[str, list[tuple[str, bytes]]] = {}
    of_managers: list[tuple[str, bytes]] = []
    for name, data in read_all([folder]):
        vendor, form = recognise(name, data[:HEAD])
        if vendor and form != VENDORS[vendor].change_form:
            by_vendor.setdefault(vendor, []).append((name, data))
        elif not vendor and form:
            of_managers.append((name, data))
    devices: list[ObservedDevice] = []
    for vendor, found in by_vendor.items():
        configured = VENDORS[vendor].configured
        devices += () if configured is None else configured(found)
    for device in devices:
        if device.role == "unknown":
            _refuse_wrong(device.problems)
    return {device.name: device for device in merge_devices(devices)}, _sort_options(of_managers)
