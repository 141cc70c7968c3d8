"""The node-name-map of OpenSM and the diagnostics: bytes to a name per GUID."""

from __future__ import annotations

import re

from weftline.errors import Problem
from weftline.formats.ibnetdiscover import MAX_DESCRIPTION
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.model.survey import SurveyPart

MAX_BYTES = 16 * 2**20
_LINE = re.compile(r'0x([0-9a-fA-F]{1,16})\s+"([^"]{1,256})"\s*(?:#.*)?$')
_ANY = re.compile(rb'^[ \t]*0x[0-9a-fA-F]{1,16}[ \t]+"[^"\n]{1,256}"[ \t\r]*(?:#.*)?$', re.MULTILINE)


def looks_like(head: bytes) -> bool:
    """Say whether a line of the first bytes is a GUID and a quoted name, and nothing else."""
    return _ANY.search(head) is not None


def parse(data: bytes, file: str) -> SurveyPart:
    """Read the names; GUIDs are those of nodes, or of ports of adapters."""
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    names: dict[int, str] = {}
    for line, raw in enumerate(lines, 1):
        text = raw.strip()
        if not text or text[0] == "#":
            continue
        match = _LINE.match(text) if len(text) <= MAX_LINE else None
        if match is None:
            hint = 'as 0x0002c90300100000 "leaf-001"'
            log.add("artifact.dump-line", f"{text[:60]!r} is no GUID with a name in quotes", hint, line)
        else:
            guid = int(match[1], 16)
            if names.setdefault(guid, match[2][:MAX_DESCRIPTION]) != match[2][:MAX_DESCRIPTION]:
                message = f"0x{guid:016x} has the name {names[guid]!r} already"
                log.add("artifact.duplicate-name", message, "the first is taken", line, 1, "warning")
        if log.count("artifact.dump-line") > MAX_BROKEN:
            break
    return SurveyPart(names=names, problems=log.close())
