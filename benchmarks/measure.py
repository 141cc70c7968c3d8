"""One measured figure, and the ways to take it."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "bench"
EXAMPLE = ROOT / "examples" / "sovereign-512.yaml"
KIBIBYTE = 1024

T = TypeVar("T")


@dataclass(frozen=True)
class Figure:
    """A measured value; ``must`` is the bound that the product promises, ``aim`` the one that it works for."""

    name: str
    value: float
    unit: str
    must: float | None = None
    aim: float | None = None

    def is_ok(self) -> bool:
        """Tell whether the bound holds; smaller is better in every unit here."""
        return self.must is None or self.value <= self.must


def time_call(function: Callable[[], T]) -> tuple[float, T]:
    """Run a function once; seconds of wall time and what it returned."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def time_command(*arguments: str, repeat: int = 5) -> float:
    """Run ``weftline`` several times in processes of their own; the median in seconds of wall time."""
    command = [sys.executable, "-m", "weftline", *arguments]
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        done = subprocess.run(command, check=False, capture_output=True, cwd=ROOT, text=True)
        times.append(time.perf_counter() - start)
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])
    return statistics.median(times)


def peak_gib() -> float:
    """Measure the largest memory that this process has held so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIBIBYTE / 2**30
