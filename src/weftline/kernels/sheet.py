"""Large tables in versions: a copy shares the pages that it does not write to."""

from __future__ import annotations

import mmap
import os
import weakref
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

LEAST_BYTES = 1 << 24
"""Below that a plain copy is as quick."""


@dataclass(frozen=True, eq=False)
class Sheet(Generic[T]):
    """A table from which writable copies are forked."""

    table: NDArray[T]
    """Read-only."""
    file: int | None
    """An unnamed file in memory that holds the table; None where copies are plain ones."""

    def fork(self) -> NDArray[T]:
        """Copy the table; O(pages written to later) in time and memory, and O(table) where there is no file."""
        if self.file is None:
            return self.table.copy()
        # a private mapping: the system copies a page when it is first written to
        pages = mmap.mmap(self.file, self.table.nbytes, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        return np.frombuffer(pages, dtype=self.table.dtype).reshape(self.table.shape)


def share(table: NDArray[T]) -> Sheet[T]:
    """Make copies of a table cheap; O(table). The table itself becomes read-only, as copies are to equal it."""
    table.setflags(write=False)
    if table.nbytes < LEAST_BYTES or not hasattr(os, "memfd_create"):
        return Sheet(table, None)
    file = os.memfd_create("weftline-sheet", os.MFD_CLOEXEC)
    sheet = Sheet(table, file)
    weakref.finalize(sheet, os.close, file)
    rest = np.ascontiguousarray(table).reshape(-1).view(np.uint8).data
    while rest:
        rest = rest[os.write(file, rest) :]
    return sheet
