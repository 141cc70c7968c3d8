"""One leaf of a small fabric in the words of each platform; the files are there to be read.

After a wanted change run ``WEFTLINE_GOLDEN=write pytest tests/golden`` and say in the commit why the files moved.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.designs import render_design
from weftline.model.artifact import ArtifactSet
from weftline.render.check import check_files
from weftline.vendors import VENDORS

CASES = Path(__file__).parent / "cases"
FOLDER = CASES / "platforms"
MAX_LINES = 500


@pytest.mark.parametrize(
    ("vendor", "release", "name"),
    [("eos", None, "eos.cfg"), ("nvue", None, "nvue.yaml"), ("nvue", "5.5", "nvue-5.5.yaml")],
)
def test_a_leaf(vendor: str, release: str | None, name: str) -> None:
    options = json.loads((CASES / "render-roce" / "input.json").read_text())
    intent = render_design(options.pop("technology"), **options).intent("leaf-001")
    assert intent.platform is not None
    intent = replace(intent, platform=replace(intent.platform, release=release))
    (artifact,) = VENDORS[vendor].render((intent,))
    text = artifact.content.decode()
    if os.environ.get("WEFTLINE_GOLDEN") == "write":
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / name).write_text(text)
    assert text == (FOLDER / name).read_text()
    assert text.count("\n") < MAX_LINES
    assert check_files((intent,), (VENDORS[vendor],), ArtifactSet("", (artifact,))) == ()
