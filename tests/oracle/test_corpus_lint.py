"""Every file of the corpus alone through lint: what is right for its switch is no error, and what is wrong is named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from weftline.app.lint import LintOptions, lint
from weftline.errors import ArtifactError

WRONG = {
    # A sample that fills every table once, not a switch: half of its ports pause and have no buffer or length.
    "files__sample_config_db.json": {
        "buffers.no-headroom": 2, "buffers.no-length": 1, "buffers.stale-profile": 2, "classes.differ": 1,
        "classes.pauses-no-class": 2, "pauses.missing": 1,
    },
    # Every line that an interface can have, one port with each: a few pause, and none sorts by DSCP.
    "ethernet-interfaces.cfg": {"classes.not-sorted": 1, "pauses.missing": 1},
}  # fmt: skip
"""The end of a file's name, and how often each rule finds an error in it."""
NO_FORM = {"artifact.no-configuration", "artifact.no-device"}


def list_files(corpus: Path) -> list[Path]:
    return sorted(path for path in (corpus / "roce").rglob("*") if path.is_file())


def expect(file: Path) -> dict[str, int]:
    return next((rules for name, rules in WRONG.items() if file.name.endswith(name)), dict[str, int]())


def test_files_that_are_right_have_no_error(corpus: Path) -> None:
    judged: Counter[str] = Counter()
    for file in list_files(corpus):
        try:
            found = lint((file,), LintOptions())
        except ArtifactError as error:
            judged[error.code] += 1
            continue
        errors = Counter(finding.rule for finding in found.findings if finding.severity == "critical")
        assert errors == expect(file), file
        judged["wrong" if errors else "right"] += 1
    assert judged["wrong"] == len(WRONG)
    assert judged["right"] >= 150
    assert set(judged) <= {"right", "wrong", *NO_FORM}


def test_the_files_called_wrong_are_there(corpus: Path) -> None:
    names = [file.name for file in list_files(corpus)]
    assert [end for end in WRONG if sum(name.endswith(end) for name in names) != 1] == []


@pytest.mark.parametrize("kind", ["qos_buffers", "config_db"])
def test_whole_kinds_are_read(corpus: Path, kind: str) -> None:
    """Rendered samples and full dumps are judged, not passed over."""
    files = [file for file in list_files(corpus) if kind in file.parts and file.suffix == ".json"]
    assert files
    for file in files:
        assert lint((file,), LintOptions()).devices
