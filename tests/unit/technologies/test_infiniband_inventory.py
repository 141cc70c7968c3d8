from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.fabrics import make_design
from weftline.compile import build_fabric
from weftline.errors import Place, SpecError
from weftline.model.fabric import Fabric
from weftline.model.inventory import InventoryRow
from weftline.route import compute_routes
from weftline.technologies import TECHNOLOGIES

DESIGN = TECHNOLOGIES["infiniband"].design
SPEC = make_design("fat-tree", hosts=7, extras=(("ufm", 1, "auto"),))
BUILT = build_fabric(SPEC)
assert isinstance(BUILT, Fabric)
FABRIC: Fabric = BUILT


def rows() -> list[InventoryRow]:
    """Give every port and every switch a GUID."""
    names = [FABRIC.port_name(int(port)) for port in FABRIC.endpoint_port if FABRIC.port_peer[port] >= 0]
    found = [
        InventoryRow(name, 0x0002C90300A00000 + 16 * index, 0x0002C90300A00001 + 16 * index, Place("i.csv", index + 2))
        for index, name in enumerate(names)
    ]
    for index, node in enumerate(FABRIC.switch_node):
        guid = 0x0002C90300100000 + 16 * index
        found.append(InventoryRow(FABRIC.node_name[int(node)], guid, guid, Place("i.csv", len(found) + 2)))
    return found


def refuse(found: list[InventoryRow]) -> list[str]:
    """Return the codes of a refusal."""
    with pytest.raises(SpecError) as caught:
        DESIGN.assign(replace(SPEC, inventory=tuple(found)), FABRIC)
    return [problem.code for problem in caught.value.problems]


def test_real_guids_take_the_place_of_placeholders() -> None:
    design = replace(SPEC, inventory=tuple(rows()))
    addresses = DESIGN.assign(design, FABRIC)
    routes = compute_routes(FABRIC, "fat-tree", to_switches=True)
    manager = DESIGN.intents(design, FABRIC, addresses, routes)[0]
    assert manager.keys is not None
    assert {key.name: int(key.key, 16) for key in manager.keys.endpoints} == {row.name: row.port_id for row in rows()}
    assert not any("placeholders" in note for note in manager.notes)
    before = DESIGN.intents(SPEC, FABRIC, DESIGN.assign(SPEC, FABRIC), routes)[0]
    assert any("placeholders" in note for note in before.notes)


def test_an_inventory_of_another_fabric() -> None:
    found = rows()
    assert refuse([*found, replace(found[0], name="host-9999/nic1", port_id=5)]) == ["spec.inventory-name"]
    assert refuse(found[1:]) == ["spec.inventory-name"]
    assert refuse([]) == ["spec.inventory-name"]
    assert refuse([*found[:-1], replace(found[-1], port_id=7)]) == ["spec.inventory-guid"]


def test_an_inventory_by_the_command(tmp_path: Path) -> None:
    place = tmp_path / "fabric.yaml"
    place.write_text(
        "fabric: {name: bound}\ntechnology: infiniband\nhosts: {count: 2, gpus: 1, rails: 1}\n"
        "topology: {kind: fat-tree}\ninventory: guids.csv\n",
        encoding="utf-8",
    )
    lines = ["name,node_guid,port_guid", "host-0001/nic1,0x0002c90300a00000,0x0002c90300a00001"]
    ran = run("render", place, "--json")
    assert (ran.status, ran.document["code"]) == (1, "artifact.no-place")
    (tmp_path / "guids.csv").write_text("\n".join(lines), encoding="utf-8")
    ran = run("render", place, "--json")
    assert (ran.status, ran.document["code"]) == (1, "spec.inventory-name")
    assert "host-0002/nic1" in ran.document["message"]
    lines += ["host-0002/nic1,0x0002c90300b00000,0x0002c90300a00001", "leaf-001,0x0002c90300100000,"]
    (tmp_path / "guids.csv").write_text("\n".join(lines), encoding="utf-8")
    ran = run("render", place, "--json")
    assert (ran.status, ran.document["code"], ran.document["where"]["line"]) == (1, "spec.inventory-guid", 3)
    lines[2] = "host-0002/nic1,0x0002c90300b00000,0x0002c90300b00001"
    (tmp_path / "guids.csv").write_text("\n".join(lines), encoding="utf-8")
    ran = run("render", place, "--json", "--out", tmp_path / "out")
    assert ran.status == 0, ran.out
    text = (tmp_path / "out" / "artifacts" / "opensm" / "subnet-1" / "guid2lid").read_text(encoding="utf-8")
    assert "0x0002c90300b00001" in text
