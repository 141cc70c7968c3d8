"""YAML events become a tree of values with places, within bounds on size and depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from weftline.declare.scalars import Scalar, read_scalar
from weftline.errors import Place, Problem

MAX_NODES = 100_000
MAX_DEPTH = 60
TOO_DEEP = f"values are nested more than {MAX_DEPTH} deep"
MAX_SHOWN_PATH = 160
MAX_NOTED = 1_000
"""Problems that are kept; beyond them reading stops."""

Step: TypeAlias = str | int
KeyPath: TypeAlias = tuple[Step, ...]


@dataclass(slots=True)
class Node:
    """A value and where it starts; lines and columns count from 1."""

    line: int
    column: int
    value: Scalar | list[Node] | dict[str, Node]
    keys: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Where each key of a mapping stands."""
    size: int = 1
    """Nodes from here down, with aliases expanded."""
    height: int = 1


@dataclass(slots=True)
class Tree:
    """What was read of one document, and what was wrong with it."""

    root: Node | None
    problems: list[Problem]
    spoiled: set[KeyPath]
    """Paths whose value could not be read: nothing more is said about them."""


@dataclass(slots=True)
class _Frame:
    node: Node
    anchor: str | None
    key: str | None = None
    dropped: bool = False
    """The value of the pending key belongs to a key that was refused."""


class _StopError(Exception):
    """Reading cannot go on; the problem is noted already."""


def read_tree(text: str, file: str) -> Tree:
    """Read one YAML document; never raises and never recurses."""
    builder = _Builder(file)
    try:
        for event in _events(text):
            builder.take(event)
    except _StopError:
        builder.root = None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        what = error.problem or error.context or "no YAML"
        if "nesting depth" in what:  # libyaml has a bound of its own and may meet it first
            builder.note("spec.too-deep", TOO_DEEP, "no section needs that", where)
            return Tree(None, builder.problems, builder.spoiled)
        builder.note("spec.syntax", f"this is not YAML: {what}", "check indentation, quotes and brackets", where)
        builder.root = None
    except yaml.YAMLError as error:
        first_line = (str(error).splitlines() or ["no YAML"])[0][:200]
        builder.note(
            "spec.syntax", f"this is not YAML: {first_line}", "check quotes and control characters", Place(file)
        )
        builder.root = None
    return Tree(builder.root, builder.problems, builder.spoiled)


def _events(text: str) -> Iterator[Any]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    parse: Any = yaml.parse  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return iter(parse(text, Loader=loader))


