"""SONiC's ``pg_profile_lookup.ini``: headroom by speed and cable length, as every platform ships it."""

from __future__ import annotations

import re

from weftline.errors import Place, Problem
from weftline.formats.text import ProblemLog, read_lines
from weftline.model.headroom_table import ProfileRow

MAX_BYTES = 2**20
CODE = "spec.headroom-table"
FORM = "speed (Mb/s) cable (as 40m) size xon xoff threshold [xon_offset]"
_ROW = re.compile(r"(\d{1,9})\s+(\d{1,6})m((?:\s+\d{1,12}){3})\s+(-?\d{1,12})(?:\s+(\d{1,12}))?")


def parse(data: bytes, file: str) -> tuple[tuple[ProfileRow, ...], tuple[Problem, ...]]:
    """Read a table; a row that is none, or stands twice, is a problem and is left out."""
    lines = read_lines(data.removeprefix(b"\xef\xbb\xbf"), file, MAX_BYTES)
    if isinstance(lines, Problem):
        return (), (lines,)
    log = ProblemLog(file)
    rows: dict[tuple[int, int], ProfileRow] = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _ROW.fullmatch(text)
        if match is None:
            log.add(CODE, f"{text[:60]!r} is no row of a headroom table", FORM, number)
            continue
        row = _make_row(match, Place(file, number, 1))
        first = rows.setdefault((row.speed_mbps, row.cable_m), row)
        if first is not row:
            message = f"{row.speed_mbps} Mb/s at {row.cable_m} m stands twice (first in line {first.where.line})"
            log.add(CODE, message, "keep one of the two", number)
    if not rows and not log.close():
        log.add(CODE, "the headroom table has no row", FORM)
    return tuple(rows.values()), log.close()


def _make_row(match: re.Match[str], where: Place) -> ProfileRow:
    size, xon, xoff = (int(word) for word in match[3].split())
    offset = None if match[5] is None else int(match[5])
    return ProfileRow(int(match[1]), int(match[2]), size, xon, xoff, int(match[4]), offset, where)
