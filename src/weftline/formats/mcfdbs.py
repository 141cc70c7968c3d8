"""Multicast forwarding tables as OpenSM and ibdiagnet dump them: bytes to multicast facts."""

from __future__ import annotations

import re

from weftline.errors import Place, Problem
from weftline.formats.text import MAX_BROKEN, ProblemLog, read_lines
from weftline.model.survey import MulticastFact, SurveyPart

MAX_BYTES = 256 * 2**20
FIRST_MLID = 0xC000
LAST_MLID = 0xFFFE
"""Multicast LIDs. IBTA vol 1, 4.1.3."""
MAX_PORT = 254

_HEAD = re.compile(r"(?:\w+:\s*)?Switch\s+(0x[0-9a-fA-F]{1,16})\b")
_ENTRY = re.compile(r"(0x[0-9a-fA-F]{1,8})\s*:\s*((?:0x[0-9a-fA-F]{1,4}\s*)*)$")


def looks_like(head: bytes) -> bool:
    """Say whether the first bytes look like multicast tables of this form."""
    return bool(re.search(rb"^LID[ \t]*:[ \t]*Out Port", head, re.MULTILINE))


def parse(data: bytes, file: str) -> SurveyPart:
    """Read opensm.mcfdbs or ibdiagnet2.mcfdbs; lines that cannot be read become problems with their place."""
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    facts: list[MulticastFact] = []
    node: int | None = None
    seen: dict[tuple[int, int], int] = {}
    for at, raw in enumerate(lines):
        text, line = raw[:2_000].strip(), at + 1
        head = _HEAD.match(text)
        if head:
            node = int(head[1], 16)
        if head or not text or text.startswith(("LID", "#", "-")):
            continue
        fact = _read_entry(text, node, Place(file, line, 1))
        if isinstance(fact, str):
            hint = (
                "as '0xC000 : 0x001  0x01D', a multicast LID and the ports in hexadecimal, after the line of a switch"
            )
            log.add("artifact.multicast-line", fact, hint, line)
            if log.count("artifact.multicast-line") > MAX_BROKEN:
                break
            continue
        first = seen.setdefault((fact.node, fact.mlid), line)
        if first != line:
            message = f"MLID 0x{fact.mlid:04x} stands on line {first} already"
            log.add("artifact.multicast-line", message, "give each table once", line)
            continue
        facts.append(fact)
    return SurveyPart(multicast=tuple(facts), problems=log.close())


def _read_entry(text: str, node: int | None, where: Place) -> MulticastFact | str:
    """Read one entry, or say what is wrong with it."""
    entry = _ENTRY.match(text)
    if entry is None:
        return f"{text[:60]!r} is no entry of a multicast table"
    if node is None:
        return "this entry belongs to no switch"
    mlid, ports = int(entry[1], 16), tuple(int(word, 16) for word in entry[2].split())
    if not FIRST_MLID <= mlid <= LAST_MLID:
        return f"LID 0x{mlid:04x} is no multicast LID (0x{FIRST_MLID:04x} to 0x{LAST_MLID:04x})"
    if max(ports, default=0) > MAX_PORT:
        return f"there is no port {max(ports)}"
    return MulticastFact(node, mlid, ports, where)
