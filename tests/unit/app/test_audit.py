"""Controls: what a finding breaks is bad, what a question leaves open unknown, and only what a topic held is good."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from weftline.app import audit as app
from weftline.model.audit import AuditInput, Observation
from weftline.model.finding import Control, Finding, Topic, Unjudged

BROKEN = Finding("x.y", "critical", "port 1", "is open", "close it", controls=("A",))
OPEN = Unjudged("Is it?", "a file", ("A",))
HELD = Topic("held", "Held", "good", "all is well", good_controls=("A",))


def topic(*findings: Finding, asks: tuple[Unjudged, ...] = ()) -> Topic:
    """Make a topic that says so."""
    return Topic("t", "T", "unknown", "so so", findings, asks)


@pytest.mark.parametrize(
    ("topics", "verdict", "reason"),
    [
        ((), "unknown", "no file given speaks to it"),
        ((HELD,), "good", "all is well"),
        ((HELD, topic()), "good", "all is well"),
        ((HELD, topic(BROKEN)), "bad", "port 1: is open"),
        ((topic(BROKEN), HELD), "bad", "port 1: is open"),
        ((HELD, topic(replace(BROKEN, severity="warning"))), "bad", "port 1: is open"),
        ((HELD, topic(replace(BROKEN, severity="note"))), "good", "all is well"),
        ((topic(replace(BROKEN, severity="note")),), "unknown", "no file given speaks to it"),
        ((HELD, topic(asks=(OPEN,))), "unknown", "needs a file"),
        ((topic(asks=(OPEN,)), HELD), "unknown", "needs a file"),
        ((topic(BROKEN, asks=(OPEN,)), HELD), "bad", "port 1: is open"),
        (
            (HELD, topic(replace(BROKEN, controls=("B",)), asks=(replace(OPEN, controls=("B",)),))),
            "good",
            "all is well",
        ),
        ((replace(HELD, good_controls=("B",)),), "unknown", "no file given speaks to it"),
    ],
)
def test_a_control_is_settled_by_all_topics(
    topics: tuple[Topic, ...], verdict: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(_: AuditInput) -> tuple[Topic, ...]:
        return topics

    monkeypatch.setattr(app, "OBSERVATIONS", {"infiniband": Observation(judge, {"A": "All is closed."})})
    (tmp_path / "notes").write_text("nothing\n", encoding="utf-8")
    audited = app.audit(tmp_path, None)
    assert audited.controls == (Control("A", "All is closed.", verdict, reason),)  # type: ignore[arg-type]
    worst = [finding.severity for finding in audited.findings]
    assert audited.fails("note") == bool(worst)
    assert audited.fails("critical") == ("critical" in worst)
    assert not audited.fails(None)


def test_files_together_have_room_and_what_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x" * 100)
    monkeypatch.setattr(app, "MAX_TOTAL_BYTES", 200)
    assert len(app.audit(tmp_path, None).source.survey.sources) == 2
    monkeypatch.setattr(app, "MAX_TOTAL_BYTES", 199)
    with pytest.raises(app.ArtifactError) as refusal:
        app.audit(tmp_path, None)
    assert refusal.value.code == "artifact.too-large"
    assert "the largest is a" in refusal.value.hint
