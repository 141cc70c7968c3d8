"""A run that is killed at any moment leaves one whole set, and the next run leaves nothing beside it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.render.test_writing import NEW, OLD, expected, make_set, refusal, tree, without_manifest
from weftline.render import MANIFEST, read, write, writing
from weftline.render.writing import ASIDE, beside


class _KilledError(BaseException):
    """Stands for a kill: no handler of ours may see it."""


def kill_at(step: int, patch: pytest.MonkeyPatch) -> None:
    """Let neither the n-th change of the file system happen nor any later one."""
    count = 0

    def wrap(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def counted(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count >= step:
                raise _KilledError
            return real(*args, **options)

        patch.setattr(owner, name, counted)

    for name in ("mkdir", "replace", "rename", "unlink", "rmdir", "write_bytes"):
        wrap(Path, name)
    for name in ("unlink", "rmdir"):
        wrap(os, name)
    for name in ("_exchange", "_flush"):
        wrap(writing, name)


def kill_at_each_step(tmp_path: Path, look: Callable[[Path], None]) -> int:
    """Kill a change from OLD to NEW at every step, look at the folder, and run again; returns the number of steps."""
    step, is_over = 0, False
    while not is_over:
        step += 1
        folder = tmp_path / str(step) / "out"
        write(OLD, folder, forced=False)
        (folder / "a" / "mine").write_bytes(b"mine")
        (folder / "c").mkdir()
        (folder / "c" / "mine").symlink_to("nowhere")
        with pytest.MonkeyPatch.context() as patch:
            kill_at(step, patch)
            try:
                write(NEW, folder, forced=False)
                is_over = True
            except _KilledError:
                pass
        look(folder)
        last = OLD if step % 2 else NEW
        write(last, folder, forced=False)
        assert without_manifest(folder) == expected(last) | {"a/mine": b"mine"}
        assert (folder / "c" / "mine").is_symlink()
        assert [path.name for path in folder.parent.iterdir()] == ["out"]
    return step


def pass_over(_handle: int) -> None:
    """Flush nothing: a simulated kill loses no memory of the system."""


@pytest.fixture
def whole(tmp_path: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Give the bytes of both sets with their manifests."""
    for artifacts in (OLD, NEW):
        write(artifacts, tmp_path / "whole" / artifacts.of, forced=False)
    return tree(tmp_path / "whole" / "old"), tree(tmp_path / "whole" / "new")


def test_a_kill_at_any_step_leaves_one_whole_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: tuple[dict[str, bytes], dict[str, bytes]]
) -> None:
    monkeypatch.setattr(os, "fsync", pass_over)
    seen: list[int] = []

    def look(folder: Path) -> None:
        stands = tree(folder)
        mine = [stands.pop("a/mine", b""), tree(beside(folder, ASIDE)).get("a/mine", b"")]
        assert sorted(mine) == [b"", b"mine"]
        seen.append(whole.index(stands))

    assert kill_at_each_step(tmp_path, look) > 25
    assert seen == sorted(seen)
    assert set(seen) == {0, 1}


def test_a_kill_at_any_step_where_folders_cannot_change_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", pass_over)

    def refuse(_one: Path, _other: Path) -> bool:
        return False

    monkeypatch.setattr(writing, "_exchange", refuse)
    seen: list[tuple[str, bool]] = []

    def look(folder: Path) -> None:
        stands, problems = read(folder)
        assert not problems
        assert stands in {OLD, NEW}
        seen.append((stands.of, folder.exists()))

    kill_at_each_step(tmp_path, look)
    assert set(seen) == {("old", True), ("old", False), ("new", True)}


def test_what_cannot_be_moved_from_the_old_set_stays_there(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(OLD, folder, forced=False)
    aside = beside(folder, ASIDE)
    write(NEW, aside, forced=False)
    for place in (folder, aside):
        (place / "a" / "mine").write_text(place.name)
    error = refusal(NEW, folder)
    assert error.code == "artifact.foreign-file"
    assert error.where is not None
    assert error.where.file == str(aside / "a" / "mine")
    assert (aside / "a" / "mine").read_text() == aside.name
    (aside / "a" / "mine").rename(tmp_path / "kept")
    write(NEW, folder, forced=False)
    assert without_manifest(folder) == expected(NEW) | {"a/mine": b"out"}
    assert not aside.exists()


def test_what_stands_aside_is_not_moved_through_a_link(tmp_path: Path) -> None:
    folder, outside = tmp_path / "out", tmp_path / "outside"
    outside.mkdir()
    write(make_set("x", {"z": b""}), folder, forced=False)
    write(OLD, beside(folder, ASIDE), forced=False)
    (beside(folder, ASIDE) / "a" / "mine").write_text("mine")
    (folder / "a").symlink_to(outside, target_is_directory=True)
    assert refusal(OLD, folder).code == "artifact.symlink"
    assert list(outside.iterdir()) == []


def test_a_set_aside_with_a_broken_manifest_is_not_removed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(OLD, folder, forced=False)
    aside = beside(folder, ASIDE)
    write(NEW, aside, forced=False)
    (aside / MANIFEST).write_text("")
    assert refusal(NEW, folder).code == "artifact.manifest"
    assert without_manifest(aside) == expected(NEW)


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.unit.render.test_writing_kills import BIG_NEW, BIG_OLD
from weftline.render import write
print("ready", flush=True)
while True:
    for artifacts in (BIG_NEW, BIG_OLD):
        write(artifacts, Path(sys.argv[1]), forced=False)
"""
BIG_OLD = make_set("old", {f"host-{number:03}/nics": b"old" for number in range(60)})
BIG_NEW = make_set("new", {f"host-{number:03}/nics": b"new" for number in range(30, 90)})


def test_a_real_kill_leaves_one_whole_set(tmp_path: Path, root: Path) -> None:
    chance = random.Random(1)
    folder = tmp_path / "out"
    whole: list[dict[str, bytes]] = []
    for artifacts in (BIG_NEW, BIG_OLD):
        write(artifacts, folder, forced=False)
        whole.append(tree(folder))
    (folder / "host-040" / "mine").write_text("mine")
    for _ in range(10):
        command = [sys.executable, "-c", CHILD, str(folder), str(root)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0.0, 0.1))
            child.send_signal(signal.SIGKILL)
        stands = tree(folder)
        stands.pop("host-040/mine", None)  # it may stand aside
        assert stands in whole
    for artifacts in (BIG_NEW, BIG_OLD):
        write(artifacts, folder, forced=False)
    assert tree(folder) == whole[1] | {"host-040/mine": b"mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
