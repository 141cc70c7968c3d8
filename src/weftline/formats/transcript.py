"""What a person kept of a host: outputs of commands, each after its prompt or file name where one was kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Generic, TypeVar

from weftline.errors import Problem
from weftline.formats.text import ProblemLog, read_lines

T_co = TypeVar("T_co", covariant=True)

MAX_BYTES = 64 * 2**20
MAX_OUTPUTS = 10_000
MAX_WORDS = 64
"""Words of one command; of a longer one the rest says nothing about whose output it is."""
MAX_BRACES = 256
MAX_NESTED = 8
COMMANDS = frozenset(
    {
        *("mlnx_qos", "ethtool", "show_gids", "ibv_devinfo", "ibdev2netdev", "cma_roce_tos", "cma_roce_mode", "ibstat"),
        *("cat", "head", "grep", "sysctl", "env", "printenv", "ip", "ifconfig", "dcb", "lldptool", "rdma", "lspci"),
        *("mlxconfig", "mstconfig", "uname", "hostname", "tcpdump"),
    }
)
_PROMPT = re.compile(
    r"^(?:\[?(?P<user>[A-Za-z0-9_.-]{1,64})@(?P<host>[A-Za-z0-9_.-]{1,64})[^#$%>]{0,200}?\]?[#$%>]|[#$%>]|\++)\s*(?P<command>\S.*)$"
)
_FILE = re.compile(r"^(?:==> (?P<head>\S{1,300}) <==|# (?P<comment>/(?:sys|proc|etc)/\S{1,300}))\s*$")
_RANGE = re.compile(r"^(\d{1,4})\.\.(\d{1,4})$")
_BRACES = re.compile(r"\{([^{}]{1,200})\}")


@dataclass(frozen=True, slots=True)
class Told(Generic[T_co]):
    """One value that a text says, and its line."""

    value: T_co
    line: int


@dataclass(frozen=True, slots=True)
class Output:
    """The output of one command, or the content of one file."""

    command: tuple[str, ...]
    """Its words without ``sudo``; empty where no prompt was kept."""
    host: str
    """The host that the prompt names; empty where it names none."""
    path: str
    """The file whose content it is; empty where it is the output of another command."""
    first: int
    """Number of its first line."""
    lines: tuple[str, ...]

    @property
    def program(self) -> str:
        """The program that was run, without its folder."""
        return self.command[0].rpartition("/")[2] if self.command else ""

    def option(self, *names: str) -> str:
        """Return what follows one of these options, or stands after its ``=``; empty where none was given."""
        for place, word in enumerate(self.command):
            if word in names and place + 1 < len(self.command):
                return self.command[place + 1]
            for name in names:
                if word.startswith(f"{name}=") and name.startswith("-"):
                    return word.partition("=")[2]
        return ""

    def numbered(self) -> list[tuple[int, str]]:
        """List line number and text of each line that is not blank."""
        return [(self.first + place, line) for place, line in enumerate(self.lines) if line.strip()]


def split_outputs(content: bytes, file: str, log: ProblemLog) -> tuple[Output, ...]:
    """Split a text at the prompts and file names in it; without any, it is one output.

    Bytes that are no text give no output, and a problem.
    """
    lines = read_lines(content, file, MAX_BYTES)
    if isinstance(lines, Problem):
        where = lines.where
        log.add(lines.code, lines.message, lines.hint, (where and where.line) or 0, (where and where.column) or 1)
        return ()
    starts = [start for number, line in enumerate(lines) if (start := _read_start(line.rstrip("\r"), number))]
    if len(starts) > MAX_OUTPUTS:
        hint = "give the outputs of one host in one file"
        log.add(
            "artifact.dump-too-large", f"the file has more than {MAX_OUTPUTS:,} commands", hint, starts[MAX_OUTPUTS][0]
        )
        starts = starts[:MAX_OUTPUTS]
    bounds = [(-1, (), "", ""), *starts]
    outputs: list[Output] = []
    for place, (number, command, host, path) in enumerate(bounds):
        end = bounds[place + 1][0] if place + 1 < len(bounds) else len(lines)
        body = tuple(line.rstrip("\r") for line in lines[number + 1 : end])
        if number >= 0 or any(line.strip() for line in body):
            outputs.append(Output(command, host, path, number + 2, body))
    return tuple(outputs)


def _read_start(line: str, number: int) -> tuple[int, tuple[str, ...], str, str] | None:
    """Read a line that begins an output: its number, the command, the host, the file."""
    if len(line) > 1000 or not line or line[0] in " \t":
        return None
    named = _FILE.match(line)
    if named:
        return number, (), "", named["head"] or named["comment"]
    match = _PROMPT.match(line)
    if match is None:
        return None
    words = match["command"].split()[:MAX_WORDS]
    while words and (words[0] in {"sudo", "time", "-E"} or "=" in words[0].partition("/")[0]):
        words = words[1:]
    if not words or (match["host"] is None and words[0].rpartition("/")[2] not in COMMANDS):
        return None
    if "|" in words:
        words = words[: words.index("|")]
    path = words[1] if words[:1] == ["cat"] and len(words) == 2 else ""
    return number, tuple(words), match["host"] or "", path


def expand_braces(text: str) -> tuple[str, ...]:
    """Expand ``{1..8}`` and ``{a,b}`` as a shell does, up to MAX_BRACES words."""
    words = [text]
    for _ in range(MAX_NESTED):
        match = _BRACES.search(words[0])
        choices = _read_choices(match[1]) if match else ()
        if not match or not choices:
            break
        # Every word has the same braces in the same order, so each is opened at its own first one.
        opened = [(word[: found.start()], word[found.end() :]) for word in words if (found := _BRACES.search(word))]
        words = [before + choice + after for before, after in opened for choice in choices][:MAX_BRACES]
    return tuple(words)


def _read_choices(text: str) -> tuple[str, ...]:
    bounds = _RANGE.match(text)
    if bounds:
        low, high = sorted((int(bounds[1]), int(bounds[2])))
        return tuple(str(number) for number in range(low, min(high, low + MAX_BRACES) + 1))
    return tuple(text.split(",")) if "," in text else ()


def name_in_file(file: str, names: frozenset[str]) -> str:
    """Return what a file's name says beside the names of commands: ``mlnx_qos-eth2.txt`` is of ``eth2``."""
    stem = PurePath(file).name
    for suffix in (".txt", ".out", ".log", ".json", ".conf"):
        stem = stem.removesuffix(suffix)
    for name in sorted(names, key=len, reverse=True):
        if stem.startswith(name) and stem[len(name) :][:1] in {"-", "_", "."}:
            rest = stem[len(name) + 1 :]
            return re.sub(r"^(?:[aSkidv]|-[aSkidv])[-_.]", "", rest)
    return ""
