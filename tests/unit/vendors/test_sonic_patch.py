from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonpatch  # pyright: ignore[reportMissingTypeStubs]
import pytest
from hypothesis import given, settings

from tests import intents
from tests.cli.running import run
from tests.designs import render_design
from tests.unit.vendors.damage import damage
from weftline.formats.json_patch import ORDER, make_patch, write_patch
from weftline.model.intent import DeviceIntent
from weftline.vendors.sonic.writing import make_tables, render

MADE = render_design("roce", hosts=4, rails=2)
CONFIG, PATCH = "switches/leaf-001/config_db.json", "switches/leaf-001/patch.json"
EXAMPLE = Path(__file__).parents[3] / "examples" / "two-tenants-roce.yaml"


def apply(document: Any, operations: Any) -> Any:
    """Apply a patch as a switch does, by a program of others."""
    return jsonpatch.apply_patch(document, operations)  # pyright: ignore[reportUnknownMemberType]


def whole(intent: DeviceIntent) -> dict[str, Any]:
    return {name: rows for name, rows in json.loads(json.dumps(make_tables(intent))).items() if rows}


@given(intents.switches())
@settings(max_examples=30)
def test_the_patch_makes_the_file_out_of_nothing(intent: DeviceIntent) -> None:
    config, patch = render((intent,))
    assert apply({}, json.loads(patch.content)) == json.loads(config.content)


@given(intents.switches(), intents.switches())
@settings(max_examples=30)
def test_the_difference_leads_from_what_runs_to_what_is_wanted(old: DeviceIntent, new: DeviceIntent) -> None:
    running, wanted = whole(old), whole(new)
    operations = make_patch(running, wanted)
    after = apply(running, json.loads(write_patch(operations)))
    for table, rows in wanted.items():
        for key, row in rows.items():
            assert {field: after[table][key][field] for field in row} == row
    assert make_patch(after, wanted) == []
    assert set(running) <= set(after)


@given(intents.switches())
@settings(max_examples=10)
def test_nothing_changes_where_it_runs_already(intent: DeviceIntent) -> None:
    assert write_patch(make_patch(whole(intent), whole(intent))) == b"[]\n"


def test_what_is_referred_to_comes_first() -> None:
    tables = [one["path"].split("/")[1] for one in json.loads(MADE.text(PATCH))]
    assert tables == sorted(tables, key=ORDER.index)
    for first, second in (
        ("DSCP_TO_TC_MAP", "PORT_QOS_MAP"), ("SCHEDULER", "QUEUE"), ("WRED_PROFILE", "QUEUE"),
        ("PORT", "INTERFACE"), ("PORT_QOS_MAP", "PFC_WD"), ("CABLE_LENGTH", "PFC_WD"),
    ):  # fmt: skip
        assert tables.index(first) < tables.index(second)


def test_every_table_that_is_written_has_its_place() -> None:
    roce = render_design("roce", hosts=6, rails=2, ports=16, tenants=(("red", "1-3"), ("blue", "4-6")))
    assert set(json.loads(roce.text(CONFIG))) <= set(ORDER)
    references = (
        ("VRF", "INTERFACE"), ("VRF", "VLAN_INTERFACE"), ("VLAN", "VXLAN_TUNNEL_MAP"),
        ("VXLAN_TUNNEL", "VXLAN_EVPN_NVO"),
        ("BUFFER_POOL", "BUFFER_PROFILE"), ("BUFFER_PROFILE", "BUFFER_PG"), ("BUFFER_PROFILE", "BUFFER_QUEUE"),
        ("ACL_TABLE_TYPE", "ACL_TABLE"), ("ACL_TABLE", "ACL_RULE"), ("PORT_QOS_MAP", "BUFFER_PG"),
    )  # fmt: skip
    assert all(ORDER.index(first) < ORDER.index(second) for first, second in references)
    assert ORDER[-1] == "PFC_WD"


