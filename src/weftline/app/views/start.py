"""The JSON of a starter declaration."""

from __future__ import annotations

from pathlib import Path


def view_starter(path: Path) -> dict[str, object]:
    """Show where the declaration was written."""
    return {"schema": "weftline/starter/1", "declaration": str(path)}
