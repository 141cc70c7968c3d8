"""What is inside a system of a topology file: an IBNL netlist expanded into chips, their wires and its plugs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from weftline.formats.ibnl import Board, Component, Netlist, Wire

MAX_DEPTH = 8
"""Boards within boards; real systems have one level."""
MAX_PARTS = 4096
"""Chips and boards of one system; a director of 648 ports has 108."""
REMOVED = frozenset({"R", "X", "Removed"})
"""What a topology file says of a board that is not there."""

End = tuple[int, int]
"""Index of a chip, and its port."""
Modifiers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chip:
    """One switch or adapter inside a system."""

    path: str
    """Boards and name, as ``spine1/U2``."""
    is_switch: bool
    port_count: int
    device: int
    """Number in the name of the chip; 0 where it has none."""


@dataclass(frozen=True, slots=True)
class Plug:
    """A place for a cable outside of the system."""

    end: End
    width: int
    speed: str


@dataclass(frozen=True, slots=True)
class Box:
    """One system as it is built."""

    chips: tuple[Chip, ...]
    wires: tuple[tuple[End, End, int, str], ...]
    """Both ends, width (0: not said) and speed of each wire between two chips."""
    plugs: Mapping[str, Plug]


@dataclass(frozen=True, slots=True)
class _Inside:
    """A board by the names on it."""

    parts: Mapping[str, Component]
    plugs: Mapping[str, tuple[str, Wire]]
    """Per plug the part that it leads to, and the wire."""


def _index(board: Board) -> _Inside:
    """Index a board; of two wires to one plug the first counts."""
    plugs: dict[str, tuple[str, Wire]] = {}
    for part in board.parts:
        for wire in part.wires:
            if not wire.peer:
                plugs.setdefault(wire.peer_port, (part.name, wire))
    return _Inside({part.name: part for part in board.parts}, plugs)


@dataclass(slots=True)
class _Builder:
    """A system while it is expanded."""

    netlist: Netlist
    modifiers: Modifiers
    boards: dict[str, _Inside]
    chips: list[Chip] = field(default_factory=list[Chip])
    index: dict[str, int] = field(default_factory=dict[str, int])
    wires: dict[End, tuple[End, int, str]] = field(default_factory=dict[End, tuple[End, int, str]])
    faults: list[str] = field(default_factory=list[str])
    placed: int = 0

    def find_board(self, part: Component, path: str) -> _Inside | None:
        """Find what a board is made of; None where it is removed."""
        change = self.modifiers.get(path)
        if change in REMOVED:
            return None
        name = part.master if change is None else f"{part.master}:{change}"
        found = self.boards.get(name)
        if found is None:
            self.faults.append(f"{self.netlist.file} has no board {name[:60]}, which {path[:60]} would be")
        return found

    def place(self, board: _Inside, path: str, depth: int) -> None:
        """Make the chips of a board and of the boards on it."""
        for part in board.parts.values():
            at = path + part.name
            self.placed += 1
            if part.kind != "board":
                digits = re.search(r"\d{1,9}", part.master)
                self.index[at] = len(self.chips)
                self.chips.append(Chip(at, part.kind == "switch", part.port_count, int(digits[0]) if digits else 0))
            elif depth >= MAX_DEPTH or self.placed > MAX_PARTS:
                self.faults.append(f"{at[:60]} is more than {MAX_DEPTH} boards deep, or the system is endless")
            elif (inner := self.find_board(part, at)) is not None:
                self.place(inner, f"{at}/", depth + 1)
            if self.faults:
                return

    def follow(self, board: _Inside, path: str, name: str, port: str) -> Plug | None:
        """Follow a port of a part down to its chip; None where the board is absent or has no such plug."""
        width, speed = 0, ""
        for _ in range(MAX_DEPTH + 1):
            part = board.parts.get(name)
            if part is None:
                return None
            if part.kind != "board":
                number = int(port) if port.isdecimal() and len(port) < 4 else 0
                fits = 1 <= number <= part.port_count
                return Plug((self.index[path + name], number), width, speed) if fits else None
            inner = self.find_board(part, path + name)
            if inner is None:
                return None
            found = inner.plugs.get(port)
            if found is None:
                return None
            path, board = f"{path}{name}/", inner
            name, wire = found
            # What stands nearest to the chip counts: ibdm-ibnl-file(1), note 2.
            port, width, speed = wire.port, wire.width or width, wire.speed or speed
        return None

    def join(self, board: _Inside, path: str, depth: int = 0) -> None:
        """Wire the chips of a board and of the boards on it."""
        for part in board.parts.values():
            for wire in part.wires:
                if wire.peer:
                    self.connect(
                        self.follow(board, path, part.name, wire.port),
                        self.follow(board, path, wire.peer, wire.peer_port),
                        wire,
                    )
            if part.kind == "board" and depth < MAX_DEPTH:
                inner = self.find_board(part, path + part.name)
                if inner is not None:
                    self.join(inner, f"{path}{part.name}/", depth + 1)

    def connect(self, a: Plug | None, b: Plug | None, wire: Wire) -> None:
        """Join two chips; a wire to a board that is absent ends nowhere."""
        if a is None or b is None:
            return
        for own, far in ((a.end, b.end), (b.end, a.end)):
            known = self.wires.get(own)
            if (known is not None and known[0] != far) or own == far:
                where = f"port {own[1]} of {self.chips[own[0]].path}"
                self.faults.append(f"{where} has two wires in {self.netlist.file}")
                return
        width, speed = a.width or b.width or wire.width, a.speed or b.speed or wire.speed
        self.wires[a.end] = (b.end, width, speed)
        self.wires[b.end] = (a.end, width, speed)


def build_box(netlist: Netlist, modifiers: Modifiers) -> Box | str:
    """Expand a system with its boards changed as asked, or say in words why that cannot be done."""
    boards = {name: inside for board in netlist.boards for inside in (_index(board),) for name in board.names}
    top = _index(netlist.top)
    builder = _Builder(netlist, modifiers, boards)
    builder.place(top, "", 0)
    if not builder.faults:
        builder.join(top, "")
    if builder.faults:
        return builder.faults[0]
    plugs: dict[str, Plug] = {}
    for name, (part, wire) in top.plugs.items():
        found = builder.follow(top, "", part, wire.port)
        if found is not None:
            plugs[name] = Plug(found.end, found.width or wire.width, found.speed or wire.speed)
    wires = tuple((end, far, width, speed) for end, (far, width, speed) in sorted(builder.wires.items()) if end < far)
    return Box(tuple(builder.chips), wires, plugs)


def plain_box(ports: int, *, is_switch: bool) -> Box:
    """Make a system of one chip whose plugs P1, P2 ... are its ports."""
    return Box(
        (Chip("U1", is_switch, ports, 0),),
        (),
        {f"{word}{number}": Plug((0, number), 0, "") for number in range(1, ports + 1) for word in ("P", "")},
    )
