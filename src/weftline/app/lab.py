"""Labs: a declared fabric made to run here, read back, disturbed and stopped."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from weftline.app.check import Checked, check
from weftline.app.pipeline import Progress, Proved, Routed, run_to_proofs, silent
from weftline.app.render import render_proved
from weftline.app.repaired import Repaired, drop_known, list_repaired
from weftline.app.secrets import read_secrets
from weftline.app.workspace import open_place
from weftline.drivers import DRIVERS
from weftline.errors import ArtifactError, CapabilityError, Problem, UsageError
from weftline.labs import LABS
from weftline.model.artifact import ArtifactSet
from weftline.model.driver import Access, Readback
from weftline.model.driver import Rendered as RenderedSubnet
from weftline.model.intent import FactValue
from weftline.model.lab import (
    Injection,
    Lab,
    LabDesign,
    LabDevice,
    LabFault,
    LabProcess,
    LabStatus,
    LabSubnet,
    Takeover,
)
from weftline.model.observed import ObservedConfig
from weftline.vendors import VENDORS

FOLDER = "lab"
SETTLE_S = 60.0
SETTLED_S = 0.5
MOST_READS = 4
"""How often a lab is read that differs and whose manager is still at work."""
OPTIONS = "opensm.conf"
"""File of a subnet manager whose options the driver has to know."""
UNFILLED = "opensm.conf.in"
"""The same where keys are still to be filled in."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A lab that runs, and what was read back from it; the proofs alone where a claim stood in the way."""

    proved: Proved
    lab: Lab
    status: LabStatus | None
    readbacks: tuple[Readback, ...]
    drift: tuple[Problem, ...]
    """Why the comparison is not with what the lab was started from."""
    seconds: dict[str, float]
    repaired: Repaired | None = None
    """The tables that it was held against, where somebody kept the lab; what differs by them is not told of again."""

    @property
    def differs_by(self) -> tuple[str, ...]:
        """Name the links by which the tables that were held against differ from the declaration."""
        return () if self.repaired is None else self.repaired.without

    @property
    def is_equal(self) -> bool:
        """Whether everything runs as it is rendered."""
        return self.status is not None and not self.drift and all(readback.is_equal for readback in self.readbacks)

    @property
    def maybe_healed(self) -> tuple[LabFault, ...]:
        """List faults that are noted and that nothing shows: a heal that was killed took them out and not off the list.

        Where every cable was read back as declared none is broken or exchanged; counters are not read back.
        """
        if self.status is None or not self.is_equal or self.differs_by or self.lab.read_back is not None:
            return ()
        return tuple(fault for fault in self.status.faults if fault.kind in {"break", "miscable"} and fault.undo)


def bring_up(place: Path, name: str | None = None, progress: Progress = silent) -> Looked:
    """Prove, render, start and read back; nothing is started where a required claim is not proved.

    Raises:
        EnactError: when the programs do not come up with what was rendered.
    """
    begin = time.monotonic()
    checked = check(place)
    lab = choose_lab(checked, name)
    _check_programs(lab)
    proved = run_to_proofs(place, progress)
    artifacts = render_proved(proved, None, progress=progress, to_disk=False).artifacts
    if artifacts is None:
        return Looked(proved, lab, None, (), (), {})
    design = replace(_design(proved.routed, artifacts, lab), secrets=read_secrets(checked))
    prepared = time.monotonic()
    if lab.read_back is not None:
        status = lab.up(design, lab_folder(place), progress)
        started = time.monotonic()
        readbacks = lab.read_back(design, lab_folder(place), progress)
        seconds = {"prepare": prepared - begin, **status.seconds, "read-back": time.monotonic() - started}
        return Looked(proved, lab, status, readbacks, (), seconds)
    # The files are read back from their text while the programs start, which is a wait for us.
    with ThreadPoolExecutor(max_workers=1) as pool:
        reading = pool.submit(_observe, lab, artifacts)
        status = lab.up(design, lab_folder(place), progress)
        configs = reading.result()
    started = time.monotonic()
    readbacks = _read_back(lab, status, design, configs, progress)
    seconds = {"prepare": prepared - begin, **status.seconds, "read-back": time.monotonic() - started}
    return Looked(proved, lab, status, readbacks, (), seconds)


