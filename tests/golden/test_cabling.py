"""Cabling lists of small fabrics, as a technician would get them; each must build the same fabric again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fabrics import make_design
from weftline.compile import build_fabric, write_cabling
from weftline.model.fabric import Fabric

CASES = sorted((Path(__file__).parent / "cases").glob("cabling-*"))


def read_options(case: Path) -> dict[str, Any]:
    options: dict[str, Any] = json.loads((case / "design.json").read_text(encoding="utf-8"))
    if isinstance(options.get("cable_links"), list):
        options["cable_links"] = tuple(options["cable_links"])
    return options


def test_there_are_cases() -> None:
    assert len(CASES) >= 4


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_design_has_this_cabling(case: Path) -> None:
    options = read_options(case)
    fabric = build_fabric(make_design(**options))
    assert isinstance(fabric, Fabric), fabric
    expected = (case / "cabling.csv").read_text(encoding="utf-8")
    assert write_cabling(fabric) == expected
    options["kind"] = "cabling"
    again = build_fabric(make_design(**options), expected)
    assert isinstance(again, Fabric), again
    assert again.node_name == fabric.node_name
    assert np.array_equal(again.port_peer, fabric.port_peer)
