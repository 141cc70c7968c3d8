"""What a lab writes down about itself: its subnets, its programs and the faults that were put in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from weftline.errors import SourceError
from weftline.labs.holding import unwritable

FILE = "lab.json"
MAX_BYTES = 16 * 2**20


class Record(BaseModel):
    """A part of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SeatRecord(Record):
    """Where a subnet manager runs: its folder and the adapter."""

    program: str
    folder: str
    """Below that of the lab."""
    host: str
    entry: int
    priority: int | None


class SubnetRecord(Record):
    """One subnet: its socket, and the adapter at which it is entered."""

    name: str
    of: str
    """Name of the subnet whose rendered files it runs on."""
    plane: int
    part: int
    """Which of the connected parts of its plane it is."""
    socket: str
    host: str
    entry: int
    seats: tuple[SeatRecord, ...] = ()
    """The managers, the master first."""


class ProcessRecord(Record):
    """One program."""

    name: str
    subnet: str
    pid: int
    started: int


class FaultRecord(Record):
    """One fault that was put in."""

    kind: Literal["break", "miscable", "degrade"]
    subject: str
    undo: tuple[tuple[str, str], ...]


class State(Record):
    """The whole file."""

    schema_name: Literal["weftline/lab-state/2"] = "weftline/lab-state/2"
    of: str
    stage: Literal["starting", "up"]
    subnets: tuple[SubnetRecord, ...]
    processes: tuple[ProcessRecord, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    seconds: dict[str, float] = {}


def write(folder: Path, state: State) -> None:
    """Write the file whole or not at all."""
    aside = folder / f".{FILE}.part"
    try:
        aside.write_text(state.model_dump_json(indent=2) + "\n", encoding="utf-8")
        aside.replace(folder / FILE)
    except OSError as error:
        raise unwritable(folder / FILE, error) from error


def read(folder: Path) -> State:
    """Read the file of a lab that is up.

    Raises:
        SourceError: ``source.lab-down`` when no lab is up there.
    """
    path = folder / FILE
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _down(f"{path} is no file of a lab")
        state = State.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise _down(f"no lab runs in {folder}") from error
    except (OSError, ValidationError) as error:
        raise _down(f"{path} cannot be read") from error
    if state.stage != "up":
        raise _down(f"the lab in {folder} was not brought up to its end")
    return state


def _down(message: str) -> SourceError:
    return SourceError("source.lab-down", message, "start it with weftline lab up PLACE")
