"""IBDM topology files, which plan a fabric system by system: type, name, and what each plug is wired to."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from weftline.errors import Place, Problem
from weftline.formats.ibnl import LANE_WORDS, RATE
from weftline.formats.speed import WIDTHS
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.model.survey import PlannedCable, SurveyPart

MAX_BYTES = 64 * 2**20
MAX_SYSTEMS = 65_536
"""A subnet has at most 49,151 addresses."""

_WORD = r"[^\s#]{1,200}"
_SYSTEM = re.compile(rf"(?P<type>{_WORD})\s+(?P<name>{_WORD})\s*(?:\sCFG:\s*(?P<modifiers>.*))?$")
_CABLE = re.compile(rf"(?P<plug>{_WORD}?)\s*{RATE}\s*(?P<type>{_WORD})\s+(?P<name>{_WORD})\s+(?P<peer>{_WORD})\s*$")
_HEAD_LINES = 400


@dataclass(frozen=True, slots=True)
class TopoSystem:
    """A system of the plan: one box, of a type that an IBNL file describes."""

    name: str
    type: str
    modifiers: tuple[tuple[str, str], ...]
    """Board and what it is instead: ``R`` is removed, else the variant, as ``12x``."""
    line: int


@dataclass(frozen=True, slots=True)
class TopoCable:
    """One cable between the plugs of two systems."""

    a_system: str
    a_plug: str
    b_system: str
    b_plug: str
    width: int
    """0 where the file does not say."""
    speed: str
    line: int
    columns: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Topology:
    """A whole file; problems are those of single lines, which are left out."""

    file: str
    digest: str
    systems: tuple[TopoSystem, ...]
    cables: tuple[TopoCable, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _Reader:
    """What is known between two lines."""

    log: ProblemLog
    systems: dict[str, TopoSystem] = field(default_factory=dict[str, TopoSystem])
    cables: list[TopoCable] = field(default_factory=list[TopoCable])
    wired: dict[tuple[str, str], TopoCable] = field(default_factory=dict[tuple[str, str], TopoCable])
    current: str = ""

    def read(self, line: int, raw: str) -> None:
        """Take one line; a blank one ends a system."""
        text = raw.strip()
        if not text:
            self.current = ""
        elif len(raw) > MAX_LINE:
            message = f"a line has {len(raw):,} characters; at most {MAX_LINE:,} are read"
            self.log.add("artifact.dump-line", message, "", line)
        elif text[0] == "#":
            return
        elif cable := _CABLE.match(text):
            self.cable(line, len(raw) - len(raw.lstrip()) + 1, cable)
        elif system := _SYSTEM.match(text):
            self.current = system["name"]
            self.declare(line, system["type"], system["name"], system["modifiers"])
        else:
            hint = "a system is TYPE NAME, a cable PLUG -> TYPE NAME PLUG; see man ibdm-topo-file"
            self.log.add("artifact.dump-line", f"{text[:60]!r} is no line of a topology file", hint, line)

    def declare(self, line: int, kind: str, name: str, modifiers: str | None) -> None:
        """Note a system; where it was only a far end before, its own line says more."""
        known = self.systems.get(name)
        if known is not None and known.type != kind:
            message = f"{name} is a {kind} here and a {known.type} on line {known.line}"
            self.log.add("artifact.system-type", message, "give each system one type and its own name", line)
            return
        if modifiers is None:
            self.systems.setdefault(name, TopoSystem(name, kind, (), line))
            return
        changes: list[tuple[str, str]] = []
        for word in modifiers.replace(",", " ").split():
            board, equals, change = word.partition("=")
            if not equals or not board or not change:
                hint = "as CFG: leaf3=R,spine1=12x"
                self.log.add("artifact.dump-line", f"{word[:60]!r} changes no board", hint, line)
                return
            changes.append((board, change))
        self.systems[name] = TopoSystem(name, kind, tuple(changes), line)

    def cable(self, line: int, column: int, match: re.Match[str]) -> None:
        """Take a cable of the current system; the same cable may stand at both of its ends."""
        if not self.current:
            message = f"the cable at {match['plug']} belongs to no system"
            hint = "a system's cables follow its line without a blank line between"
            self.log.add("artifact.stray-port", message, hint, line, column)
            return
        self.declare(line, match["type"], match["name"], None)
        width = int(match["width"] or 0)
        columns = (column, column + match.start("peer"))
        cable = TopoCable(
            self.current, match["plug"], match["name"], match["peer"],
            width if width in WIDTHS else 0, LANE_WORDS.get(match["lane"], ""), line, columns,
        )  # fmt: skip
        ends = ((cable.a_system, cable.a_plug), (cable.b_system, cable.b_plug))
        if ends[0] == ends[1]:
            message = f"{_say(ends[0])} is wired to itself"
            self.log.add("artifact.asymmetric-cable", message, "", line, column)
            return
        known = [self.wired.get(end) for end in ends]
        if known[0] is not None and known[0] is known[1]:
            return
        for end, other, at in zip(ends, known, columns, strict=True):
            if other is not None:
                far = (other.b_system, other.b_plug)
                far = (other.a_system, other.a_plug) if far == end else far
                message = f"{_say(end)} is wired to {_say(far)} on line {other.line} already"
                self.log.add("artifact.asymmetric-cable", message, "a plug takes one cable", line, at)
                return
        self.cables.append(cable)
        self.wired.update({ends[0]: cable, ends[1]: cable})


def _say(end: tuple[str, str]) -> str:
    """Name a plug."""
    return f"{end[0]} {end[1]}"


def looks_like(data: bytes) -> bool:
    """Say whether the first lines look like this format: a line of two words, and cables with an arrow below it."""
    lines = data[:65_536].decode("utf-8", "replace").splitlines()[:_HEAD_LINES]
    is_open = False
    for line in lines:
        text = line.strip()
        if not text or text[0] == "#":
            continue
        if is_open and len(text) <= MAX_LINE and _CABLE.match(text):
            return True
        is_open = len(text) <= MAX_LINE and _SYSTEM.match(text) is not None
    return False


def parse(data: bytes, file: str) -> Topology | tuple[Problem, ...]:
    """Read a topology file; lines that cannot be read become problems with their place, the rest is returned.

    The grammar is that of ``man ibdm-topo-file``; line ends of either kind are read. At most 64 MiB, a million lines
    and 65,536 systems. Returns problems alone when nothing can be read.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return (lines,)
    log = ProblemLog(file)
    reader = _Reader(log)
    for line, raw in enumerate(lines, 1):
        reader.read(line, raw.removesuffix("\r"))
        if len(reader.systems) > MAX_SYSTEMS:
            log.add("artifact.dump-too-large", f"more than {MAX_SYSTEMS:,} systems", "give one subnet", line)
            return log.close()
        if log.count("artifact.dump-line") > MAX_BROKEN:
            message = f"reading stopped at line {line:,}: too many lines are no part of a topology file"
            log.add("artifact.dump-empty", message, "see man ibdm-topo-file", line)
            return log.close()
    if not reader.cables:
        log.add("artifact.dump-empty", "no cable joins two systems of this file", "see man ibdm-topo-file", 1)
        return log.close()
    digest = hashlib.sha256(data).hexdigest()
    return Topology(file, digest, tuple(reader.systems.values()), tuple(reader.cables), log.close())


def parse_plan(data: bytes, file: str) -> SurveyPart:
    """Read a topology file as the plan that it is: cables by system and plug, whatever is inside the systems."""
    found = parse(data, file)
    if not isinstance(found, Topology):
        return SurveyPart(problems=found)
    cables = tuple(
        PlannedCable(c.a_system, c.a_plug, c.b_system, c.b_plug, Place(file, c.line, c.columns[0]))
        for c in found.cables
    )
    return SurveyPart(plan=cables, problems=found.problems)
