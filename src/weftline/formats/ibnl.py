"""IBNL files, which describe what is inside a system: boards, chips and the wires between them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from weftline.errors import Problem
from weftline.formats.text import MAX_LINE, ProblemLog, read_lines

MAX_BYTES = 4 * 2**20
"""The largest that ibutils ships, a director of 648 ports, has 60 KB."""
MAX_LINKS = 100_000
MAX_PORT = 254

LANE_WORDS = {"2.5": "SDR", "5": "DDR", "10": "QDR", "14": "FDR", "25": "EDR", "50": "HDR", "100": "NDR", "200": "XDR"}
"""Speed of one lane as these files print it, before the G; the manual page knows the first three."""
RATE = r"-(?:(?P<width>\d{1,2})[xX]-)?(?:(?P<lane>\d{1,3}(?:\.5)?)G-)?>"
"""The arrow of a connection: ``->``, ``-4x->``, ``-10G->`` or ``-4x-10G->``."""

_HINT = "see man ibdm-ibnl-file; weftline reads the files as ibutils ships them"
_NAME = r"[^\s,=]{1,200}"
_SYSTEM = re.compile(r"(TOPSYSTEM|SYSTEM)\s+(.+)$")
_NODE = re.compile(rf"NODE\s+(SW|CA|HCA)\s+(\d{{1,5}})\s+({_NAME})\s+({_NAME})$")
_SUBSYSTEM = re.compile(rf"SUBSYSTEM\s+({_NAME})\s+({_NAME})$")
_ATTRIBUTE = re.compile(rf"{_NAME}\s*=\s*\S+(?:\s*=\s*\S+)?$")
_LINK = re.compile(rf"(?P<port>\S{{1,200}}?)\s*{RATE}\s*(?P<first>{_NAME})(?:\s+(?P<second>{_NAME}))?$")


@dataclass(frozen=True, slots=True)
class Wire:
    """One connection of a part: to a port of another part of the same board, or to a plug of the board."""

    port: str
    peer: str
    """Name of the other part; empty where the wire ends at a plug of the board."""
    peer_port: str
    """Port of the other part, or the plug."""
    width: int
    """0 where the file does not say."""
    speed: str


@dataclass(frozen=True, slots=True)
class Component:
    """One chip or board on a board."""

    name: str
    kind: Literal["switch", "ca", "board"]
    master: str
    """The chip, or the name of the board."""
    port_count: int
    """0 for a board."""
    wires: tuple[Wire, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """What a SYSTEM or the TOPSYSTEM holds."""

    names: tuple[str, ...]
    """The first is its own; a name with a colon is a variant, as ``LEAF:4x``."""
    parts: tuple[Component, ...]


@dataclass(frozen=True, slots=True)
class Netlist:
    """One file: a kind of system and the boards that it is made of."""

    file: str
    top: Board
    boards: tuple[Board, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Types of system that this file describes."""
        return self.top.names


@dataclass(slots=True)
class _Reader:
    """What is known between two lines."""

    log: ProblemLog
    boards: list[tuple[bool, tuple[str, ...], list[Component]]] = field(
        default_factory=list[tuple[bool, tuple[str, ...], list[Component]]]
    )
    wires: list[Wire] | None = None
    links: int = 0

    def fail(self, line: int, message: str) -> None:
        self.log.add("artifact.netlist", message, _HINT, line)

    def read(self, line: int, text: str) -> None:
        """Take one line that says something."""
        if len(text) > MAX_LINE:
            self.fail(line, f"a line has {len(text):,} characters; at most {MAX_LINE:,} are read")
        elif system := _SYSTEM.match(text):
            names = tuple(name.strip() for name in system[2].split(","))
            if not all(re.fullmatch(_NAME, name) for name in names):
                self.fail(line, f"{text[:60]!r} has no list of names")
                return
            self.boards.append((system[1] == "TOPSYSTEM", names, []))
            self.wires = None
        elif node := _NODE.match(text):
            count = int(node[2])
            if not 1 <= count <= MAX_PORT:
                self.fail(line, f"a chip has {count} ports; 1 to {MAX_PORT} are possible")
                return
            self.start(line, Component(node[4], "switch" if node[1] == "SW" else "ca", node[3], count, ()))
        elif board := _SUBSYSTEM.match(text):
            self.start(line, Component(board[2], "board", board[1], 0, ()))
        elif link := _LINK.match(text):
            self.wire(line, link)
        elif not _ATTRIBUTE.match(text):
            self.fail(line, f"{text[:60]!r} is no line of such a file")

    def start(self, line: int, part: Component) -> None:
        """Begin a chip or board."""
        self.settle()
        if not self.boards:
            self.fail(line, f"{part.name} stands before the first SYSTEM")
        elif any(other.name == part.name for other in self.boards[-1][2]):
            self.fail(line, f"two parts of {self.boards[-1][1][0]} are called {part.name}")
        else:
            self.boards[-1][2].append(part)
            self.wires = []

    def wire(self, line: int, link: re.Match[str]) -> None:
        """Take a connection of the current part."""
        if self.wires is None:
            self.fail(line, f"{link[0][:60]!r} belongs to no chip and no board")
            return
        part = self.boards[-1][2][-1]
        if part.kind != "board" and not (link["port"].isdecimal() and 1 <= int(link["port"]) <= part.port_count):
            self.fail(line, f"{part.name} has {part.port_count} ports, so no port {link['port'][:20]}")
            return
        self.links += 1
        peer, port = (link["first"], link["second"]) if link["second"] else ("", link["first"])
        self.wires.append(Wire(link["port"], peer, port, int(link["width"] or 0), LANE_WORDS.get(link["lane"], "")))

    def settle(self) -> None:
        """Give the last part its wires."""
        if self.wires is not None:
            parts = self.boards[-1][2]
            last = parts[-1]
            parts[-1] = Component(last.name, last.kind, last.master, last.port_count, tuple(self.wires))
            self.wires = None


def parse(data: bytes, file: str) -> Netlist | tuple[Problem, ...]:
    """Read one IBNL file, or say what is wrong with it; at most 4 MiB and 100,000 connections.

    The grammar is that of ``man ibdm-ibnl-file``. A file with a broken line is refused whole, since a system with a
    wire lost would be another system.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return (lines,)
    log = ProblemLog(file)
    reader = _Reader(log)
    for line, raw in enumerate(lines, 1):
        text = raw.strip()
        if text[:7] in {"SYSTEM ", "SYSTEM\t", "TOPSYST"}:
            reader.settle()
        if text and text[0] != "#":
            reader.read(line, text)
        if reader.links > MAX_LINKS or log.count("artifact.netlist") > 20:
            reader.fail(line, f"reading stopped at line {line:,}: this is no description of one system")
            return log.close()
    reader.settle()
    tops = [board for board in reader.boards if board[0]]
    if len(tops) != 1 and not log.has_error:
        reader.fail(1, f"there are {len(tops)} TOPSYSTEM sections; a file describes one kind of system")
    if log.has_error:
        return log.close()
    boards = tuple(Board(names, tuple(parts)) for is_top, names, parts in reader.boards if not is_top)
    return Netlist(file, Board(tops[0][1], tuple(tops[0][2])), boards)
