from __future__ import annotations

import errno
import fcntl
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from weftline.errors import ArtifactError
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.render import MANIFEST, read, read_manifest, write, writing
from weftline.render.writing import LOCK, beside


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


def test_where_the_same_bytes_stand_nothing_is_done(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    manifest = write(OLD, folder, forced=False)

    def look() -> dict[Path, tuple[int, int]]:
        return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in (folder, *folder.rglob("*"))}

    first = look()
    assert write(OLD, folder, forced=False) == manifest
    assert look() == first
    (folder / "four").write_bytes(b"5")
    write(OLD, folder, forced=False)
    assert without_manifest(folder) == expected(OLD)
    (folder / "four").unlink()
    write(OLD, folder, forced=False)
    assert without_manifest(folder) == expected(OLD)


def test_the_folder_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir(mode=0o750)
    for artifacts in (OLD, NEW):
        write(artifacts, folder, forced=False)
        assert folder.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("name", [".", "link", "out/sub/.."])
def test_a_folder_by_another_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    write(OLD, folder, forced=False)
    (folder / "sub").mkdir()
    (tmp_path / "link").symlink_to("out", target_is_directory=True)
    monkeypatch.chdir(folder if name == "." else tmp_path)
    write(NEW, Path(name), forced=False)
    assert without_manifest(folder) == expected(NEW)
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out"]


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
    (tmp_path / "c" / "mine").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("notes.txt")
    (tmp_path / "four").unlink()
    (tmp_path / "four").mkdir()
    (tmp_path / "four" / "mine").write_text("mine")
    mine = {"a/mine": b"mine", "four/mine": b"mine", "link": b"mine", "notes.txt": b"mine"}
    for artifacts in (make_set("new", {"a/one": b"1", "c/five": b"5"}), make_set("none", {})):
        write(artifacts, tmp_path, forced=False)
        assert without_manifest(tmp_path) == expected(artifacts) | mine
        assert (tmp_path / "c" / "mine").is_dir()
        assert (tmp_path / "empty").is_dir()
        assert (tmp_path / "link").is_symlink()


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


def test_a_file_of_others_where_a_folder_should_be_is_refused(tmp_path: Path) -> None:
    write(OLD, tmp_path, forced=False)
    (tmp_path / "c").write_text("mine")
    assert refusal(NEW, tmp_path).code == "artifact.foreign-file"


def test_a_file_of_ours_becomes_a_folder(tmp_path: Path) -> None:
    write(OLD, tmp_path, forced=False)
    below = make_set("below", {"four/below": b"4"})
    write(below, tmp_path, forced=False)
    assert without_manifest(tmp_path) == expected(below)


@pytest.mark.parametrize("name", ["a", "a/one", MANIFEST, "../.out.part", "../.out.aside", "../.out.lock"])
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
    folder = tmp_path / "out"
    with beside(folder, LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert refusal(OLD, folder).code == "artifact.busy"
    write(OLD, folder, forced=False)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_lock_that_its_run_took_away_holds_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and locking, the run that held the file removed it: another one may hold a new file by now."""
    folder = tmp_path / "out"

    def take_away(_handle: int, _operation: int) -> None:
        beside(folder, LOCK).unlink()

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", take_away)
        assert refusal(OLD, folder).code == "artifact.busy"
    write(OLD, folder, forced=False)


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


def test_a_folder_that_cannot_be_emptied_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    write(OLD, folder, forced=False)
    (folder / "mine" / "deep").mkdir(parents=True)
    shut = folder

    def access(path: Path, _mode: int) -> bool:
        return path != shut

    monkeypatch.setattr(os, "access", access)
    for shut in (folder, folder / "a", folder / "mine"):
        error = refusal(NEW, folder)
        assert error.code == "artifact.unwritable"
        assert error.where is not None
        assert error.where.file == str(shut)
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EBUSY, errno.EIO])
def test_a_folder_that_cannot_be_renamed_is_refused(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    write(OLD, folder, forced=False)

    def refuse(_one: Path, other: Path) -> bool:
        raise OSError(number, os.strerror(number), str(other))

    monkeypatch.setattr(writing, "_exchange", refuse)
    assert refusal(NEW, folder).code == "artifact.unwritable"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("answer", ["absent", "ENOSYS", "EINVAL", "ENOTSUP", "EXDEV"])
def test_what_the_system_says_to_an_exchange(answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    write(OLD, folder, forced=False)

    def load(_name: None, *, use_errno: bool) -> SimpleNamespace:
        assert use_errno
        return SimpleNamespace() if answer == "absent" else SimpleNamespace(renameat2=refuse)

    def refuse(*_arguments: object) -> int:
        return -1

    monkeypatch.setattr("ctypes.CDLL", load)
    monkeypatch.setattr("ctypes.get_errno", lambda: getattr(errno, answer))
    if answer == "EXDEV":
        assert refusal(NEW, folder).code == "artifact.unwritable"
    else:
        write(NEW, folder, forced=False)
        assert without_manifest(folder) == expected(NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


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
