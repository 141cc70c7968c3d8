from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any, cast

import pytest

from tests.designs import render_design
from tests.unit.vendors.damage import damage, replace
from weftline.declare import load_catalog
from weftline.formats.config_db import alias_name, interface_name, read_tables, write_tables
from weftline.formats.lines import Reading
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import PlatformIntent
from weftline.model.spec import LosslessSection
from weftline.technologies.roce.platform import list_lanes
from weftline.vendors import VENDORS
from weftline.vendors.sonic.writing import make_tables

MADE = render_design("roce", hosts=4, rails=2)
PATH = "switches/leaf-001/config_db.json"


def tables(path: str = PATH) -> dict[str, dict[str, dict[str, Any]]]:
    """Parse one rendered file."""
    return json.loads(MADE.text(path))


@pytest.mark.parametrize(
    ("number", "per_cage", "name"),
    [(1, 1, "Ethernet0"), (2, 1, "Ethernet8"), (1, 2, "Ethernet0"), (2, 2, "Ethernet4"), (3, 2, "Ethernet8"),
     (8, 8, "Ethernet7"), (9, 8, "Ethernet8"), (128, 2, "Ethernet508")],
)  # fmt: skip
def test_interfaces_are_named_by_their_first_lane(number: int, per_cage: int, name: str) -> None:
    assert interface_name(number, per_cage) == name


@pytest.mark.parametrize(
    "lossless",
    [LosslessSection(), LosslessSection(priority=4, dscp=24, cnp_priority=7, cnp_dscp=56), LosslessSection(priority=0)],
)
def test_every_table_follows_the_declared_class(lossless: LosslessSection) -> None:
    made = render_design("roce", hosts=4, rails=2, lossless=lossless)
    db = json.loads(made.text(PATH))
    tc = db["DSCP_TO_TC_MAP"]["FABRIC"][str(lossless.dscp)]
    assert tc == str(lossless.priority)
    assert [dscp for dscp, value in db["DSCP_TO_TC_MAP"]["FABRIC"].items() if value == tc] == [str(lossless.dscp)]
    group = db["TC_TO_PRIORITY_GROUP_MAP"]["FABRIC"][tc]
    assert [key for key, value in db["TC_TO_PRIORITY_GROUP_MAP"]["FABRIC"].items() if value == group] == (
        [tc] if lossless.priority else ["0", *[str(i) for i in (2, 3, 4, 5, 7)]]
    ) or lossless.priority == 0
    queue = db["TC_TO_QUEUE_MAP"]["FABRIC"][tc]
    assert db["MAP_PFC_PRIORITY_TO_QUEUE"]["FABRIC"][str(lossless.priority)] == queue
    for name in db["PORT"]:
        row = db["PORT_QOS_MAP"][name]
        assert row["pfc_enable"] == row["pfcwd_sw_enable"] == str(lossless.priority)
        entry = db["QUEUE"][f"{name}|{queue}"]
        assert db["WRED_PROFILE"][entry["wred_profile"]]["ecn"] == "ecn_all"
        assert db["SCHEDULER"][entry["scheduler"]]["type"] == "DWRR"
        notify = db["TC_TO_QUEUE_MAP"]["FABRIC"][db["DSCP_TO_TC_MAP"]["FABRIC"][str(lossless.cnp_dscp)]]
        assert db["SCHEDULER"][db["QUEUE"][f"{name}|{notify}"]["scheduler"]] == {"type": "STRICT"}
        assert name in db["PFC_WD"]


def test_interfaces_carry_host_links_and_bare_uplinks() -> None:
    db = tables()
    routed = {key.partition("|")[0] for key in db["INTERFACE"] if "|" in key}
    bare = {key for key, row in db["INTERFACE"].items() if row.get("ipv6_use_link_local_only") == "enable"}
    assert not routed & bare
    assert {db["PORT"][name]["description"].partition("-")[0] for name in routed} == {"host"}
    assert {db["PORT"][name]["description"].partition("-")[0] for name in bare} == {"spine"}
    assert set(db["LOOPBACK_INTERFACE"]) == {"Loopback0", "Loopback0|10.0.0.1/32"}


def test_what_no_source_says_is_absent() -> None:
    db = tables()
    assert "hwsku" not in db["DEVICE_METADATA"]["localhost"]
    assert not any("lanes" in row for row in db["PORT"].values())
    assert not any(name.startswith("BUFFER") for name in db)
    assert any("headroom" in note for note in MADE.artifacts.notes)


