"""The life of a lab: up, a look at it, and down."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weftline.errors import Problem, SourceError
from weftline.formats import opensm_log
from weftline.labs import holding, processes
from weftline.labs.ibsim import opensm, seats, simulator, state
from weftline.labs.ibsim.topology import Topology, list_parts, make_topology
from weftline.model.driver import Access
from weftline.model.lab import LabDesign, LabFault, LabProcess, LabStatus, LabSubnet, Progress

PACKAGES = {"opensm": "opensm", "ibsim": "ibsim-utils", "env": "coreutils"}
START_S = 30.0
START_S_PER_NODE = 0.02
RECENT_BYTES = 1 << 20


def list_missing() -> tuple[Problem, ...]:
    """Say which programs are missing, with the command that installs them."""
    missing = [program for program in PACKAGES if processes.find_program(program) is None]
    packages = [PACKAGES[program] for program in missing]
    if not opensm.find_library():
        missing.append("libumad2sim.so")
        packages.append("ibsim-utils")
    if not missing:
        return ()
    hint = f"apt-get install -y {' '.join(dict.fromkeys(packages))}"
    return (Problem("artifact.program-missing", f"the lab needs {', '.join(missing)}", hint),)


def up(design: LabDesign, folder: Path, progress: Progress) -> LabStatus:
    """Start simulators and subnet managers; whatever stood there before is stopped and cleared away first.

    When it does not come up, everything that was started is stopped; the logs stay.
    """
    key = holding.key_of(folder)
    subnets = split(design)
    return holding.begin_anew(folder, lambda: stop(key), lambda: _start(design, subnets, folder, progress), progress)


@dataclass(frozen=True, slots=True)
class Running:
    """One subnet to run: what was rendered for it, and the part of the fabric that it is."""

    name: str
    rendered: LabSubnet
    part: int
    topology: Topology
    seats: tuple[state.SeatRecord, ...]


def split(design: LabDesign) -> list[Running]:
    """Make a subnet of each connected part of each plane; the parts of one plane run on the same files.

    A rail-only plane has a part per rail. The files of its manager know the switches and ports of all parts, and
    OpenSM passes over those that it does not find.
    """
    found: list[Running] = []
    for subnet in design.subnets:
        parts = list_parts(design.fabric, subnet.plane)
        for number, part in enumerate(parts):
            name = subnet.name if len(parts) == 1 else f"{subnet.name}-part-{number + 1}"
            chosen = seats.list_seats(design, subnet.files, part, name)
            topology = make_topology(design.fabric, design.addresses, part)
            found.append(Running(name, subnet, number, topology, chosen))
    return found


def _start(design: LabDesign, subnets: list[Running], folder: Path, progress: Progress) -> LabStatus:
    key = holding.key_of(folder)
    topologies = [subnet.topology for subnet in subnets]
    records = [
        state.SubnetRecord(
            name=subnet.name,
            of=subnet.rendered.name,
            plane=subnet.rendered.plane,
            part=subnet.part,
            socket=f"{key}-{index + 1}",
            host=subnet.seats[0].host,
            entry=subnet.seats[0].entry,
            seats=subnet.seats,
        )
        for index, subnet in enumerate(subnets)
    ]
    note = state.State(of=design.of, stage="starting", subnets=tuple(records))
    state.write(folder, note)
    limit_s = limit_of(topologies)
    top = int(max(design.addresses.port_address.max(initial=0), design.addresses.node_address.max(initial=0)))
    begin = time.monotonic()
    started: list[LabProcess] = []
    progress("starting the simulator", None)
    for record, topology in zip(records, topologies, strict=True):
        # OpenSM keeps the keys of ports in a file of its own there, which it makes readable for everybody.
        (folder / record.name).mkdir(mode=0o700)
        started.append(simulator.start(folder / record.name, key, record, topology, top))
    for process in tuple(started):
        simulator.wait_ready(folder / process.subnet, process, limit_s, lambda s: progress("starting the simulator", s))
    simulated = time.monotonic()
    progress("waiting for OpenSM", None)
    managers = [
        opensm.start(folder / record.name, key, record, subnet.rendered.files, secrets=design.secrets)
        for record, subnet in zip(records, subnets, strict=True)
    ]
    started += managers
    for process in managers:
        opensm.wait_up(folder / process.subnet, process, limit_s, lambda s: progress("waiting for OpenSM", s))
    started += _start_standbys(design, subnets, records, folder, progress)
    seconds = {"simulator": simulated - begin, "manager": time.monotonic() - simulated}
    kept = tuple(state.ProcessRecord(name=p.name, subnet=p.subnet, pid=p.pid, started=p.started) for p in started)
    note = note.model_copy(
        update={"stage": "up", "processes": kept, "seconds": {name: round(s, 3) for name, s in seconds.items()}}
    )
    state.write(folder, note)
    return _describe(folder, note)


def _start_standbys(
    design: LabDesign, subnets: list[Running], records: list[state.SubnetRecord], folder: Path, progress: Progress
) -> list[LabProcess]:
    """Start the other managers on the same files, each in a folder of its own, once the master is through."""
    key, started = holding.key_of(folder), list[LabProcess]()
    for record, subnet in zip(records, subnets, strict=True):
        for seat in record.seats[1:]:
            place = folder / seat.folder
            place.mkdir(mode=0o700)
            own = record.model_copy(update={"seats": (seat,)})
            process = opensm.start(place, key, own, subnet.rendered.files, secrets=design.secrets)
            seats.wait_standby(place, process, START_S, lambda s: progress("waiting for the standby", s))
            started.append(process)
    return started


def limit_of(topologies: Sequence[Topology]) -> float:
    """Say how long programs may take to come up."""
    return START_S + START_S_PER_NODE * sum(topology.nodes for topology in topologies)


def stop(key: str) -> tuple[LabProcess, ...]:
    """Stop the managers before the simulators: one whose simulator is gone waits for answers that never come."""
    found = processes.find(key)
    for is_last in (False, True):
        processes.stop(key, [process for process in found if (process.name == simulator.NAME) == is_last])
    return found


def verify(folder: Path) -> LabStatus:
    """Look at the programs of a lab and at their logs.

    Raises:
        SourceError: ``source.lab-down`` when no lab is up there, ``source.lab-process`` when one of its programs is
            gone.
    """
    with holding.held(folder):
        status = _describe(folder, state.read(folder))
    gone = [process for process in status.processes if not process.is_running]
    left = {process.subnet for process in status.processes if process.is_running and opensm.NAME in process.name}
    if any(opensm.NAME not in process.name or process.subnet not in left for process in gone):
        names = ", ".join(f"{process.name} of {process.subnet} (process {process.pid})" for process in gone)
        problems = tuple(
            Problem("source.lab-process", f"{process.name} of {process.subnet} (process {process.pid}) does not run")
            for process in gone
        )
        hint = "see its log in the folder of the lab; weftline lab up PLACE starts it anew"
        raise SourceError("source.lab-process", f"{names} does not run", hint, problems=problems)
    return status


def _describe(folder: Path, note: state.State) -> LabStatus:
    accesses: list[Access] = []
    problems: list[Problem] = []
    for record in note.subnets:
        place = folder / record.name
        master = seats.find_master(folder, note, record)
        for seat in record.seats:
            _sweep(folder / seat.folder)
        accesses.append(
            Access(
                record.name,
                opensm.make_environment(record, master),
                opensm.find_library(),
                place,
                master.entry,
                record.of,
                place / opensm.KEY_FILE if (place / opensm.KEY_FILE).is_file() else None,
            )
        )
        log = folder / master.folder / opensm.LOG
        facts = opensm_log.parse(_read_end(log))
        if facts.errors:
            message = f"the log of OpenSM of {record.name} holds {facts.error_count:,} errors, as: {facts.errors[-1]}"
            problems.append(Problem("enact.lab-log", message, f"see {log}", severity="warning"))
    known = tuple(
        LabProcess(p.name, p.subnet, p.pid, p.started, is_running=processes.read_start(p.pid) == p.started)
        for p in note.processes
    )
    faults = tuple(LabFault(fault.kind, fault.subject, fault.undo) for fault in note.faults)
    return LabStatus(note.of, folder, known, tuple(accesses), faults, tuple(problems), note.seconds)


def _sweep(place: Path) -> None:
    """Remove the folders that clients leave when they are killed."""
    for entry in place.glob("sys-*"):
        pid = entry.name.removeprefix("sys-")
        if pid.isdigit() and processes.read_start(int(pid)) is None:
            shutil.rmtree(entry, ignore_errors=True)


def _read_end(path: Path) -> bytes:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - RECENT_BYTES, 0))
        return file.read()
    return b""


def down(folder: Path) -> tuple[LabProcess, ...]:
    """Stop every program of a lab and clear its folder, whatever state it is in; returns what was stopped."""
    key = holding.key_of(folder)
    with holding.held(folder):
        found = stop(key)
        shutil.rmtree(folder, ignore_errors=True)
    return found
