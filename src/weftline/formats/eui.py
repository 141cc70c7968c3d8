"""Hardware addresses (EUI-48 and EUI-64): as text, and as placeholders derived from names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from weftline.kernels.column import U64

LOCALLY_ADMINISTERED = 0x02
"""First byte of an address that no manufacturer gave out. IEEE 802-2014, 8.2."""


def derive_ids(names: Sequence[str], hash_bytes: int, tail_bytes: int) -> U64:
    """Derive one placeholder per name: 0x02, ``hash_bytes`` of its digest, then ``tail_bytes`` of zero.

    The same name gives the same address, whatever the other names are, unless two digests collide: then the later
    name is digested again. Names must differ.
    """
    taken: set[int] = set()
    ids = np.empty(len(names), dtype=np.uint64)
    for index, name in enumerate(names):
        salt = 0
        while (value := _digest_name(name, salt, hash_bytes)) in taken:
            salt += 1
        taken.add(value)
        ids[index] = ((LOCALLY_ADMINISTERED << (8 * hash_bytes)) | value) << (8 * tail_bytes)
    return ids


def _digest_name(name: str, salt: int, size: int) -> int:
    text = f"{name}#{salt}" if salt else name
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "big")


def format_guid(value: int) -> str:
    """Write an EUI-64 as ``0x0002c90300100000``."""
    return f"0x{int(value):016x}"


def format_mac(value: int) -> str:
    """Write an EUI-48 as ``02:00:5e:10:00:01``."""
    return int(value).to_bytes(6, "big").hex(":")
