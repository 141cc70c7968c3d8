"""Every IBDM topology of the corpus is adopted, or refused with a problem that names the line; ibdmchk counts alike."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from weftline.adopt import Systems, build_fabric, read_discovery
from weftline.app.ibnl import read_systems
from weftline.formats import ibdm_topo
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery
from weftline.model.fabric import NodeKind, Tier

SILENT = {("artifact.unknown-speed", "note")}
SMALL = 200
"""Hosts up to which ibdmchk is asked too; it walks all pairs before it ends."""


@dataclass(frozen=True)
class Expected:
    """What must come out of a file."""

    systems: int
    switches: int
    hosts: int
    shape: str
    tiers: tuple[int, int, int]
    problems: frozenset[tuple[str, str]] = frozenset(SILENT)


GNU_32 = Expected(42, 20, 32, "fat-tree", (8, 8, 4))
LEVELS_3 = Expected(52, 20, 32, "fat-tree", (8, 8, 4))
RHINO_512 = Expected(524, 216, 512, "fat-tree", (96, 96, 24))
GNU_16 = Expected(17, 6, 16, "fat-tree", (4, 2, 0))
INFERRED = frozenset({("artifact.inferred-system", "warning"), *SILENT})
TWICE = frozenset({("artifact.asymmetric-cable", "error"), *SILENT})
ADOPTED = {
    "ibdiag_demo_credit-loops.topo": Expected(36, 20, 16, "fat-tree", (8, 8, 4), INFERRED),
    "ibdiag_demo_gnu-based-32.topo": GNU_32,
    "ibdiag_demo_network.topo": Expected(145, 17, 128, "fat-tree", (11, 6, 0), frozenset()),
    "ibdiag_demo_partial-gnu-based-32.topo": GNU_32,
    "ibdm_Clusters_Buffalo8.topo": Expected(20, 6, 14, "fat-tree", (4, 2, 0)),
    "ibdm_Clusters_FullGnu.topo": GNU_16,
    "ibdm_Clusters_PartialGazelle.topo": Expected(73, 51, 72, "fat-tree", (18, 24, 9)),
    "ibdm_Clusters_RhinoBased512.topo": RHINO_512,
    "ibdm_Clusters_SingleGazelle.topo": Expected(97, 68, 96, "fat-tree", (24, 32, 12)),
    "ibdm_Clusters_SingleRhino.topo": Expected(145, 18, 144, "fat-tree", (12, 6, 0)),
    "ibdm_Clusters_topology": Expected(8, 6, 7, "fat-tree", (4, 2, 0), TWICE),
    "ibmgtsim_tests_12-ary-2-tree.topo": Expected(168, 24, 144, "fat-tree", (12, 12, 0)),
    "ibmgtsim_tests_12-node-spaced.topo": Expected(20, 8, 12, "fat-tree", (4, 4, 0)),
    "ibmgtsim_tests_2-ary-4-tree.topo": Expected(48, 32, 16, "irregular", (8, 8, 16)),
    "ibmgtsim_tests_32nodes-3lvl-is1-cbb2-2st.topo": LEVELS_3,
    "ibmgtsim_tests_32nodes-3lvl-is1-cbb2.topo": LEVELS_3,
    "ibmgtsim_tests_32nodes-3lvl-is1.topo": LEVELS_3,
    "ibmgtsim_tests_4-ary-2-tree-diff-num-pgroups.topo": Expected(24, 8, 16, "irregular", (4, 4, 0)),
    "ibmgtsim_tests_4-ary-2-tree-links-at-same-rank-1.topo": Expected(24, 8, 16, "irregular", (4, 4, 0)),
    "ibmgtsim_tests_4-ary-2-tree.topo": Expected(24, 8, 16, "fat-tree", (4, 4, 0)),
    "ibmgtsim_tests_4-ary-3-tree.topo": Expected(112, 48, 64, "fat-tree", (16, 16, 16)),
    "ibmgtsim_tests_4-ary-4-tree.topo": Expected(512, 256, 256, "irregular", (64, 64, 128)),
    "ibmgtsim_tests_FullGnu.topo": GNU_16,
    "ibmgtsim_tests_IS1-16.topo": GNU_16,
    "ibmgtsim_tests_IS3-128.topo": Expected(145, 17, 128, "fat-tree", (11, 6, 0)),
    "ibmgtsim_tests_RhinoBased10K.topo": Expected(10140, 2520, 10_000, "fat-tree", (1260, 1050, 210)),
    "ibmgtsim_tests_RhinoBased512Nodes.topo": RHINO_512,
    "ibmgtsim_tests_RhinoDDR.topo": Expected(145, 18, 144, "fat-tree", (12, 6, 0)),
    "ibmgtsim_tests_blend-4-ary-2-tree.topo": Expected(24, 8, 16, "fat-tree", (4, 4, 0)),
    "ibmgtsim_tests_gnu-stallion-64.topo": Expected(84, 40, 64, "fat-tree", (16, 16, 8)),
    "ibmgtsim_tests_merge-2-ary-4-tree.topo": Expected(44, 28, 16, "irregular", (8, 8, 12)),
}


@pytest.fixture(scope="module")
def folder(corpus: Path) -> Path:
    return corpus / "infiniband" / "nmorey_ibutils"


@pytest.fixture(scope="module")
def systems() -> Systems:
    found = read_systems(None)
    if not found.netlists:
        pytest.skip("the IBNL files of ibutils (libibdm1) are not installed")
    assert not found.problems
    return found


@pytest.mark.parametrize("name", sorted(ADOPTED))
def test_is_adopted(folder: Path, systems: Systems, name: str) -> None:
    expected = ADOPTED[name]
    data = (folder / name).read_bytes()
    discovery = read_discovery(data, name, systems)
    assert isinstance(discovery, Discovery), discovery
    found = build_fabric(discovery)
    assert isinstance(found, Adoption)
    assert {(problem.code, problem.severity) for problem in found.problems} == expected.problems
    fabric = found.fabric
    assert (len(fabric.switch_node), int(np.count_nonzero(fabric.node_kind == NodeKind.HOST))) == (
        expected.switches, expected.hosts,
    )  # fmt: skip
    tiers = fabric.node_tier[fabric.switch_node].tolist()
    assert (tiers.count(Tier.LEAF), tiers.count(Tier.SPINE), tiers.count(Tier.CORE)) == expected.tiers
    assert found.shape == expected.shape, found.shape_reason
    topology = ibdm_topo.parse(data, name)
    assert isinstance(topology, ibdm_topo.Topology)
    assert len(topology.systems) == expected.systems
    assert all(fabric.port_peer[port] != NIL for port in fabric.endpoint_port.tolist())


def test_a_cable_that_contradicts_another_names_both_lines(folder: Path, systems: Systems) -> None:
    name = "ibdm_Clusters_topology"
    discovery = read_discovery((folder / name).read_bytes(), name, systems)
    assert isinstance(discovery, Discovery)
    (problem,) = [problem for problem in discovery.problems if problem.is_error]
    assert problem.where is not None
    assert (problem.where.line, "on line 4 already" in problem.message) == (11, True)


@pytest.mark.parametrize("name", ["ibdm_Clusters_FullGnu.topo", "ibdm_Clusters_SingleRhino.topo"])
def test_without_descriptions_a_director_is_refused_and_says_why(folder: Path, name: str) -> None:
    found = read_discovery((folder / name).read_bytes(), name, Systems())
    assert isinstance(found, tuple)
    (problem,) = [problem for problem in found if problem.is_error]
    assert problem.code == "artifact.unknown-system"
    assert problem.where is not None
    assert problem.where.line
    assert "libibdm1" in problem.hint


def test_no_topology_of_the_corpus_is_forgotten(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.suffix == ".topo" or ibdm_topo.looks_like(path.read_bytes())]
    assert {path.name for path in files} == set(ADOPTED)
    assert all(ibdm_topo.looks_like(path.read_bytes()) for path in files)


WALKED = [name for name, row in ADOPTED.items() if row.hosts <= SMALL and row.problems <= SILENT]


@pytest.mark.parametrize("name", WALKED)
def test_ibdmchk_counts_the_same_nodes(folder: Path, name: str) -> None:
    """The program of others that such files are written for must see as many switches and adapters."""
    expected = ADOPTED[name]
    if shutil.which("ibdmchk") is None:
        pytest.skip("ibutils is not installed")
    text = (folder / name).read_text()
    host = re.search(r"-> *(?:Cougar|MT23108) +(\S+)", text)
    assert host is not None
    command = ("ibdmchk", "-t", str(folder / name), "-n", f"{host[1]}/U1", "-p", "1")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    counts = re.search(r"-I- Defined (\d+)/(\d+) systems/nodes", done.stdout)
    assert counts is not None, done.stdout
    assert (int(counts[1]), int(counts[2])) == (expected.systems, expected.switches + expected.hosts)
