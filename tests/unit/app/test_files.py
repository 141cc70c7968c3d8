from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from weftline.app.files import find, is_folder, read_bytes, write_text
from weftline.errors import ArtifactError


def test_finds_files_folders_and_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert find(tmp_path / "file") is not None
    assert find(tmp_path / "nothing") is None
    assert find(tmp_path / "file" / "below") is None
    assert is_folder(tmp_path)
    assert not is_folder(tmp_path / "file")
    assert not is_folder(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["x" * 300, "loop"])
def test_what_cannot_be_looked_at_is_an_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for look in (find, is_folder):
        with pytest.raises(ArtifactError) as caught:
            look(tmp_path / name)
        assert caught.value.code == "artifact.unreadable"


def test_reads_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"12345678")
    assert read_bytes(path, 8, "") == b"12345678"
    with pytest.raises(ArtifactError, match="larger than") as caught:
        read_bytes(path, 7, "split it")
    assert (caught.value.code, caught.value.hint) == ("artifact.too-large", "split it")


def test_reads_a_pipe_up_to_the_limit(tmp_path: Path) -> None:
    """A pipe does not say beforehand how much will come."""
    path = tmp_path / "pipe"
    for limit, is_read in ((8, True), (7, False)):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(b"12345678",))
        writer.start()
        if is_read:
            assert read_bytes(path, limit, "") == b"12345678"
        else:
            with pytest.raises(ArtifactError, match="larger than"):
                read_bytes(path, limit, "")
        writer.join()


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(ArtifactError, match="larger than"):
        read_bytes(path, (1 << 40) - 1, "")


@pytest.mark.parametrize(("name", "code"), [("nothing", "artifact.no-place"), (".", "artifact.unreadable")])
def test_refuses_what_cannot_be_read(name: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError) as caught:
        read_bytes(tmp_path / name, 8, "")
    assert caught.value.code == code


def test_writes_whole_files_and_folders_above(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    write_text(path, "first")
    write_text(path, "second \u4e16")
    assert path.read_text(encoding="utf-8") == "second \u4e16"
    assert [entry.name for entry in path.parent.iterdir()] == ["c.txt"]


def test_takes_away_what_a_killed_run_left(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine", encoding="utf-8")
    (tmp_path / ".c.txt.part").symlink_to(other)
    write_text(tmp_path / "c.txt", "text")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["c.txt", "other"]
    assert other.read_text(encoding="utf-8") == "mine"


def test_leaves_nothing_behind_when_it_fails(tmp_path: Path) -> None:
    (tmp_path / "folder" / "full").mkdir(parents=True)
    with pytest.raises(ArtifactError) as caught:
        write_text(tmp_path / "folder", "text")
    assert caught.value.code == "artifact.unwritable"
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "c.txt", "\udcff")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("name", ["x" * 300, "file/below.txt", "."])
def test_refuses_what_cannot_be_written(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ArtifactError) as caught:
        write_text(tmp_path / name, "text")
    assert caught.value.code == "artifact.unwritable"


def test_many_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    texts = [str(number) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=write_text, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text(encoding="utf-8") in texts
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.txt"]