class _Builder:
    """Takes events one by one and grows the tree."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self.spoiled: set[KeyPath] = set()
        self._stack: list[_Frame] = []
        self._anchors: dict[str, Node] = {}
        self._documents = 0
        self._nodes = 0

    def note(self, code: str, message: str, hint: str, where: Place) -> None:
        """Keep a problem, and stop reading once there are far too many."""
        self.problems.append(Problem(code, message, hint, where))
        if len(self.problems) >= MAX_NOTED:
            raise _StopError

    def take(self, event: Any) -> None:
        """Grow the tree by one event."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open(event, {})
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open(event, [])
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                hint = "keep one fabric per file: remove what follows ---"
                self._stop("spec.several-documents", "a second document starts here", hint, self._place(event))

    def _place(self, event: Any) -> Place:
        return Place(self.file, event.start_mark.line + 1, event.start_mark.column + 1, show_path(self._path()))

    def _path(self) -> KeyPath:
        path: list[Step] = []
        for frame in self._stack:
            if isinstance(frame.node.value, list):
                path.append(len(frame.node.value))
            elif frame.key is not None:
                path.append(frame.key)
        return tuple(path)

    def _stop(self, code: str, message: str, hint: str, where: Place) -> None:
        self.note(code, message, hint, where)
        raise _StopError

    def _at_key(self) -> bool:
        """Say whether the next scalar is a key."""
        if not self._stack:
            return False
        frame = self._stack[-1]
        return isinstance(frame.node.value, dict) and frame.key is None

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None:
            self.spoiled.add(self._path())
            message = f"the tag {str(event.tag)[:40]!r} is not allowed"
            self.note(
                "spec.tag", message, "remove it: the kind of a value follows from how it is written", self._place(event)
            )

    def _scalar(self, event: Any) -> None:
        self._refuse_tag(event)
        if self._at_key():
            self._key(event)
            return
        value: Scalar = str(event.value)
        if not event.style and event.tag is None:
            try:
                value = read_scalar(str(event.value))
            except ValueError as error:
                self.note(
                    "spec.number", str(error)[:120], "write a plain number of at most 40 characters", self._place(event)
                )
                self.spoiled.add(self._path())
        mark = event.start_mark
        node = Node(mark.line + 1, mark.column + 1, value)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._count(1, 1, event)
        self._attach(node)

    def _key(self, event: Any) -> None:
        frame = self._stack[-1]
        key = str(event.value)
        place = self._place(event)
        mark = (place.line or 1, place.column or 1)
        frame.key = key
        frame.dropped = True
        if event.anchor is not None:
            self._anchors[event.anchor] = Node(*mark, key)
        self._count(1, 1, event)
        if key == "<<" and not event.style:
            self.note("spec.merge-key", "merge keys (<<) are not allowed", "write the keys out", place)
        elif key in frame.node.keys:
            first = frame.node.keys[key][0]
            message = f"the key {key[:40]!r} stands here a second time (first in line {first})"
            self.note("spec.duplicate-key", message, "keep one of the two", place)
        else:
            frame.node.keys[key] = mark
            frame.dropped = False

    def _refuse_complex_key(self, event: Any) -> None:
        if self._at_key():
            self._stop("spec.complex-key", "a key must be plain text", "write key: value", self._place(event))

    def _alias(self, event: Any) -> None:
        self._refuse_complex_key(event)
        if any(frame.anchor == event.anchor for frame in self._stack):
            message = f"the alias *{event.anchor[:40]} stands inside what it names: that never ends"
            self._stop("spec.alias-cycle", message, "write the value out", self._place(event))
        target = self._anchors.get(event.anchor)
        if target is None:
            message = f"nothing is named &{event.anchor[:40]} before this alias"
            self.note("spec.unknown-alias", message, "define it above, or write the value out", self._place(event))
            self.spoiled.add(self._path())
            target = Node(event.start_mark.line + 1, event.start_mark.column + 1, None)
        self._count(target.size, target.height, event)
        self._attach(target)

    def _open(self, event: Any, value: list[Node] | dict[str, Node]) -> None:
        self._refuse_complex_key(event)
        self._refuse_tag(event)
        self._count(1, 1, event)
        mark = event.start_mark
        self._stack.append(_Frame(Node(mark.line + 1, mark.column + 1, value), event.anchor))

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.anchor is not None:
            self._anchors[frame.anchor] = frame.node
        self._attach(frame.node)

    def _attach(self, node: Node) -> None:
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        parent = frame.node
        if isinstance(parent.value, list):
            parent.value.append(node)
        elif isinstance(parent.value, dict) and frame.key is not None:
            if not frame.dropped:
                parent.value[frame.key] = node
            frame.key = None
        parent.size += node.size
        parent.height = max(parent.height, node.height + 1)

    def _count(self, nodes: int, height: int, event: Any) -> None:
        self._nodes += nodes
        if len(self._stack) + height > MAX_DEPTH:
            self._stop("spec.too-deep", TOO_DEEP, "no section needs that", self._place(event))
        if self._nodes > MAX_NODES:
            message = f"there are more than {MAX_NODES:,} values, aliases expanded"
            self._stop("spec.too-many-values", message, "a declaration has hundreds at most", self._place(event))


def plain(node: Node) -> object:
    """Turn a tree into plain data."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [plain(child) for child in node.value]
    return node.value


def show_path(path: KeyPath) -> str:
    """Write a key path as ``jobs[0].name``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else (f".{step[:60]}" if text else step[:60])
    return text if len(text) <= MAX_SHOWN_PATH else text[: MAX_SHOWN_PATH - 4] + " ..."
