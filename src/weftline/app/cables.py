"""The cabling list as CSV, printed or written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.app.build import build
from weftline.app.check import check
from weftline.app.files import write_text
from weftline.compile import write_cabling


@dataclass(frozen=True, slots=True)
class Cabling:
    """The list, where it was written (None: nowhere), and its counts."""

    text: str
    path: Path | None
    view: dict[str, object]


def list_cabling(place: Path, out: Path | None) -> Cabling:
    """Compile the fabric and list its cables; with ``out`` write ``cabling.csv`` there."""
    built = build(check(place))
    text = write_cabling(built.fabric)
    path = None if out is None else out / "cabling.csv"
    if path is not None:
        write_text(path, text)
    header, *lines = text.splitlines()
    columns = header.split(",")
    view: dict[str, object] = {
        "schema": "weftline/cabling/1",
        "of": built.fabric.digest,
        "links": len(lines),
        "cables": dict(built.counts.cables),
        "columns": columns,
        "path": None if path is None else str(path),
        "csv": text if path is None else None,
    }
    return Cabling(text, path, view)
