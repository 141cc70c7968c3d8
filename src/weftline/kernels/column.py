"""Columns: the array types that nouns are made of, and the digest over them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

NIL = -1
"""No such index."""

LEAST_ROWS = 256
"""Rows that are worth a thread."""
SPARSE = 8
"""Above that many times as many possible values as values these are sorted, and below it counted."""

I8: TypeAlias = NDArray[np.int8]
U8: TypeAlias = NDArray[np.uint8]
U16: TypeAlias = NDArray[np.uint16]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]
F64: TypeAlias = NDArray[np.float64]
Array: TypeAlias = NDArray[np.generic]


def freeze(*columns: Array) -> None:
    """Make arrays read-only, so that a frozen noun really is."""
    for column in columns:
        column.setflags(write=False)


def count_values(values: I32 | I64) -> tuple[I64, I64]:
    """List values, none negative, by their size, and how often each is there; O(values) where they are small."""
    if int(values.max(initial=0)) > SPARSE * len(values):
        found, count = np.unique(values, return_counts=True)
        return found.astype(np.int64), count.astype(np.int64)
    count = np.bincount(values)
    found = np.flatnonzero(count)
    return found, count[found]


def rank_values(values: I32 | I64) -> I32:
    """Number values, none negative, by their size, equal ones alike; O(values) where they are small."""
    largest = int(values.max(initial=0))
    if largest > SPARSE * len(values):
        return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int32)
    exists = np.zeros(largest + 1, dtype=bool)
    exists[values] = True
    return (np.cumsum(exists, dtype=np.int32) - 1)[values].astype(np.int32)


def digest_parts(parts: Iterable[str | bytes | Array | tuple[str, ...]]) -> str:
    """Digest text and columns into one SHA-256 in hex; the type and length of each part count too."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            head, body = f"a{part.dtype.str}{part.shape}", np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        elif isinstance(part, tuple):
            body = "\n".join(part).encode()
            head = f"t{len(part)}"
        elif isinstance(part, str):
            body = part.encode()
            head = "s"
        else:
            body, head = part, "b"
        digest.update(f"{head}:{len(body)};".encode())
        digest.update(body)
    return digest.hexdigest()


def digest_rows(table: Array) -> U8:
    """Digest every row of a table with SHA-256, on all cores; shape (rows, 32)."""
    digests = np.empty((len(table), 32), dtype=np.uint8)
    _digest_some(table, np.arange(len(table), dtype=np.int32), digests)
    return digests


def renew_digests(digests: U8, table: Array, row: I32) -> U8:
    """Digest the rows of a table that differ from those before; the digests of all others stay."""
    renewed = digests.copy()
    _digest_some(table, row, renewed)
    return renewed


def _digest_some(table: Array, row: I32, digests: U8) -> None:
    """Digest some rows."""
    from weftline.kernels.threads import run_parts, split_range  # noqa: PLC0415 - digests of small columns need none

    def work(begin: int, end: int) -> None:
        for at in row[begin:end].tolist():
            digest = hashlib.sha256(np.ascontiguousarray(table[at]).view(np.uint8).data).digest()
            digests[at] = np.frombuffer(digest, dtype=np.uint8)

    run_parts(split_range(len(row), LEAST_ROWS), work)
