"""Declarations of fabrics without a tree, resolved as the program resolves them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weftline.compile import build_fabric
from weftline.declare import load_catalog, parse_spec, resolve_spec
from weftline.errors import Problem
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric


def declare(topology: dict[str, Any], *, hosts: int, rails: int = 1, **sections: Any) -> dict[str, Any]:
    """Write a declaration with a topology and so many hosts at 400 Gb/s."""
    extras = sections.pop("extras", [])
    return {
        "fabric": {"name": "test"},
        "technology": sections.pop("technology", "infiniband"),
        "hosts": {"count": hosts, "rails": rails, "gpus": rails, "rate_gbps": 400, "extra_endpoints": extras},
        "topology": topology,
        **sections,
    }


def resolve(content: dict[str, Any]) -> ResolvedSpec | tuple[Problem, ...]:
    """Resolve a declaration given as plain data."""
    found = parse_spec(json.dumps(content).encode(), Path("test.yaml"))
    return found if isinstance(found, tuple) else resolve_spec(found, load_catalog())


def design_of(content: dict[str, Any]) -> ResolvedSpec:
    """Resolve a declaration that must hold together."""
    design = resolve(content)
    assert not isinstance(design, tuple), "\n".join(problem.message for problem in design)
    return design


def fabric_of(design: ResolvedSpec) -> Fabric:
    """Build a design that must be buildable."""
    built = build_fabric(design)
    assert isinstance(built, Fabric), "\n".join(problem.message for problem in built)
    return built
