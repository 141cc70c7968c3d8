"""The same declaration gives the same bytes: in another folder, from another place, with another seed of hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.cli.conftest import TECHNOLOGIES, write_small
from tests.cli.running import Ran, run, start


def digests(folder: Path) -> dict[str, str]:
    found = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    assert "report.html" in found
    assert len(found) > 5
    return found


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_up_writes_the_same(technology: str, raised: dict[str, tuple[Path, Ran]], tmp_path: Path) -> None:
    first = digests(raised[technology][0])
    deep = tmp_path / "another folder" / "deep"
    deep.mkdir(parents=True)
    place = write_small(deep, technology)
    for number, (name, cwd) in enumerate(((place, tmp_path), (place.name, deep))):
        out = tmp_path / f"out-{number}"
        assert start("up", name, "--out", out, cwd=cwd, env={"PYTHONHASHSEED": str(number + 1)}).status == 0
        assert digests(out) == first
    assert run("up", place).status == 0
    assert run("up", place).status == 0
    assert digests(deep / ".weftline" / technology) == first


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_nothing_names_the_machine(technology: str, raised: dict[str, tuple[Path, Ran]]) -> None:
    folder = raised[technology][0]
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert str(folder.parent).encode() not in data, path
            assert str(Path.home()).encode() + b"/" not in data, path


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_documents_are_the_same(technology: str, places: Path) -> None:
    place = places / f"{technology}.yaml"
    one, other = (start("simulate", place, "--json", env={"PYTHONHASHSEED": seed}) for seed in ("1", "2"))
    assert one.out == other.out


def test_comments_and_order_of_keys_change_nothing_that_is_built(small: Path) -> None:
    before = run("build", small, "--json").document["digest"]
    pieces = small.read_text(encoding="utf-8").split("technology: infiniband\n")
    small.write_text(f"# a comment\ntechnology: infiniband\n{pieces[0]}{pieces[1]}", encoding="utf-8")
    assert run("build", small, "--json").document["digest"] == before
