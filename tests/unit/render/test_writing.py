from __future__ import annotations

import fcntl
import json
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

from weftline.errors import ArtifactError
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.render import MANIFEST, read, read_manifest, write


def make_set(of: str, files: dict[str, bytes]) -> ArtifactSet:
    """Make a set of files."""
    return ArtifactSet(of, tuple(Artifact(path, files[path], "leaf-001", "test") for path in sorted(files)), ("note",))


OLD = make_set("old", {"a/one": b"1", "a/two": b"2", "b/three": b"3", "four": b"4"})
NEW = make_set("new", {"a/one": b"1!", "b/three": b"3", "c/d/five": b"5", "four": b"4!"})


def tree(folder: Path) -> dict[str, bytes]:
    """Read every file of a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def expected(artifacts: ArtifactSet) -> dict[str, bytes]:
    """List the files of a set."""
    return {artifact.path: artifact.content for artifact in artifacts.artifacts}


def without_manifest(folder: Path) -> dict[str, bytes]:
    """Read every file but the manifest."""
    return {path: content for path, content in tree(folder).items() if path != MANIFEST}


def test_a_set_is_written_with_its_manifest(tmp_path: Path) -> None:
    manifest = write(OLD, tmp_path / "deep" / "out", forced=False)
    folder = tmp_path / "deep" / "out"
    assert without_manifest(folder) == expected(OLD)
    assert read_manifest((folder / MANIFEST).read_bytes(), "m") == manifest
    data = json.loads((folder / MANIFEST).read_text())
    assert data["schema"] == "weftline/manifest/1"
    assert (data["of"], data["forced"], data["notes"]) == ("old", False, ["note"])
    assert data["files"][0] == {
        "path": "a/one",
        "digest": OLD.artifacts[0].digest,
        "size": 1,
        "device": "leaf-001",
        "vendor": "test",
    }


def test_force_is_recorded(tmp_path: Path) -> None:
    write(OLD, tmp_path, forced=True)
    assert json.loads((tmp_path / MANIFEST).read_text())["forced"] is True


def test_a_second_run_writes_the_same_bytes(tmp_path: Path) -> None:
    write(OLD, tmp_path, forced=False)
    first = tree(tmp_path)
    write(OLD, tmp_path, forced=False)
    assert tree(tmp_path) == first


def test_files_that_vanished_are_removed_with_their_empty_folders(tmp_path: Path) -> None:
    write(OLD, tmp_path, forced=False)
    write(NEW, tmp_path, forced=False)
    assert without_manifest(tmp_path) == expected(NEW)
    write(make_set("none", {}), tmp_path, forced=False)
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


def test_files_of_others_are_never_touched(tmp_path: Path) -> None:
    write(OLD, tmp_path, forced=False)
    (tmp_path / "a" / "mine").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")
    write(make_set("none", {}), tmp_path, forced=False)
    assert without_manifest(tmp_path) == {"a/mine": b"mine", "notes.txt": b"mine"}


def refusal(artifacts: ArtifactSet, folder: Path) -> ArtifactError:
    """Expect a refusal that changes nothing."""
    before = tree(folder) if folder.is_dir() else None
    with pytest.raises(ArtifactError) as refused:
        write(artifacts, folder, forced=False)
    assert (tree(folder) if folder.is_dir() else None) == before
    assert refused.value.hint
    return refused.value


def test_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    assert refusal(OLD, tmp_path).code == "artifact.foreign-folder"


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_file_of_others_in_the_way_is_refused(tmp_path: Path, is_folder: bool) -> None:
    write(OLD, tmp_path, forced=False)
    target = tmp_path / "c" / "d" / "five"
    (target if is_folder else target.parent).mkdir(parents=True)
    if not is_folder:
        target.write_text("mine")
    assert refusal(NEW, tmp_path).code == "artifact.foreign-file"


@pytest.mark.parametrize("name", ["a", "a/one", MANIFEST, ".weftline-staging", ".weftline-ready"])
def test_links_are_not_followed(tmp_path: Path, name: str) -> None:
    folder, outside = tmp_path / "out", tmp_path / "outside"
    outside.mkdir()
    (outside / "one").write_text("precious")
    write(make_set("x", {"z": b""}), folder, forced=False)
    if name == MANIFEST:
        (folder / MANIFEST).rename(outside / MANIFEST)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(outside / name if name == MANIFEST else outside, target_is_directory=True)
    assert refusal(OLD, folder).code == "artifact.symlink"
    assert (outside / "one").read_text() == "precious"


def test_a_link_that_a_vanished_file_became_is_not_removed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(OLD, folder, forced=False)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "two").write_text("precious")
    (folder / "a" / "one").unlink()
    (folder / "a" / "two").unlink()
    (folder / "a").rmdir()
    (folder / "a").symlink_to(tmp_path / "outside", target_is_directory=True)
    with pytest.raises(ArtifactError) as refused:
        write(make_set("new", {"four": b"4"}), folder, forced=False)
    assert refused.value.code == "artifact.symlink"
    assert (tmp_path / "outside" / "two").read_text() == "precious"


ESCAPE = (
    b'{"schema": "weftline/manifest/1", "of": "", "forced": false, "notes": [], "files": [{"path": "../../etc/passwd",'
    b' "digest": "", "size": 0, "device": "", "vendor": ""}]}'
)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"\xff", b'{"schema": "weftline/manifest/2"}', b"[" * 100_000,
     ESCAPE],
)  # fmt: skip
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(content)
    assert refusal(OLD, tmp_path).code == "artifact.manifest"


def test_a_huge_manifest_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(OLD, tmp_path, forced=False)
    monkeypatch.setattr("weftline.render.writing.MAX_MANIFEST_BYTES", 10)
    assert refusal(NEW, tmp_path).code == "artifact.manifest"


def test_a_folder_that_another_run_holds_is_refused(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert refusal(OLD, tmp_path).code == "artifact.busy"
    finally:
        os.close(handle)
    write(OLD, tmp_path, forced=False)


def test_where_the_system_refuses_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (Path("/proc/weftline"), tmp_path / "file", tmp_path / "file" / "below"):
        assert refusal(OLD, folder).code == "artifact.unwritable"


def test_a_full_disk_leaves_the_old_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(OLD, tmp_path, forced=False)
    before = tree(tmp_path)

    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    error = refusal(NEW, tmp_path)
    assert error.code == "artifact.unwritable"
    assert "No space left" in error.message
    assert "free some space" in error.hint
    assert tree(tmp_path) == before


class _KilledError(BaseException):
    """Stands for a kill: no handler of ours may see it."""


def kill_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let the n-th change of the file system never happen; returns how many were counted."""
    count = 0

    def wrap(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def counted(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == step:
                raise _KilledError
            return real(*args, **options)

        monkeypatch.setattr(owner, name, counted)

    for name in ("mkdir", "replace", "rename", "unlink", "rmdir"):
        wrap(Path, name)
    for name in ("fsync", "unlink", "rmdir"):
        wrap(os, name)
    return lambda: count


def pass_over(_handle: int) -> None:
    """Flush nothing: a simulated kill loses no memory of the system."""


def test_a_kill_at_any_step_leaves_one_whole_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", pass_over)
    step, is_over = 0, False
    seen: set[str] = set()
    while not is_over:
        step += 1
        folder = tmp_path / str(step)
        write(OLD, folder, forced=False)
        with pytest.MonkeyPatch.context() as patch:
            kill_at(step, patch)
            try:
                write(NEW, folder, forced=False)
                is_over = True
            except _KilledError:
                pass
        stands, problems = read(folder)
        assert not problems
        assert stands in {OLD, NEW}
        seen.add(stands.of)
        last = OLD if step % 2 else NEW
        write(last, folder, forced=False)
        assert without_manifest(folder) == expected(last)
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert seen == {"old", "new"}
    assert step > 20


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.unit.render.test_writing import NEW, OLD
from weftline.render import write
print("ready", flush=True)
while True:
    for artifacts in (NEW, OLD):
        write(artifacts, Path(sys.argv[1]), forced=False)
"""


def test_a_real_kill_leaves_one_whole_set(tmp_path: Path, root: Path) -> None:
    chance = random.Random(1)
    folder = tmp_path / "out"
    write(OLD, folder, forced=False)
    for _ in range(5):
        command = [sys.executable, "-c", CHILD, str(folder), str(root)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0.0, 0.05))
            child.send_signal(signal.SIGKILL)
        stands, problems = read(folder)
        assert not problems
        assert stands in {OLD, NEW}
    write(OLD, folder, forced=False)
    assert without_manifest(folder) == expected(OLD)


def test_what_was_changed_or_removed_is_reported(tmp_path: Path) -> None:
    write(OLD, tmp_path, forced=False)
    (tmp_path / "four").write_text("5")
    (tmp_path / "b" / "three").unlink()
    stands, problems = read(tmp_path)
    assert [(p.code, p.where and p.where.file) for p in problems] == [
        ("artifact.missing", str(tmp_path / "b" / "three")),
        ("artifact.changed", str(tmp_path / "four")),
    ]
    assert [artifact.path for artifact in stands.artifacts] == ["a/one", "a/two", "four"]


def test_a_folder_without_a_manifest_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError) as refused:
        read(tmp_path)
    assert refused.value.code == "artifact.manifest"
