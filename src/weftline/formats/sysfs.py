"""Files of ``/sys`` and ``/proc`` as people print them: ``cat PATH``, ``grep . PATH/*``, ``head PATH/*``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import MAX_BRACES, Output, expand_braces

MAX_FACTS = 100_000
_GREP = re.compile(r"^(/(?:sys|proc)/[^:\s]{1,300}):\s*(.*)$")
_NAMED = re.compile(r"^\s*([A-Za-z0-9_.]{1,80})\s*[:=]\s*(\S.{0,200})$")
_KNOWN = re.compile(
    rb"^(?:==> /(?:sys|proc)/\S+ <==|/(?:sys|proc)/[^:\s]+:|.{0,60}cat /(?:sys|proc)/|# /(?:sys|proc)/)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class SysfsFact:
    """One file and its one line."""

    path: str
    value: str
    line: int


def looks_like(head: bytes) -> bool:
    """Tell the output by the paths in it."""
    return _KNOWN.search(head) is not None


def parse(output: Output, log: ProblemLog) -> tuple[SysfsFact, ...]:
    """Read which file says what; of an output with fewer lines than files nobody knows which line is whose."""
    facts: list[SysfsFact] = []
    bare: list[tuple[int, str]] = []
    for number, line in output.numbered():
        if len(facts) >= MAX_FACTS:
            log.add("artifact.dump-too-large", f"one output names more than {MAX_FACTS:,} files", "", number)
            break
        grep = _GREP.match(line.strip())
        named = _NAMED.match(line)
        if grep:
            facts.append(SysfsFact(grep[1], grep[2].strip()[:200], number))
        elif named and output.path.endswith("/"):
            facts.append(SysfsFact(output.path + named[1], named[2].strip(), number))
        elif not line.lstrip().startswith("#"):
            bare.append((number, line.strip()[:200]))
    facts.extend(_share(output, bare, log))
    return tuple(facts)


def _share(output: Output, bare: list[tuple[int, str]], log: ProblemLog) -> list[SysfsFact]:
    """Give lines without a path to the files of the command, one each."""
    words = (
        [output.path] if output.path else [word for word in output.command[1:] if word.startswith(("/sys/", "/proc/"))]
    )
    paths = [path for word in words for path in expand_braces(word)][:MAX_BRACES]
    if not bare or not paths:
        for number, line in bare[:1]:
            log.add(
                "artifact.host-line", f"{line[:60]!r} belongs to no file that is named", _OWNER, number, 1, "warning"
            )
        return []
    if len(paths) == len(bare):
        return [SysfsFact(path, value, number) for path, (number, value) in zip(paths, bare, strict=True)]
    number, value = bare[0]
    if len({text for _, text in bare}) == 1 and not any("*" in path for path in paths):
        message = f"one line for {len(paths)} files; read as said by each of them"
        log.add("artifact.host-shortened", message, "give the output as it was printed", number, 1, "warning")
        return [SysfsFact(path, value, number) for path in paths]
    log.add(
        "artifact.host-line", f"{len(bare)} lines for {len(paths)} files: whose is which?", _OWNER, number, 1, "warning"
    )
    return []


_OWNER = "use 'grep . PATH...', which prints each path"
