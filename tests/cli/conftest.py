"""Small declarations and what the costly verbs make of them, shared by the tests of the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Ran, run

SMALL = """\
fabric:
  name: {name}
technology: {technology}
hosts:
  count: 4
  gpus: 8
  rails: 8
  rate_gbps: 400
  unit_size: 2
topology:
  kind: fat-tree
jobs:
  - name: tune
    parameters: 8e9
    tensor_parallel: 8
    data_parallel: 4
    global_batch: 64
    sequence_length: 4096
    utilisation: 0.4
    gpu_hour_price: 2.5
"""
TECHNOLOGIES = ("infiniband", "roce")


def write_small(folder: Path, technology: str, more: str = "") -> Path:
    """Write a declaration of 4 hosts on 2 leaf switches and a spine."""
    path = folder / f"{technology}.yaml"
    path.write_text(SMALL.format(name=technology, technology=technology) + more, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small declaration for each technology; tests must not write into it."""
    folder = tmp_path_factory.mktemp("places")
    for technology in TECHNOLOGIES:
        write_small(folder, technology)
    return folder


@pytest.fixture(scope="session")
def raised(places: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Ran]]:
    """What ``up --json`` makes of each small declaration, and the folder that it writes."""
    folder = tmp_path_factory.mktemp("raised")
    made: dict[str, tuple[Path, Ran]] = {}
    for technology in TECHNOLOGIES:
        out = folder / technology
        made[technology] = out, run("up", places / f"{technology}.yaml", "--out", out, "--json")
    return made


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small declaration in a folder of its own."""
    return write_small(tmp_path, "infiniband")
