"""Where the managers of a subnet run, how they are started, and which of them is the master now."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from weftline.errors import CapabilityError, EnactError
from weftline.formats import opensm_log
from weftline.formats.opensm_log import list_events
from weftline.labs import holding, processes
from weftline.labs.ibsim import opensm, simulator, state, waiting
from weftline.labs.ibsim.state import ProcessRecord, SeatRecord, State, SubnetRecord
from weftline.labs.ibsim.topology import Part, name_place
from weftline.model.lab import LabDesign, LabFault, LabProcess, Takeover

FILE = "managers"
PORTS = "guid2lid"
"""A line for each port that has an address."""
STANDBY = "standby"
_NAME = re.compile(r'"([^"]+)"')
_LINE = re.compile(rb"^(0x[0-9a-f]{16}) (\d{1,2}) ", re.MULTILINE)
TAKEOVER_S = 60.0
HANDOVER_S = 5.0
"""How long a standby may take to hand the subnet to one of higher priority."""
SWEEP_S = 5.0
SWEEP_S_PER_PORT = 0.004
"""How long its first sweep may take; one of 11,664 hosts takes 20 s."""
STARTS = 3


def list_seats(design: LabDesign, files: Mapping[str, bytes], part: Part, name: str) -> tuple[SeatRecord, ...]:
    """List the declared managers whose ports are in a part of the fabric; without any, one at its entry."""
    fabric, addresses = design.fabric, design.addresses
    ports = {int(addresses.port_id[port]): port for port in fabric.endpoint_port.tolist() if part.within[port]}
    told = [(int(match[1], 16), int(match[2])) for match in _LINE.finditer(files.get(FILE, b""))]
    own: list[tuple[int, int | None]] = [(guid, priority) for guid, priority in told if guid in ports]
    seats: list[SeatRecord] = []
    for number, (guid, priority) in enumerate(own or [(int(addresses.port_id[part.entry_port]), None)]):
        program = opensm.NAME if number == 0 else f"{opensm.NAME}-{STANDBY}-{number}"
        folder = name if number == 0 else f"{name}/{STANDBY}-{number}"
        host, _ = name_place(fabric, ports[guid])
        seats.append(SeatRecord(program=program, folder=folder, host=host, entry=guid, priority=priority))
    return tuple(seats)


def wait_standby(folder: Path, process: LabProcess, limit_s: float, tick: Callable[[float], None]) -> None:
    """Wait until a manager found the master and stands by.

    Raises:
        EnactError: ``enact.lab-start`` when it does not.
    """
    tail = waiting.Tail(folder / opensm.LOG)
    if not waiting.wait(tail, lambda text: b"Entering STANDBY state" in text, process, limit_s, tick):
        message = f"{process.name} of {process.subnet} does not stand by"
        raise EnactError("enact.lab-start", message, f"see {folder / opensm.LOG}")


def kill_master(folder: Path) -> tuple[Takeover, ...]:
    """Kill the master of each subnet without a word, and wait until another has taken over and swept.

    Raises:
        CapabilityError: ``capability.no-standby`` when there is nobody to take over; nothing is killed then.
        EnactError: ``enact.no-takeover`` when nobody does in time.
    """
    key = holding.key_of(folder)
    with holding.held(folder):
        note = state.read(folder)
        chosen = [(record, find_master(folder, note, record)) for record in note.subnets]
        for record, master in chosen:
            if not [seat for seat in list_running(note, record) if seat != master]:
                raise CapabilityError(
                    "capability.no-standby",
                    f"{record.name} has one manager that runs, {master.program}, and nobody to take over",
                    "name two ports under infiniband.managers, and bring the lab up anew",
                )
        return tuple(_replace(folder, key, note, record, master) for record, master in chosen)


def _replace(folder: Path, key: str, note: State, record: SubnetRecord, master: SeatRecord) -> Takeover:
    (process,) = (p for p in note.processes if p.subnet == record.name and p.name == master.program)
    others = [seat for seat in list_running(note, record) if seat != master]
    tails: dict[str, waiting.Tail] = {}
    for seat in others:
        log = folder / seat.folder / opensm.LOG
        tails[seat.program] = waiting.Tail(log, log.stat().st_size)
    begin = time.monotonic()
    victim = LabProcess(process.name, process.subnet, process.pid, process.started, is_running=True)
    processes.signal_process(key, victim, signal.SIGKILL)
    while time.monotonic() - begin < TAKEOVER_S:
        for seat in others:
            kinds = [event.kind for event in list_events(tails[seat.program].read())]
            if "master" in kinds and "up" in kinds[kinds.index("master") :]:
                return Takeover(record.name, master.program, seat.program, time.monotonic() - begin)
        time.sleep(waiting.POLL_S)
    message = f"{master.program} of {record.name} was killed, and nobody took over within {TAKEOVER_S:.0f} s"
    raise EnactError("enact.no-takeover", message, f"see {folder / others[0].folder / opensm.LOG}")


def restart(folder: Path, *, alone_too: bool = False) -> tuple[LabFault, ...]:
    """Start the managers again that do not run; the one of the highest priority becomes the master.

    Without ``alone_too`` a subnet whose only manager is gone stays as it is: the lab is then down, and not healed.
    """
    key = holding.key_of(folder)
    note = state.read(folder)
    faults: list[LabFault] = []
    for record in note.subnets:
        running = {seat.program for seat in list_running(note, record)}
        for seat in record.seats:
            if seat.program in running or (len(record.seats) == 1 and not alone_too):
                continue
            process = _start_again(folder, key, record, seat)
            kept = ProcessRecord(name=process.name, subnet=process.subnet, pid=process.pid, started=process.started)
            others = tuple(p for p in note.processes if (p.subnet, p.name) != (kept.subnet, kept.name))
            note = note.model_copy(update={"processes": (*others, kept)})
            state.write(folder, note)
            faults.append(LabFault("break", _say(record, seat), ()))
    return tuple(faults)


def stop_unseen(folder: Path, commands: Collection[tuple[str, str]]) -> frozenset[str]:
    """Stop managers whose link was taken out and put back, where there are others; ``restart`` starts them again.

    ibsim forgets of a port that was down that a manager runs there, so that the others would never see it.
    """
    note, key = state.read(folder), holding.key_of(folder)
    stopped: set[str] = set()
    for record in note.subnets:
        names = [set(_NAME.findall(command)) for subnet, command in commands if subnet == record.name]
        for seat in list_running(note, record) if len(record.seats) > 1 else ():
            ends = {seat.host, _find_leaf(folder / record.name, seat.host)}
            if any(ends & named for named in names):
                (one,) = (p for p in note.processes if (p.subnet, p.name) == (record.name, seat.program))
                process = LabProcess(one.name, one.subnet, one.pid, one.started, is_running=True)
                processes.stop(key, [process])
                stopped.add(_say(record, seat))
    return frozenset(stopped)


def _say(record: SubnetRecord, seat: SeatRecord) -> str:
    return f"manager {seat.program} of {record.name}"


def _find_leaf(place: Path, host: str) -> str:
    """Find the switch at which an adapter hangs, as the simulator calls it."""
    text = (place / simulator.TOPOLOGY).read_text(encoding="utf-8", errors="replace")
    found = re.search(rf'^Ca\t\d+ "{re.escape(host)}".*\n\[\d+\]"([^"]+)"', text, flags=re.MULTILINE)
    return found[1] if found else ""


def _start_again(folder: Path, key: str, record: SubnetRecord, seat: SeatRecord) -> LabProcess:
    """Start a manager again, and once more where it is handed the subnet and comes to no end of its sweep.

    ibsim drops a datagram now and then where two managers talk to each other, and its library knows no timeouts:
    OpenSM then waits for the answer for ever, which it does not on real ports.
    """
    place = folder / seat.folder
    left = STARTS
    while True:
        left -= 1
        (place / opensm.LOG).unlink(missing_ok=True)
        process = opensm.start(place, key, record.model_copy(update={"seats": (seat,)}), {})
        tail = waiting.Tail(place / opensm.LOG)
        waiting.wait(tail, _is_settled, process, TAKEOVER_S, lambda _: None)
        if seat == record.seats[0]:
            waiting.wait(tail, _is_handed_over, process, HANDOVER_S, lambda _: None)
        if left == 0 or not _is_handed_over(tail.text) or _is_through(place, tail, process):
            return process
        processes.signal_process(key, process, signal.SIGKILL)


def _is_through(place: Path, tail: waiting.Tail, process: LabProcess) -> bool:
    patience = SWEEP_S + SWEEP_S_PER_PORT * (place / PORTS).read_bytes().count(b"\n")
    return waiting.wait(tail, _is_swept, process, patience, lambda _: None)


def _is_handed_over(text: bytes) -> bool:
    return b"Entering MASTER state" in text


def _is_swept(text: bytes) -> bool:
    """Say whether the last manager of a log to become the master swept, or gave the subnet away again."""
    kinds = [event.kind for event in list_events(text)]
    last = max((at for at, kind in enumerate(kinds) if kind == "master"), default=len(kinds))
    return not {"up", "given-up", "standby"}.isdisjoint(kinds[last:])


def _is_settled(text: bytes) -> bool:
    return b"Entering STANDBY state" in text or opensm_log.UP in text


def list_running(note: State, subnet: SubnetRecord) -> list[SeatRecord]:
    """List the managers of a subnet that run."""
    running = {
        process.name
        for process in note.processes
        if process.subnet == subnet.name and processes.read_start(process.pid) == process.started
    }
    return [seat for seat in subnet.seats if seat.program in running]


def find_master(folder: Path, note: State, subnet: SubnetRecord) -> SeatRecord:
    """Find the manager that runs and became the master last; the first one where none says so."""
    running = list_running(note, subnet)
    masters = [seat for seat in running if _is_master(folder / seat.folder / opensm.LOG)]
    return next(iter((*masters, *running, *subnet.seats)))


def _is_master(path: Path) -> bool:
    try:
        events = list_events(path.read_bytes())
    except OSError:
        return False
    kinds = [event.kind for event in events if event.kind in {"master", "standby", "cut-off"}]
    return bool(kinds) and kinds[-1] == "master"
