"""OpenSM: started on the rendered files, and waited for until its log says that they are what it programmed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from weftline.errors import EnactError, Problem
from weftline.formats import opensm_log
from weftline.labs import processes
from weftline.labs.ibsim import waiting
from weftline.labs.ibsim.state import SeatRecord, SubnetRecord
from weftline.model.lab import LabProcess
from weftline.model.secret import Secret

NAME = "opensm"
LOG = "opensm.log"
OUT = "opensm.out"
ERRORS = "opensm.err"
OPTIONS = "opensm.conf"
UNFILLED = "opensm.conf.in"
"""Options that only name keys."""
M_KEY = "m_key"
KEY_FILE = "m_key"
INSTALL = b"/etc/opensm/"
"""Where rendered options say that the files stand; in a lab they stand where OpenSM runs."""
MAX_LOG_MB = 64
LOG_FLAGS = "0x03"
"""Errors and what it does; 0x43 would have it write its tables to files as well."""
LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib/aarch64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib64/umad2sim/libumad2sim.so",
    "/usr/lib/umad2sim/libumad2sim.so",
)


def find_library() -> str:
    """Find the library that leads programs to the simulator; empty where it is not installed."""
    return next((path for path in LIBRARIES if Path(path).is_file()), "")


def make_environment(subnet: SubnetRecord, seat: SeatRecord | None = None) -> dict[str, str]:
    """Say how programs reach the simulator of a subnet, as the adapter at which the manager runs."""
    return {
        "IBSIM_SOCKNAME": subnet.socket,
        "SIM_HOST": subnet.host if seat is None else seat.host,
        "OSM_CACHE_DIR": ".",
        "OSM_TMP_DIR": ".",
    }


def start(
    folder: Path,
    key: str,
    subnet: SubnetRecord,
    files: Mapping[str, bytes],
    *,
    secrets: Sequence[Secret] = (),
    once: bool = False,
) -> LabProcess:
    """Write the rendered files, with names relative to the folder, and start OpenSM on them.

    With ``once`` it configures the subnet and ends. It runs at the first seat of ``subnet``.
    """
    chosen = next(iter(subnet.seats), None)
    priority = None if chosen is None else chosen.priority
    for name, content in files.items():
        (folder / name).write_bytes(content.replace(INSTALL, b"") if name == OPTIONS else content)
    write_secrets(folder, files, secrets)
    program = processes.Program(
        name=NAME if chosen is None else chosen.program,
        subnet=subnet.name,
        arguments=[
            "opensm", "-F", OPTIONS, "-f", LOG, "-e", "-d", "2", "-D", LOG_FLAGS, "-L", str(MAX_LOG_MB),
            *(("-o",) if once else ()),
            *(("-p", str(priority)) if priority is not None else ()),
        ],
        environment=make_environment(subnet, chosen),
        folder=folder,
        # It tells on its standard output which options it read, keys among them.
        log=Path(os.devnull) if UNFILLED in files else folder / OUT,
        errors=folder / ERRORS,
        preload=find_library(),
    )  # fmt: skip
    return processes.start(program, key)


def write_secrets(folder: Path, files: Mapping[str, bytes], secrets: Sequence[Secret]) -> None:
    """Fill the keys into the options file, and keep the M_Key for what reads the subnet; nobody else may read either.

    Raises:
        EnactError: ``enact.lab-start`` when a key that the file names has no value: OpenSM would run without it.
    """
    content = files.get(UNFILLED)
    if content is None:
        return
    content = content.replace(INSTALL, b"")
    for secret in secrets:
        content = content.replace(f"@{secret.name}@".encode(), secret.value.encode())
        if secret.name == M_KEY:
            write_private(folder / KEY_FILE, secret.value.encode())
    lines = [line for line in content.split(b"\n") if not line.startswith(b"#") and b"@" in line]
    if lines:
        name = lines[0].split(b" ")[0].decode("utf-8", "replace")
        raise EnactError("enact.lab-start", f"no value is there for {name}", "name its file in infiniband.keys")
    write_private(folder / OPTIONS, content)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, from its first moment on."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def wait_up(folder: Path, process: LabProcess, limit_s: float, tick: Callable[[float], None]) -> None:
    """Wait until the subnet is up, and accept it only when the log holds no error and names the file tables.

    Raises:
        EnactError: ``enact.lab-start`` when the subnet does not come up, ``enact.lab-log`` when the log says that
            something else was programmed than the files say.
    """
    tail = waiting.Tail(folder / LOG)

    def is_done(text: bytes) -> bool:
        return opensm_log.UP in text or opensm_log.GIVEN_UP in text

    is_over = waiting.wait(tail, is_done, process, limit_s, tick)
    facts = opensm_log.parse(tail.read())
    problems = list_problems(folder, facts)
    if problems:
        first = problems[0]
        message = f"OpenSM of {process.subnet} did not take the files: {first.message}"
        raise EnactError("enact.lab-log", message, first.hint, problems=problems)
    if not is_over or not facts.is_up:
        message = f"{process.subnet} did not come up within {limit_s:.0f} s"
        raise EnactError("enact.lab-start", message, f"see {folder / LOG}")
    if not facts.has_tables:
        message = f"OpenSM of {process.subnet} is up, but not with the tables of the file"
        raise EnactError("enact.lab-log", message, f"see {folder / LOG}")


def list_problems(folder: Path, facts: opensm_log.LogFacts) -> tuple[Problem, ...]:
    """Turn the errors of a log into problems."""
    return tuple(Problem("enact.lab-log", line, f"see {folder / LOG}") for line in facts.errors)
