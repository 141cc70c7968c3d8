"""A program of its own: asks a subnet manager for the service level of many paths at once, through libibumad.

It runs as ``python -I path_levels.py MANAGER_LID`` with lines ``SOURCE TARGET`` of LIDs on its standard input, and
writes a line ``SOURCE TARGET LEVEL`` for each that was answered. A simulator cuts answers to one datagram, so that each
path is a question of its own; ``saquery`` would take a tenth of a second for each.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys
from collections import deque
from typing import Any

HEAD_BYTES, MAD_BYTES = 64, 256
ADMINISTRATION, VERSION = 0x03, 2
GET, PATH_RECORD = 0x01, 0x35
QP1_KEY = 0x80010000
COMPONENTS = 1 << 4 | 1 << 5 | 1 << 12
"""Of the question: the LIDs of both ends, and how many paths. IBTA vol 1, 15.2.5.16."""
DATA = 56
"""Where the record begins in a datagram."""
WINDOW, TRIES, WAIT_MS = 32, 20, 500


class Wire:
    """One open port, through which questions go to a manager."""

    def __init__(self, manager: int) -> None:
        lib: Any = ctypes.CDLL("libibumad.so.3", use_errno=True)
        if lib.umad_init() < 0:
            sys.exit("libibumad cannot begin")
        port = lib.umad_open_port(None, 0)
        agent = lib.umad_register(port, ADMINISTRATION, VERSION, 0, None)
        if port < 0 or agent < 0:
            sys.exit("no port could be opened")
        address = ctypes.create_string_buffer(HEAD_BYTES + MAD_BYTES)
        lib.umad_set_addr(address, manager, 1, 0, QP1_KEY)
        self.head = struct.pack("=5I", agent, 0, WAIT_MS, 0, MAD_BYTES) + address.raw[20:HEAD_BYTES]
        self.file: int = lib.umad_get_fd(port)
        self.ready = select.poll()
        self.ready.register(self.file, select.POLLIN)

    def ask(self, source: int, target: int, number: int) -> None:
        """Send the question for one path."""
        mad = bytearray(MAD_BYTES)
        struct.pack_into(">BBBBHHQHHI", mad, 0, 1, ADMINISTRATION, VERSION, GET, 0, 0, number, PATH_RECORD, 0, 0)
        struct.pack_into(">Q", mad, 48, COMPONENTS)
        struct.pack_into(">HH", mad, DATA + 40, target, source)
        mad[DATA + 49] = 0x80 | 1  # reversible, one path
        os.write(self.file, self.head + bytes(mad))

    def hear(self) -> tuple[int, int | None] | None:
        """Wait for one answer: its number, and the level where there is one; None when nothing came in time."""
        while True:
            try:
                raw = os.read(self.file, HEAD_BYTES + MAD_BYTES)
            except OSError:  # nothing is there yet
                if not self.ready.poll(WAIT_MS):
                    return None
                continue
            mad = raw[HEAD_BYTES:]
            is_good = raw[4:8] == bytes(4) and mad[4:6] == bytes(2)
            return int.from_bytes(mad[12:16], "big"), mad[DATA + 53] & 0x0F if is_good else None


def main() -> None:
    """Ask for every path, a window at a time."""
    wire = Wire(int(sys.argv[1]))
    waiting = deque((int(a), int(b), 0) for a, b in (line.split() for line in sys.stdin))
    flying: dict[int, tuple[int, int, int]] = {}
    number = 0
    while waiting or flying:
        while waiting and len(flying) < WINDOW:
            source, target, tries = waiting.popleft()
            number += 1
            flying[number] = (source, target, tries + 1)
            wire.ask(source, target, number)
        heard = wire.hear()
        if heard is None:
            waiting.extend(one for one in flying.values() if one[2] < TRIES)
            flying.clear()
            continue
        found = flying.pop(heard[0], None)
        if found is not None and heard[1] is not None:
            sys.stdout.write(f"{found[0]} {found[1]} {heard[1]}\n")
        elif found is not None and found[2] < TRIES:
            waiting.append(found)


if __name__ == "__main__":
    main()
