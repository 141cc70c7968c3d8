"""Small dumps of our own lab, adopted: one folder per case, with what must come out beside what goes in.

``UPDATE_EXPECTED=1`` writes the expected files anew; say in the commit why they moved.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from weftline.adopt import build_fabric, compare, read_discovery, read_tables
from weftline.errors import Problem
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption, Tables
from weftline.model.discovery import Discovery
from weftline.model.fabric import TIER_NAMES

CASES = Path(__file__).parent / "cases"
DUMPS = sorted(
    path.relative_to(CASES) for path in CASES.glob("adopt-*/input/*.txt") if path.stem in {"ibnetdiscover", "portlist"}
)
LAB = CASES / "adopt-lab" / "input"
WHOLE = ("dump_fts.txt", "dump_fts-n.txt", "opensm-lfts.dump", "opensm.fdbs")


def adopt(path: Path) -> Adoption | tuple[Problem, ...]:
    found = read_discovery(path.read_bytes(), path.name)
    return build_fabric(found) if isinstance(found, Discovery) else found


def show_problems(problems: tuple[Problem, ...]) -> list[str]:
    return [f"{item.where}: {item.severity} {item.code}: {item.message}" for item in problems]


def show(found: Adoption | tuple[Problem, ...]) -> str:
    """Write an adoption as a person reads it."""
    if isinstance(found, tuple):
        return json.dumps({"refused": show_problems(found)}, indent=1) + "\n"
    fabric, addresses = found.fabric, found.addresses
    view = {
        "shape": found.shape,
        "reason": found.shape_reason,
        "nodes": [
            f"{name}: {TIER_NAMES[tier]}, GUID {guid:#018x}" + (f", LID {lid}" if lid != NIL else "")
            for name, tier, guid, lid in zip(
                fabric.node_name,
                fabric.node_tier,
                addresses.node_id.tolist(),
                addresses.node_address.tolist(),
                strict=True,
            )
        ],
        "endpoints": [
            f"{fabric.port_name(int(at))}: {found.port_adapter[at]}, LID {addresses.port_address[at]}"
            for at in fabric.endpoint_port
        ],
        "links": [
            f"{fabric.link_name(int(at))} {fabric.port_rate_gbps[at]:g} Gb/s"
            for at in np.flatnonzero(fabric.port_peer > np.arange(fabric.port_count))
        ],
        "problems": show_problems(found.problems),
    }
    return json.dumps(view, indent=1) + "\n"


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_adopts_as_expected(dump: Path) -> None:
    got = show(adopt(CASES / dump))
    expected = CASES / dump.parts[0] / "expected" / f"{dump.stem}.json"
    if os.environ.get("UPDATE_EXPECTED"):
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(got, encoding="utf-8")
    assert got == expected.read_text(encoding="utf-8")


def lab() -> Adoption:
    found = adopt(LAB / "ibnetdiscover.txt")
    assert isinstance(found, Adoption)
    return found


def tables(name: str) -> Tables:
    found = read_tables((LAB / name).read_bytes(), name, lab().fabric, lab().addresses)
    assert isinstance(found, Tables)
    return found


def test_both_forms_of_one_subnet_are_one_fabric() -> None:
    other = adopt(LAB / "portlist.txt")
    assert isinstance(other, Adoption)
    assert compare(lab().fabric, other.fabric) == ()
    assert lab().fabric.node_name == other.fabric.node_name
    assert np.array_equal(lab().addresses.port_id, other.addresses.port_id)


@pytest.mark.parametrize("name", WHOLE)
def test_every_form_of_the_tables_says_the_same(name: str) -> None:
    found = tables(name)
    assert not found.problems
    assert found.routes.digest == tables("dump_fts.txt").routes.digest
    assert found.routes.entries == 46


def test_one_switch_alone_is_one_row() -> None:
    found = tables("ibroute-leaf-001.txt")
    assert [item.code for item in found.problems] == ["artifact.table-missing"] * 3
    assert np.array_equal(found.routes.group[0], tables("dump_fts.txt").routes.group[0])
