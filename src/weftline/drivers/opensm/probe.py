"""A program of its own: walks one subnet by directed routes through libibumad and prints what each device holds.

It runs as ``python -I probe.py WINDOW LANES`` with the M_Key, or nothing, on its standard input, where no other user
sees it. It needs the standard library only, and writes records of 78 bytes, as ``RECORD`` says. As
``python -I probe.py WINDOW serve``, with the M_Key or 0 on its first line, it stays and answers batches of questions
instead, each as ``BATCH`` and ``ASKED`` say, by one ``ANSWER`` per question in their order. Directed routes do not need
forwarding tables, so that wrong ones are read as well as right ones.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

RECORD = struct.Struct("<QHI64s")
"""Node GUID, attribute, modifier, data as on the wire."""
FAR_END = struct.Struct("<QBQ")
BATCH = struct.Struct("<II")
"""How many questions follow, and how many milliseconds without an answer mean that the rest is silent."""
ASKED = struct.Struct("<HIB63s")
"""Attribute, modifier, hops and path."""
ANSWER = struct.Struct("<B64s")
"""1 where there was one, and its data."""
NODE_INFO: Final = 0x11
SWITCH_INFO: Final = 0x12
PORT_INFO: Final = 0x15
PKEY_TABLE: Final = 0x16
SL_TO_VL: Final = 0x17
VL_ARBITRATION: Final = 0x18
FORWARDING: Final = 0x19
SM_INFO: Final = 0x20
LINK: Final = 0xFF01
"""Our own record: what stands at the far end of a port (node GUID, port number, port GUID)."""
SILENT: Final = 0xFF02
"""Our own record: a question that nobody answered (attribute); the modifier is that of the question."""
SWITCH: Final = 2
IS_MANAGER: Final = 0x2
"""Bit of a port's capabilities: a subnet manager runs there. IBTA vol 1, 14.2.5.6."""
MAX_HOPS: Final = 62
KEYS_PER_BLOCK: Final = 32
LIDS_PER_BLOCK: Final = 64
ENTRIES_PER_PART: Final = 32
HEAD_BYTES: Final = 64
"""Size of the head that libibumad puts before each datagram (struct ib_user_mad)."""
MAD_BYTES: Final = 256
PERMISSIVE_LID: Final = 0xFFFF
DIRECTED: Final = 0x81
GET: Final = 0x01
TIMEOUT_MS: Final = 250
TRIES: Final = 3
NO_ANSWER = 111
_HEAD = struct.Struct(">BBBBHBBQHHIQHH28x")
_USER_HEAD = struct.Struct("=5I")
_ANSWER = struct.Struct(">I60xH6xI")
"""From the status of the head of libibumad: that of the datagram, and the half of its number that is ours."""


@dataclass(slots=True)
class Node:
    """One device that was reached: its own GUID, the way to it, and how many ports it has."""

    guid: int
    path: bytes
    is_switch: bool
    ports: int
    entry: int
    key_blocks: int
    port_key_blocks: int = 0
    """Blocks of partition keys at each port of a switch, which enforces by them."""


@dataclass(slots=True)
class Question:
    """One datagram on its way."""

    node: Node | None
    path: bytes
    attribute: int
    modifier: int
    origin: tuple[int, int]
    """For a node that is not known yet: the GUID and port that lead to it."""
    kept: int = 0
    """The modifier under which the answer is kept; that of an adapter is completed by its port."""
    tries: int = 0


def is_up(port_info: bytes) -> bool:
    """Tell whether something stands behind a port. IBTA vol 1, 14.2.5.6."""
    return port_info[32] & 0x0F >= 2


