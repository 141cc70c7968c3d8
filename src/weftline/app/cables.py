"""The cabling list as CSV, printed or written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.app.build import Built, build
from weftline.app.check import check
from weftline.app.files import write_text
from weftline.compile import write_cabling


@dataclass(frozen=True, slots=True)
class Cabling:
    """The list of a fabric, and where it was written (None: nowhere)."""

    built: Built
    text: str
    path: Path | None

    @property
    def links(self) -> int:
        """Count the rows below the header; each is a link."""
        return self.text.count("\n") - 1


def list_cabling(place: Path, out: Path | None) -> Cabling:
    """Compile the fabric and list its cables; with ``out`` write ``cabling.csv`` there."""
    built = build(check(place))
    text = write_cabling(built.fabric)
    path = None if out is None else out / "cabling.csv"
    if path is not None:
        write_text(path, text)
    return Cabling(built, text, path)
