"""Steps over millions of objects: without looking for cycles among them, and two at a time."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from weftline.kernels.threads import count_cores

T = TypeVar("T")


@contextmanager
def without_collector() -> Generator[None]:
    """Let Python's collector of cycles rest during a step, or a function that is decorated with it.

    What is read from files are trees, which are freed by counting references; the collector looks through all of them
    again and again, a quarter of the time of rendering and reading a large fabric, and finds nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def beside(work: Callable[[], T], *, if_worth: bool) -> Generator[Callable[[], T]]:
    """Do some work in a copy of this process while the body of the block goes on; yield what waits for its result.

    The work sees all that is there, changes nothing here, and returns something small. Where there is no second
    processor, or the copy cannot be made or is lost, the result is the same: the work is done here when it is asked
    for. However the block is left, the copy is gone then. Without ``if_worth`` nothing is copied.
    """
    copy = _start(work) if if_worth and count_cores() > 1 else None
    if copy is None:
        yield work
        return
    process, pipe = copy
    try:
        with os.fdopen(pipe, "rb") as stream:
            yield lambda: _receive(stream.read(), work)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _start(work: Callable[[], object]) -> tuple[int, int] | None:
    """Copy this process and let the copy do the work; return its number and the pipe that its result comes by."""
    taking, giving = os.pipe()
    try:
        process = os.fork()
    except OSError:  # no memory or no process left
        os.close(taking)
        os.close(giving)
        return None
    if process:
        os.close(giving)
        return process, taking
    # The copy has no other thread of this one, and leaves without its exit handlers and without writing what buffers
    # of files hold: those are this process's own.
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # this process hears it too, and ends the copy
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, signal.SIG_DFL)
        os.close(taking)
        with os.fdopen(giving, "wb") as stream:
            pickle.dump(work(), stream)
    finally:
        os._exit(0)


def _receive(content: bytes, work: Callable[[], T]) -> T:
    """Unpack a result; an error, or the end of the copy, left none that is whole, and shows itself here again."""
    try:
        return pickle.loads(content)  # noqa: S301  (our own copy wrote it)
    except (EOFError, pickle.UnpicklingError):
        return work()
