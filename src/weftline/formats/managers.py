"""Who manages the subnet, as sminfo and ibdiagnet2 (``ibdiagnet2.sm``) print it: bytes to subnet managers."""

from __future__ import annotations

import re

from weftline.errors import Place, Problem
from weftline.formats import codes
from weftline.formats.lid import MAX_LID
from weftline.formats.text import MAX_LINE, ProblemLog, read_lines
from weftline.kernels.column import NIL
from weftline.model.survey import ManagerFact, ManagerState, SurveyPart

MAX_BYTES = 16 * 2**20
MAX_MANAGERS = 10_000
_SMINFO = re.compile(
    r"sminfo: sm lid (\d{1,5}) sm guid 0x([0-9a-fA-F]{1,16}), activity count \d{1,12} priority (\d{1,3}) state (\d)"
)
_SMINFO_LINE = re.compile(rb"^sminfo: sm lid ", re.MULTILINE)
_STATE = re.compile(r"\b(master|standby|discover(?:ing|y)?|not[- ]?active|inactive)\b", re.IGNORECASE)
_GUID = re.compile(r"\b(?:port)?_?guid\s*[=:]\s*(?:0x)?([0-9a-fA-F]{1,16})\b", re.IGNORECASE)
_LID = re.compile(r"\blid\s*[=:]\s*(0x[0-9a-fA-F]{1,8}|\d{1,5})\b", re.IGNORECASE)
_PRIORITY = re.compile(r"\bpriority\s*[=:]\s*(\d{1,3})\b", re.IGNORECASE)


def looks_like_sminfo(head: bytes) -> bool:
    """Say whether a line of sminfo stands in the first bytes."""
    return _SMINFO_LINE.search(head) is not None


def parse_sminfo(data: bytes, file: str) -> SurveyPart:
    """Read the output of sminfo, once or of several runs."""
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    found: dict[int, ManagerFact] = {}
    for line, text in enumerate(lines, 1):
        match = _SMINFO.match(text.strip()[:MAX_LINE])
        if match and len(found) < MAX_MANAGERS:
            guid, place = int(match[2], 16), Place(file, line)
            lid, priority, state = int(match[1]), int(match[3]), codes.manager_state(int(match[4]))
            found[guid] = ManagerFact(place, guid, lid, priority, state)
        elif text.startswith("sminfo: sm lid"):
            log.add("artifact.dump-line", f"{text[:60]!r} is no answer of sminfo", "run sminfo again", line)
    return SurveyPart(managers=tuple(found.values()), problems=log.close())


def parse_report(data: bytes, file: str) -> SurveyPart:
    """Read ibdiagnet2.sm: managers stand below a line that names their state, or state it themselves.

    The layout differs by release and no description of it is public, so what has no GUID and no LID is not guessed.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    found: dict[tuple[int, int], ManagerFact] = {}
    above: ManagerState = "unknown"
    for line, raw in enumerate(lines, 1):
        text = raw[:MAX_LINE]
        word = _STATE.search(text)
        guid, lid = _GUID.search(text), _LID.search(text)
        if guid is None and lid is None:
            above = _name(word[1]) if word else above
            continue
        number = int(lid[1], 0 if lid[1].startswith("0x") else 10) if lid else NIL
        priority = _PRIORITY.search(text)
        fact = ManagerFact(
            Place(file, line), int(guid[1], 16) if guid else 0, number if number <= MAX_LID else NIL,
            int(priority[1]) if priority else None, _name(word[1]) if word else above,
        )  # fmt: skip
        if len(found) < MAX_MANAGERS:
            found.setdefault((fact.port_guid, fact.lid), fact)
    if not found:
        message = "no line of this file names a subnet manager by GUID or LID; its layout is not known"
        log.add(
            "artifact.layout-unknown",
            message,
            "give the output of sminfo as well, and send us this file",
            1,
            1,
            "warning",
        )
    return SurveyPart(managers=tuple(found.values()), problems=log.close())


def _name(word: str) -> ManagerState:
    """Name a state."""
    letter = word[0].lower()
    states: dict[str, ManagerState] = {"m": "master", "s": "standby", "d": "discovering"}
    return states.get(letter, "not-active")
