"""Ctrl-C that is always heard and never crashes, wherever it comes."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from types import FrameType

EXIT_INTERRUPTED = 130
"""What a shell expects after Ctrl-C."""
WORDS = "\ninterrupted; nothing is half-written\n"
SHOW_CURSOR = "\x1b[?25h"
WRITERS = frozenset({"weftline.app.files", "weftline.render.writing"})


def listen() -> None:
    """Take over the handling of Ctrl-C, in the main thread of a process that is ours."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # who started us may want it ignored, as nohup does
        signal.signal(signal.SIGINT, _hear)


def _hear(_number: int, frame: FrameType | None) -> None:
    """Leave at once; only where files are written raise ``KeyboardInterrupt``, so that they are put in order.

    An exception is not safe elsewhere: compiled kernels, and the compiler that loads them, call back from C code,
    which swallows it or brings the process down. There is nothing to put in order there.
    """
    if _is_writing(frame):
        raise KeyboardInterrupt
    with contextlib.suppress(OSError):  # stderr may be closed
        os.write(2, ((SHOW_CURSOR if os.isatty(2) else "") + WORDS).encode())
    os._exit(EXIT_INTERRUPTED)


def _is_writing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") in WRITERS:
            return True
        frame = frame.f_back
    return False


def hear_end() -> Callable[[], bool]:
    """Let Ctrl-C and SIGTERM end a loop at its next turn, in the main thread of a process that is ours."""
    heard: list[int] = []
    if signal.getsignal(signal.SIGINT) is _hear:  # else we run within somebody else's process, or under nohup
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _frame: heard.append(number))
    return lambda: bool(heard)
