"""Steps that make millions of objects which stay: without looking for cycles among them meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


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
