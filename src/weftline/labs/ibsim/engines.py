"""OpenSM left to one of its own routing engines on a fabric: what it says, and what it programs."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from weftline.formats import opensm_log
from weftline.labs import holding, processes
from weftline.labs.ibsim import opensm, running, simulator, state, waiting
from weftline.model.driver import Access, SubnetState
from weftline.model.lab import EngineOutcome, EngineRun, EngineTrial, LabDesign, Progress, Read

WIRE_MADS = "50"
"""Datagrams that OpenSM has on the wire at once; its own 4 only make it slower (max_wire_smps)."""


def try_engine(design: LabDesign, trial: EngineTrial, folder: Path, read: Read, progress: Progress) -> EngineRun:
    """Run each subnet of a fabric under one engine, one after the other, and stop and clear everything afterwards.

    The engine is given as users give it, without ``no_fallback``: what OpenSM then does instead is part of the answer.
    """
    key = holding.key_of(folder)
    found: list[tuple[EngineOutcome, opensm_log.LogFacts, SubnetState | None]] = []
    seconds = 0.0
    with holding.held(folder):
        running.stop(key)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(parents=True)
            for subnet in running.split(design):
                begin, verdict = _try_subnet(design, subnet, trial, folder, read, progress)
                seconds += begin
                found.append(verdict)
        except OSError as error:
            raise holding.unwritable(folder, error) from error
        finally:
            running.stop(key)
            shutil.rmtree(folder, ignore_errors=True)
    outcome, facts, _ = next((one for one in found if one[0] != "ran"), found[0])
    states = tuple(one[2] for one in found if one[2] is not None)
    return EngineRun(
        trial=trial,
        outcome=outcome,
        programmed=facts.programmed,
        reason="" if outcome == "ran" else facts.reason,
        states=states if len(states) == len(found) else (),
        seconds=seconds,
    )


def _try_subnet(
    design: LabDesign, subnet: running.Running, trial: EngineTrial, folder: Path, read: Read, progress: Progress
) -> tuple[float, tuple[EngineOutcome, opensm_log.LogFacts, SubnetState | None]]:
    """Run one subnet; returns how long the manager took, and what came of it."""
    key = holding.key_of(folder)
    place = folder / subnet.name
    place.mkdir()
    record = state.SubnetRecord(
        name=subnet.name,
        of=subnet.rendered.name,
        plane=subnet.rendered.plane,
        part=subnet.part,
        socket=f"{key}-{subnet.name}",
        host=subnet.topology.entry,
        entry=int(design.addresses.port_id[subnet.topology.entry_port]),
    )
    words = f"{trial.label}: OpenSM routes {subnet.name}"
    device = simulator.start(place, key, record, subnet.topology, int(design.addresses.port_address.max(initial=0)))
    simulator.wait_ready(place, device, running.limit_of([subnet.topology]), lambda _: progress(words, None))
    begin = time.monotonic()
    files = {**trial.files, opensm.OPTIONS: _write_options(design, trial)}
    manager = opensm.start(place, key, record, files, once=True)
    tail = waiting.Tail(place / opensm.LOG)
    waiting.wait(tail, lambda _: False, manager, trial.limit_s, lambda share: progress(words, share))
    seconds = time.monotonic() - begin
    is_late = processes.read_start(manager.pid) == manager.started
    processes.stop(key, [manager])
    facts = opensm_log.parse(tail.read())
    outcome: EngineOutcome = "ran" if facts.programmed == trial.engine else "fell-back"
    if not facts.is_up or not facts.programmed:
        outcome = "late" if is_late else "no-tables"
    found = None
    if outcome in {"ran", "fell-back"}:
        progress(f"{trial.label}: reading {subnet.name}", None)
        access = Access(subnet.name, opensm.make_environment(record), opensm.find_library(), place, record.entry)
        found = read(access)
    processes.stop(key, [device])
    return seconds, (outcome, facts, found)


def _write_options(design: LabDesign, trial: EngineTrial) -> bytes:
    options = {
        "routing_engine": trial.engine,
        "max_wire_smps": WIRE_MADS,
        "lmc": str(design.addresses.multipath_bits),
        **trial.options,
    }
    return "".join(f"{name} {value}\n" for name, value in options.items()).encode()
