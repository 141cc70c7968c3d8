"""Kernels on several cores: a range is cut into parts, and every part is worked on by a thread of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

MOST_THREADS = 16
"""Beyond that memory is what work waits for."""


def count_cores() -> int:
    """Count the cores that this process may use, up to ``MOST_THREADS``."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, MOST_THREADS))


def split_range(size: int, least: int, step: int = 1) -> list[tuple[int, int]]:
    """Cut ``range(size)`` into a part per core, each a multiple of ``step`` and none much below ``least``."""
    parts = max(1, min(count_cores(), size // max(least, 1)))
    width = -(-size // parts)
    width = -(-width // step) * step
    return [(first, min(first + width, size)) for first in range(0, size, max(width, 1))]


def run_parts(parts: list[tuple[int, int]], work: Callable[[int, int], T]) -> list[T]:
    """Call ``work(first, last)`` for each part, at the same time where there are several; answers in order.

    Kernels release the interpreter. Each part writes what is its own, so the number of cores changes nothing.
    """
    if len(parts) < 2:
        return [work(*part) for part in parts]
    with ThreadPoolExecutor(len(parts)) as pool:
        started = [pool.submit(work, *part) for part in parts]
        return [one.result() for one in started]
