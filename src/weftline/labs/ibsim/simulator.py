"""ibsim: started with a console that stays open, and told what to do over it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from weftline.errors import EnactError, SourceError
from weftline.labs import processes
from weftline.labs.ibsim import waiting
from weftline.labs.ibsim.state import SubnetRecord
from weftline.labs.ibsim.topology import Topology
from weftline.model.lab import LabProcess

NAME = "ibsim"
CONSOLE = "console"
LOG = "ibsim.log"
ERRORS = "ibsim.err"
TOPOLOGY = "fabric.topo"
READY = b"Network simulator ready"
PROMPT = b"sim> "
DEFAULT_LIDS = 30_720
MARGIN = 16
COMMAND_S = 5.0
ANSWER_S = 0.001
"""A command takes less than a millisecond, and a fault of several must not take long to come about."""
MAX_COMMAND = 200


def start(folder: Path, key: str, subnet: SubnetRecord, topology: Topology, top_lid: int) -> LabProcess:
    """Start the simulator of one subnet; its standard input is a pipe that never ends, or it would spin for ever."""
    (folder / TOPOLOGY).write_text(topology.text, encoding="utf-8")
    os.mkfifo(folder / CONSOLE, 0o600)
    sizes = {
        "-N": topology.nodes + MARGIN,
        "-S": topology.switches + MARGIN,
        "-P": topology.ports + MARGIN,
        "-L": max(DEFAULT_LIDS, -(-(top_lid + 1) // 64) * 64),
    }
    program = processes.Program(
        name=NAME,
        subnet=subnet.name,
        arguments=["ibsim", "-s", *(str(word) for pair in sizes.items() for word in pair), TOPOLOGY],
        environment={"IBSIM_SOCKNAME": subnet.socket},
        folder=folder,
        log=folder / LOG,
        errors=folder / ERRORS,
        console=folder / CONSOLE,
    )
    return processes.start(program, key)


def wait_ready(folder: Path, process: LabProcess, limit_s: float, tick: Callable[[float], None]) -> None:
    """Wait until the simulator takes clients.

    Raises:
        EnactError: ``enact.lab-start`` when it does not come up.
    """
    tail = waiting.Tail(folder / LOG)
    if not waiting.wait(tail, lambda text: READY in text, process, limit_s, tick):
        said = tail.text.decode("utf-8", "replace").strip().splitlines()
        message = f"ibsim of {process.subnet} did not come up: {said[-1][:200] if said else 'it said nothing'}"
        raise EnactError("enact.lab-start", message, f"see {folder / LOG}")


def tell(folder: Path, command: str) -> None:
    """Give one command to the console and wait until it is done.

    Raises:
        SourceError: ``source.lab-process`` when nobody reads the console, ``source.no-answer`` when the command is
            not done in time.
        EnactError: ``enact.lab-command`` when the simulator refuses it.
    """
    log = folder / LOG
    tail = waiting.Tail(log, log.stat().st_size if log.exists() else 0)
    try:
        handle = os.open(folder / CONSOLE, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        raise SourceError("source.lab-process", "ibsim does not run", "weftline lab up PLACE starts it") from error
    try:
        os.write(handle, command.encode()[:MAX_COMMAND] + b"\n")
    finally:
        os.close(handle)
    end = time.monotonic() + COMMAND_S
    while not tail.read().endswith(PROMPT):
        if time.monotonic() > end:
            raise SourceError("source.no-answer", f"ibsim does not answer to {command!r}", f"see {log}")
        time.sleep(ANSWER_S)
    said = tail.text.removesuffix(PROMPT).decode("utf-8", "replace").strip()
    if said.startswith("#"):
        raise EnactError("enact.lab-command", f"ibsim refuses {command!r}: {said[:200]}", f"see {log}")
