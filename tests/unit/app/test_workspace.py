from __future__ import annotations

from pathlib import Path

import pytest

from weftline.app.workspace import open_place
from weftline.errors import ArtifactError


@pytest.mark.parametrize("name", ["a.yaml", "a.yml", "a", "a.b.yaml", ".yaml"])
def test_a_file_has_its_workspace_beside_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.touch()
    opened = open_place(path)
    assert opened.declaration == path
    assert opened.folder == tmp_path / ".weftline" / path.stem


@pytest.mark.parametrize("suffix", [".yaml", ".yml"])
def test_a_workspace_has_its_declaration_beside_it(suffix: str, tmp_path: Path) -> None:
    declaration = tmp_path / f"a.b{suffix}"
    declaration.touch()
    folder = tmp_path / ".weftline" / "a.b"
    folder.mkdir(parents=True)
    assert open_place(folder).declaration == declaration
    assert open_place(folder).folder == folder


@pytest.mark.parametrize("place", [".", ".weftline", ".weftline/lost", "nothing", "file/below"])
def test_no_place(place: str, tmp_path: Path) -> None:
    (tmp_path / ".weftline" / "lost").mkdir(parents=True)
    (tmp_path / "file").touch()
    with pytest.raises(ArtifactError) as caught:
        open_place(tmp_path / place)
    assert caught.value.code == "artifact.no-place"
    assert caught.value.hint


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError) as caught:
        open_place(tmp_path / ("x" * 300))
    assert caught.value.code == "artifact.unreadable"
