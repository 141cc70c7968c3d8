"""What a lab of namespaces writes down about itself: what it is for, its devices, and the faults that were put in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from weftline.errors import SourceError
from weftline.labs.holding import key_of, unwritable
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
        return State.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise _down(f"no lab runs in {folder}, or it was not brought up to its end") from error
    except (OSError, ValidationError) as error:
        raise _down(f"{path} cannot be read") from error


def _down(message: str) -> SourceError:
    return SourceError("source.lab-down", message, "start it with weftline lab up PLACE")