def verify(place: Path, progress: Progress = silent) -> Looked:
    """Hold a lab that runs against what the declaration says now.

    Raises:
        SourceError: when no lab runs, or one of its programs is gone.
    """
    folder = lab_folder(place)
    lab = choose_lab(check(place), None)
    status = lab.verify(folder)
    proved = run_to_proofs(place, progress)
    drift = () if status.of == proved.routed.routes.digest else (_drift(),)
    if lab.read_back is not None:
        design = _design(proved.routed, _render_unproved(proved, progress), lab)
        begin = time.monotonic()
        readbacks = lab.read_back(design, folder, progress)
        return Looked(proved, lab, status, readbacks, drift, {"read-back": time.monotonic() - begin})
    repaired = list_repaired(folder, proved.routed)
    progress("waiting for the manager", None)
    _settle(lab, folder)
    begin = time.monotonic()
    looked = _look(lab, status, proved, repaired, progress)
    for _ in range(MOST_READS - 1):
        waited = time.monotonic()
        if looked.is_equal or (_settle(lab, folder) and time.monotonic() - waited < SETTLED_S):
            break  # nothing happened meanwhile, so nothing else would be read
        begin = time.monotonic()
        looked = _look(lab, status, proved, repaired, progress)
    return replace(looked, drift=drift, seconds={"read-back": time.monotonic() - begin})


def _settle(lab: Lab, folder: Path) -> bool:
    return lab.settle is None or lab.settle(folder, SETTLE_S)


def _look(lab: Lab, status: LabStatus, proved: Proved, repaired: tuple[Repaired, ...], progress: Progress) -> Looked:
    """Hold a lab against the tables that may run; where none do, the differences are from those that should."""
    first: Looked | None = None
    for tables in repaired or (None,):
        routed = proved.routed if tables is None else replace(proved.routed, routes=tables.routes)
        artifacts = _render_unproved(replace(proved, routed=routed), progress)
        design = _design(routed, artifacts, lab)
        readbacks = _read_back(lab, status, design, _observe(lab, artifacts), progress)
        if tables is not None:
            readbacks = tuple(drop_known(readback, proved.routed, tables) for readback in readbacks)
        looked = Looked(proved, lab, status, readbacks, (), {}, tables)
        first = first or looked
        if looked.is_equal:
            return looked
    assert first is not None  # noqa: S101  (there is always something to hold it against)
    return first


def _drift() -> Problem:
    return Problem(
        "enact.lab-drift",
        "the declaration has changed since the lab was started",
        "weftline lab up PLACE starts it anew",
    )


def disturb(place: Path, injection: Injection, progress: Progress = silent) -> LabFault:
    """Put a fault into a lab that runs."""
    checked = check(place)
    lab = choose_lab(checked, None)
    lab.verify(lab_folder(place))
    proved = run_to_proofs(place, progress)
    artifacts = _render_unproved(proved, progress)
    return lab.inject(_design(proved.routed, artifacts, lab), lab_folder(place), injection)


def _render_unproved(proved: Proved, progress: Progress) -> ArtifactSet:
    """Render what the declaration says now, to look at a lab or to disturb it: nothing is deployed by that."""
    artifacts = render_proved(proved, None, force=True, progress=progress, to_disk=False).artifacts
    return artifacts if artifacts is not None else ArtifactSet(proved.routed.routes.digest, ())


def heal(place: Path) -> tuple[LabFault, ...]:
    """Take every fault out of a lab."""
    lab = choose_lab(check(place), None)
    lab.verify(lab_folder(place))
    return lab.heal(lab_folder(place))


def kill_master(place: Path) -> tuple[Takeover, ...]:
    """Kill the manager that is the master in each subnet of a lab, and wait for the one that takes over."""
    lab = choose_lab(check(place), None)
    if lab.kill_master is None:
        raise lacks_manager(lab)
    lab.verify(lab_folder(place))
    return lab.kill_master(lab_folder(place))


def find_access(place: Path, subnet: str | None) -> Access:
    """Find how programs reach a subnet of a lab that runs, the first one where none is named.

    Raises:
        UsageError: ``usage.choice`` when the lab has no such subnet.
    """
    lab = choose_lab(check(place), None)
    accesses = lab.verify(lab_folder(place)).accesses
    if not accesses:
        raise lacks_manager(lab)
    names = [access.subnet for access in accesses]
    if subnet is not None and subnet not in names:
        raise UsageError(
            "usage.choice", f"{subnet[:40]!r} is no subnet of the lab", f"choose one of {', '.join(names)}"
        )
    return accesses[names.index(subnet or names[0])]


def lacks_manager(lab: Lab) -> CapabilityError:
    """Say that what runs in a lab needs no manager."""
    message = f"the lab {lab.name} runs devices that route by themselves: there is no manager"
    return CapabilityError("capability.no-manager", message, "weftline lab break disturbs it")


def take_down(place: Path) -> tuple[LabProcess, ...]:
    """Stop every program of the lab of a place, whatever state it is in; the declaration need not be sound."""
    folder = lab_folder(place)
    if not folder.parent.is_dir():
        return ()
    return tuple(process for lab in LABS.values() for process in lab.down(folder))


