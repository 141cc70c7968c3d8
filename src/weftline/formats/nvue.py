"""NVUE of Cumulus Linux: ``startup.yaml``, or the ``nv set`` commands that it prints, to one tree of settings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.errors import Problem
from weftline.formats.config_text import HIDDEN, split_lines
from weftline.formats.settings import MAX_DEPTH, MAX_SETTINGS, Setting, merge, read_settings
from weftline.formats.text import ProblemLog

MAX_NAMES = 4_096
"""Names that one range may stand for."""
_MARKS = re.compile(
    rb"^\s*- (?:header|set|unset):|^\s*(?:nv (?:set|unset|config) \S)|nvue-api-version|\"(?:set|unset)\": *\{"
    rb"|^\s*\"?nve\"?: *\{?\s*$",
    re.MULTILINE,
)
_RANGED = frozenset({"interface", "vlan", "switch-priority", "traffic-class", "dscp", "pcp", "vni", "cos", "priority"})
"""Sections whose keys may be ranges, as ``swp1-64`` or ``10,20``; a name elsewhere may hold a dash."""
_PIECE = re.compile(r"([A-Za-z_]*(?:\d+s)?)(\d{1,10})(?:-(\d{1,10}))?(s\d{1,2}(?:-\d{1,2})?)?")
_SECRET = re.compile(r"(?:.*-)?(?:password|secret|auth-key|passphrase|key-string|readonly-community)")
_RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class NvueFile:
    """What one file says once all its changes are made."""

    file: str
    root: Setting
    release: tuple[int, int] | None
    """Release of Cumulus Linux that the header names."""
    model: str | None
    version: Setting | None
    """Where the header names the release."""
    problems: tuple[Problem, ...]


def looks_like(head: bytes) -> bool:
    """Say whether the first bytes of a file are a configuration of NVUE."""
    return _MARKS.search(head) is not None


def read_nvue(data: bytes, file: str) -> NvueFile:
    """Read a list of changes, a tree of settings or commands; never raises.

    Ranges in keys are spread, later settings count over earlier ones, secrets are replaced.
    """
    log = ProblemLog(file)
    body = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    is_commands = re.search(rb"^\s*nv (?:set|unset|config) ", body[:65_536], re.MULTILINE) is not None
    read = _read_commands(data, log) if is_commands else read_settings(data, log)
    header: Setting | None = None
    root = Setting(1, 1)
    spread = _Spread(log)
    for verb, change in _changes(read, log):
        if verb == "header":
            header = change
        elif verb == "set":
            root = merge(root, spread.walk(change, ""))
        else:
            root = _remove(root, spread.walk(change, ""))
    if not root.children and not log.has_error:
        hint = "give /etc/nvue.d/startup.yaml, or what `nv config show` prints"
        log.add("artifact.config-empty", "nothing is set here", hint, severity="warning")
    version = header.find("version") if header is not None else None
    match = _RELEASE.search(version.value or "") if version is not None else None
    release = None
    if match is not None:
        major, minor = match[0].split(".")[:2]
        release = (int(major[:4]), int(minor[:4]))
    model = header.find("model") if header is not None else None
    return NvueFile(file, root, release, model.value if model is not None else None, version, log.close())


def _changes(read: Setting | None, log: ProblemLog) -> list[tuple[str, Setting]]:
    """List the header and the changes of a file in their order; a bare tree is one change."""
    if read is None:
        return []
    if read.value is not None:
        log.add("artifact.config-yaml", "the file is one text and no settings", "give startup.yaml", read.line)
        return []
    verbs = ("header", "set", "unset")
    items = list(read.children.items())
    if items and all(key.isdigit() for key, _ in items):
        found: list[tuple[str, Setting]] = []
        for _, item in items:
            for key, change in item.children.items():
                if key in verbs:
                    found.append((key, change))
                else:
                    message = f"{key[:40]!r} is no change: one of header, set, unset"
                    log.add("artifact.config-yaml", message, "take the file again", change.line, severity="warning")
        return found
    if items and all(key in verbs for key, _ in items):
        return items
    return [("set", read)]


def _read_commands(data: bytes, log: ProblemLog) -> Setting:
    """Read ``nv set a b c`` line by line; other lines of a script say nothing here."""
    lines = Setting(1, 1)
    for number, raw in split_lines(data, log):
        words = raw.partition(" #")[0].split()
        if not words or words[0].startswith("#"):
            continue
        if words[0].endswith(("$", "#")) and "nv" in words:  # the prompt of a terminal
            words = words[words.index("nv") :]
        if words[:1] != ["nv"] or len(words) < 3 or words[1] not in {"set", "unset"}:
            if words[:2] != ["nv", "config"] and words[:1] == ["nv"]:
                log.add("artifact.config-line", f"{raw.strip()[:60]!r} sets nothing", "", number, severity="warning")
            continue
        top = change = Setting(number, 1)
        for word in words[2 : MAX_DEPTH + 2]:
            child = Setting(number, raw.find(word) + 1)
            change.children[word.strip("'\"")] = child
            change = child
        item = Setting(number, 1, None, {words[1]: top})
        lines.children[str(len(lines.children))] = item
    return lines


class _Spread:
    """Spreads ranges in keys and hides secrets, within a bound on what comes out."""

    def __init__(self, log: ProblemLog) -> None:
        self._log = log

    def walk(self, setting: Setting, section: str) -> Setting:
        """Copy a tree with its ranges spread; what a range stands for shares one copy."""
        made = Setting(setting.line, setting.column, setting.value)
        if setting.value is not None and _SECRET.fullmatch(section):
            made.value = HIDDEN
        for key, child in setting.children.items():
            below = self.walk(child, key)
            names = expand_key(key) if section in _RANGED else (key,)
            made.size += len(names) * below.size
            if made.size > MAX_SETTINGS:
                message = f"there are more than {MAX_SETTINGS:,} settings once ranges are spread; the rest is not read"
                if not self._log.count("artifact.config-too-large"):
                    self._log.add("artifact.config-too-large", message, "give one switch per file", child.line)
                made.size = MAX_SETTINGS
                break
            for name in names:
                made.children[name] = merge(made.children[name], below) if name in made.children else below
        return made


def expand_key(key: str) -> tuple[str, ...]:
    """Spread ``swp1-3,7`` into names; a key that is no range comes back as it is."""
    if "-" not in key and "," not in key:
        return (key,)
    names: list[str] = []
    stem = ""
    for piece in key[:MAX_NAMES].split(","):
        match = _PIECE.fullmatch(piece)
        if match is None:
            return (key,)
        low, high = int(match[2]), int(match[3] or match[2])
        if high - low >= MAX_NAMES or len(names) + high - low >= MAX_NAMES:
            return (key,)
        lanes = _lanes(match[4])
        stem = stem if not match[1] else match[1]  # ``swp1-4,6`` names swp6
        names += [f"{stem}{number}{lane}" for number in range(low, high + 1) for lane in lanes]
    return tuple(names)


def _lanes(text: str | None) -> tuple[str, ...]:
    """Spread the last part of ``swp1s0-3``."""
    if text is None:
        return ("",)
    first, _, last = text[1:].partition("-")
    return tuple(f"s{lane}" for lane in range(int(first), int(last or first) + 1))


def _remove(low: Setting, gone: Setting) -> Setting:
    """Take out of one tree what another names: its ends with all that stands below them."""
    if gone.value is not None or not gone.children:
        return Setting(low.line, low.column)
    children = dict(low.children)
    for key, child in gone.children.items():
        if key not in children:
            continue
        if child.children:
            children[key] = _remove(children[key], child)
        else:
            del children[key]
    return Setting(low.line, low.column, low.value, children)
