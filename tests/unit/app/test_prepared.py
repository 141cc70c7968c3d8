"""What is kept for questions: the same answers as without it, never of other files, and never read when it is wrong."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.conftest import write_small
from weftline.app.asked import Question, ask_prepared
from weftline.app.prepared import HEAD_SIZE, Reason, place_prepared, read_prepared
from weftline.app.rehearse import ask
from weftline.app.workspace import Workspace, open_place
from weftline.errors import SpecError
from weftline.model.rehearsal import Answer

QUESTIONS = (
    Question("link", "leaf-001/17~spine-01/1"),
    Question("port", "leaf-002/3"),
    Question("port", "host-0002/nic3"),
    Question("port", "leaf-001/60"),
    Question("switch", "leaf-002"),
)


def keep(folder: Path, technology: str) -> tuple[Workspace, Path]:
    place = write_small(folder, technology)
    ask(place, QUESTIONS[0])
    workspace = open_place(place)
    return workspace, place_prepared(workspace)


@pytest.mark.parametrize("technology", ["infiniband", "roce"])
def test_what_is_kept_answers_as_what_is_made_anew(tmp_path: Path, technology: str) -> None:
    workspace, _ = keep(tmp_path, technology)
    place = workspace.declaration
    for question in QUESTIONS:
        kept = ask_prepared(place, question)
        assert isinstance(kept, Answer), question
        assert kept == ask(place, question)
    with pytest.raises(SpecError, match="there is no link 'leaf-001/999'"):
        ask_prepared(place, Question("link", "leaf-001/999"))


def test_a_state_that_falls_apart_is_left_to_those_who_judge_from_scratch(tmp_path: Path) -> None:
    workspace, _ = keep(tmp_path, "infiniband")  # one spine: without it the leaves are apart
    assert ask_prepared(workspace.declaration, Question("switch", "spine-01")) is Reason.NOT_BY_PARTS


def test_it_is_private_and_one_file(tmp_path: Path) -> None:
    _, path = keep(tmp_path, "infiniband")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]
    assert b"numpy" in path.read_bytes()[:200]
    assert b"pickle" not in path.read_bytes()


def test_the_same_fabric_is_kept_as_the_same_bytes(tmp_path: Path) -> None:
    workspace, path = keep(tmp_path, "infiniband")
    before = path.read_bytes()
    path.unlink()
    ask(workspace.declaration, QUESTIONS[1])
    assert path.read_bytes() == before


def test_another_declaration_or_another_version_makes_it_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, _ = keep(tmp_path, "infiniband")
    text = workspace.declaration.read_text(encoding="utf-8")
    workspace.declaration.write_text(text + "# a word more\n", encoding="utf-8")
    assert read_prepared(workspace) is Reason.OTHER
    workspace.declaration.write_text(text, encoding="utf-8")
    assert not isinstance(read_prepared(workspace), Reason)
    monkeypatch.setattr("weftline.app.prepared.describe_maker", lambda: "another")
    assert read_prepared(workspace) is Reason.OTHER


def test_a_file_that_the_declaration_names_makes_it_old(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband")
    place.write_text(place.read_text(encoding="utf-8") + "inventory: hall.csv\n", encoding="utf-8")
    hall = tmp_path / "hall.csv"
    switches = [f"{name},0x00000000000001{at:02x}," for at, name in enumerate(("leaf-001", "leaf-002", "spine-01"))]
    hosts = [
        f"host-000{host}/nic{nic},0x0000000000000{host + 1}{nic:02x},0x000000000000{host + 16:02x}{nic:02x}"
        for host in range(1, 5)
        for nic in range(1, 9)
    ]
    hall.write_text("\n".join(("name,node_guid,port_guid", *switches, *hosts)) + "\n", encoding="utf-8")
    ask(place, QUESTIONS[0])
    assert isinstance(ask_prepared(place, QUESTIONS[0]), Answer)
    hall.write_text(hall.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert read_prepared(open_place(place)) is Reason.OTHER
    hall.unlink()
    assert read_prepared(open_place(place)) is Reason.OTHER


def test_what_others_can_write_or_a_link_is_not_read(tmp_path: Path) -> None:
    workspace, path = keep(tmp_path, "infiniband")
    path.chmod(0o622)
    assert read_prepared(workspace) is Reason.FOREIGN
    path.chmod(0o600)
    aside = tmp_path / "aside"
    path.rename(aside)
    path.symlink_to(aside)
    assert read_prepared(workspace) is Reason.FOREIGN
    path.unlink()
    path.mkdir()
    assert read_prepared(workspace) is Reason.FOREIGN
    path.rmdir()
    os.mkfifo(path)
    assert read_prepared(workspace) is Reason.FOREIGN
    path.unlink()
    assert read_prepared(workspace) is Reason.NOTHING


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_what_belongs_to_somebody_else_is_not_read(tmp_path: Path) -> None:
    workspace, path = keep(tmp_path, "infiniband")
    os.chown(path, 12345, 12345)
    assert read_prepared(workspace) is Reason.FOREIGN


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_is_read(tmp_path: Path, data: st.DataObject) -> None:
    place = tmp_path / "infiniband.yaml"
    if not place.exists():
        keep(tmp_path, "infiniband")
        place_prepared(open_place(place)).rename(tmp_path / "whole")
    workspace, whole = open_place(place), (tmp_path / "whole").read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = data.draw(
        st.sampled_from((
            whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], whole + b"\0", b"", b"\x80\x04.",
            whole[:HEAD_SIZE], whole[:at] * 2,
        ))
    )  # fmt: skip
    path = place_prepared(workspace)
    path.write_bytes(damaged)
    path.chmod(0o600)
    assert read_prepared(workspace) in {Reason.DAMAGED, Reason.OTHER}


def test_columns_of_no_known_type_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, _ = keep(tmp_path, "infiniband")
    monkeypatch.setattr("weftline.app.prepared.KINDS", frozenset(("<i4",)))
    assert read_prepared(workspace) is Reason.DAMAGED


def test_a_fabric_that_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weftline.app.prepared.MOST_BYTES", 10_000)
    _, path = keep(tmp_path, "infiniband")
    assert not path.exists()


def test_where_nothing_can_be_written_the_answer_is_the_same(tmp_path: Path) -> None:
    workspace, path = keep(tmp_path, "infiniband")
    answer = ask(workspace.declaration, QUESTIONS[0])
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("a file stands in the way", encoding="utf-8")
    assert ask(workspace.declaration, QUESTIONS[0]) == answer
    assert read_prepared(workspace) is Reason.FOREIGN


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    workspace, _ = keep(tmp_path, "roce")
    one, two = read_prepared(workspace), read_prepared(workspace)
    assert not isinstance(one, Reason)
    assert not isinstance(two, Reason)
    fabric = one.scene.fabric
    assert replace(fabric).digest == fabric.digest == two.scene.fabric.digest  # computed again, and as written
    assert replace(one.scene.routes).digest == one.scene.routes.digest
    assert not fabric.port_peer.flags.writeable
    assert np.array_equal(one.base.load, two.base.load)
