"""JSON patches (RFC 6902) of a CONFIG_DB that anybody wrote: the rows that each operation sets, in their order."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, cast

from weftline.errors import Place, Problem
from weftline.formats.config_db_read import load_document
from weftline.formats.text import ProblemLog

MAX_STEPS = 200_000
HEAD = re.compile(rb'\s*\[\s*(?:\]|\{\s*"(?:op|path|value|from)"\s*:)')
"""How a patch begins."""
_PATH = re.compile(r'"path"\s*:\s*("(?:[^"\\\n]|\\.)*")')
_VERBS = frozenset({"add", "replace", "remove", "test", "move", "copy"})


@dataclass(frozen=True, slots=True)
class PatchStep:
    """What one operation does to one row."""

    verb: str
    table: str
    row: str
    """Empty where the whole table is meant."""
    fields: tuple[tuple[str, str], ...]
    """What it sets, as far as that is text."""
    where: Place


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch; an operation that sets several rows is a step for each."""

    file: str
    steps: tuple[PatchStep, ...]
    problems: tuple[Problem, ...]


def read_patch(content: bytes, file: str) -> Patch:
    """Read a patch; an operation that is none is a problem with its place, and the others are read."""
    log = ProblemLog(file)
    document = load_document(content, log)
    operations = None if document is None else cast("Any", document.data)
    if document is None or not isinstance(operations, list):
        return Patch(file, (), log.close())
    operations = cast("list[Any]", operations)
    lines = _find_lines(document.text, operations)
    steps: list[PatchStep] = []
    for number, operation in enumerate(operations[:MAX_STEPS]):
        place = Place(file, lines[number], None, f"[{number}]")
        found = _read_operation(operation, place)
        if isinstance(found, str):
            log.keep(Problem("artifact.patch-step", found, "see RFC 6902, section 4", place, "warning"))
        else:
            steps += found
    if len(operations) > MAX_STEPS:
        message = f"only {MAX_STEPS:,} of {len(operations):,} operations are read"
        log.keep(Problem("artifact.patch-step", message, "give a shorter patch", Place(file), "warning"))
    return Patch(file, tuple(steps), log.close())


def _find_lines(text: str, operations: list[Any]) -> list[int | None]:
    """Find the line of each operation by its path; none where a row has a field of that name too."""
    found = [(match.start(), match[1]) for match in _PATH.finditer(text)]
    if len(found) != len(operations):
        return [None] * len(operations)
    lines: list[int | None] = []
    line, at = 1, 0
    for start, _ in found:
        line += text.count("\n", at, start)
        at = start
        lines.append(line)
    return lines


def _read_operation(operation: Any, place: Place) -> list[PatchStep] | str:
    """Read one operation, or say in words why it is none."""
    if not isinstance(operation, dict):
        return "an operation is an object with op and path"
    members = cast("dict[str, Any]", operation)
    verb, path = members.get("op"), members.get("path")
    if verb not in _VERBS or not isinstance(path, str) or not path.startswith("/"):
        return f"{json.dumps(verb)[:40]} on {json.dumps(path)[:60]} is no operation"
    # RFC 6901, section 3
    words = [word.replace("~1", "/").replace("~0", "~") for word in path[1:].split("/")]
    table, row, value = words[0], words[1] if len(words) > 1 else "", members.get("value")
    if len(words) > 2 and isinstance(value, str):  # one field of a row
        return [PatchStep(str(verb), table, row, ((words[2], value),), place)]
    if not row and isinstance(value, dict):
        rows = cast("dict[str, Any]", value)
        return [PatchStep(str(verb), table, key, _list_fields(fields), place) for key, fields in rows.items()]
    return [PatchStep(str(verb), table, row, _list_fields(value), place)]


def _list_fields(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        return ()
    return tuple((key, text) for key, text in cast("dict[str, Any]", value).items() if isinstance(text, str))