@dataclass(slots=True)
class Walk:
    """What is known, what is asked and what is to be asked."""

    lanes: bool
    nodes: dict[int, Node] = field(default_factory=dict[int, Node])
    entered: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """Ports of adapters that were reached: an adapter answers for the port that was asked."""
    waiting: deque[Question] = field(default_factory=deque[Question])
    out: list[bytes] = field(default_factory=list[bytes])

    def ask(self, node: Node, attribute: int, modifier: int = 0, *, path: bytes | None = None, kept: int = -1) -> None:
        """Queue a question to a known node."""
        way = node.path if path is None else path
        self.waiting.append(Question(node, way, attribute, modifier, (0, 0), modifier if kept < 0 else kept))

    def keep(self, guid: int, attribute: int, modifier: int, data: bytes) -> None:
        """Keep one record for the output."""
        self.out.append(RECORD.pack(guid, attribute, modifier, data))

    def hear(self, question: Question, data: bytes) -> None:
        """Take one answer and queue what follows from it."""
        node = question.node
        if node is None:
            self._meet(question, data)
            return
        if question.attribute == SM_INFO:
            data = data[:8] + bytes(8) + data[16:]  # its key is nobody's business
        self.keep(node.guid, question.attribute, question.kept, data)
        if question.attribute == SWITCH_INFO:
            top = int.from_bytes(data[6:8], "big")
            node.port_key_blocks = -(-int.from_bytes(data[14:16], "big") // KEYS_PER_BLOCK)
            for block in range(top // LIDS_PER_BLOCK + 1):
                self.ask(node, FORWARDING, block)
            for port in range(node.ports + 1):
                self.ask(node, PORT_INFO, port)
        elif question.attribute == PORT_INFO:
            is_manager = int.from_bytes(data[20:24], "big") & IS_MANAGER
            # The manager at the entry is asked whatever its port says: a simulated port forgets it with its cable.
            is_entry = not question.path and not node.is_switch
            if is_entry or (is_manager and (question.kept == 0 or not node.is_switch)):
                self.ask(node, SM_INFO, 0, path=question.path, kept=question.kept)
            if node.is_switch:
                self._ask_port(node, question.kept, data)
            self._ask_weights(node, question.kept, data, question.path)
            self._follow(node, question.kept, data)

    def miss(self, question: Question) -> None:
        """Keep that nobody answered."""
        guid = question.origin[0] if question.node is None else question.node.guid
        modifier = question.origin[1] if question.node is None else question.kept
        self.keep(guid, SILENT, modifier, struct.pack("<H", question.attribute))

    def _meet(self, question: Question, data: bytes) -> None:
        guid = int.from_bytes(data[12:20], "big")
        entry = data[36]
        if question.path:
            self.keep(
                question.origin[0],
                LINK,
                question.origin[1],
                FAR_END.pack(guid, entry, int.from_bytes(data[20:28], "big")),
            )
        node = self.nodes.get(guid)
        if node is None:
            blocks = -(-int.from_bytes(data[28:30], "big") // KEYS_PER_BLOCK)
            node = Node(guid, question.path, data[2] == SWITCH, data[3], entry, blocks)
            self.nodes[guid] = node
            self.keep(guid, NODE_INFO, 0, data)
            if node.is_switch:
                self.ask(node, SWITCH_INFO)
        if not node.is_switch and (guid, entry) not in self.entered:
            self.entered.add((guid, entry))
            self._ask_adapter(node, entry, question.path)

    def _ask_adapter(self, node: Node, port: int, path: bytes) -> None:
        self.ask(node, PORT_INFO, port, path=path)
        for block in range(node.key_blocks):
            self.ask(node, PKEY_TABLE, block, path=path, kept=port << 16 | block)
        if self.lanes:
            self.ask(node, SL_TO_VL, 0, path=path, kept=port)

    def _ask_port(self, node: Node, port: int, data: bytes) -> None:
        """Ask a switch about a port that is up; its port 0 is the way to itself."""
        if port and not is_up(data):
            return
        for block in range(node.port_key_blocks if port else node.key_blocks):
            self.ask(node, PKEY_TABLE, port << 16 | block)
        if self.lanes and port:
            for entry in range(1, node.ports + 1):
                self.ask(node, SL_TO_VL, entry << 8 | port)

    def _ask_weights(self, node: Node, port: int, data: bytes, path: bytes) -> None:
        """Ask for the parts of the arbitration table that a port has: two for high, two for low priority."""
        if not self.lanes or (node.is_switch and not (port and is_up(data))):
            return
        high, low = data[38], data[39]
        for part, is_there in ((1, low > 0), (2, low > ENTRIES_PER_PART), (3, high > 0), (4, high > ENTRIES_PER_PART)):
            if is_there:
                self.ask(node, VL_ARBITRATION, part << 16 | port, path=path)

    def _follow(self, node: Node, port: int, data: bytes) -> None:
        """Ask what stands behind a port that is up; datagrams leave an adapter only where the walk began."""
        leads_on = (node.is_switch and port > 0) or (node.path == b"" and port == node.entry)
        if is_up(data) and leads_on and len(node.path) < MAX_HOPS:
            self.waiting.append(Question(None, node.path + bytes([port]), NODE_INFO, 0, (node.guid, port)))


class Wire:
    """One open port of libibumad; datagrams are written and read as its own functions do it, without their copies."""

    def __init__(self, key: int) -> None:
        self.key = key
        lib: Any = ctypes.CDLL("libibumad.so.3", use_errno=True)
        if lib.umad_init() < 0:
            sys.exit(NO_ANSWER)
        port = lib.umad_open_port(None, 0)
        if port < 0:
            sys.exit(NO_ANSWER)
        agent = lib.umad_register(port, DIRECTED, 1, 0, None)
        if agent < 0 or lib.umad_size() != HEAD_BYTES:
            sys.exit(NO_ANSWER)
        address = ctypes.create_string_buffer(HEAD_BYTES + MAD_BYTES)
        lib.umad_set_addr(address, PERMISSIVE_LID, 0, 0, 0)
        # struct ib_user_mad: agent, status, timeout, retries, length, then the address
        self.head = _USER_HEAD.pack(agent, 0, TIMEOUT_MS, 0, MAD_BYTES) + address.raw[_USER_HEAD.size : HEAD_BYTES]
        self.file: int = lib.umad_get_fd(port)
        self.ready = select.poll()
        self.ready.register(self.file, select.POLLIN)
        self.tails: dict[bytes, bytes] = {}
        """The part of a datagram that only depends on the way it takes."""

    def send(self, number: int, question: Question) -> bool:
        """Send one question; ``number`` comes back with its answer."""
        path = question.path
        tail = self.tails.get(path)
        if tail is None:
            tail = self.tails[path] = bytes(64) + (b"\0" + path).ljust(64, b"\0") + bytes(64)
        mad = _HEAD.pack(
            1, DIRECTED, 1, GET, 0, 0, len(path), number, question.attribute, 0, question.modifier, self.key,
            0xFFFF, 0xFFFF,
        )  # fmt: skip
        try:
            return os.write(self.file, self.head + mad + tail) > 0
        except OSError:
            return False

    def receive(self, timeout_ms: int = TIMEOUT_MS) -> tuple[int, bool, bytes] | None:
        """Wait for one answer: its number, whether it is one, and its data; None when nothing came in time."""
        while True:
            try:
                raw = os.read(self.file, HEAD_BYTES + MAD_BYTES)
            except OSError:  # nothing is there yet; the simulator says so without an error number
                if not self.ready.poll(timeout_ms):
                    return None
                continue
            if len(raw) < HEAD_BYTES + MAD_BYTES:
                return None
            failed, mad_status, number = _ANSWER.unpack_from(raw, 4)
            return number, failed == 0 and not mad_status & 0x7FFF, raw[HEAD_BYTES + 64 : HEAD_BYTES + 128]


def walk(wire: Wire, window: int, *, lanes: bool) -> Walk:
    """Walk the subnet from the port that was opened, with at most ``window`` questions on their way."""
    found = Walk(lanes)
    found.waiting.append(Question(None, b"", NODE_INFO, 0, (0, 0)))
    flying: dict[int, Question] = {}
    number = 0

    def again(question: Question) -> None:
        question.tries += 1
        if question.tries < TRIES:
            found.waiting.appendleft(question)
        else:
            found.miss(question)

    while found.waiting or flying:
        while found.waiting and len(flying) < window:
            number += 1
            question = found.waiting.popleft()
            if wire.send(number, question):
                flying[number] = question
            else:
                again(question)
        answer = wire.receive()
        if answer is None:
            late = list(flying.values())
            flying.clear()
            for question in late:
                again(question)
            continue
        question = flying.pop(answer[0], None)
        if question is not None and answer[1]:
            found.hear(question, answer[2])
        elif question is not None:
            again(question)
    return found


def serve(wire: Wire, window: int) -> None:
    """Answer batches of questions until the input ends."""
    number = 0
    while len(head := sys.stdin.buffer.read(BATCH.size)) == BATCH.size:
        count, timeout_ms = BATCH.unpack(head)
        asked = [ASKED.unpack(sys.stdin.buffer.read(ASKED.size)) for _ in range(count)]
        answers = [ANSWER.pack(0, b"")] * count
        flying: dict[int, int] = {}
        at = 0
        while at < count or flying:
            while at < count and len(flying) < window:
                attribute, modifier, hops, path = asked[at]
                number += 1
                if wire.send(number, Question(None, path[:hops], attribute, modifier, (0, 0))):
                    flying[number] = at
                at += 1
            heard = wire.receive(timeout_ms)
            if heard is None:
                flying.clear()
                continue
            place = flying.pop(heard[0], None)  # an answer that comes after its time is to no question any more
            if place is not None and heard[1]:
                answers[place] = ANSWER.pack(1, heard[2])
        sys.stdout.buffer.write(b"".join(answers))
        sys.stdout.flush()


def main() -> None:
    """Walk and write the records, or stay and answer."""
    if sys.argv[2] == "serve":
        serve(Wire(int(sys.stdin.buffer.readline() or b"0", 0)), int(sys.argv[1]))
        return
    found = walk(Wire(int(sys.stdin.read() or "0", 0)), int(sys.argv[1]), lanes=sys.argv[2] == "1")
    sys.stdout.buffer.write(b"".join(found.out))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
