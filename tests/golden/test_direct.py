"""Cabling lists of small fabrics without a tree, as a technician would get them; each must build the same links again.

``UPDATE_EXPECTED=1`` writes the expected files anew; say in the commit why they moved.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weftline.compile import build_fabric, read_cabling, write_cabling
from weftline.compile.cabling import CablingList
from weftline.declare import load_catalog, read_spec, resolve_spec
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric

CASES = sorted((Path(__file__).parent / "cases").glob("direct-*"))


def test_there_are_cases() -> None:
    assert len(CASES) == 3


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_declaration_has_this_cabling(case: Path) -> None:
    declaration = read_spec(case / "input.yaml")
    assert not isinstance(declaration, tuple), declaration
    design = resolve_spec(declaration, load_catalog())
    assert not isinstance(design, tuple), design
    fabric = build_fabric(design)
    assert isinstance(fabric, Fabric), fabric
    expected = case / "cabling.csv"
    if os.environ.get("UPDATE_EXPECTED"):
        expected.write_text(write_cabling(fabric), encoding="utf-8")
    text = expected.read_text(encoding="utf-8")
    assert write_cabling(fabric) == text
    listed = read_cabling(text, "cabling.csv")
    assert isinstance(listed, CablingList)
    links = {frozenset((f"{row.a_device}/{row.a_port}", f"{row.b_device}/{row.b_port}")) for row in listed.rows}
    ports = [port for port, peer in enumerate(fabric.port_peer.tolist()) if peer != NIL]
    assert links == {frozenset((fabric.port_name(p), fabric.port_name(int(fabric.port_peer[p])))) for p in ports}
