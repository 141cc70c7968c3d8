"""A small fabric in ibsim on which the real OpenSM programs one partition file after the other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.designs import Rendered, render_design
from weftline.drivers.opensm.reading import read_state
from weftline.formats import topology
from weftline.labs.ibsim import opensm
from weftline.model.driver import Access, SubnetState

PROGRAMS = ("opensm", "ibsim")
NEEDED = pytest.mark.skipif(
    not opensm.find_library() or any(shutil.which(name) is None for name in PROGRAMS),
    reason="opensm or ibsim-utils is not installed",
)


@dataclass(frozen=True)
class Programmed:
    """What OpenSM made of one file."""

    state: SubnetState
    log: str


@dataclass(frozen=True)
class Lab:
    """A simulator that stays; OpenSM comes, programs and leaves, and the devices keep what they hold."""

    made: Rendered
    folder: Path
    access: Access
    seen: list[SubnetState] = field(default_factory=list[SubnetState])

    def last(self) -> SubnetState:
        """Return what the devices held when they were read last."""
        return self.seen[-1] if self.seen else self.read()

    def read(self) -> SubnetState:
        """Read what the devices hold."""
        self.seen[:] = [read_state(self.access, False)]
        return self.seen[0]

    def program(self, partitions: bytes | None, options: Mapping[str, str], verbosity: str = "0x03") -> Programmed:
        """Start OpenSM on a file (or on none), let it sweep once, and read back."""
        path = self.folder / "partitions.conf"
        path.unlink(missing_ok=True)
        if partitions is not None:
            path.write_bytes(partitions)
        lines = {"partition_config_file": str(path), **options}
        (self.folder / "osm.conf").write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
        command = ("opensm", "-F", "osm.conf", "-o", "-f", "osm.log", "-e", "-D", verbosity)
        environment = {**os.environ, **self.access.environment, "LD_PRELOAD": self.access.preload}
        done = subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )
        log = (self.folder / "osm.log").read_text(errors="replace")
        assert "SUBNET UP" in log, done.stdout + done.stderr + log
        return Programmed(self.read(), log)


def make_fabric() -> Rendered:
    """Make eight endpoints on four leaves."""
    return render_design("infiniband", hosts=4, rails=2, unit_size=2, tenants=(("red", "1-2"), ("blue", "3-4")))


@contextmanager
def simulate(folder: Path, made: Rendered, *, first: str = "") -> Generator[Lab]:
    """Run ibsim; ``first`` are lines that its file begins with."""
    text = first + topology.write(made.fabric, made.addresses).replace("4xNDR", "4xHDR")

    def to_adapter(match: re.Match[str]) -> str:
        guid = int(match[1], 16)
        return f"caguid=0x{guid - guid % 2**16:016x}"

    text = re.sub(r"caguid=0x([0-9a-f]+)\b", to_adapter, text)
    (folder / "fabric.topo").write_text(text)
    node = re.search(r'^Ca\t\d+ "(H-[0-9a-f]+)"', text, flags=re.MULTILINE)
    assert node is not None
    environment = {
        "IBSIM_SOCKNAME": f"weftline-{os.getpid()}-{folder.name[-20:]}",
        "OSM_CACHE_DIR": str(folder),
        "OSM_TMP_DIR": str(folder),
        "SIM_HOST": node[1],
    }
    # The console must stay open: at its end ibsim would spin for ever.
    with subprocess.Popen(
        ["ibsim", "-s", "-N", "200", "-S", "50", "-P", "2000", str(folder / "fabric.topo")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, **environment}, cwd=folder, text=True,
    ) as simulator:  # fmt: skip
        try:
            assert simulator.stdout is not None
            for line in simulator.stdout:
                if line.startswith("Network simulator ready"):
                    break
            access = Access("subnet-1", environment, opensm.find_library(), folder, 0)
            lab = Lab(made, folder, access)
            found = lab.read()
            entry = next(guid for guid, place in found.endpoints.items() if (place[0], place[1]) in found.links)
            yield Lab(made, folder, replace(access, entry=entry))
        finally:
            simulator.kill()
