from __future__ import annotations

from pathlib import Path


def test_source_stands_under_src(root: Path) -> None:
    assert (root / "src" / "weftline" / "__init__.py").is_file()
