"""One made-up switch with old references, a half of its buffers computed and several faults: what is read of its files.

``UPDATE_EXPECTED=1`` writes the expected file anew; say in the commit why it moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

from weftline.model.observed import ObservedDevice
from weftline.model.said import Said
from weftline.vendors import VENDORS

CASE = Path(__file__).parent / "cases" / "sonic-leaf"


def spread(path: str, value: object) -> Iterator[str]:
    """List what is said, line by line: path, value, and where it stands."""
    if isinstance(value, Said):
        said = cast("Said[Any]", value)
        place = said.where
        yield f"{path} = {said.value}  ({Path(place.file).name}:{place.line} {place.path})".replace(" )", ")")
    elif isinstance(value, tuple):
        for number, item in enumerate(cast("tuple[Any, ...]", value)):
            name = getattr(item, "name", None) or getattr(item, "key", None)
            yield from spread(f"{path}.{number if name is None else name}", item)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in {"name", "key", "where"}:
                yield from spread(f"{path}.{field.name}".lstrip("."), getattr(value, field.name))


def show(device: ObservedDevice) -> str:
    """Write a device as a person reads it."""
    lines = [f"{device.name}: {device.role} of {device.vendor}", f"covers {', '.join(sorted(device.covers))}"]
    lines += [f"unread {table}: {count}" for table, count in device.unread]
    lines += spread("", device)
    lines += [f"{e.kind} {e.port} {e.key} = {e.value}  (line {e.where.line})" for e in device.evidence]
    lines += [
        f"{p.severity} {p.code} {Path(p.where.file).name}:{p.where.line} {p.where.path}: {p.message}".replace(" :", ":")
        for p in device.problems
        if p.where is not None
    ]
    return "\n".join(lines) + "\n"


def test_a_small_switch() -> None:
    vendor = VENDORS["sonic"]
    assert vendor.configured is not None
    folder = CASE / "input"
    files = [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in sorted(folder.rglob("*.*"))]
    (device,) = vendor.configured(files)
    expected = CASE / "expected" / "leaf-003.txt"
    text = show(device)
    if os.environ.get("UPDATE_EXPECTED"):
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