def test_rows_that_contradict_go_before_others_come() -> None:
    wanted = {"PORT": {"Ethernet0": {"mtu": "9216"}}, "BUFFER_PG": {"Ethernet0|3": {"profile": "new"}},
              "BUFFER_PROFILE": {"new": {"xoff": "1"}}, "QUEUE": {"Ethernet0|3": {"scheduler": "s"}}}  # fmt: skip
    running = {
        "PORT": {"Ethernet0": {"mtu": "9100", "lanes": "1"}, "Ethernet4": {"mtu": "1500"}},
        "BUFFER_PG": {"Ethernet0|3-4": {"profile": "old"}, "Ethernet4|3-4": {"profile": "old"}},
        "BUFFER_PROFILE": {"old": {"xoff": "2"}},
        "QUEUE": {"Ethernet0|3": {"scheduler": "s", "wred_profile": "old"}},
        "FEATURE": {"bgp": {"state": "enabled"}},
    }
    operations = make_patch(running, wanted)
    assert [(one["op"], one["path"]) for one in operations] == [
        ("remove", "/BUFFER_PG/Ethernet0|3-4"),
        ("replace", "/PORT/Ethernet0/mtu"),
        ("add", "/BUFFER_PROFILE/new"),
        ("add", "/BUFFER_PG/Ethernet0|3"),
        ("remove", "/QUEUE/Ethernet0|3/wred_profile"),
    ]
    after = apply(running, operations)
    assert after["PORT"]["Ethernet0"] == {"mtu": "9216", "lanes": "1"}
    assert after["BUFFER_PG"] == {"Ethernet0|3": {"profile": "new"}, "Ethernet4|3-4": {"profile": "old"}}
    assert after["FEATURE"] == running["FEATURE"]


def test_a_slash_in_a_key_is_escaped() -> None:
    (one,) = make_patch({"LOOPBACK_INTERFACE": {"x": {}}}, {"LOOPBACK_INTERFACE": {"Loopback0|10.0.0.1/32": {}}})
    assert one["path"] == "/LOOPBACK_INTERFACE/Loopback0|10.0.0.1~132"
    assert apply({"LOOPBACK_INTERFACE": {}}, [one]) == {"LOOPBACK_INTERFACE": {"Loopback0|10.0.0.1/32": {}}}


def test_a_list_is_what_redis_holds_with_commas() -> None:
    wanted = {"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["SRC_IP", "DST_IP"]}}}
    assert make_patch({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": "SRC_IP,DST_IP"}}}, wanted) == []
    assert make_patch({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["DST_IP", "SRC_IP"]}}}, wanted) != []


@pytest.mark.parametrize("content", ["[]", "{}", "x", '[{"op": "add", "path": "/PORT/x", "value": {}}]'])
def test_a_patch_that_does_not_come_to_the_file_is_seen(content: str) -> None:
    (patch,) = [item for item in MADE.artifacts.artifacts if item.path == PATCH]
    broken = replace(MADE, artifacts=replace(MADE.artifacts, artifacts=(patch,)))
    assert [problem.code for problem in damage(broken, PATCH, lambda _: content)] == ["artifact.unexpected"]
    both = [
        problem for vendor in MADE.vendors for config in vendor.observe(MADE.artifacts) for problem in config.problems
    ]
    assert both == []


def test_the_difference_from_what_runs_is_rendered(tmp_path: Path) -> None:
    assert run("render", EXAMPLE, "--out", tmp_path / "one", "--force").status == 0
    first = tmp_path / "one" / "artifacts" / "switches"
    running = tmp_path / "running"
    for folder in first.iterdir():
        (running / folder.name).mkdir(parents=True)
        (running / folder.name / "config_db.json").write_bytes((folder / "config_db.json").read_bytes())
    leaf = running / "leaf-001" / "config_db.json"
    leaf.write_text(leaf.read_text().replace('"26": "3"', '"26": "1"'))
    (running / "leaf-002" / "config_db.json").unlink()
    ran = run("render", EXAMPLE, "--out", tmp_path / "two", "--force", "--against", running)
    assert ran.status == 0
    made = tmp_path / "two" / "artifacts"
    change = json.loads((made / "switches" / "leaf-001" / "patch.json").read_text())
    assert change == [{"op": "replace", "path": "/DSCP_TO_TC_MAP/FABRIC/26", "value": "3"}]
    assert json.loads((made / "switches" / "spine-01" / "patch.json").read_text()) == []
    assert len(json.loads((made / "switches" / "leaf-002" / "patch.json").read_text())) > 10
    assert "nothing said what runs on leaf-002" in (made / "manifest.json").read_text()


@pytest.mark.parametrize("content", [None, "[1]", "{", '{"PORT": {"Ethernet0": {"mtu": 9100}}}'])
def test_what_cannot_be_compared_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "leaf-001.json").write_text(content)
    ran = run("render", EXAMPLE, "--out", tmp_path / "out", "--force", "--against", tmp_path, "--json")
    assert ran.status == 1
    assert ran.document["code"] == "artifact.running-config"
    assert not (tmp_path / "out").exists()
