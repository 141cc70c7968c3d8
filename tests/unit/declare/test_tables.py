"""Every published table can be declared, and resolves to the parts that it counts with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NO_CORPUS, ROOT
from weftline.declare import Declaration, load_catalog, parse_spec, resolve_spec
from weftline.model.design import ResolvedSpec

GOLDEN = ROOT.parent / "shared" / "facts" / "golden.json"
CATALOG = load_catalog()


def tables() -> list[Any]:
    if not GOLDEN.is_file():
        return [pytest.param({}, id="absent", marks=pytest.mark.skip(reason=NO_CORPUS))]
    return [pytest.param(row, id=row["id"]) for row in json.loads(GOLDEN.read_text(encoding="utf-8"))["tables"]]


def write(row: dict[str, Any]) -> str:
    """Write a table's row as a declaration."""
    declared: dict[str, Any] = row["declare"]
    planes = declared.get("planes", 1)
    is_ethernet = "GbE" in declared.get("link", "")
    hosts = declared["su"] * declared["hosts_per_su"] - declared.get("hosts_removed_for_ufm", 0)
    rate = 800 if declared.get("speed") == "XDR800" else 400
    lines = [
        "fabric: {name: table}",
        f"technology: {'roce' if is_ethernet else 'infiniband'}",
        "hosts:",
        f"  count: {hosts}",
        f"  rails: {declared['rails']}",
        f"  rate_gbps: {rate}",
        f"  unit_size: {declared['hosts_per_su']}",
    ]
    if "extra_endpoints" in declared:
        extra = declared["extra_endpoints"]
        lines += ["  extra_endpoints:", f"    - {{name: {extra['name']}, ports: {extra['ports']}}}"]
    lines += ["topology:", "  kind: rail-optimised", f"  planes: {planes}", "  oversubscription: 1.0"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("row", tables())
def test_resolves_as_the_table_counts(row: dict[str, Any]) -> None:
    found = parse_spec(write(row).encode(), Path("table.yaml"))
    assert isinstance(found, Declaration), found
    design = resolve_spec(found, CATALOG)
    assert isinstance(design, ResolvedSpec), design
    declared, expect = row["declare"], row["expect"]
    assert design.leaf.ports == declared.get("leaf_ports", declared.get("leaf_ports_400g"))
    assert design.spec.hosts.count == expect["hosts"]
    assert design.spec.hosts.count * design.gpus == expect["gpus"]
    assert design.unit_size == declared["hosts_per_su"]
    assert design.host_leaf.links == design.leaf_spine.links == declared.get("planes", 1)


ERRATA = (
    ("spine-core cables without cores", "count: 128, unit_size: 32", "", "spine_core: 1024"),
    ("56 units for 2,048 hosts", "count: 2048, unit_size: 32", "", "units: 56"),
    ("9,216 GPUs of 1,296 hosts", "count: 1296, unit_size: 72, rate_gbps: 800", "", "gpus: 9216"),
    ("four switches for 2,048 GPUs", "count: 256, unit_size: 32", "", "leaf: 4"),
    ("48 ports on a 40-port leaf", "count: 20, rails: 2, unit_size: 20, rate_gbps: 200",
     "kind: fat-tree, leaf: QM8700, oversubscription: 5", "leaf: 1"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "hosts", "topology", "expect"), ERRATA)
def test_what_sources_got_wrong_can_be_declared(name: str, hosts: str, topology: str, expect: str) -> None:
    """Compiling refuses them with the arithmetic; a declaration must be able to say them."""
    text = "fabric: {name: t}\ntechnology: infiniband\n"
    text += f"hosts: {{{hosts}}}\ntopology: {{{topology}}}\nexpect: {{{expect}}}\n"
    found = parse_spec(text.encode(), Path("table.yaml"))
    assert isinstance(found, Declaration), (name, found)
    assert isinstance(resolve_spec(found, CATALOG), ResolvedSpec)