def test_lanes_are_said_where_the_platform_numbers_them_in_order() -> None:
    platform = PlatformIntent("sn5600", 2, "ACS-SN5600", "Spectrum-4")
    leaf = MADE.intent("leaf-001")
    chip = load_catalog().asics["Spectrum-4"]
    tier = replace_fields(MADE.design.leaf, chip=chip, per_cage=2)
    ports = tuple(replace_fields(port, lanes=list_lanes(tier, port.key)) for port in leaf.ports)
    db = make_tables(replace_fields(leaf, platform=platform, ports=ports))
    assert db["DEVICE_METADATA"]["localhost"]["hwsku"] == "ACS-SN5600"
    wanted = ("alias", "index", "lanes", "subport")
    assert [(name, *(row[field] for field in wanted)) for name, row in list(db["PORT"].items())[:3]] == [
        ("Ethernet0", "etp1a", "1", "0,1,2,3", "1"),
        ("Ethernet4", "etp1b", "1", "4,5,6,7", "2"),
        ("Ethernet8", "etp2a", "2", "8,9,10,11", "1"),
    ]


def test_ports_are_called_as_printed_on_the_switch() -> None:
    assert [alias_name(3, per_cage) for per_cage in (1, 2, 4)] == ["etp3", "etp2a", "etp1c"]


