"""YAML of machines as a tree of settings: every key and value a text with its place, within bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from weftline.formats.text import ProblemLog

MAX_BYTES = 32 * 2**20
MAX_SETTINGS = 400_000
"""Keys and values of one file with aliases expanded; a switch of 512 ports takes about 30,000."""
MAX_DEPTH = 40
Settings: TypeAlias = Mapping[str, "Settings | str | int"]
"""Settings to be written: sections and values in the order given."""
_PLAIN = re.compile(r"[A-Za-z/][\w./:+-]*|\d+|\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "y", "n"})
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(slots=True)
class Setting:
    """What stands at one key: a value, or settings below it; lists are keyed by their places from 0."""

    line: int
    column: int
    value: str | None = None
    children: dict[str, Setting] = field(default_factory=dict[str, "Setting"])
    size: int = 1
    """Settings from here down, with aliases expanded."""
    height: int = 1

    @property
    def text(self) -> str | None:
        """The value; a single key without anything below says the same, as a command line writes it."""
        if self.value is None and len(self.children) == 1:
            name, child = next(iter(self.children.items()))
            return name if child.value is None and not child.children else None
        return self.value

    def find(self, *path: str) -> Setting | None:
        """Take the path down; None where it is not written."""
        found: Setting | None = self
        for key in path:
            found = found.children.get(key) if found is not None else None
        return found

    def items(self, *path: str) -> Iterator[tuple[str, Setting]]:
        """Walk what stands below a path; nothing where it is not written."""
        found = self.find(*path)
        yield from found.children.items() if found is not None else ()


@dataclass(slots=True)
class _Frame:
    setting: Setting
    is_list: bool
    anchor: str | None
    key: str | None = None
    place: tuple[int, int] = (1, 1)


class _StopError(Exception):
    """Reading cannot go on; the problem is noted already."""


def read_settings(data: bytes, log: ProblemLog) -> Setting | None:
    """Read the documents of a file, later ones over earlier ones; what stands before an error is kept.

    Never raises and never recurses; None where nothing could be read.
    """
    if len(data) > MAX_BYTES:
        message = f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read"
        log.add("artifact.config-too-large", message, "give the configuration of one switch per file")
        return None
    builder = _Builder(log)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} is no UTF-8 text: this file is binary"
        log.add("artifact.config-binary", message, "give the text of the configuration, saved as UTF-8", line)
        return None
    try:
        for event in _events(text):
            builder.take(event)
    except _StopError:
        pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = (error.problem or error.context or "no YAML")[:120]
        _say_syntax(log, what, mark.line + 1 if mark else 0, mark.column + 1 if mark else 1)
    except yaml.YAMLError as error:
        _say_syntax(log, (str(error).splitlines() or ["no YAML"])[0][:120], 0, 1)
    return builder.finish()


def _say_syntax(log: ProblemLog, what: str, line: int, column: int) -> None:
    hint = "the file is cut off or was edited; what stands before this place is read"
    log.add("artifact.config-yaml", f"this is not YAML: {what}", hint, line, column)


def _events(text: str) -> Iterator[Any]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    parse: Any = yaml.parse  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return iter(parse(text, Loader=loader))


class _Builder:
    """Takes events one by one and grows the tree."""

    def __init__(self, log: ProblemLog) -> None:
        self.log = log
        self.root: Setting | None = None
        self._stack: list[_Frame] = []
        self._anchors: dict[str, Setting] = {}
        self._count = 0

    def take(self, event: Any) -> None:
        """Grow the tree by one event."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event, is_list=isinstance(event, yaml.SequenceStartEvent))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()

    def finish(self) -> Setting | None:
        """Close what an error left open."""
        while self._stack:
            self._close()
        return self.root

    def _stop(self, code: str, message: str, hint: str, event: Any) -> None:
        self.log.add(code, message, hint, event.start_mark.line + 1, event.start_mark.column + 1)
        raise _StopError

    def _grow(self, size: int, height: int, event: Any) -> None:
        self._count += size
        if len(self._stack) + height > MAX_DEPTH:
            hint = "no configuration needs that"
            self._stop("artifact.config-yaml", f"settings are nested more than {MAX_DEPTH} deep", hint, event)
        if self._count > MAX_SETTINGS:
            message = f"there are more than {MAX_SETTINGS:,} settings, aliases expanded; the rest is not read"
            self._stop("artifact.config-too-large", message, "give the configuration of one switch per file", event)

    def _scalar(self, event: Any) -> None:
        text = str(event.value)
        mark = (event.start_mark.line + 1, event.start_mark.column + 1)
        self._grow(1, 1, event)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and not frame.is_list and frame.key is None:
            frame.key, frame.place = text, mark
            if text in frame.setting.children:
                first = frame.setting.children[text].line
                message = f"the key {text[:40]!r} stands here a second time (first in line {first}); this one counts"
                self.log.add("artifact.config-twice", message, "keep one of the two", *mark, severity="warning")
            return
        value = None if not event.style and text in _NOTHING else text
        made = Setting(*mark, value)
        if event.anchor is not None:
            self._anchors[event.anchor] = made
        self._attach(made)

    def _alias(self, event: Any) -> None:
        self._refuse_key(event)
        target = self._anchors.get(event.anchor)
        if target is None or any(frame.anchor == event.anchor for frame in self._stack):
            message = f"the alias *{event.anchor[:40]} names nothing that stands complete above it"
            self._stop("artifact.config-yaml", message, "write the value out", event)
            return
        self._grow(target.size, target.height, event)
        self._attach(target)

    def _refuse_key(self, event: Any) -> None:
        if self._stack and not self._stack[-1].is_list and self._stack[-1].key is None:
            self._stop("artifact.config-yaml", "a key must be plain text", "write key: value", event)

    def _open(self, event: Any, *, is_list: bool) -> None:
        self._refuse_key(event)
        self._grow(1, 1, event)
        made = Setting(event.start_mark.line + 1, event.start_mark.column + 1)
        self._stack.append(_Frame(made, is_list, event.anchor))

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.anchor is not None:
            self._anchors[frame.anchor] = frame.setting
        self._attach(frame.setting)

    def _attach(self, made: Setting) -> None:
        if not self._stack:
            self.root = made if self.root is None else merge(self.root, made)
            return
        frame = self._stack[-1]
        parent = frame.setting
        key = str(len(parent.children)) if frame.is_list else frame.key
        if key is None:
            return
        if not frame.is_list:
            # A key says where its setting stands; the same value may be named by several aliases.
            made = Setting(*frame.place, made.value, made.children, made.size, made.height)
        parent.children[key] = made
        parent.size += made.size
        parent.height = max(parent.height, made.height + 1)
        frame.key = None


def merge(low: Setting, high: Setting) -> Setting:
    """Lay one tree over another without changing either; where both say something, the higher one counts."""
    if high.value is not None or not high.children:
        return high if high.value is not None or not low.children else low
    children = dict(low.children)
    for key, child in high.children.items():
        children[key] = merge(children[key], child) if key in children else child
    return Setting(high.line, high.column, None, children)


def write_settings(settings: Settings, indent: int = 0) -> list[str]:
    """Write settings as lines of YAML, two columns deeper for each section; numbers as keys are quoted, as texts."""
    lines: list[str] = []
    for key, value in settings.items():
        head = f"{' ' * indent}{quote(key, is_key=True)}:"
        if isinstance(value, Mapping):
            lines += [head, *write_settings(value, indent + 2)] if value else [f"{head} {{}}"]
        else:
            lines.append(f"{head} {value if isinstance(value, int) else quote(value)}")
    return lines


def quote(text: str, *, is_key: bool = False) -> str:
    """Quote a text where YAML would take it for something else; ``on`` and ``off`` stay as they are."""
    is_plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS and not text.endswith(":")
    return text if is_plain and not (is_key and text.isdigit()) else "'" + text.replace("'", "''") + "'"
