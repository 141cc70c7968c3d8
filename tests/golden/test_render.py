"""Device files that an engineer can read: one folder per case, ``input.json`` and ``expected/``.

After a wanted change run ``WEFTLINE_GOLDEN=write pytest tests/golden`` and say in the commit why the files moved.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.designs import render_design

CASES = Path(__file__).parent / "cases"
MAX_LINES = 500


def render_case(case: Path) -> dict[str, str]:
    """Render the design of a case; of hosts, which differ in their addresses only, the first."""
    options: dict[str, Any] = json.loads((case / "input.json").read_text())
    made = render_design(options.pop("technology"), **options)
    return {
        item.path: item.content.decode()
        for item in made.artifacts.artifacts
        if not item.device.startswith("host-") or item.device == "host-0001"
    }


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("render-*")))
def test_device_files(name: str) -> None:
    folder = CASES / name / "expected"
    files = render_case(CASES / name)
    if os.environ.get("WEFTLINE_GOLDEN") == "write":
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(files)
    for path, text in files.items():
        assert text == (folder / path).read_text(), path
        assert text.count("\n") < MAX_LINES, path
