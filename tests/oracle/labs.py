"""Fabrics that run in a lab, and programs of others that walk and question them."""

from __future__ import annotations

import os
import random
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.designs import render_design
from weftline.app.pipeline import run_to_proofs
from weftline.app.render import render_proved
from weftline.drivers import DRIVERS
from weftline.kernels.column import NIL
from weftline.labs.ibsim import running
from weftline.labs.ibsim.topology import list_parts
from weftline.model.addresses import Addresses
from weftline.model.artifact import ArtifactSet
from weftline.model.driver import Access, Readback, Rendered, SubnetState
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.lab import LabDesign, LabStatus, LabSubnet
from weftline.model.routes import Routes
from weftline.render import render
from weftline.route import compute_routes
from weftline.technologies import TECHNOLOGIES
from weftline.vendors import VENDORS

PROGRAMS = ("opensm", "ibsim", "ibtracert", "ibroute", "saquery", "ibdmchk")
HOP = re.compile(r"^\[(\d+)\] -> (switch|ca) port \{0x([0-9a-f]+)\}\[(\d+)\]", re.MULTILINE)
LAST = re.compile(r"^To (?:ca|switch) \{0x([0-9a-f]+)\}", re.MULTILINE)


@dataclass(frozen=True)
class Made:
    """A fabric with its addresses, routes and rendered files."""

    fabric: Fabric
    addresses: Addresses
    routes: Routes
    artifacts: ArtifactSet

    @property
    def design(self) -> LabDesign:
        """What a lab takes."""
        files: dict[str, dict[str, bytes]] = {}
        for artifact in self.artifacts.artifacts:
            if artifact.vendor == "opensm":
                files.setdefault(artifact.device, {})[artifact.path.rpartition("/")[2]] = artifact.content
        subnets = tuple(
            LabSubnet(name, int(name.rpartition("-")[2]) - 1, content) for name, content in sorted(files.items())
        )
        return LabDesign(self.routes.digest, self.fabric, self.addresses, subnets)


def make(seed: int) -> Made:
    """Make a small fabric of random shape with random faults: links, a switch or a host are missing."""
    choice = random.Random(seed)
    kind = choice.choice(("fat-tree", "rail-optimised", "rail-only"))
    options: dict[str, Any] = {"planes": choice.choice((1, 2))} if kind == "fat-tree" else {"rails": 2}
    hosts = choice.randint(4, 8 if kind == "rail-only" else 12)
    tenants = (("red", "1-2"), ("blue", "3-4"))
    whole = render_design(
        "infiniband", kind, hosts=hosts, unit_size=8 if kind == "rail-only" else 4, tenants=tenants, **options
    )
    fabric = damage(whole.fabric, choice)
    addresses = replace(whole.addresses, fabric_digest=fabric.digest)
    technology = TECHNOLOGIES["infiniband"].design
    routes = compute_routes(fabric, "updown", to_switches=True)
    intents = technology.intents(whole.design, fabric, addresses, routes)
    return Made(fabric, addresses, routes, render(intents, (VENDORS["opensm"],), of=routes.digest))


def make_example(path: Path) -> Made:
    """Take a declaration to its files."""
    proved = run_to_proofs(path)
    artifacts = render_proved(proved, None, to_disk=False).artifacts
    assert artifacts is not None
    own = tuple(item for item in artifacts.artifacts if item.vendor == "opensm")
    routed = proved.routed
    return Made(routed.built.fabric, routed.addresses, routed.routes, replace(artifacts, artifacts=own))


def damage(fabric: Fabric, choice: random.Random) -> Fabric:
    """Take links, a switch or a host away; what is left is told by the parts that are still joined."""
    peer = fabric.port_peer.copy()
    lit = np.flatnonzero((peer != NIL) & (peer > np.arange(len(peer)))).tolist()
    gone = choice.sample(lit, choice.randint(0, max(len(lit) // 8, 1)))
    for kind in choice.sample((NodeKind.SWITCH, NodeKind.HOST), choice.randint(0, 1)):
        node = choice.choice(np.flatnonzero(fabric.node_kind == kind).tolist())
        gone += [p for p in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])) if peer[p] != NIL]
    for port in gone:
        if peer[port] != NIL:
            peer[peer[port]] = NIL
            peer[port] = NIL
    cut = replace(fabric, port_peer=peer)
    component = np.full(len(peer), NIL, dtype=np.int32)
    count = 0
    for plane in range(fabric.planes):
        for part in list_parts(cut, plane):
            component[part.within] = count
            count += 1
    return replace(cut, port_component=component)


