"""Waiting for what a program writes: new text of a file, within a bound, while the program runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from weftline.labs.processes import read_start
from weftline.model.lab import LabProcess

POLL_S = 0.01


class Tail:
    """The text that a file gained since some place in it."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        self.text = b""

    def read(self) -> bytes:
        """Read what is new and return everything since the start of the tail."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset + len(self.text))
                self.text += file.read()
        except OSError:
            pass
        return self.text


def wait(
    tail: Tail, is_done: Callable[[bytes], bool], process: LabProcess, limit_s: float, tick: Callable[[float], None]
) -> bool:
    """Wait until the text says so; False when the program is gone or the time is over."""
    begin = time.monotonic()
    while True:
        is_alive = read_start(process.pid) == process.started
        if is_done(tail.read()):
            return True
        passed = time.monotonic() - begin
        if not is_alive or passed > limit_s:
            return False
        tick(min(passed / limit_s, 1.0))
        time.sleep(POLL_S)
