"""Inventories: CSV lines of name, node GUID and port GUID, each of them checked by itself and against the others."""

from __future__ import annotations

import re

from weftline.errors import Place, Problem
from weftline.formats.text import ProblemLog, read_lines
from weftline.model.inventory import InventoryRow

HEADER = "name,node_guid,port_guid"
MAX_BYTES = 32 * 2**20
_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]{16})")
_NOBODY = frozenset({0, 2**64 - 1})


def parse(data: bytes, file: str) -> tuple[tuple[InventoryRow, ...], tuple[Problem, ...]]:
    """Read an inventory; a switch may leave its port GUID out. Rows with a problem are left out too."""
    lines = read_lines(data.removeprefix(b"\xef\xbb\xbf"), file, MAX_BYTES)
    if isinstance(lines, Problem):
        return (), (lines,)
    log = ProblemLog(file)
    rows: list[InventoryRow] = []
    has_header = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        words = [word.strip().strip('"') for word in text.split(",")]
        if not has_header:
            has_header = True
            if ",".join(words).lower() != HEADER:
                log.add("spec.inventory-line", f"the first line is not {HEADER}", "write it as it stands here", number)
                break
            continue
        row = _read_row(words, file, number, log)
        if row is not None:
            rows.append(row)
    if not has_header:
        log.add("spec.inventory-line", "the inventory is empty", f"its first line is {HEADER}")
    _check_ids(rows, log)
    return tuple(rows), log.close()


def _read_row(words: list[str], file: str, number: int, log: ProblemLog) -> InventoryRow | None:
    if len(words) != 3 or not words[0]:
        log.add("spec.inventory-line", f"line has {len(words)} fields, and not a name with two GUIDs", HEADER, number)
        return None
    node = _read_guid(words[1])
    port = node if not words[2] else _read_guid(words[2])
    if node is None or port is None:
        bad = words[1] if node is None else words[2]
        message = f"{bad[:40]!r} is no GUID"
        log.add("spec.inventory-line", message, "write 16 hexadecimal digits, as 0x0002c90300100000", number)
        return None
    return InventoryRow(words[0], node, port, Place(file, number, 1))


def _read_guid(text: str) -> int | None:
    match = _GUID.fullmatch(text.replace(":", ""))
    value = int(match[1], 16) if match else 0
    return None if value in _NOBODY else value


def _check_ids(rows: list[InventoryRow], log: ProblemLog) -> None:
    """Find names and port GUIDs that stand twice, and port GUIDs that are the node GUID of another device."""
    names: dict[str, int] = {}
    ports: dict[int, InventoryRow] = {}
    nodes: dict[int, InventoryRow] = {}
    for row in rows:
        nodes.setdefault(row.node_id, row)
    for row in rows:
        line = row.where.line or 0
        if row.name in names:
            message = f"{row.name} stands a second time (first in line {names[row.name]})"
            log.add("spec.inventory-name", message, "keep one of the two", line)
        names.setdefault(row.name, line)
        first = ports.setdefault(row.port_id, row)
        owner = nodes.get(row.port_id)
        if first is not row:
            message = f"port GUID {row.port_id:#018x} of {row.name} is that of {first.name} too"
            hint = "each port has a GUID of its own; the node GUID is the same for all ports of an adapter"
            log.add("spec.inventory-guid", message, hint, line)
        elif owner is not None and owner.node_id != row.node_id:
            message = f"port GUID {row.port_id:#018x} of {row.name} is the node GUID of {owner.name}"
            log.add("spec.inventory-guid", message, "give the GUID of the port: ibstat shows Port GUID", line)
