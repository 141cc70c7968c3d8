"""The JSON of a cabling list."""

from __future__ import annotations

from weftline.app.cables import Cabling


def view_cabling(cabling: Cabling) -> dict[str, object]:
    """Show counts and columns, and the list itself where it was written nowhere."""
    return {
        "schema": "weftline/cabling/1",
        "of": cabling.built.fabric.digest,
        "links": cabling.links,
        "cables": dict(cabling.built.counts.cables),
        "columns": cabling.text.partition("\n")[0].split(","),
        "path": None if cabling.path is None else str(cabling.path),
        "csv": cabling.text if cabling.path is None else None,
    }
