"""The packet kernels as plain Python, read from their source, perhaps with one fault in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from weftline.kernels import packet_run
from weftline.kernels.packet_run import World
from weftline.simulate.packet.drive import EVENTS_AT_ONCE

FOLDER = Path(packet_run.__file__).parent
PREFIX = "weftline.kernels."
PLAIN = "plain_kernels."
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong piece of text in a kernel module; what was there must be there once."""

    module: str
    right: str
    wrong: str

    def put_in(self, source: str) -> str:
        """Put the fault into the source of its module."""
        assert source.count(self.right) == 1, f"{self.module}.py has {self.right!r} {source.count(self.right)} times"
        return source.replace(self.right, self.wrong)


def _leave(function: Function) -> Function:
    return function


def _fetch_nothing(_array: Any, _row: Any) -> None:
    return None


def _make_door() -> ModuleType:
    """Make what the kernels import instead of the door to numba."""
    door = ModuleType(PLAIN + "_jit")
    for name in ("kernel", "lean_kernel", "inlined"):
        setattr(door, name, _leave)
    door.__dict__["fetch_row"] = _fetch_nothing
    return door


@cache
def _read(module: str) -> str:
    return (FOLDER / f"{module}.py").read_text().replace(f"from {PREFIX}", f"from {PLAIN}")


MODULES = (
    "column", "tables", "calendar", "packet_state", "packet_lanes", "packet_choice", "packet_ahead", "packet_sender",
    "packet_sending", "packet_arriving", "packet_timing", "packet_run",
)  # fmt: skip
"""In an order in which each imports only what stands before it."""


@lru_cache(maxsize=1)
def load(fault: Fault | None = None) -> dict[str, Any]:
    """Load all packet kernels anew, one of them with a fault; returns the modules by name."""
    names = dict.fromkeys(PLAIN + module for module in MODULES)
    try:
        sys.modules[PLAIN[:-1]] = ModuleType(PLAIN[:-1])
        sys.modules[PLAIN + "_jit"] = _make_door()
        for name in names:
            short = name.removeprefix(PLAIN)
            source = _read(short)
            if fault is not None and fault.module == short:
                source = fault.put_in(source)
            module = sys.modules[name] = ModuleType(name)
            exec(compile(source, f"{short}.py", "exec"), module.__dict__)  # noqa: S102  (our own source)
        return {module: sys.modules[PLAIN + module] for module in MODULES}
    finally:
        for name in (*names, PLAIN + "_jit", PLAIN[:-1]):
            sys.modules.pop(name, None)


def loosen(world: World) -> World:
    """Turn columns into lists of Python's own integers, and records into objects: nothing is narrow, all is faster."""
    return World(*(_loosen(column) for column in world))


def _loosen(column: Any) -> Any:
    if column.dtype.names:
        return [SimpleNamespace(**dict(zip(column.dtype.names, row, strict=True))) for row in column.tolist()]
    if column.ndim > 1 or column.dtype == np.uint64:
        return column.copy() if column.dtype == np.uint64 else column.astype(np.int64)
    return column.tolist()


def tighten(loose: World, world: World) -> None:
    """Bring what a run has made of a world back into its columns."""
    for column, was in zip(world, loose, strict=True):
        if column.dtype.names:
            names = column.dtype.names
            column[:] = np.array([tuple(getattr(row, name) for name in names) for row in was], dtype=column.dtype)
        elif column.flags.writeable:
            column[:] = was


def run_plain(run: Callable[[World, int, int], int], world: World, until_ps: int) -> int:
    """Run a world to its end with plain kernels, as ``drive`` does; its pools must be large enough."""
    loose = loosen(world)
    status = run(loose, until_ps, EVENTS_AT_ONCE)
    tighten(loose, world)
    return status
