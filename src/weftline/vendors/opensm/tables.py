"""Forwarding tables as the text of OpenSM's file engine: 11 bytes per entry, made and read as columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from weftline.formats.lid import MAX_UNICAST
from weftline.formats.lines import Reading, read_hex, read_number
from weftline.kernels.column import I64, U8
from weftline.model.intent import NO_PORT, ForwardingTable

ENTRY = b"0x0000 000\n"
MAX_CELLS = 2**29
"""Switches times LIDs; a subnet has 49,151 LIDs for both."""
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
_HEADER = re.compile(
    rb"^Unicast lids \[0x0-0x[0-9a-f]+\] of switch Lid (\d{1,5}) guid 0x([0-9a-f]{16}) \(([^)\n]*)\):$"
)
_HEAD = re.compile(rb"(?:#[^\n]*\n)*")
_START = b"Unicast lids "
_UNHEX = np.full(256, 255, dtype=np.uint8)
_UNHEX[_HEX] = np.arange(16, dtype=np.uint8)


def write_table(table: ForwardingTable) -> bytes:
    """Write the tables of all switches; entries that forward nowhere are left out, which means the same."""
    return b"".join(_write_blocks(table, range(len(table.switch_name))))


def _write_blocks(table: ForwardingTable, rows: Iterable[int]) -> list[bytes]:
    """Write the table of each of some switches."""
    top = int(table.address.max(initial=0))
    text = _write_addresses(table.address)
    digits = _write_ports()
    blocks: list[bytes] = []
    for row in rows:
        guid, lid, name = int(table.switch_id[row]), int(table.switch_address[row]), table.switch_name[row]
        head = f"Unicast lids [0x0-0x{top:x}] of switch Lid {lid} guid 0x{guid:016x} ({name}):\n".encode()
        text[:, 7:10] = digits[table.port[row]]
        keep = table.port[row] != NO_PORT
        blocks.append(head + (text if keep.all() else text[keep]).tobytes())
    return blocks


def exchange_table(table: ForwardingTable, content: bytes, before: ForwardingTable | None) -> bytes:
    """Write tables in the place of those of a file, which are ``before``; the comments at its head stay.

    Only what differs is written anew: on a large fabric that is most of the time that a repair takes.
    """
    match = _HEAD.match(content)
    head = match[0] if match is not None else b""
    starts = _find_blocks(content, len(head))
    if before is None or len(starts) != len(table.switch_name) or not _are_alike(table, before):
        return head + write_table(table)
    rows = np.flatnonzero((table.port != before.port).any(axis=1)).tolist()
    ends = [*starts[1:], len(content)]
    pieces: list[bytes | memoryview] = [head]
    kept, view = len(head), memoryview(content)
    for row, block in zip(rows, _write_blocks(table, rows), strict=True):
        pieces += [view[kept : starts[row]], block]
        kept = ends[row]
    return b"".join([*pieces, view[kept:]])


def _find_blocks(content: bytes, start: int) -> list[int]:
    """Find where the table of each switch begins."""
    starts: list[int] = []
    while (start := content.find(_START, start)) >= 0:
        starts.append(start)
        start += len(_START)
    return starts


def _are_alike(table: ForwardingTable, other: ForwardingTable) -> bool:
    """Say whether tables are of the same switches and addresses, in the same order."""
    return (
        table.port.shape == other.port.shape
        and np.array_equal(table.switch_id, other.switch_id)
        and np.array_equal(table.switch_address, other.switch_address)
        and np.array_equal(table.address, other.address)
    )


def _write_addresses(address: I64) -> U8:
    text = np.tile(np.frombuffer(ENTRY, dtype=np.uint8), (len(address), 1))
    for place in range(4):
        text[:, 2 + place] = _HEX[(address >> (12 - 4 * place)) & 15]
    return text


def _write_ports() -> U8:
    values = np.arange(256)
    columns = [values // 100, values // 10 % 10, values % 10]
    return (np.stack(columns, axis=1) + ord("0")).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class _Block:
    """The entries of one switch."""

    guid: int
    lid: int
    name: str
    address: I64
    port: U8
    line: int


def read_table(content: bytes, reading: Reading) -> ForwardingTable:
    """Read the tables back; every line that is no entry, and every entry said twice, is a problem with its line."""
    blocks: list[_Block] = []
    line = 1
    starts = [match.start() for match in re.finditer(rb"^Unicast", content, flags=re.MULTILINE)]
    head = content[: starts[0]] if starts else content
    for offset, text in enumerate(head.split(b"\n")):
        if text.strip() and not text.startswith(b"#"):
            reading.report("artifact.unreadable-line", "text before the first switch", reading.place(line + offset))
    line += head.count(b"\n")
    for start, end in itertools.pairwise([*starts, len(content)]):
        block = _read_block(content[start:end], line, reading)
        if block is not None:
            blocks.append(block)
        line += content.count(b"\n", start, end)
    return _join(blocks, reading)


def _read_block(content: bytes, line: int, reading: Reading) -> _Block | None:
    head, _, body = content.partition(b"\n")
    match = _HEADER.fullmatch(head)
    if match is None:
        reading.report("artifact.unreadable-line", "header of a switch is not readable", reading.place(line))
        return None
    entries = _read_fast(body)
    if entries is None:
        entries = _read_slowly(body, line + 1, reading)
    address, port = entries
    order = np.argsort(address, kind="stable")
    address, port = address[order], port[order]
    for twice in address[1:][address[1:] == address[:-1]]:
        reading.report("artifact.said-twice", f"LID {int(twice):#06x} has two entries", reading.place(line))
    return _Block(int(match[2], 16), int(match[1]), match[3].decode("utf-8", "replace"), address, port, line)


def _read_fast(body: bytes) -> tuple[I64, U8] | None:
    """Read entries of exactly the form that ``write_table`` writes; None when one line differs."""
    if len(body) % len(ENTRY):
        return None
    text = np.frombuffer(body, dtype=np.uint8).reshape(-1, len(ENTRY))
    fixed = np.frombuffer(ENTRY, dtype=np.uint8)
    if not (text[:, [0, 1, 6, 10]] == fixed[[0, 1, 6, 10]]).all():
        return None
    nibbles = _UNHEX[text[:, 2:6]]
    digits = text[:, 7:10].astype(np.int64) - ord("0")
    if (nibbles == 255).any() or (digits < 0).any() or (digits > 9).any():
        return None
    address = nibbles.astype(np.int64) @ np.array([4096, 256, 16, 1])
    port = digits @ np.array([100, 10, 1])
    if len(port) and (int(port.max()) >= NO_PORT or int(address.max()) > MAX_UNICAST or int(address.min()) < 1):
        return None
    return address, port.astype(np.uint8)


def _read_slowly(body: bytes, line: int, reading: Reading) -> tuple[I64, U8]:
    address: list[int] = []
    port: list[int] = []
    for offset, raw in enumerate(body.split(b"\n")):
        words = raw.decode("utf-8", "replace").split()
        if not words or words[0].startswith("#"):
            continue
        lid = read_hex(words[0], 4)
        number = read_number(words[1], 0, NO_PORT - 1) if len(words) > 1 else None
        if lid is None or number is None or not 1 <= lid <= MAX_UNICAST:
            reading.report("artifact.unreadable-line", "line is no entry of a table", reading.place(line + offset))
            continue
        address.append(lid)
        port.append(number)
    return np.array(address, dtype=np.int64), np.array(port, dtype=np.uint8)


def _join(blocks: list[_Block], reading: Reading) -> ForwardingTable:
    seen: set[int] = set()
    for block in blocks:
        if block.guid in seen:
            reading.report("artifact.said-twice", f"switch {block.guid:#018x} stands twice", reading.place(block.line))
        seen.add(block.guid)
    address = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(block.address for block in blocks)]))
    if len(blocks) * len(address) > MAX_CELLS:
        message = f"{len(blocks):,} switches * {len(address):,} LIDs are more than one subnet has"
        reading.report("artifact.out-of-range", message, reading.place())
        blocks, address = [], address[:0]
    port = np.full((len(blocks), len(address)), NO_PORT, dtype=np.uint8)
    for row, block in enumerate(blocks):
        port[row, np.searchsorted(address, block.address)] = block.port
    return ForwardingTable(
        switch_id=np.array([block.guid for block in blocks], dtype=np.uint64),
        switch_name=tuple(block.name for block in blocks),
        switch_address=np.array([block.lid for block in blocks], dtype=np.int64),
        address=address,
        port=port,
    )