def lab_folder(place: Path) -> Path:
    """Say where the lab of a place stands."""
    return open_place(place).folder / FOLDER


def parse_counter(text: str) -> tuple[str, int]:
    """Read ``symbol=120``.

    Raises:
        UsageError: ``usage.counter``.
    """
    name, _, value = text.partition("=")
    if not name or not value.isascii() or not value.isdigit() or len(value) > 10:
        raise UsageError("usage.counter", f"{text[:40]!r} is no counter with its value", "write it as symbol=120")
    return name, int(value)


def choose_lab(checked: Checked, name: str | None) -> Lab:
    """Choose the lab of a name, or the one for the technology.

    Raises:
        UsageError: ``usage.lab``.
        CapabilityError: ``capability.no-lab``.
    """
    technology = checked.technology.name
    fitting = [lab for lab in LABS.values() if technology in lab.technologies]
    if name is not None and name not in LABS:
        raise UsageError("usage.lab", f"{name[:40]!r} is no lab", f"labs: {', '.join(LABS)}")
    chosen = [lab for lab in fitting if name in {None, lab.name}]
    if not chosen:
        raise CapabilityError(
            "capability.no-lab",
            f"no lab {'called ' + name + ' ' if name else ''}runs a fabric of technology {technology}",
            f"labs run: {', '.join(sorted({word for lab in LABS.values() for word in lab.technologies}))}",
        )
    return chosen[0]


def _check_programs(lab: Lab) -> None:
    problems = (*lab.problems(), *(() if lab.driver is None else DRIVERS[lab.driver].problems()))
    if problems:
        first = problems[0]
        raise ArtifactError(first.code, first.message, first.hint, problems=problems)


def _design(routed: Routed, artifacts: ArtifactSet, lab: Lab) -> LabDesign:
    files: dict[str, dict[str, bytes]] = {}
    if lab.driver is None:
        return LabDesign(
            routed.routes.digest,
            routed.built.fabric,
            routed.addresses,
            (),
            devices=_list_devices(routed, artifacts),
            routes=routed.routes,
        )
    for artifact in artifacts.artifacts:
        if artifact.vendor == lab.driver:
            files.setdefault(artifact.device, {})[artifact.path.rpartition("/")[2]] = artifact.content
    subnets = tuple(LabSubnet(name, plane, files[name]) for plane, name in enumerate(sorted(files, key=_number)))
    return LabDesign(routed.routes.digest, routed.built.fabric, routed.addresses, subnets)


def _list_devices(routed: Routed, artifacts: ArtifactSet) -> tuple[LabDevice, ...]:
    """List every switch and host with its files and with what they say."""
    files: dict[str, dict[str, bytes]] = {}
    facts: dict[str, dict[str, FactValue]] = {}
    for artifact in artifacts.artifacts:
        if artifact.device:
            files.setdefault(artifact.device, {})[artifact.path.rpartition("/")[2]] = artifact.content
    for name in routed.built.checked.technology.design.vendors:
        for config in VENDORS[name].observe(artifacts):
            facts.setdefault(config.device, {}).update(config.values)
    return tuple(LabDevice(name, files[name], facts.get(name, {})) for name in sorted(files))


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])


def _observe(lab: Lab, artifacts: ArtifactSet) -> dict[str, ObservedConfig]:
    """Read what the rendered files of each subnet say."""
    if lab.driver is None:
        return {}
    own = ArtifactSet(artifacts.of, tuple(item for item in artifacts.artifacts if item.vendor == lab.driver))
    return {config.device: config for config in VENDORS[lab.driver].observe(own)}


def _read_back(
    lab: Lab, status: LabStatus, design: LabDesign, configs: Mapping[str, ObservedConfig], progress: Progress
) -> tuple[Readback, ...]:
    """Read every subnet and hold it against what its rendered files say."""
    if lab.driver is None:
        return ()
    driver = DRIVERS[lab.driver]
    found: list[Readback] = []
    subnets = {subnet.name: subnet for subnet in design.subnets}
    for access in status.accesses:
        subnet = subnets[access.of or access.subnet]
        progress(f"reading back {access.subnet}", None)
        options = _read_options(subnet.files.get(OPTIONS, subnet.files.get(UNFILLED, b"")))
        state = driver.read_state(access, driver.wants_lanes(options))
        config = configs[subnet.name]
        rendered = RenderedSubnet(config, options, design.fabric, design.addresses, subnet.plane)
        found.append(driver.compare(rendered, state, access.entry))
    return tuple(found)


def _read_options(content: bytes) -> dict[str, str]:
    lines = (line.strip() for line in content.decode("utf-8", "replace").split("\n"))
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {name: value.strip() for name, _, value in pairs}
