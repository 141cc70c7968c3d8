"""Published tables, formulas and known errors of reference designs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fabrics import make_design
from tests.golden.tables import ROWS, Row
from weftline.compile import build_fabric, check_expect, count_fabric, plan_counts
from weftline.declare import load_catalog, read_spec, resolve_spec
from weftline.errors import Problem
from weftline.model.counts import FabricCounts
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric

TABLE = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)


def flatten(counts: FabricCounts) -> dict[str, int]:
    return {"gpus": counts.gpus, **counts.switches, **counts.cables}


def design_of(row: Row, **changes: Any) -> ResolvedSpec:
    options: dict[str, Any] = {
        "hosts": row.hosts, "rails": row.rails, "ports": row.ports, "unit_size": row.unit_size, "planes": row.planes,
        "rate_gbps": row.rate_gbps, "technology": row.technology, "cable_links": row.links_per_cable,
        "extras": row.extras, "expect": row.expect,
    }  # fmt: skip
    return make_design("rail-optimised", **{**options, **changes})


def built(design: ResolvedSpec) -> FabricCounts:
    """Build the fabric, count it, and see that the plan said the same."""
    fabric = build_fabric(design)
    assert isinstance(fabric, Fabric), fabric
    counts = count_fabric(fabric, design)
    assert plan_counts(design) == counts
    return counts


def planned(design: ResolvedSpec) -> FabricCounts:
    counts = plan_counts(design)
    assert isinstance(counts, FabricCounts), counts
    return counts


def refusal(kind: str, **options: Any) -> Problem:
    found = build_fabric(make_design(kind, **options))
    assert isinstance(found, tuple)
    return found[0]


@TABLE
def test_a_row_is_reproduced_by_arithmetic_and_by_building(row: Row) -> None:
    design = design_of(row)
    counts = built(design)
    assert flatten(counts) == row.expect
    assert check_expect(design, counts) == ()
    assert counts.extra_cables == sum(ports for _, ports, _ in row.extras)


@TABLE
def test_a_row_is_reproduced_from_a_declaration_and_the_catalogue(row: Row, tmp_path: Path) -> None:
    extras = "".join(f"\n    - {{name: {n}, ports: {p}, where: {w}}}" for n, p, w in row.extras)
    text = f"""
fabric: {{name: golden}}
technology: {row.technology}
hosts:
  count: {row.hosts}
  rate_gbps: {row.rate_gbps}
  unit_size: {row.unit_size}
  extra_endpoints: {extras or "[]"}
