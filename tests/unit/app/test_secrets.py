from __future__ import annotations

import os
from pathlib import Path

import pytest

from weftline.app.check import check
from weftline.app.secrets import read_secrets
from weftline.errors import SpecError

SPEC = """\
fabric: {name: keys}
technology: infiniband
hosts: {count: 8}
infiniband:
  keys:
    m_key_file: PATH
"""
VALUE = "0x7ea5e11ed0c0ffee"


def declare(folder: Path, path: str) -> Path:
    """Write a declaration with one key file."""
    place = folder / "site" / "fabric.yaml"
    place.parent.mkdir(exist_ok=True)
    place.write_text(SPEC.replace("PATH", path), encoding="utf-8")
    return place


def write_key(path: Path, text: str = VALUE, mode: int = 0o600) -> Path:
    """Write a key file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def refuse(place: Path) -> tuple[str, str]:
    """Return code and words of the refusal, which never hold the value, and point at the declaration."""
    with pytest.raises(SpecError) as caught:
        read_secrets(check(place))
    (problem,) = caught.value.problems
    assert VALUE not in repr(problem)
    assert problem.where is not None
    assert problem.where.line == 6
    return problem.code, problem.message


@pytest.mark.parametrize("text", [VALUE, VALUE + "\n", VALUE.upper().replace("X", "x") + " \n"])
def test_a_key_is_read(tmp_path: Path, text: str) -> None:
    place = declare(tmp_path, "m_key")
    write_key(place.parent / "m_key", text)
    (secret,) = read_secrets(check(place))
    assert (secret.name, secret.value) == ("m_key", VALUE)
    assert VALUE not in repr(secret)


def test_an_absolute_path_is_read(tmp_path: Path) -> None:
    key = write_key(tmp_path.resolve() / "elsewhere" / "m_key")
    assert [one.value for one in read_secrets(check(declare(tmp_path, str(key))))] == [VALUE]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o602])
def test_a_key_of_others_is_no_key(tmp_path: Path, mode: int) -> None:
    place = declare(tmp_path, "m_key")
    write_key(place.parent / "m_key", mode=mode)
    code, message = refuse(place)
    assert code == "spec.key-file"
    assert f"has mode {mode:04o}" in message


@pytest.mark.parametrize(
    "text",
    ["", "0x0000000000000000", "0x0000000000000001", "0xffffffffffffffff", "0x1234", VALUE[2:], VALUE + "0",
     VALUE + "\n" + VALUE, "0x7ea5e11ed0c0ffeg", "x" * 5000],
)  # fmt: skip
def test_values_that_are_no_key(tmp_path: Path, text: str) -> None:
    place = declare(tmp_path, "m_key")
    write_key(place.parent / "m_key", text)
    assert refuse(place)[0] == "spec.key-value"


def test_links_that_lead_out(tmp_path: Path) -> None:
    place = declare(tmp_path, "m_key")
    key = write_key(tmp_path / "secret" / "m_key")
    (place.parent / "m_key").symlink_to(key)
    assert "leads out of the folder" in refuse(place)[1]
    assert "leads out of the folder" in refuse(declare(tmp_path, "../secret/m_key"))[1]
    (tmp_path / "link").symlink_to(key)
    assert "leads through a link" in refuse(declare(tmp_path, str(tmp_path.resolve() / "link")))[1]


def test_what_is_no_file(tmp_path: Path) -> None:
    place = declare(tmp_path, "m_key")
    assert "cannot be read" in refuse(place)[1]
    (place.parent / "m_key").mkdir()
    assert "is no ordinary file" in refuse(place)[1]
    (place.parent / "m_key").rmdir()
    os.mkfifo(place.parent / "m_key", 0o600)
    assert "is no ordinary file" in refuse(place)[1]
    (place.parent / "m_key").unlink()
    (place.parent / "m_key").symlink_to("m_key")
    assert "cannot be read" in refuse(place)[1]


def test_without_keys_nothing_is_read(tmp_path: Path) -> None:
    place = declare(tmp_path, "m_key")
    place.write_text(place.read_text(encoding="utf-8").partition("infiniband:\n")[0] + "site: {}\n", encoding="utf-8")
    assert read_secrets(check(place)) == ()
