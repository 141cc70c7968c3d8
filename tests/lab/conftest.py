"""A small fabric of two tenants in a lab, and programs that ask it independently of Weftline."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Ran, run
from weftline.app.lab import lab_folder
from weftline.labs import holding, processes
from weftline.labs.ibsim import opensm, state
from weftline.model.lab import LabProcess

PROGRAMS = ("opensm", "ibsim", "dump_fts", "smpquery", "perfquery")
IS_ABSENT = not opensm.find_library() or any(shutil.which(name) is None for name in PROGRAMS)
SMALL = """\
fabric:
  name: two-tenants
technology: infiniband
hosts:
  count: 8
  gpus: 2
  rails: 2
  rate_gbps: 400
  unit_size: 4
topology:
  kind: rail-optimised
tenants:
  - name: red
    hosts: 1-3
  - name: blue
    hosts: 4-8
claims:
  required: [reach, deadlock]
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and skip them where the programs are absent."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and here / "netns" not in item.path.parents:
            item.add_marker(pytest.mark.lab)
            if IS_ABSENT:
                item.add_marker(pytest.mark.skip(reason="opensm, ibsim-utils or infiniband-diags is not installed"))


@dataclass(frozen=True)
class Place:
    """A declaration with a lab."""

    path: Path

    def lab(self, verb: str, *arguments: object) -> Ran:
        """Run one verb of the lab."""
        return run("lab", verb, self.path, *arguments)

    @property
    def folder(self) -> Path:
        """Where the one subnet of the lab runs."""
        return lab_folder(self.path) / "subnet-1"

    @property
    def running(self) -> dict[str, LabProcess]:
        """The programs that run, by name."""
        return {process.name: process for process in processes.find(holding.key_of(lab_folder(self.path)))}

    def ask(self, *command: str) -> str:
        """Run one program of infiniband-diags against the lab."""
        record = state.read(lab_folder(self.path)).subnets[0]
        environment = {**os.environ, **opensm.make_environment(record), "LD_PRELOAD": opensm.find_library()}
        done = subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    def differences(self, ran: Ran) -> list[dict[str, Any]]:
        """List the differences of the one subnet."""
        (subnet,) = ran.document["subnets"]
        return subnet["differences"]


def make_place(folder: Path, text: str = SMALL) -> Place:
    """Write a declaration."""
    path = folder / "fabric.yaml"
    path.write_text(text, encoding="utf-8")
    return Place(path)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A declaration whose lab is stopped afterwards, whatever happened."""
    made = make_place(tmp_path)
    yield made
    made.lab("down")
    assert made.running == {}


@pytest.fixture
def lab(place: Place) -> Place:
    """A lab that is up."""
    ran = place.lab("up", "--json")
    assert ran.status == 0, ran.out
    return place
