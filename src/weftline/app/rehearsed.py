"""What is known of a rehearsal so far, in one file that is whole at every moment, so that a killed run can go on."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import cast

import numpy as np

from weftline.app.files import write_bytes
from weftline.kernels.column import Array
from weftline.model.rehearsal import Outcomes, Way

MAX_BYTES = 2**30
COLUMNS = (
    "way", "deadlock", "lost_endpoints", "lost_pairs", "undelivered", "worst", "port", "leave_ptr", "leave_rank",
)  # fmt: skip
HEAD = b"weftline/rehearsal-state/1 "


def place_state(folder: Path, key: str) -> Path:
    """Say where the file of a rehearsal stands in a workspace."""
    return folder / "rehearsal" / f"{key[:32]}.state"


def read_state(path: Path, key: str, states: int, jobs: int) -> Outcomes | None:
    """Read what is known; None where nothing is, or where the file is of something else or damaged."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        data = path.read_bytes()
        head, _, body = data.partition(b"\n")
        if head != HEAD + key.encode() + b" " + hashlib.sha256(body).hexdigest().encode():
            return None
        with np.load(io.BytesIO(body), allow_pickle=False) as file:
            columns = {name: cast("Array", file[name]) for name in COLUMNS}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    outcomes = Outcomes(**columns)  # type: ignore[arg-type]
    return outcomes if _fits(outcomes, states, jobs) else None


def _fits(outcomes: Outcomes, states: int, jobs: int) -> bool:
    flat = (outcomes.way, outcomes.deadlock, outcomes.lost_endpoints, outcomes.lost_pairs, outcomes.undelivered)
    if any(column.shape != (states,) for column in flat):
        return False
    if outcomes.worst.shape != (states, jobs) or outcomes.port.shape != (states, jobs):
        return False
    ptr = outcomes.leave_ptr
    if ptr.shape != (states + 1,) or int(ptr[0]) or bool((np.diff(ptr) < 0).any()):
        return False
    return int(ptr[-1]) == len(outcomes.leave_rank) and bool(np.isin(outcomes.way, tuple(Way)).all())


def write_state(path: Path, key: str, outcomes: Outcomes) -> None:
    """Write what is known, whole or not at all."""
    body = io.BytesIO()
    np.savez(body, **{name: getattr(outcomes, name) for name in COLUMNS})
    content = body.getvalue()
    write_bytes(path, HEAD + key.encode() + b" " + hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
