"""What a lab of namespaces writes down about itself: what it is for, its devices, and the faults that were put in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from weftline.labs.holding import key_of, read_note, write_note
from weftline.labs.netns.timers import Timers

FILE = "lab.json"
MAX_BYTES = 64 * 2**20


class Record(BaseModel):
    """A part of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ProcessRecord(Record):
    """One program of one device."""

    name: str
    device: str
    pid: int
    started: int


class FaultRecord(Record):
    """One fault, and what takes it out: namespace, program and what the program reads."""

    subject: str
    is_silent: bool
    undo: tuple[tuple[str, str, str], ...]


class State(Record):
    """The whole file."""

    schema_name: Literal["weftline/netns-state/1"] = "weftline/netns-state/1"
    of: str
    processes: tuple[ProcessRecord, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    timers: Timers
    seconds: dict[str, float] = {}


def mark_of(folder: Path) -> str:
    """Name a lab of this kind by its folder; another kind of lab may have stood in the same one."""
    return f"{key_of(folder)}-netns"


def write(folder: Path, state: State) -> None:
    """Write the file whole or not at all; it is there once the lab is up."""
    write_note(folder / FILE, state)


def read(folder: Path) -> State:
    """Read the file of a lab that is up.

    Raises:
        SourceError: ``source.lab-down`` when no lab is up there.
    """
    absent = f"no lab runs in {folder}, or it was not brought up to its end"
    return read_note(folder / FILE, State, MAX_BYTES, absent)
