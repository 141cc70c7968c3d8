from __future__ import annotations

from dataclasses import replace

import pytest

from tests.designs import render_design
from weftline.errors import ArtifactError
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import DeviceIntent
from weftline.model.vendor import Vendor
from weftline.render import render

MADE = render_design("infiniband", hosts=2, rails=1)


def observe_nothing(_artifacts: ArtifactSet) -> tuple[()]:
    """Read nothing."""
    return ()


def vendor_of(*paths: str) -> Vendor:
    """Make a vendor that writes empty files."""

    def write(_intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
        return tuple(Artifact(path, b"", "", "test") for path in paths)

    return Vendor("test", write, observe_nothing)


def test_files_are_in_order_and_of_the_routes() -> None:
    paths = [artifact.path for artifact in MADE.artifacts.artifacts]
    assert paths == sorted(paths)
    assert MADE.artifacts.of == MADE.routes.digest


def test_notes_are_said_once() -> None:
    notes = MADE.artifacts.notes
    assert len(set(notes)) == len(notes) > 0


def test_the_same_design_gives_the_same_bytes() -> None:
    again = render_design("infiniband", hosts=2, rails=1)
    assert again.artifacts == MADE.artifacts


@pytest.mark.parametrize("name", ["../x", "a/b", "", "-rf", ".hidden", "a b", "a;b", "x" * 64, "MF0;sw:QM/U1", "a\n"])
@pytest.mark.parametrize("field", ["device", "fabric"])
def test_names_that_a_shell_or_path_could_mistake_are_refused(name: str, field: str) -> None:
    intent = replace(MADE.intents[0], **{field: name})
    with pytest.raises(ArtifactError) as refused:
        render((intent,), MADE.vendors, of="")
    assert refused.value.code == "artifact.device-name"


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../b", "a//b", "a/./b", "", "a/", "a\n", "x/" * 8 + "y"])
def test_paths_that_leave_the_folder_are_refused(path: str) -> None:
    with pytest.raises(ArtifactError) as refused:
        render((), (vendor_of(path),), of="")
    assert refused.value.code == "artifact.path"


def test_the_same_path_twice_is_refused() -> None:
    with pytest.raises(ArtifactError) as refused:
        render((), (vendor_of("a"), vendor_of("a")), of="")
    assert refused.value.code == "artifact.path"
