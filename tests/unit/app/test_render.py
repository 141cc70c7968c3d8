"""What is read back before anything is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from weftline.app import devices as room
from weftline.app.pipeline import run_to_proofs
from weftline.app.render import render, render_proved
from weftline.errors import InternalError
from weftline.model.artifact import Artifact
from weftline.model.intent import DeviceIntent
from weftline.vendors import VENDORS

DECLARATION = """
fabric: {name: small}
technology: infiniband
hosts: {count: 4, rails: 2, rate_gbps: 400, unit_size: 4}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Four hosts."""
    path = tmp_path / "small.yaml"
    path.write_text(DECLARATION, encoding="utf-8")
    return path


def test_files_that_differ_from_what_was_meant_are_not_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = VENDORS["host"]

    def forget(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
        return host.render(intents[:-1])

    monkeypatch.setitem(VENDORS.held, "host", replace(host, render=forget))
    with pytest.raises(InternalError) as refused:
        render(place, None)
    assert refused.value.code == "internal.render-differs"
    assert {problem.message.split(":")[0] for problem in refused.value.problems} == {"host-0004"}
    assert not (place.parent / ".weftline/small/artifacts").exists()


def test_files_too_large_to_read_back_say_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered = render(place, None)
    assert rendered.artifacts is not None
    size = sum(len(file.content) for file in rendered.artifacts.artifacts)
    monkeypatch.setattr(room, "MAX_CHECKED_BYTES", size)
    assert render(place, None).artifacts == rendered.artifacts
    monkeypatch.setattr(room, "MAX_CHECKED_BYTES", size - 1)
    unchecked = render(place, None).artifacts
    assert unchecked is not None
    note = f"the files were not read back: they have {size:,} bytes, and up to {size - 1:,} are"
    assert unchecked.notes == (*rendered.artifacts.notes, note)


def test_what_an_earlier_run_wrote_is_named_where_nothing_is_written(place: Path) -> None:
    text = place.read_text(encoding="utf-8")
    refuted = text.replace("unit_size: 4", "unit_size: 2") + "claims: {max_hops: 1}\n"
    place.write_text(refuted, encoding="utf-8")
    unwritten = render(place, None)
    assert (unwritten.is_written, unwritten.has_earlier) == (False, False)
    place.write_text(text, encoding="utf-8")
    written = render(place, None)
    assert (written.is_written, written.has_earlier) == (True, False)
    place.write_text(refuted, encoding="utf-8")
    assert render(place, None).has_earlier


def test_files_that_are_read_back_beside_are_judged_as_here(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proved = replace(run_to_proofs(root / "examples" / "two-tenants-roce.yaml"), files=None)
    here = render_proved(proved, None, to_disk=False)
    monkeypatch.setattr(room, "MIN_BESIDE_BYTES", 0)
    there = render_proved(proved, None, to_disk=False)
    assert there.artifacts == here.artifacts
    told = [(proof.claim, proof.verdict, proof.statement) for proof in here.proved.report.proofs]
    assert told == [(proof.claim, proof.verdict, proof.statement) for proof in there.proved.report.proofs]
    sonic = VENDORS["sonic"]

    def forget(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
        return sonic.render(intents[1:])

    monkeypatch.setitem(VENDORS.held, "sonic", replace(sonic, render=forget))
    with pytest.raises(InternalError) as refused:
        render_proved(proved, None, to_disk=False)
    assert refused.value.problems
    assert {problem.message.split(":")[0] for problem in refused.value.problems} == {"leaf-001"}
