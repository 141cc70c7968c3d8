"""Tables with a fault in them, loaded into a real OpenSM, which says SUBNET UP: programs of others and we find it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.designs import render_design
from tests.fabrics import from_links, make_design
from tests.oracle.labs import PROGRAMS, Made, Subnet, compare, start
from tests.tables import minimal_routes
from weftline.adopt import read_tables
from weftline.errors import CapabilityError
from weftline.kernels.column import NIL
from weftline.labs.ibsim import opensm, running
from weftline.model.adoption import Tables
from weftline.model.proof import Proof, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.render import render
from weftline.route import compute_routes, trace_path
from weftline.technologies import TECHNOLOGIES
from weftline.vendors import VENDORS

RULES = ProofRules(required=("reach", "deadlock"), max_hops=64, all_shifts_up_to=1, sample_shifts=1)
TABLES = "lfts.conf"
RING = 5

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not opensm.find_library() or any(shutil.which(name) is None for name in PROGRAMS),
        reason="opensm, ibsim-utils, infiniband-diags or ibutils is not installed",
    ),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a lab runs that is stopped afterwards."""
    monkeypatch.setattr(opensm, "LOG_FLAGS", "0x43")
    yield tmp_path / "lab"
    running.down(tmp_path / "lab")


def make_tree() -> Made:
    made = render_design("infiniband", "fat-tree", hosts=12, unit_size=4)
    return Made(made.fabric, made.addresses, made.routes, made.artifacts)


def plant(made: Made, switch: int, target: int, number: int) -> Made:
    """Let one entry of one switch lead out of another port; the routes are read back from the text."""
    guid, lid = int(made.addresses.node_id[switch]), int(made.addresses.port_address[target])
    files = list(made.artifacts.artifacts)
    (at,) = [index for index, item in enumerate(files) if item.path.endswith(TABLES)]
    block = re.compile(rf"(guid 0x{guid:016x}(?:(?!Unicast).)*?^0x{lid:04x} )\d+", re.MULTILINE | re.DOTALL)
    text, count = block.subn(rf"\g<1>{number:03d}", files[at].content.decode())
    assert count == 1
    files[at] = replace(files[at], content=text.encode())
    found = read_tables(text.encode(), TABLES, made.fabric, made.addresses)
    assert isinstance(found, Tables)
    return replace(made, routes=found.routes, artifacts=replace(made.artifacts, artifacts=tuple(files)))


def judge(made: Made) -> tuple[Proof, Proof]:
    reach, deadlock, _ = prove(made.fabric, made.routes, RULES).proofs
    return reach, deadlock


def run(made: Made, folder: Path) -> Subnet:
    """Load the tables; OpenSM takes them, fault and all, and they read back as they are."""
    _, (subnet,) = start(made, folder)
    assert compare(subnet).is_equal
    return subnet


def find_way(made: Made) -> tuple[int, int, int, int]:
    """Find two hosts of different leaves, the leaf of the first, and the port by which it sends to the second."""
    fabric = made.fabric
    source, target = int(fabric.endpoint_port[0]), int(fabric.endpoint_port[-1])
    column = made.routes.destination_port.tolist().index(target)
    path = trace_path(fabric, made.routes, source, column)
    leaf = fabric.node_name.index(path.hops[1].node)
    port = int(fabric.port_ptr[leaf]) + int(path.hops[1].out_port or 0) - 1
    assert fabric.port_name(port) == f"{path.hops[1].node}/{path.hops[1].out_port}"
    return source, target, leaf, port


def test_tables_without_a_fault_pass(folder: Path) -> None:
    made = make_tree()
    assert [proof.verdict for proof in judge(made)] == [Verdict.PROVED, Verdict.PROVED]
    subnet = run(made, folder)
    assert subnet.check() == (12 * 11, 0, False)


def test_a_loop_of_two_switches(folder: Path) -> None:
    whole = make_tree()
    source, target, _, port = find_way(whole)
    peer = int(whole.fabric.port_peer[port])
    spine = int(whole.fabric.port_node[peer])
    made = plant(whole, spine, target, int(whole.fabric.port_number[peer]))
    reach, _ = judge(made)
    assert reach.verdict is Verdict.REFUTED
    assert reach.witness is not None
    assert "loop" in reach.witness.kind
    with pytest.raises(CapabilityError) as caught:
        trace_path(made.fabric, made.routes, source, made.routes.destination_port.tolist().index(target))
    assert caught.value.code == "capability.route-loop"
    subnet = run(made, folder)
    assert subnet.check() == (12 * 11, reach.detail["failed_pairs"], None)
    assert not subnet.trace(source, target)[1]
    assert subnet.trace(target, source)[1]


def test_a_dead_port(folder: Path) -> None:
    whole = make_tree()
    source, target, leaf, _ = find_way(whole)
    fabric = whole.fabric
    dark = [
        port
        for port in range(int(fabric.port_ptr[leaf]), int(fabric.port_ptr[leaf + 1]))
        if fabric.port_peer[port] == NIL
    ]
    if not dark:  # every port has a cable: take one off
        host = int(fabric.endpoint_port[1])
        peer = fabric.port_peer.copy()
        dark = [int(peer[host])]
        peer[[host, dark[0]]] = NIL
        fabric = replace(fabric, port_peer=peer, port_component=np.where(peer == NIL, NIL, fabric.port_component))
        whole = replace(whole, fabric=fabric)
    made = plant(whole, leaf, target, int(fabric.port_number[dark[0]]))
    reach, _ = judge(made)
    assert reach.verdict is Verdict.REFUTED
    assert reach.detail["failed_pairs"] > 0
    subnet = run(made, folder)
    lit = len(subnet.ends)
    assert subnet.check() == (lit * (lit - 1), reach.detail["failed_pairs"], None)
    assert not subnet.trace(source, target)[1]


def make_ring(routes_of: str) -> Made:
    """Make a ring of switches with two hosts each: shortest paths wait for each other all around it."""
    fabric = from_links(RING, 2, [(at, (at + 1) % RING) for at in range(RING)])
    technology = TECHNOLOGIES["infiniband"].design
    design = make_design(hosts=2 * RING)
    addresses = technology.assign(design, fabric)
    routes: Routes = (
        minimal_routes(fabric, to_switches=True)
        if routes_of == "minimal"
        else compute_routes(fabric, routes_of, to_switches=True)
    )
    managers = [intent for intent in technology.intents(design, fabric, addresses, routes) if intent.role == "manager"]
    return Made(fabric, addresses, routes, render(tuple(managers), (VENDORS["opensm"],), of=routes.digest))


def test_a_credit_loop_is_found_and_our_routes_are_free_of_it(folder: Path) -> None:
    locked = make_ring("minimal")
    reach, deadlock = judge(locked)
    assert (reach.verdict, deadlock.verdict) == (Verdict.PROVED, Verdict.REFUTED)
    assert deadlock.witness is not None
    names = deadlock.witness.detail["cycle"]
    assert len(names) == RING
    assert all(re.fullmatch(r"leaf-00\d/\d~leaf-00\d/\d", name) for name in names)
    pairs = 2 * RING * (2 * RING - 1)
    assert run(locked, folder).check() == (pairs, 0, True)
    free = make_ring("updown")
    assert [proof.verdict for proof in judge(free)] == [Verdict.PROVED, Verdict.PROVED]
    assert run(free, folder).check() == (pairs, 0, False)
