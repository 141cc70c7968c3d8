"""Cabling plans as CSV: NDT files of UFM, point-to-point lists, and Weftline's own cabling list."""

from __future__ import annotations

from dataclasses import dataclass, field

from weftline.errors import Place, Problem
from weftline.formats.csv_line import Fields, split_line
from weftline.formats.portname import read_port
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.model.survey import PlannedCable, SurveyPart

MAX_BYTES = 64 * 2**20
MAX_CABLES = 400_000
MAX_NAME = 128
_HEAD_LINES = 50
_COLUMNS = {
    "startdevice": "a_device", "startport": "a_port", "enddevice": "b_device", "endport": "b_port",
    "a-node name": "a_device", "a-port": "a_port", "z-node name": "b_device", "z-port": "b_port",
    "a_device": "a_device", "a_port": "a_port", "b_device": "b_device", "b_port": "b_port",
    "state": "state", "domain": "domain",
}  # fmt: skip
"""What the headers of plans call what we read, in small letters."""
_NEEDED = ("a_device", "a_port", "b_device", "b_port")
_TITLES = ("StartDevice", "StartPort", "EndDevice", "EndPort")
_HINT = "the header names StartDevice, StartPort, EndDevice and EndPort, or a_device, a_port, b_device and b_port"
_PORT_HINT = "as Port 21, Blade 16_Port 2/20, host-a ibp11s0f0, mlx5_0 or nic1"


@dataclass(slots=True)
class _Reader:
    """What is known between two lines."""

    log: ProblemLog
    order: dict[str, int] = field(default_factory=dict[str, int])
    cables: list[PlannedCable] = field(default_factory=list[PlannedCable])
    used: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    rows: int = 0

    def read(self, line: int, raw: str) -> bool:
        """Take one line; False where reading on makes no sense."""
        text = raw.removesuffix("\r")
        if not text.strip(" ,\t"):
            return True
        if len(text) > MAX_LINE:
            message = f"a line has {len(text):,} characters; at most {MAX_LINE:,} are read"
            self.log.add("artifact.plan-row", message, "one cable per line", line)
            return True
        fields = split_line(text)
        if isinstance(fields, int):
            message = "a quotation mark is out of place"
            self.log.add("artifact.plan-row", message, "close it on the same line", line, fields)
            return bool(self.order)
        if not self.order:
            return self.header(line, fields)
        if not text.lstrip().startswith("#"):
            self.row(line, fields)
        return True

    def header(self, line: int, fields: Fields) -> bool:
        """Find the columns."""
        for index, (text, column) in enumerate(fields):
            name = _COLUMNS.get(_plain(text))
            if name is None:
                continue
            if name in self.order:
                message = f"column {text[:40]} stands twice"
                self.log.add("artifact.plan-header", message, "remove one", line, column)
                return False
            self.order[name] = index
        missing = [title for name, title in zip(_NEEDED, _TITLES, strict=True) if name not in self.order]
        if missing:
            message = f"the header has no column {', '.join(missing)}"
            self.log.add("artifact.plan-header", message, _HINT, line)
        return not missing

    def row(self, line: int, fields: Fields) -> None:
        """Take one cable."""
        self.rows += 1
        if len(fields) <= max(self.order[name] for name in _NEEDED):
            message = f"{len(fields)} fields, too few for the columns of the header"
            self.log.add("artifact.plan-row", message, "a field with a comma is quoted", line)
            return
        cells = [fields[self.order[name]] for name in _NEEDED]
        for (text, column), title in zip(cells, _TITLES, strict=True):
            if not text or len(text) > MAX_NAME:
                message = f"{title} is empty" if not text else f"{title} has more than {MAX_NAME} characters"
                self.log.add("artifact.plan-row", message, "every cable has two devices and two ports", line, column)
                return
        (a_device, _), (a_port, a_column), (b_device, _), (b_port, b_column) = cells
        bad = False
        for device, port, column in ((a_device, a_port, a_column), (b_device, b_port, b_column)):
            if read_port(port, device) is None:
                bad = True
                self.log.add("artifact.plan-port", f"{port[:40]!r} names no port", _PORT_HINT, line, column)
        if bad:
            return
        ends = sorted(((a_device.casefold(), a_port.casefold()), (b_device.casefold(), b_port.casefold())))
        if ends[0] == ends[1]:
            self.log.add("artifact.plan-row", "a cable from a port to itself", "name two ports", line, b_column)
            return
        for end, column in zip(((a_device, a_port), (b_device, b_port)), (a_column, b_column), strict=True):
            self.use(end, line, column)
        state, domain = (self.cell(name, fields) for name in ("state", "domain"))
        is_expected = state in {"", "active"} and domain in {"", "in-scope"}
        self.cables.append(PlannedCable(a_device, a_port, b_device, b_port, Place(self.log.file, line), is_expected))

    def cell(self, name: str, fields: Fields) -> str:
        """Return a field that need not be there, in small letters."""
        at = self.order.get(name, len(fields))
        return fields[at][0].casefold() if at < len(fields) else ""

    def use(self, end: tuple[str, str], line: int, column: int) -> None:
        """Note that a port is planned, and report it where it is already."""
        first = self.used.setdefault((end[0].casefold(), end[1].casefold()), line)
        if first != line:
            message = f"{end[0]} {end[1]} has a cable on line {first} already"
            hint = "a port takes one cable; where two devices share a name, give each its own"
            self.log.add("artifact.plan-twice", message, hint, line, column, "warning")


def _plain(text: str) -> str:
    """Strip what NDT writes before the first name of a header."""
    return text.casefold().removeprefix("#").removeprefix("fields:").strip()


def looks_like(data: bytes) -> bool:
    """Say whether one of the first lines is the header of a plan."""
    for line in data[:65_536].decode("utf-8", "replace").removeprefix("\ufeff").splitlines()[:_HEAD_LINES]:
        fields = split_line(line[:MAX_LINE])
        if isinstance(fields, int):
            continue
        names = {_COLUMNS.get(_plain(text)) for text, _ in fields}
        if len(names.intersection(_NEEDED)) >= 2:
            return True
    return False


def parse(data: bytes, file: str) -> SurveyPart:
    """Read a plan; what cannot be read is a problem with its line and column, the rest is returned.

    Devices and ports stay as they are written. A row whose State is not Active or whose Domain is not In-Scope is a
    cable that need not be there. A port that is planned twice is a warning at the second line, and both rows are kept.
    At most 64 MiB, a million lines and 400,000 cables.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    reader = _Reader(log)
    for line, raw in enumerate(lines, 1):
        if not reader.read(line, raw):
            break
        if len(reader.cables) > MAX_CABLES:
            log.add("artifact.dump-too-large", f"more than {MAX_CABLES:,} cables", "give one subnet", line)
            break
        if log.count("artifact.plan-row") + log.count("artifact.plan-port") > MAX_BROKEN:
            message = f"reading stopped at line {line:,}: too many rows are no cables"
            log.add("artifact.plan-row", message, _HINT, line)
            break
    if not reader.cables and not log.has_error:
        log.add("artifact.plan-row", "the plan has no cables", "one line per cable below the header", 1)
    return SurveyPart(plan=tuple(reader.cables), problems=log.close())
