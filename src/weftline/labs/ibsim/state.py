"""What a lab writes down about itself: its subnets, its programs and the faults that were put in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from weftline.labs.holding import read_note, say_down, write_note

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
    write_note(folder / FILE, state)


def read(folder: Path) -> State:
    """Read the file of a lab that is up.

    Raises:
        SourceError: ``source.lab-down`` when no lab is up there.
    """
    state = read_note(folder / FILE, State, MAX_BYTES, f"no lab runs in {folder}")
    if state.stage != "up":
        raise say_down(f"the lab in {folder} was not brought up to its end")
    return state
