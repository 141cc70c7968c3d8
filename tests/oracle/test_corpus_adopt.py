"""Every dump of the corpus in a form of ibnetdiscover is adopted, or refused with a problem that names the line."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from weftline.adopt import build_fabric, compare, read_discovery
from weftline.errors import Problem
from weftline.formats import ibnetdiscover, portlist
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery
from weftline.model.fabric import NodeKind, Tier

HEADER = re.compile(rb'^(?:Switch|Ca|Hca|Rt)\s*\d+\s*"', re.MULTILINE)
UFM = "ufm_sdk/plugins_UFM_NDT_Plugin_tests_positive_flow_ibnetdiscover_ibnetdiscover_director.txt"
DGX = "topograph/tests_output_ibnetdiscover_example.out"


@dataclass(frozen=True)
class Expected:
    """What must come out of a file: counts, shape, and (code, severity, first line) of its problems."""

    switches: int
    adapters: int
    extras: int
    hosts: int
    links: int
    shape: str
    tiers: tuple[int, int, int]
    problems: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """First line of each kind of problem."""


SILENT = {("artifact.unknown-speed", "note"): 22}
ADOPTED = {
    "ibsim/net-examples_net": Expected(
        2, 2, 0, 2, 4, "fat-tree", (1, 1, 0), {("artifact.unknown-speed", "note"): 26}
    ),
    "ibsim/net-examples_net.1": Expected(1, 2, 0, 2, 2, "single-switch", (1, 0, 0), SILENT),
    "ibsim/net-examples_net.2sw2path": Expected(2, 2, 0, 2, 4, "irregular", (2, 0, 0), SILENT),
    "ibsim/net-examples_net.2sw2path4hca": Expected(2, 4, 0, 4, 6, "irregular", (2, 0, 0), SILENT),
    "ibsim/net-examples_net.2sw2path4hca2port": Expected(2, 2, 0, 2, 6, "irregular", (2, 0, 0), SILENT),
    "junousi_ibtopotool/tests_1.topo": Expected(
        2, 4, 0, 4, 7, "irregular", (2, 0, 0), {("artifact.slow-link", "warning"): 26}
    ),
    "junousi_ibtopotool/tests_2.topo": Expected(1, 2, 0, 2, 2, "single-switch", (1, 0, 0)),
    "junousi_ibtopotool/tests_4.topo": Expected(1, 1, 0, 1, 1, "single-switch", (1, 0, 0)),
    DGX: Expected(40, 582, 40, 194, 1114, "rail-optimised", (31, 9, 0)),
    "treydock_infiniband_exporter/ibnetdiscover/test.out": Expected(
        3, 3, 0, 3, 3, "irregular", (3, 0, 0),
        {("artifact.dangling-cable", "error"): 6, ("artifact.island", "error"): 7},
    ),
    "treydock_infiniband_exporter/ibnetdiscover/test2.out": Expected(
        4, 2, 1, 1, 1, "irregular", (4, 0, 0),
        {("artifact.dangling-cable", "error"): 1, ("artifact.island", "error"): 4,
         ("artifact.one-sided-cable", "error"): 5},
    ),
    UFM: Expected(
        400, 2328, 0, 383, 8723, "fat-tree", (160, 160, 80),
        {("artifact.terminal-text", "note"): 1, ("artifact.slow-link", "warning"): 3963,
         ("artifact.unassigned-lid", "warning"): 4814, ("artifact.dump-repeated", "warning"): 0},
    ),
}  # fmt: skip
REFUSED = {
    "topograph/tests_output_ibnetdiscover_example-bad.out": {"artifact.dump-truncated": 10, "artifact.no-links": 10},
    "treydock_infiniband_exporter/ibnetdiscover/test3.out": {"artifact.no-links": 1},
}


@pytest.fixture(scope="module")
def folder(corpus: Path) -> Path:
    return corpus / "infiniband"


def adopt(folder: Path, name: str) -> Adoption | tuple[Problem, ...]:
    found = read_discovery((folder / name).read_bytes(), name)
    return build_fabric(found) if isinstance(found, Discovery) else found


def first_lines(problems: tuple[Problem, ...]) -> dict[tuple[str, str], int]:
    lines: dict[tuple[str, str], int] = {}
    for problem in problems:
        assert problem.where is not None
        lines.setdefault((problem.code, problem.severity), problem.where.line or 0)
    return lines


@pytest.mark.parametrize("name", sorted(ADOPTED))
def test_is_adopted(folder: Path, name: str) -> None:
    expected = ADOPTED[name]
    discovery = read_discovery((folder / name).read_bytes(), name)
    assert isinstance(discovery, Discovery)
    assert Counter(node.kind for node in discovery.nodes) == {"switch": expected.switches, "ca": expected.adapters}
    found = build_fabric(discovery)
    assert isinstance(found, Adoption)
    fabric = found.fabric
    kinds: Counter[int] = Counter(fabric.node_kind.tolist())
    assert (kinds[NodeKind.SWITCH], kinds[NodeKind.EXTRA], kinds[NodeKind.HOST]) == (
        expected.switches, expected.extras, expected.hosts,
    )  # fmt: skip
    assert np.count_nonzero(fabric.port_peer != NIL) == 2 * expected.links
    tiers: Counter[int] = Counter(fabric.node_tier[fabric.switch_node].tolist())
    assert (tiers[Tier.LEAF], tiers[Tier.SPINE], tiers[Tier.CORE]) == expected.tiers
    assert found.shape == expected.shape, found.shape_reason
    assert first_lines(found.problems) == expected.problems
    assert any(p.is_error for p in found.problems) == any(severity == "error" for _, severity in expected.problems)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_is_refused_with_its_line(folder: Path, name: str) -> None:
    found = adopt(folder, name)
    assert isinstance(found, tuple)
    assert {problem.code: problem.where and problem.where.line for problem in found} == REFUSED[name]


def test_no_dump_of_the_corpus_is_forgotten(folder: Path) -> None:
    found: set[str] = set()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "INDEX.md":
            data = path.read_bytes()
            if HEADER.search(data) or portlist.looks_like(data):
                found.add(path.relative_to(folder).as_posix())
    assert found == set(ADOPTED) | set(REFUSED)


def test_the_real_clusters_have_their_endpoints(folder: Path) -> None:
    dgx, ufm = adopt(folder, DGX), adopt(folder, UFM)
    assert isinstance(dgx, Adoption)
    assert isinstance(ufm, Adoption)
    assert len(dgx.fabric.endpoint_port) == 582
    assert len(ufm.fabric.endpoint_port) == 2328
    assert len(dgx.fabric.endpoint_port) - np.count_nonzero(
        dgx.fabric.node_kind[dgx.fabric.port_node[dgx.fabric.endpoint_port]] == NodeKind.EXTRA
    ) == 542  # fmt: skip
    spines = {name for name, tier in zip(dgx.fabric.node_name, dgx.fabric.node_tier, strict=True) if tier == Tier.SPINE}
    assert spines == {name for name in dgx.fabric.node_name if "IBSPINE" in name}
    assert set(dgx.fabric.port_rate_gbps[dgx.fabric.port_peer != NIL].tolist()) == {400.0}
    assert sum(problem.code == "artifact.unassigned-lid" for problem in ufm.problems) == 100
    assert dgx.fabric.node_component.max() == ufm.fabric.node_component.max() == 0


@pytest.mark.parametrize("name", [DGX, UFM])
def test_a_real_cluster_survives_writing(folder: Path, name: str) -> None:
    found = adopt(folder, name)
    assert isinstance(found, Adoption)
    again = read_discovery(ibnetdiscover.write(found.fabric, found.addresses).encode(), "again")
    assert isinstance(again, Discovery)
    other = build_fabric(again)
    assert isinstance(other, Adoption)
    assert compare(found.fabric, other.fabric, found.addresses, other.addresses) == ()


def test_a_cut_or_damaged_real_dump_never_raises(folder: Path) -> None:
    data = (folder / DGX).read_bytes()
    for at in range(1, len(data), len(data) // 23):
        for piece in (data[:at], data[:at] + data[at + 997 :]):
            found = read_discovery(piece, "cut")
            whole = build_fabric(found) if isinstance(found, Discovery) else found
            problems = whole.problems if isinstance(whole, Adoption) else whole
            assert any(problem.severity == "error" for problem in problems)
