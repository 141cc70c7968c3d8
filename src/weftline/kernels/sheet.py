"""Large tables in versions: a copy shares the pages that it does not write to, and digests are kept per row."""

from __future__ import annotations

import hashlib
import mmap
import os
import weakref
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, U8
from weftline.kernels.threads import run_parts, split_range

T = TypeVar("T", bound=np.generic)

LEAST_BYTES = 1 << 24
"""Below that a plain copy is as quick."""
LEAST_ROWS = 256
"""Rows that are worth a thread."""


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


def digest_rows(table: NDArray[np.generic]) -> U8:
    """Digest every row of a table with SHA-256, on all cores; shape (rows, 32)."""
    digests = np.empty((len(table), 32), dtype=np.uint8)
    _digest_some(table, np.arange(len(table), dtype=np.int32), digests)
    return digests


def renew_digests(digests: U8, table: NDArray[np.generic], row: I32) -> U8:
    """Digest the rows of a table that differ from those before; the digests of all others stay."""
    renewed = digests.copy()
    _digest_some(table, row, renewed)
    return renewed


def _digest_some(table: NDArray[np.generic], row: I32, digests: U8) -> None:
    """Digest some rows."""

    def work(begin: int, end: int) -> None:
        for at in row[begin:end].tolist():
            digest = hashlib.sha256(np.ascontiguousarray(table[at]).view(np.uint8).data).digest()
            digests[at] = np.frombuffer(digest, dtype=np.uint8)

    run_parts(split_range(len(row), LEAST_ROWS), work)