topology: {{kind: rail-optimised, planes: {row.planes}}}
expect: {json.dumps(row.expect)}
"""
    file = tmp_path / "golden.yaml"
    file.write_text(text, encoding="utf-8")
    declaration = read_spec(file)
    assert not isinstance(declaration, tuple), declaration
    design = resolve_spec(declaration, load_catalog())
    assert isinstance(design, ResolvedSpec), design
    counts = built(design)
    assert flatten(counts) == row.expect
    assert check_expect(design, counts) == ()


def test_no_published_row_is_left_out(root: Path) -> None:
    file = root.parent / "shared" / "facts" / "golden.json"
    if not file.is_file():
        pytest.skip("the published tables are absent")
    names = {"node_leaf": "host_leaf", "spine_leaf_cables": "leaf_spine"}
    ours = [{**row.expect, "hosts": row.hosts, "planes": row.planes, "unit": row.unit_size} for row in ROWS]
    for row in json.loads(file.read_text(encoding="utf-8"))["tables"]:
        told, declared = dict(row["expect"]), row["declare"]
        if "compute_plus_ufm_cables" in told:
            told["host_leaf"] = told.pop("compute_plus_ufm_cables") - declared["extra_endpoints"]["ports"]
        wanted = {names.get(key, key): value for key, value in told.items()}
        wanted |= {"planes": declared.get("planes", 1), "unit": declared["hosts_per_su"]}
        assert any(wanted.items() <= have.items() for have in ours), row["id"]


# Formulas of published fabrics


def test_alibaba_hpn_pod() -> None:
    """SIGCOMM 2024, sections 3 and 5.1: 15 segments of 1,024 GPUs, two planes of 200 Gb/s, uplinks of 400 Gb/s."""
    counts = built(
        make_design(
            "rail-optimised", hosts=15 * 128, rails=8, planes=2, unit_size=128, leaf_ports=188, spine_ports=120,
            rate_gbps=200, uplink_gbps=400, oversubscription=1.067, technology="roce",
        )
    )  # fmt: skip
    assert counts.gpus == 15_360
    assert counts.switches["leaf"] == 15 * 16, "16 ToRs per segment, one for each port of a host"
    assert counts.run_links["leaf_spine"] == counts.switches["leaf"] * 60
    assert round(128 * 200 / (60 * 400), 3) == 1.067
    assert 15_360 // 1024 == 15


def test_frontier_slingshot() -> None:
    """A dragonfly of 74 groups of 32 switches, 16 endpoints each, 4 links per pair of groups, 200 Gb/s."""
    groups, switches, endpoints, pairs, rate = 74, 32, 16, 4, 200
    inject, eject = switches * endpoints * rate / 1000, (groups - 1) * pairs * rate / 1000
    assert switches * (switches - 1) == 992
    assert (inject, eject, round(inject / eject, 3)) == (102.4, 58.4, 1.753)
    assert groups * (groups - 1) // 2 * pairs == 10_804


def test_meta_24k() -> None:
    pods, gpus_per_pod, racks_per_pod, gpus_per_rack = 8, 3072, 192, 16
    counts = planned(make_design("fat-tree", hosts=pods * gpus_per_pod // 8, rails=8, ports=64, unit_size=2))
    assert (counts.gpus, counts.hosts, pods * racks_per_pod) == (24_576, 3072, 1536)
    assert gpus_per_pod == racks_per_pod * gpus_per_rack
    assert counts.switches["leaf"] == 1536, "a rack of two hosts is a unit"


def test_imbue_4088() -> None:
    """511 hosts and one left out, three tiers, over 12,000 connections."""
    design = make_design("rail-optimised", hosts=511, rails=8, ports=64, unit_size=32, tiers=3)
    counts = built(design)
    assert counts.gpus == 4088
    assert counts.links > 12_000


# Errors in published documents: refused, or corrected with the reason


@pytest.mark.parametrize(("units", "claimed"), [(4, 1024), (8, 2048)])
def test_two_tiers_have_no_cables_to_cores(units: int, claimed: int) -> None:
    """H100 table 3 prints spine-core cables where it prints no cores."""
    design = make_design("rail-optimised", hosts=units * 32, rails=8, ports=64, expect={"spine_core": claimed})
    (problem,) = check_expect(design, planned(design))
    assert problem.code == "spec.expect"
    leaves = units * 8
    assert f"says {claimed:,}, but it is 0: {leaves} leaves of one fabric fit on spines of 64 ports" in problem.message


def test_2048_hosts_are_64_units_of_32() -> None:
    """The web copy of H100 table 3 prints 56."""
    design = make_design("rail-optimised", hosts=2048, rails=8, ports=64, expect={"units": 56})
    (problem,) = check_expect(design, planned(design))
    assert "says 56, but it is 64: 2,048 hosts in units of 32" in problem.message


def test_1296_hosts_of_8_gpus_are_10368() -> None:
    """B300 XDR table 3 prints 9,216."""
    design = make_design("rail-optimised", hosts=1296, rails=8, ports=144, expect={"gpus": 9216})
    (problem,) = check_expect(design, planned(design))
    assert "says 9,216, but it is 10,368: 1,296 hosts x 8 GPUs" in problem.message


def test_four_switches_of_64_ports_do_not_join_2048_gpus() -> None:
    """A reseller's case: 4 MQM9790, 64 hosts, 2,048 GPUs."""
    problem = refusal("fat-tree", hosts=64, rails=32, ports=64, unit_size=16)
    assert problem.code == "spec.leaf-ports"
    assert "512 + 512 = 1,024 > 64 ports" in problem.message
    design = make_design("rail-optimised", hosts=64, rails=32, ports=64, expect={"leaf": 4})
    (problem,) = check_expect(design, planned(design))
    assert "4 leaves x 64 ports = 256 ports for 2,048 endpoints" in problem.hint


def test_a_leaf_of_40_ports_does_not_hold_40_and_8() -> None:
    """A reseller's page: a 40-port leaf with 20 hosts of two uplinks and 8 uplinks."""
    problem = refusal("fat-tree", hosts=40, rails=2, ports=40, unit_size=20, oversubscription=5)
    assert problem.code == "spec.leaf-ports"
    assert "40 + 8 = 48 > 40 ports" in problem.message


def test_one_plane_does_not_spread_32_uplinks_over_64_spines() -> None:
    """Read as one plane, B300 Spectrum-X of 8 units has 128 leaves of 32 uplinks and 64 spines."""
    options: dict[str, Any] = {
        "hosts": 16 * 64, "rails": 8, "ports": 128, "unit_size": 64, "oversubscription": 2, "tiers": 2,
    }  # fmt: skip
    problem = refusal("rail-optimised", **options, spine_ports=64)
    assert problem.code == "spec.spine-reach"
    assert "need 64 spines" in problem.message
    assert "reach at most 32" in problem.message
    design = make_design("rail-optimised", **options, expect={"spine": 64})
    (problem,) = check_expect(design, planned(design))
    assert "says 64, but it is 32: the smallest divisor of 32 uplinks" in problem.message
