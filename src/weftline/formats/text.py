"""Bounded text: bytes of unknown origin become lines, and what is wrong with them becomes problems."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from weftline.errors import Place, Problem, Severity

MAX_LINE = 4096
"""Characters of one line; a real dump stays under 300."""
MAX_LINES = 1_000_000
"""Lines of one dump; a full subnet of 49,151 addresses takes about 600,000."""
MAX_BROKEN = 1_000
"""Broken lines after which a dump is given up."""
SHOWN_PER_CODE = 100
"""Problems of one code that are listed; the rest are counted."""
CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


@dataclass(slots=True)
class ProblemLog:
    """Collects problems; of each code the first hundred, and then how many more there were."""

    file: str
    found: list[Problem] = field(default_factory=list[Problem])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    worst: dict[str, Severity] = field(default_factory=dict[str, Severity])

    def add(
        self, code: str, message: str, hint: str = "", line: int = 0, column: int = 1, severity: Severity = "error"
    ) -> None:
        """Note one problem at a line of the file; line 0 is the file as a whole."""
        where = Place(self.file, line, column) if line else Place(self.file)
        self.keep(Problem(code, message, hint, where, severity))

    def keep(self, problem: Problem) -> None:
        """Note one problem that knows its place."""
        code = problem.code
        count = self.counts[code] = self.counts.get(code, 0) + 1
        if problem.severity == "error" or code not in self.worst:
            self.worst[code] = problem.severity
        if count <= SHOWN_PER_CODE:
            self.found.append(problem)

    def count(self, code: str) -> int:
        """Count the problems of a code."""
        return self.counts.get(code, 0)

    @property
    def has_error(self) -> bool:
        """Whether one of the problems is an error."""
        return "error" in self.worst.values()

    def close(self) -> tuple[Problem, ...]:
        """Return what was found, in the order of the file, and what was only counted."""
        listed = sorted(self.found, key=lambda problem: (problem.where and problem.where.line) or 2**31)
        for code, count in self.counts.items():
            if count > SHOWN_PER_CODE:
                more = count - SHOWN_PER_CODE
                message = f"{more} more problems {code} are not listed"
                listed.append(
                    Problem(
                        "artifact.dump-repeated",
                        message,
                        f"weftline explain {code}",
                        Place(self.file),
                        self.worst[code],
                    )
                )
        return tuple(listed)


def read_lines(data: bytes, file: str, limit: int, max_lines: int = 0) -> list[str] | Problem:
    """Split bytes into lines without their ends, or say why they are no text.

    Bytes that are not UTF-8 are kept as replacement characters: descriptions are cut after 64 bytes by the hardware.
    """
    if len(data) > limit:
        message = f"the file has {len(data):,} bytes; at most {limit:,} are read"
        return Problem("artifact.dump-too-large", message, "give one dump of one subnet", Place(file))
    max_lines = max_lines or MAX_LINES
    if data.count(b"\n") > max_lines:
        message = f"the file has more than {max_lines:,} lines"
        return Problem("artifact.dump-too-large", message, "give one dump of one subnet", Place(file))
    control = CONTROL.search(data)
    if control:
        line = data.count(b"\n", 0, control.start()) + 1
        column = control.start() - data.rfind(b"\n", 0, control.start())
        hint = "give the text that the tool printed; unpack it first if it is compressed"
        message = f"byte 0x{data[control.start()]:02x} does not occur in text: this file is binary"
        return Problem("artifact.dump-binary", message, hint, Place(file, line, column))
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
