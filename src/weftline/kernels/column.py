"""Columns: the array types that nouns are made of, and the digest over them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

NIL = -1
"""No such index."""

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