@dataclass(frozen=True)
class Subnet:
    """One subnet that runs."""

    made: Made
    access: Access
    state: SubnetState

    def ask(self, *command: str, check: bool = True) -> str:
        """Run one program of others."""
        environment = {**os.environ, **self.access.environment, "LD_PRELOAD": self.access.preload}
        done = subprocess.run(
            command,
            env=environment,
            cwd=self.access.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=check,
        )
        return done.stdout

    @property
    def ends(self) -> list[int]:
        """The endpoints of the subnet."""
        fabric, ids = self.made.fabric, self.made.addresses.port_id
        return [port for port in fabric.endpoint_port.tolist() if int(ids[port]) in self.state.endpoints]

    def lid(self, port: int) -> int:
        """The LID of an endpoint, as its adapter has it."""
        return self.state.ports[self.state.endpoints[int(self.made.addresses.port_id[port])]].address

    def trace(self, source: int, target: int) -> tuple[list[tuple[int, int]], bool]:
        """Have ibtracert walk: the GUID and port that each device on the way is left by, and whether it arrived.

        On a wrong table it may print a target that it never reached, so the last device on the way is looked at.
        """
        said = self.ask("ibtracert", str(self.lid(source)), str(self.lid(target)), check=False)
        steps = HOP.findall(said)
        far = self.state.endpoints[int(self.made.addresses.port_id[target])]
        arrived = bool(steps) and bool(LAST.search(said)) and steps[-1][1] == "ca"
        # the GUID in braces is that of the port, for a switch that of the node
        arrived = arrived and int(steps[-1][2], 16) in {far[0], int(self.made.addresses.port_id[target])}
        came = [int(guid, 16) for _, _, guid, _ in steps]
        return [(guid, int(step[0])) for guid, step in zip(came, steps[1:], strict=False)], arrived

    def count_records(self, source: int, target: int) -> int:
        """Ask the subnet manager for the paths of one pair."""
        said = self.ask("saquery", "PR", "--src-to-dst", f"{self.lid(source)}:{self.lid(target)}", check=False)
        return said.count("PathRecord dump")

    def check(self) -> tuple[int, int, bool | None]:
        """Have ibdmchk walk OpenSM's own dumps: paths walked, paths lost, and whether there is a credit loop.

        It looks for loops only where no path is lost. Its status says nothing: it may crash when it is done.
        """
        said = self.ask("ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs", check=False)
        lost = re.search(r"-E- Found (\d+) missing paths out of:\s*(\d+)", said)
        if lost:
            return int(lost[2]), int(lost[1]), None
        scanned = re.search(r"-I- Scanned:\s*(\d+) CA to CA paths", said)
        assert scanned, said
        return int(scanned[1]), 0, "no credit loops found" not in said


def start(made: Made, folder: Path) -> tuple[LabStatus, list[Subnet]]:
    """Run a fabric; returns its subnets as they were read back."""
    status = running.up(made.design, folder, lambda _words, _share: None)
    driver = DRIVERS["opensm"]
    return status, [Subnet(made, access, driver.read_state(access, False)) for access in status.accesses]


def compare(subnet: Subnet) -> Readback:
    """Hold what runs against what was rendered."""
    configs = {config.device: config for config in VENDORS["opensm"].observe(subnet.made.artifacts)}
    name = subnet.access.of or subnet.access.subnet
    plane = int(name.rpartition("-")[2]) - 1
    rendered = Rendered(configs[name], {}, subnet.made.fabric, subnet.made.addresses, plane)
    return DRIVERS["opensm"].compare(rendered, subnet.state, subnet.access.entry)
