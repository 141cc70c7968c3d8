"""A fabric prepared for questions, kept in the workspace: columns in one file, of which nothing is ever unpickled.

The file is a line with a digest, a line of JSON that says where each column stands, and the columns. It names the files
and the code that it was made from by their digests, so that it is never older than they are, and is safe to delete.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from weftline.app.files import write_private
from weftline.app.workspace import Workspace
from weftline.errors import ArtifactError
from weftline.kernels.column import I64, U8, Array
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules
from weftline.model.rehearsal import Command, Limits
from weftline.model.routes import Routes
from weftline.rehearse.crews import Crews
from weftline.rehearse.ground import Base, Flows, Units, Ways
from weftline.rehearse.scene import Scene

HEAD = b"weftline/prepared/1 "
MOST_BYTES = 2**30
"""Of the file; a larger fabric is prepared each time."""
MOST_INPUT = 64 * 2**20
MOST_HEAD = 2**20
ALIGNED = 64
KINDS = frozenset(("|u1", "|i1", "<u2", "<i4", "<i8", "<f8"))
"""Types of columns; nothing else is read."""
HEAD_SIZE = len(HEAD) + 64 + 1
SOURCES = (".py", ".toml")

Noun = TypeVar("Noun")


class Reason(StrEnum):
    """Why what was prepared does not answer."""

    NOTHING = "nothing was prepared"
    OTHER = "it was made from other files, or by another version"
    DAMAGED = "it is damaged"
    FOREIGN = "it is no private file of yours"
    NOT_BY_PARTS = "this state has to be judged from scratch"


@dataclass(frozen=True, eq=False)
class Switchings:
    """The commands for each port of a switch, as JSON one behind the other."""

    text: U8
    ptr: I64

    def find(self, port: int) -> Command | None:
        """Find the commands for a port; None where it has none."""
        own = bytes(self.text[int(self.ptr[port]) : int(self.ptr[port + 1])])
        if not own:
            return None
        name, where, off, on = json.loads(own)
        return Command(name, where, tuple(off), tuple(on))


def gather_switchings(commands: list[Command | None]) -> Switchings:
    """Gather the commands of all ports."""
    texts = [
        b"" if one is None else json.dumps([one.port, one.where, one.do, one.undo]).encode("ascii") for one in commands
    ]
    ptr = np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.int64))).astype(np.int64)
    return Switchings(np.frombuffer(b"".join(texts), dtype=np.uint8), ptr)


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a question needs which can be judged by parts."""

    scene: Scene
    ways: Ways
    flows: Flows
    base: Base
    limits: Limits
    tables: str
    """How tables come about once something fails, in words."""
    switchings: Switchings


def place_prepared(workspace: Workspace) -> Path:
    """Say where it is kept."""
    return workspace.folder / "cache" / "rehearsal.columns"


def read_prepared(workspace: Workspace) -> Prepared | Reason:
    """Read what is kept, unless it is of something else, damaged, or not ours."""
    data = _read_own(place_prepared(workspace))
    if isinstance(data, Reason):
        return data
    head, body = data[:HEAD_SIZE].tobytes(), data[HEAD_SIZE:]
    if head != HEAD + hashlib.sha256(body.data).hexdigest().encode() + b"\n":
        return Reason.DAMAGED if head.startswith(HEAD) else Reason.OTHER
    try:
        line = body[: int(np.argmax(body[:MOST_HEAD] == ord("\n")))]
        told = json.loads(line.tobytes())
        if told["made"] != describe_maker() or not all(
            digest_input(workspace.declaration.parent / name) == digest for name, digest in told["inputs"]
        ):
            return Reason.OTHER
        return _unpack(told, body[len(line) + 1 :])
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return Reason.DAMAGED


def _read_own(path: Path) -> U8 | Reason:
    """Read a file of ours as bytes that can be written, as the columns of a fabric that was just made can."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Reason.NOTHING
    except OSError:
        return Reason.FOREIGN
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
            return Reason.FOREIGN
        if not HEAD_SIZE < status.st_size <= MOST_BYTES:
            return Reason.DAMAGED
        data = np.empty(status.st_size, dtype=np.uint8)
        done = 0
        while many := os.readv(handle, [data[done:].data]):
            done += many
    except OSError:
        return Reason.DAMAGED
    finally:
        os.close(handle)
    return data if done == len(data) else Reason.DAMAGED


def write_prepared(workspace: Workspace, inputs: list[list[str]], prepared: Prepared) -> None:
    """Keep it, whole or not at all; what is too large, or cannot be written, is not kept."""
    parts = _pack(prepared, inputs)
    if len(parts[0]) > MOST_HEAD or HEAD_SIZE + sum(len(part) for part in parts) > MOST_BYTES:
        return
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    try:
        write_private(place_prepared(workspace), [HEAD + digest.hexdigest().encode() + b"\n", *parts])
    except ArtifactError:
        return  # only the next question takes longer


def list_inputs(workspace: Workspace, names: list[str]) -> list[list[str]] | None:
    """Digest the files that a fabric is made from, named from beside the declaration; None where one is no file."""
    digests = [(name, digest_input(workspace.declaration.parent / name)) for name in names]
    return None if any(not digest for _, digest in digests) else [list(pair) for pair in digests]


def digest_input(path: Path) -> str:
    """Digest a file; empty where none stands there, or one that no declaration can be made from."""
    try:
        status = path.stat()  # a pipe is not even opened, since whoever writes into it would be cut off
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_INPUT:
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def describe_maker() -> str:
    """Name the code that prepares: a digest of every source, and what it runs on."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in _list_sources(root):
        digest.update(f"{path.relative_to(root)}\n".encode())
        digest.update(path.read_bytes())
    return f"{digest.hexdigest()} python {sys.version.split()[0]} numpy {np.__version__} {sys.byteorder}"


