"""A small routed fabric under real FRR, and programs that ask it independently of Weftline."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Ran, run
from weftline.app.lab import lab_folder
from weftline.labs import processes
from weftline.labs.netns import entering, state
from weftline.labs.netns.running import list_missing
from weftline.model.lab import LabProcess

SMALL = """\
fabric:
  name: roce-small
technology: roce
hosts:
  count: 4
  part: small-host
  rate_gbps: 400
  unit_size: 1
topology:
  kind: fat-tree
  leaf: small-switch
  spine: small-switch
parts:
  hosts:
    small-host: {base: DGX-H100, gpus: 2, rails: 2}
  switches:
    small-switch:
      base: SN5600
      ports: [{rate_gbps: 400, count: 4}]
claims:
  required: [reach, deadlock]
"""
"""Four leaves and two spines of four ports."""
WEIGHED = """\
fabric:
  name: roce-weighed
technology: roce
hosts:
  count: 4
  part: small-host
  rate_gbps: 400
  unit_size: 2
topology:
  kind: fat-tree
  leaf: small-leaf
  spine: small-spine
parts:
  hosts:
    small-host: {base: DGX-H100, gpus: 2, rails: 2}
  switches:
    small-leaf:
      base: SN5600
      ports: [{rate_gbps: 400, count: 8}]
    small-spine:
      base: SN5600
      ports: [{rate_gbps: 400, count: 4}]
routing:
  engine: weighted-ecmp
claims:
  required: [reach, deadlock]
"""
"""Two leaves and two spines that share two links each; paths are weighed."""
TENANTS = """\
tenants:
  - {name: red, hosts: 1-2}
  - {name: blue, hosts: 3-4}
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder where FRR or the right to make namespaces is absent."""
    here = Path(__file__).parent
    own = [item for item in items if here in item.path.parents]
    missing = list_missing() if own else ()
    for item in own:
        item.add_marker(pytest.mark.lab)
        if missing:
            item.add_marker(pytest.mark.skip(reason=missing[0].message))


@dataclass(frozen=True)
class Place:
    """A declaration with a lab."""

    path: Path

    def lab(self, verb: str, *arguments: object) -> Ran:
        """Run one verb of the lab."""
        return run("lab", verb, self.path, *arguments)

    @property
    def running(self) -> tuple[LabProcess, ...]:
        """The programs that run."""
        return processes.find(state.mark_of(lab_folder(self.path)))

    @property
    def holder(self) -> int:
        """The process that holds the namespaces."""
        return entering.find_world(lab_folder(self.path)).holder.pid

    def inside(self, *words: str, text: str = "") -> str:
        """Run a program in the lab, by no code of ours."""
        command = ["nsenter", f"--target={self.holder}", "--mount", "--net", *words]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def vtysh(self, switch: str, command: str) -> Any:
        """Ask a switch by the shell of FRR."""
        return json.loads(self.inside("vtysh", "--vty_socket", f"/run/frr/{switch}", "-c", command))

    def differences(self) -> list[tuple[str, str]]:
        """List kind and subject of what differs."""
        ran = self.lab("verify", "--json")
        (subnet,) = ran.document["subnets"]
        found = [(one["kind"], one["subject"]) for one in subnet["differences"]]
        assert ran.status == (5 if found else 0)
        return found


def make_place(folder: Path, text: str = SMALL) -> Place:
    """Write a declaration."""
    folder.mkdir(exist_ok=True)
    path = folder / "fabric.yaml"
    path.write_text(text, encoding="utf-8")
    return Place(path)


def list_traces() -> tuple[set[str], set[str]]:
    """List what a lab could leave on the machine: its links, and its named namespaces."""
    links, spaces = Path("/sys/class/net"), Path("/run/netns")
    return {path.name for path in links.iterdir()}, {path.name for path in spaces.glob("*")}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A declaration whose lab is stopped afterwards, whatever happened."""
    before = list_traces()
    made = make_place(tmp_path)
    yield made
    made.lab("down")
    assert made.running == ()
    assert list_traces() == before


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A lab that is up, for tests that leave it as it was."""
    made = make_place(tmp_path_factory.mktemp("lab"))
    try:
        ran = made.lab("up", "--json")
        assert ran.status == 0, ran.out
        yield made
    finally:
        made.lab("down")
    assert made.running == ()
