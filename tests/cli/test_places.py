"""PLACE is a declaration or its workspace, from any folder, under any name; ``--out`` says where files go."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import write_small
from tests.cli.running import run

NAMES = (
    "with blank.yaml", "\u00fcn\u00efc\u00f6d\u00e9 \u4e16\u754c.yml", "-", "--help.yaml", "a'b\"c.yaml",
    "x" * 240 + ".yaml", ".yaml", "two.dots.yaml", "tab\tin.yaml", "line\nend.yaml", "no-suffix", "%s{}$HOME.yaml",
    "\udcff.yaml",
)  # fmt: skip
FULL = """
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from weftline.cli.main import run
run()
"""


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_of_files(name: str, small: Path) -> None:
    place = small.rename(small.parent / name)
    ran = run("up", place, "--json")
    assert ran.status == 0, ran.out
    report = Path(ran.document["report"])
    assert report.parent == small.parent / ".weftline" / place.stem
    assert report.is_file()
    named = run("build", "--json", "--", name, cwd=small.parent)
    assert named.document["hosts"] == 4


def test_the_workspace_is_a_place(small: Path) -> None:
    assert run("up", small, "--json").status == 0
    folder = small.parent / ".weftline" / small.stem
    digest = run("build", small, "--json").document["digest"]
    for place, cwd in (
        (folder, Path("/")),
        (".", folder),
        (f".weftline/{small.stem}/", small.parent),
        ("..//.weftline/infiniband", folder.parent),
    ):
        assert run("build", place, "--json", cwd=cwd).document["digest"] == digest
    shutil.rmtree(folder / "artifacts")
    again = run("up", ".", "--json", cwd=folder)
    assert again.document["report"] == "report.html"
    assert (folder / "artifacts" / "manifest.json").is_file()


@pytest.mark.parametrize("folder", [".weftline", ".weftline/other"])
def test_a_folder_that_is_no_workspace(folder: str, small: Path) -> None:
    (small.parent / folder).mkdir(parents=True)
    ran = run("check", small.parent / folder)
    assert ran.status == 1
    assert "[artifact.no-place]" in ran.err


def test_relative_absolute_and_from_elsewhere(small: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    digests = {
        run("build", place, "--json", cwd=cwd).document["digest"]
        for place, cwd in (
            (small, elsewhere),
            (small.name, small.parent),
            (f"./{small.name}", small.parent),
            (os.path.relpath(small, elsewhere), elsewhere),
        )
    }
    assert len(digests) == 1
    assert list(elsewhere.iterdir()) == []


def test_reading_verbs_write_nothing(small: Path) -> None:
    for verb in ("check", "build", "cables", "route", "prove", "simulate"):
        run(verb, small)
    run("trace", small, "host-0001", "host-0002")
    assert [path.name for path in small.parent.iterdir()] == [small.name]


def test_out_takes_everything(small: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    out = tmp_path_factory.mktemp("out") / "not yet" / "there"
    assert run("up", small, "--out", out).status == 0
    assert run("cables", small, "--out", out).status == 0
    assert {path.name for path in out.iterdir()} == {"artifacts", "report.html", "cabling.csv"}
    assert [path.name for path in small.parent.iterdir()] == [small.name]


def test_out_with_files_of_others(small: Path) -> None:
    folder = small.parent / "artifacts"
    folder.mkdir()
    (folder / "precious.txt").write_text("mine", encoding="utf-8")
    ran = run("render", small, "--out", small.parent)
    assert ran.status == 1
    assert "[artifact.foreign-folder]" in ran.err
    assert [path.name for path in folder.iterdir()] == ["precious.txt"]


def test_a_cabling_list_stands_beside_its_declaration(small: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    listed = tmp_path_factory.mktemp("listed")
    run("cables", small, "--out", listed)
    place = write_small(listed, "infiniband")
    text = place.read_text(encoding="utf-8").replace("kind: fat-tree", "kind: cabling\n  cabling: cabling.csv")
    place.write_text(text, encoding="utf-8")
    ran = run("build", place, "--json", cwd=Path("/"))
    assert ran.status == 0, ran.out
    assert ran.document["links"] == 64


def test_a_full_disk(small: Path) -> None:
    """A limit on the size of files stands for a disk that is full: the report does not fit, nothing is half there."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, "report", str(small), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert '"artifact.unwritable"' in done.stdout
    assert list((small.parent / ".weftline" / "infiniband").iterdir()) == []