def _list_sources(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(SOURCES))


def _list_nouns(prepared: Prepared) -> list[tuple[str, Any]]:
    scene, base = prepared.scene, prepared.base
    return [
        ("fabric", scene.fabric), ("routes", scene.routes), ("crews", scene.crews), ("rules", scene.rules),
        ("ways", prepared.ways), ("flows", prepared.flows), ("base", base), ("units", base.units),
        ("limits", prepared.limits), ("switchings", prepared.switchings),
    ]  # fmt: skip


def _pack(prepared: Prepared, inputs: list[list[str]]) -> list[bytes]:
    columns: list[bytes] = []
    at = 0

    def put(column: Array) -> list[object]:
        nonlocal at
        data = np.ascontiguousarray(column)
        raw = data.tobytes()
        columns.append(raw + bytes(-len(raw) % ALIGNED))
        begin, at = at, at + len(columns[-1])
        return [begin, data.dtype.str, list(data.shape)]

    nouns: dict[str, dict[str, object] | None] = {}
    for name, noun in _list_nouns(prepared):
        if noun is None:
            nouns[name] = None
            continue
        told: dict[str, object] = {}
        for field in fields(noun):
            value = getattr(noun, field.name)
            if isinstance(value, np.ndarray):
                told[field.name] = {"column": put(cast("Array", value))}
            elif _is_columns(value):
                told[field.name] = {"columns": [put(one) for one in value]}
            elif _is_text(value):
                told[field.name] = {"text": put(np.frombuffer("\n".join(value).encode(), dtype=np.uint8))}
            elif not (name == "base" and field.name == "units"):
                told[field.name] = {"value": value}
        nouns[name] = told
    head = {
        "made": describe_maker(),
        "inputs": inputs,
        "digests": [prepared.scene.fabric.digest, prepared.scene.routes.digest],
        "tables": prepared.tables,
        "nouns": nouns,
    }
    line = json.dumps(head).encode("ascii")
    line += b" " * (-(HEAD_SIZE + len(line) + 1) % ALIGNED) + b"\n"
    return [line, *columns]


def _is_columns(value: object) -> bool:
    many = cast("tuple[object, ...]", value) if isinstance(value, tuple) else ()
    return bool(many) and all(isinstance(one, np.ndarray) for one in many)


def _is_text(value: object) -> bool:
    """Whether a value is a tuple of lines; any other has a form of its own in JSON."""
    many = cast("tuple[object, ...]", value) if isinstance(value, tuple) else ()
    return bool(many) and all(isinstance(one, str) and "\n" not in one for one in many)


def _unpack(told: Any, body: U8) -> Prepared:
    def get(entry: Any) -> Array:
        begin, kind, shape = entry
        if kind not in KINDS or begin < 0 or any(one < 0 for one in shape):
            raise ValueError
        size = np.dtype(kind).itemsize * int(np.prod(shape, dtype=np.int64))
        return body[begin : begin + size].view(kind).reshape(shape)

    def read(entry: Any) -> object:
        if "column" in entry:
            return get(entry["column"])
        if "columns" in entry:
            return tuple(get(one) for one in entry["columns"])
        if "text" in entry:
            return tuple(get(entry["text"]).tobytes().decode().split("\n"))
        value: Any = entry["value"]
        return tuple(cast("Any", value)) if isinstance(value, list) else value

    def make(noun: type[Noun], name: str, **more: object) -> Noun:
        return noun(**{field: read(entry) for field, entry in told["nouns"][name].items()}, **more)

    fabric, routes = make(Fabric, "fabric"), make(Routes, "routes")
    # the digests stand in a file whose bytes were digested, so they need not be computed from the columns again
    vars(fabric)["digest"], vars(routes)["digest"] = told["digests"]
    units = None if told["nouns"]["units"] is None else make(Units, "units")
    return Prepared(
        scene=Scene(fabric, routes, make(Crews, "crews"), make(ProofRules, "rules")),
        ways=make(Ways, "ways"),
        flows=make(Flows, "flows"),
        base=make(Base, "base", units=units),
        limits=make(Limits, "limits"),
        tables=told["tables"],
        switchings=make(Switchings, "switchings"),
    )