@pytest.mark.parametrize(("asic", "takes"), [("Spectrum-4", True), ("Tofino", True), ("Tomahawk 5", False)])
def test_pauses_find_their_group_on_chips_that_ask_for_it(asic: str, takes: bool) -> None:
    db = make_tables(replace_fields(MADE.intent("leaf-001"), platform=PlatformIntent("part", 1, None, asic)))
    rows = [row for name, row in db["PORT_QOS_MAP"].items() if name != "global"]
    assert {row.get("pfc_to_pg_map") for row in rows} == {"FABRIC" if takes else None}
    assert db["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] == ({"FABRIC": {"3": "3"}} if takes else {})


def test_a_pause_of_another_group_is_seen() -> None:
    intent = replace_fields(MADE.intent("leaf-001"), platform=PlatformIntent("part", 1, None, "Spectrum-4"))
    content = write_tables(make_tables(intent)).decode()
    old = '"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {\n        "FABRIC": {\n            "3": "3"'
    assert old in content
    file = Artifact(PATH, content.replace(old, old[:-2] + '4"').encode(), "leaf-001", "sonic")
    (observed,) = VENDORS["sonic"].observe(ArtifactSet("", (file,)))
    assert [problem.code for problem in observed.problems] == ["artifact.unexpected"]


@pytest.mark.parametrize(
    ("change", "code", "path"),
    [
        (replace('"26": "3"', '"64": "3"'), "artifact.out-of-range", "DSCP_TO_TC_MAP.FABRIC.64"),
        (replace('"26": "3"', '"26": "8"'), "artifact.out-of-range", "DSCP_TO_TC_MAP.FABRIC.26"),
        (replace('"26": "3"', '"26": 3'), "artifact.wrong-type", "DSCP_TO_TC_MAP.FABRIC.26"),
        (replace('"26": "3"', '"26": "3", "26": "0"'), "artifact.said-twice", "DSCP_TO_TC_MAP.FABRIC.26"),
        (replace('"26": "3"', '"26": NaN'), "artifact.not-json", ""),
        (replace('"mtu": "9216"', '"mtu": "9217"'), "artifact.out-of-range", "PORT.Ethernet0.mtu"),
        (replace('"speed": "400000"', '"speed": "fast"'), "artifact.out-of-range", "PORT.Ethernet0.speed"),
        (replace('"alias": "etp1"', '"alias": "etp2"'), "artifact.unreadable-line", "PORT.Ethernet8.alias"),
        (replace('"pfc_asym": "off"', '"pfc_asym": "on"'), "artifact.unexpected", "PORT.Ethernet0.pfc_asym"),
        (replace('"pfc_enable": "3"', '"pfc_enable": "3,8"'), "artifact.out-of-range",
         "PORT_QOS_MAP.Ethernet0.pfc_enable"),
        (replace('"dscp_to_tc_map": "FABRIC"', '"dscp_to_tc_map": "AZURE"'), "artifact.dangling",
         "PORT_QOS_MAP.global.dscp_to_tc_map"),
        (replace('"Ethernet0|3": {', '"Ethernet999|3": {'), "artifact.dangling", "QUEUE.Ethernet999|3"),
        (replace('"scheduler": "class.3"', '"scheduler": "none"'), "artifact.dangling", "QUEUE.Ethernet0|3.scheduler"),
        (replace('"wred_profile": "class.3"', '"wred_profile": "x"'), "artifact.dangling",
         "QUEUE.Ethernet0|3.wred_profile"),
        (replace('"ecn": "ecn_all"', '"ecn": "ecn_none"'), "artifact.unexpected", "WRED_PROFILE.class.3.ecn"),
        (replace('"yellow_min_threshold": "1', '"yellow_min_threshold": "2'), "artifact.unexpected",
         "WRED_PROFILE.class.3"),
        (replace('"type": "STRICT"', '"type": "WRR"'), "artifact.out-of-range", "SCHEDULER.class.6.type"),
        (replace('"weight": "50"', '"weight": "0"'), "artifact.out-of-range", "SCHEDULER.class.0.weight"),
        (replace('"detection_time": "200"', '"detection_time": "20"'), "artifact.out-of-range",
         "PFC_WD.Ethernet0.detection_time"),
        (replace('"Ethernet0": "3m"', '"Ethernet0": "3"'), "artifact.out-of-range", "CABLE_LENGTH.AZURE.Ethernet0"),
        (replace('"Ethernet0|10.128.0.0/31"', '"Ethernet0|10.128.0.0/33"'), "artifact.out-of-range",
         "INTERFACE.Ethernet0|10.128.0.0/33"),
        (replace('"bgp_asn": "4200000000"', '"bgp_asn": "4294967296"'), "artifact.out-of-range",
         "DEVICE_METADATA.localhost.bgp_asn"),
        (replace('"3": "3"', '"3": "5"'), "artifact.dangling", "MAP_PFC_PRIORITY_TO_QUEUE: 3"),
    ],
)  # fmt: skip
def test_damage(change: Callable[[str], str], code: str, path: str) -> None:
    found = [(problem.code, problem.where) for problem in damage(MADE, PATH, change)]
    assert (code, path) in [(code, where.path) for code, where in found if where is not None]
    assert all(where is not None and where.file == PATH for _, where in found)


def test_another_priority_that_pauses_is_seen() -> None:
    path = "switches/leaf-001/config_db.json"
    problems = damage(MADE, path, replace('"pfc_enable": "3"', '"pfc_enable": "3,5"'))
    assert [problem.code for problem in problems] == ["artifact.dangling"]


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00" * 100, b"[" * 100_000, b"[]", b'{"PORT": []}', b'{"PORT": {"Ethernet0": 1}}', b"\xff", b"{} {}"],
)
def test_hostile_bytes_end_in_problems(content: bytes) -> None:
    reading = Reading("x.json")
    read_tables(content, reading)
    assert reading.problems


def test_a_huge_file_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weftline.formats.config_db_read.MAX_BYTES", 10)
    reading = Reading("x.json")
    assert read_tables(b'{"PORT": {}}', reading) == {}
    assert [problem.code for problem in reading.problems] == ["artifact.not-json"]


def real_tables(corpus: Path) -> dict[str, list[dict[str, Any]]]:
    """Collect the rows of real files, nested and flat, by table."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((corpus / "roce").rglob("*.json")):
        try:
            data: object = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue
        parts = list(cast("list[Any]", data if isinstance(data, list) else [data]))
        parts += [part["SAMPLE_CONFIG_DB_JSON"] for part in parts if "SAMPLE_CONFIG_DB_JSON" in part]
        pairs = [pair for part in parts if isinstance(part, dict) for pair in cast("dict[str, Any]", part).items()]
        for key, value in pairs:
            if not isinstance(value, dict):
                continue
            table, _, row = key.partition("|")
            held = cast("dict[str, Any]", value)
            rows: dict[str, Any] = {row: held} if row else held
            items = [cast("dict[str, Any]", item) for item in rows.values() if isinstance(item, dict)]
            found.setdefault(table, []).extend(items)
    return found


def test_tables_and_fields_are_named_as_real_files_name_them(corpus: Path) -> None:
    real = real_tables(corpus)
    ours = tables()
    unknown: list[str] = []
    for table, rows in ours.items():
        fields = {field for row in real.get(table, ()) for field in row}
        if table not in real:
            unknown.append(table)
        unknown += [
            f"{table}.{field}"
            for key, row in rows.items()
            for field in row
            if field not in fields and not re.fullmatch(r"Ethernet\d+|\d+", field) and key != "GLOBAL"
        ]
    assert unknown == []


def test_values_are_of_the_kind_that_real_files_have(corpus: Path) -> None:
    real = real_tables(corpus)
    values = [value for rows in tables().values() for row in rows.values() for value in row.values()]
    assert all(isinstance(value, str) or all(isinstance(item, str) for item in value) for value in values)
    for table, field, pattern in (
        ("PORT", "speed", r"\d+"),
        ("PORT", "mtu", r"\d+"),
        ("PORT", "lanes", r"\d+(,\d+)*"),
        ("PORT_QOS_MAP", "pfc_enable", r"\d(,\d)*|"),
        ("WRED_PROFILE", "green_max_threshold", r"\s*\d+"),
        ("SCHEDULER", "weight", r"\d+"),
    ):
        values = [row[field] for row in real[table] if field in row]
        assert values
        assert all(re.fullmatch(pattern, value) for value in values if isinstance(value, str)), (table, field)
    for row in tables()["PORT"].values():
        assert re.fullmatch(r"\d+", row["speed"])
        assert row["admin_status"] in {"up", "down"}
        assert row["fec"] in {item["fec"] for item in real["PORT"] if "fec" in item}


def test_real_files_are_read_without_an_exception(corpus: Path) -> None:
    for path in sorted((corpus / "roce" / "sonic-buildimage" / "qos_buffers").glob("*.json")):
        file = Artifact(path.name, path.read_bytes(), "switch", "sonic")
        assert len(VENDORS["sonic"].observe(ArtifactSet("", (file,)))) == 1
