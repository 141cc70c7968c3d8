"""The table of subnet managers: on the command line of each, all else is one options file for all of them."""

from __future__ import annotations

import re

from weftline.formats.lines import Reading
from weftline.model.observed import Fact
from weftline.model.seats import ManagerIntent, SeatIntent

FILE = "managers"
_LINE = re.compile(r"^(0x[0-9a-f]{16}) (\d{1,2}) (\S.*)$")
MAX_PRIORITY = 15


def write_managers(manager: ManagerIntent) -> str:
    """Write port GUID, priority and name of each manager."""
    return "".join(f"{seat.key} {seat.priority} {seat.name}\n" for seat in manager.seats)


def read_managers(content: bytes, reading: Reading) -> list[Fact]:
    """Read who may be the manager."""
    facts: list[Fact] = []
    seen: set[str] = set()
    for seat, line in list_seats(content, reading):
        where = reading.place(line)
        if seat.key in seen:
            reading.report("artifact.said-twice", f"{seat.key} is a manager twice", where)
        seen.add(seat.key)
        facts.append(Fact(f"manager.seats.{seat.key}.name", seat.name, where))
        facts.append(Fact(f"manager.seats.{seat.key}.priority", seat.priority, where))
    return facts


def list_seats(content: bytes, reading: Reading) -> list[tuple[SeatIntent, int]]:
    """List the managers, each with its line."""
    seats: list[tuple[SeatIntent, int]] = []
    for number, text in reading.lines(content):
        match = _LINE.fullmatch(text)
        if match is None or int(match[2]) > MAX_PRIORITY:
            message = f"line is no port GUID with a priority from 0 to {MAX_PRIORITY} and a name"
            reading.report("artifact.unreadable-line", message, reading.place(number))
        else:
            seats.append((SeatIntent(match[1], match[3], int(match[2])), number))
    return seats
