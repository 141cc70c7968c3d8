"""A declaration file becomes a ``Declaration``, or every problem that it has."""

from __future__ import annotations

import codecs
import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from weftline.declare.checks import Sections, check_sections, check_spec
from weftline.declare.places import Places
from weftline.declare.problems import Subject, model_problems, order_problems
from weftline.declare.tree import plain, read_tree
from weftline.errors import Place, Problem
from weftline.model.spec import (
    FabricSpec,
    HostsSection,
    JobSpec,
    LosslessSection,
    SharedSpec,
    SiteSection,
    TenantSpec,
    TopologySection,
)

MAX_FILE_BYTES = 1024 * 1024
AnyModel = TypeVar("AnyModel", bound=BaseModel)
_YOUNGER = {
    "topology": (
        "groups", "local_links", "global_links", "arrangement", "trunk_gbps", "sizes", "dimension_links", "endpoints",
    ),
    "cables": ("leaf_leaf", "between_groups"),
    "expect": ("endpoints", "extra_endpoints", "groups", "leaf_leaf", "between_groups"),
}  # fmt: skip
"""Keys that came after declarations had digests, by section."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration that holds together, and where each of its values stands."""

    spec: FabricSpec
    path: Path
    places: Places
    canonical: str
    """The declaration as JSON in one order of keys: equal text means an equal declaration."""

    @property
    def file(self) -> str:
        """Name the file as problems name it."""
        return self.places.file


def read_spec(path: Path) -> Declaration | tuple[Problem, ...]:
    """Read a declaration file; every problem at once, with its place and a hint."""
    data = read_bytes(path)
    return (data,) if isinstance(data, Problem) else parse_spec(data, path)


def parse_spec(data: bytes, path: Path, without: tuple[str, ...] = ()) -> Declaration | tuple[Problem, ...]:
    """Read the bytes of a declaration as ``read_spec`` does; ``path`` is what problems name.

    Keys in ``without``, such as ``hosts.part``, count as not written.
    """
    file = str(path)
    text = _decode(data, file)
    if isinstance(text, Problem):
        return (text,)
    tree = read_tree(text, file)
    problems = [] if without else list(tree.problems)
    if tree.root is None:
        if not problems:
            problems = [_empty(file)]
        return order_problems(problems, file)
    places = Places(file, tree.root)
    content = plain(tree.root)
    if content is None:
        return order_problems(problems or [_empty(file)], file)
    for key in without:
        _leave_out(content, key.split("."))
    try:
        spec = FabricSpec.model_validate(content)
    except ValidationError as error:
        problems += model_problems(error, Subject(FabricSpec, content, places), tree.spoiled)
        problems += check_sections(_readable(content), places)
        return order_problems(problems, file)
    problems += check_spec(spec, places)
    if problems:
        return order_problems(problems, file)
    return Declaration(spec, path, places, canonical_json(dump_spec(spec)))


_ASIDE = ("risks", "rehearsal")
"""Sections of a declaration that change nothing of what is made from it."""


def dump_spec(spec: FabricSpec) -> dict[str, Any]:
    """Give a declaration as plain data; keys younger than their section stand there only where they are used.

    Without that the digest of every declaration would change with each key that is added. What may fail, and at what
    cost, is left out: a fabric stays the same when a risk is written down.
    """
    content = spec.model_dump(mode="json", exclude=set(_ASIDE))
    for section, keys in _YOUNGER.items():
        part: BaseModel = getattr(spec, section)
        for key in keys:
            if getattr(part, key) == type(part).model_fields[key].default:
                del content[section][key]
    return content


def _leave_out(content: object, steps: list[str]) -> None:
    """Remove a key from nested plain data, where it is."""
    for step in steps[:-1]:
        content = cast("dict[str, object]", content).get(step) if isinstance(content, dict) else None
    if isinstance(content, dict):
        cast("dict[str, object]", content).pop(steps[-1], None)


def canonical_json(value: object) -> str:
    """Write plain data as JSON in one order of keys, without spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def read_bytes(path: Path) -> bytes | Problem:
    """Read a file of at most ``MAX_FILE_BYTES``, or say why that cannot be."""
    file = str(path)
    where = Place(file)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "no ordinary file"
            return Problem("spec.unreadable-file", f"{file} is {what}", "name a declaration file (YAML)", where)
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        hint = "check the path, or write a first declaration with: weftline init"
        return Problem("spec.unreadable-file", f"there is no file {file}", hint, where)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Problem(
            "spec.unreadable-file", f"{file} cannot be read: {reason}", "check the path and its rights", where
        )
    return data


def _decode(data: bytes, file: str) -> str | Problem:
    if len(data) > MAX_FILE_BYTES:
        message = f"the file is larger than {MAX_FILE_BYTES:,} bytes"
        return Problem("spec.file-too-large", message, "a declaration has a few kilobytes", Place(file))
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        return Problem("spec.not-text", message, "save the file as UTF-8", Place(file, line, column))
    for index, character in enumerate(text):
        if (character < " " and character not in "\t\n\r") or "\x7f" <= character <= "\x9f":
            line = text.count("\n", 0, index) + 1
            column = index - text.rfind("\n", 0, index)
            message = f"the control character U+{ord(character):04X} stands here"
            return Problem(
                "spec.not-text", message, "remove it; a declaration is plain text", Place(file, line, column)
            )
    return text


def _empty(file: str) -> Problem:
    hint = "write a first declaration with: weftline init"
    return Problem("spec.empty", "the file holds no declaration", hint, Place(file, 1, 1))


def _readable(content: object) -> Sections:
    """Read each section by itself, so that one that is wrong does not hide what is wrong between others."""
    data: dict[str, Any] = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    return Sections(
        _section(SiteSection, data.get("site", {})),
        _section(HostsSection, data.get("hosts")),
        _section(TopologySection, data.get("topology", {})),
        _section(LosslessSection, data.get("lossless", {})),
        _items(TenantSpec, data.get("tenants"), 10_000),
        _items(JobSpec, data.get("jobs"), 64),
        _items(SharedSpec, data.get("shared"), 1000),
    )


def _section(model: type[AnyModel], data: object) -> AnyModel | None:
    try:
        return model.model_validate(data)
    except ValidationError:
        return None


def _items(model: type[AnyModel], data: object, most: int) -> tuple[tuple[int, AnyModel], ...]:
    entries = cast("list[object]", data)[:most] if isinstance(data, list) else []
    read = ((index, _section(model, entry)) for index, entry in enumerate(entries))
    return tuple((index, item) for index, item in read if item is not None)
