"""Every SONiC file of the corpus is read, or refused with a problem that says what it is instead."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest

from weftline.formats.config_db_names import READ
from weftline.formats.config_db_read import ConfigDb, read_config_db
from weftline.formats.sonic_show import read_show
from weftline.vendors.sonic.configured import configure, recognise

Expected = tuple[str, tuple[int, ...], dict[str, int]]
"""Form; tables and rows that are read, and ports, groups, queues and pools; problems of each code and severity."""

TABLE = """
== batfish/sonic/projects__batfish__src__test__resources__org__batfish__vendor__sonic__grammar__snapshots__
acl__sonic_configs__device__config_db nested 5 5 1 0 0 0
community_list_reference_tracking__sonic_configs__device__config_db nested 1 1 0 0 0 0
loopback__sonic_configs__device__config_db nested 2 4 1 0 0 0
mgmt-novrf__sonic_configs__device__config_db nested 1 1 0 0 0 0
ntp_server__sonic_configs__device__config_db nested 1 1 0 0 0 0
resolv_conf__sonic_configs__device__config_db nested 1 1 0 0 0 0
tacplus__sonic_configs__device__config_db nested 1 1 0 0 0 0
vlan__sonic_configs__device__config_db nested 4 4 2 0 0 0
== sonic-buildimage/config_db/src__sonic-config-engine__tests__
data__rsyslog__config_db nested 11 76 38 0 0 0
mock_tables__asic0__config_db flat 2 9 8 0 0 0
mock_tables__config_db flat 1 32 32 0 0 0
== sonic-buildimage/qos_buffers/src__sonic-config-engine__tests__sample_output__py3__
buffer-arista7050cx3-dualtor nested 5 151 56 32 256 3
buffer-arista7060-t0 nested 5 119 56 28 196 3
buffer-arista7260-dualtor-remap-disabled nested 5 263 122 64 448 3
buffer-arista7260-t1-remap-disabled nested 5 119 66 28 196 3
buffer-arista7260-t1 nested 5 159 66 28 224 3
buffer-arista7800r3a-36dm2-c36-lc nested 5 419 18 18 0 1
buffer-lt2-p32o64 nested 5 358 96 88 616 2
buffer-nokia-ixr7250e-36x400g nested 5 239 18 18 0 1
buffer-pch-config nested 5 438 18 1 0 1
buffer-urh-nh5010 nested 5 257 66 63 441 1
buffers-mellanox2410-dynamic nested 9 404 56 168 392 4
buffers-mellanox2410 nested 7 352 56 56 392 5
buffers-mellanox4600c-t0-dynamic-remap-disabled nested 9 627 88 264 616 3
buffers-mellanox4600c-t0-dynamic nested 9 639 88 272 704 3
buffers-mellanox4600c-t0-remap-disabled nested 7 542 88 88 616 4
buffers-mellanox4600c-t0 nested 7 550 88 88 704 4
buffers-mellanox4600c-t1-dynamic nested 9 519 64 232 512 3
buffers-mellanox4600c-t1-remap-disabled nested 7 398 64 64 448 4
buffers-mellanox4600c-t1 nested 7 438 64 64 512 4
qos-arista7050-t0-storage-backend nested 8 7 0 0 0 0
qos-arista7260-dualtor-remap-disabled nested 8 520 64 0 448 0
qos-arista7260-dualtor nested 9 590 64 0 512 0
qos-arista7260-t1-remap-disabled nested 8 232 28 0 196 0
qos-arista7800r3-48cq2-lc nested 8 566 45 0 0 0
qos-mellanox4600c-c64 nested 8 261 28 0 224 0
qos-mellanox4600c-d48c40-t0 nested 9 229 24 0 192 0
qos-mellanox4700-o28-t1-smartswitch_dyn nested 8 273 32 96 224 3 dangling:note:58
qos-no-config nested 8 296 0 0 0 0
qos-nokia-ixr7250e-36x100g nested 8 332 18 0 0 0
qos-nokia-ixr7250e-36x400g nested 8 260 18 0 0 0
== sonic-buildimage/yang/src__sonic-yang-models__tests__files__sample_
config_db nested 51 214 51 2 5 5 dangling:warning:3 said-twice:warning:4 unexpected:error:3 unknown-table:warning:1
== sonic-mgmt/configlet/
ansible__vars__configlet__t1-64-lag-clet__clet-add-qos-new-dbfmt configlets 13 24 25 1 7 0 dangling:note:17
ansible__vars__configlet__t1-64-lag-clet__clet-add configlets 13 24 25 1 7 0 dangling:note:17
ansible__vars__configlet__t1-64-lag-clet__clet-to_clear configlets 1 2 0 0 0 0
== sonic-mgmt/pfcwd/
tests__pfcwd__templates__pfc_config_params none 0 0 0 0 0 0 not-config-db:error:1
== sonic-mgmt/qos_params/
tests__qos__files__vs__dutConfig none 0 0 0 0 0 0 not-config-db:error:1
== sonic-utilities/cli_input/
tests__qos_config_input__0__config_qos nested 13 142 32 32 224 3
tests__qos_config_input__0__update_qos nested 5 13 1 1 7 0 dangling:note:17
tests__qos_config_input__1__config_qos nested 13 142 32 32 224 3
tests__qos_config_input__1__update_qos nested 5 13 1 1 7 0 dangling:note:17
tests__qos_config_input__config_qos nested 13 142 32 32 224 3
tests__qos_config_input__update_qos nested 5 13 1 1 7 0 dangling:note:17
== sonic-utilities/config_db/tests__db_migrator_input__config_db__
acs-msn2700-t0-version_1_0_6 flat 9 250 32 92 196 4
acs-msn2700-t1-version_1_0_6 flat 9 277 32 96 224 4
acs-msn2700-t1-version_3_0_3 flat 11 269 32 96 224 4
acs-msn3700-t0-version_1_0_6 flat 9 359 98 92 196 4
acs-msn3700-t0-version_3_0_3 flat 11 353 98 92 196 4
acs-msn3700-t1-version_1_0_6 flat 9 379 98 96 224 4
acs-msn3700-t1-version_3_0_3 flat 11 369 98 96 224 4
acs-msn3800-t0-version_1_0_6 flat 9 377 96 220 196 4
acs-msn3800-t0-version_3_0_3 flat 11 381 96 220 196 4
acs-msn3800-t1-version_1_0_6 flat 9 407 96 224 224 4
acs-msn3800-t1-version_3_0_3 flat 11 397 96 224 224 4
acs-msn4700-t1-version_1_0_6 flat 9 413 98 96 224 4
acs-msn4700-t1-version_3_0_3 flat 11 401 98 96 224 4
mellanox-sn2700-c28d8-single-pool-t1-version_1_0_6 flat 9 276 32 96 224 3
mellanox-sn2700-c28d8-t0-version_1_0_6 flat 9 250 32 92 196 4
mellanox-sn2700-c28d8-t1-version_1_0_6 flat 9 277 32 96 224 4
mellanox-sn2700-d40c8s8-t0-version_3_0_3 flat 9 249 32 92 196 3
mellanox-sn2700-d40c8s8-t1-version_1_0_6 flat 9 276 32 96 224 3
mellanox-sn2700-d48c8-single-pool-t0-version_1_0_6 flat 9 249 32 92 196 3
mellanox-sn2700-d48c8-t0-version_1_0_6 flat 9 250 32 92 196 4
mellanox-sn2700-d48c8-t0-version_3_0_3 flat 9 250 32 92 196 4
mellanox-sn2700-single-pool-t0-version_3_0_3 flat 9 249 32 92 196 3
mellanox-sn2700-single-pool-t1-version_3_0_3 flat 9 276 32 96 224 3
mellanox-sn2700-t1-version_1_0_6 flat 9 277 32 96 224 4
mellanox-sn2700-t1-version_3_0_3 flat 9 277 32 96 224 4
mellanox-sn3800-c64-t1-version_1_0_6 flat 9 318 96 52 224 3
mellanox-sn3800-c64-t1-version_3_0_3 flat 9 318 96 52 224 3
mellanox-sn3800-d112c8-t0-version_1_0_6 flat 9 376 96 220 196 3
mellanox-sn3800-d112c8-t1-version_1_0_6 flat 9 406 96 224 224 3
mellanox-sn3800-d24c52-t0-version_3_0_3 flat 9 284 96 38 196 3
mellanox-sn3800-d24c52-t1-version_1_0_6 flat 9 318 96 52 224 3
mellanox-sn3800-d28c50-t0-version_1_0_6 flat 9 284 96 38 196 3
== sonic-utilities/lldp/
tests__generic_config_updater__files__config_db_with_lldp nested 0 0 0 0 0 0
== sonic-utilities/mock_tables/
tests__mock_tables__appl_db none 0 0 0 0 0 0 not-config-db:error:1
tests__mock_tables__counters_db none 0 0 0 0 0 0
tests__mock_tables__state_db none 0 0 0 0 0 0 not-config-db:error:1 said-twice:warning:2
"""
"""Folder and head of the names; then the rest of each name, form, tables, rows, ports, groups, queues, pools, problems.

Counts of rows are held against a plain parser below; those of ports, groups, queues and pools against rows and keys.
"""


def read_table() -> dict[str, Expected]:
    """Read what must come out of each file."""
    found: dict[str, Expected] = {}
    head = ""
    for line in TABLE.split("\n"):
        words = line.split()
        if line.startswith("=="):
            head = words[1]
        elif words:
            problems = {
                f"artifact.{code}": int(count) for code, _, count in (word.rpartition(":") for word in words[8:])
            }
            found[f"{head}{words[0]}.json"] = (words[1], tuple(int(word) for word in words[2:8]), problems)
    return found


EXPECTED = read_table()


def list_files(corpus: Path) -> dict[str, Path]:
    """Name every JSON file that came from a SONiC switch, its tools or its tests."""
    roce = corpus / "roce"
    folders = [*roce.glob("sonic-*"), roce / "batfish" / "sonic"]
    return {path.relative_to(roce).as_posix(): path for folder in folders for path in sorted(folder.rglob("*.json"))}


def count_rows(data: object) -> Counter[str]:
    """Count rows of the tables that are read, by table, in the plainest way."""
    found: Counter[str] = Counter()
    parts = cast("list[Any]", data if isinstance(data, list) else [data])
    for part in parts:
        if not isinstance(part, dict):
            continue
        for key, value in cast("dict[str, Any]", part).items():
            if key.partition("|")[0] in READ:
                found[key.partition("|")[0]] += 1 if "|" in key else len(value)
            elif key.startswith("SAMPLE_CONFIG_DB"):
                found += count_rows(value)
    return found


@pytest.fixture(scope="module")
def files(corpus: Path) -> dict[str, Path]:
    return list_files(corpus)


def test_no_file_is_forgotten(files: dict[str, Path]) -> None:
    assert set(files) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_file(files: dict[str, Path], name: str) -> None:
    content = files[name].read_bytes()
    db = read_config_db(content, name)
    devices = configure([(name, content)])
    ports = [port for device in devices for port in device.ports]
    counts = (
        len(tables_of(db)),
        db.rows,
        len(ports),
        sum(len(port.groups) for port in ports),
        sum(len(port.queues) for port in ports),
        sum(len(device.pools) for device in devices),
    )
    problems = [problem for device in devices for problem in device.problems]
    found = Counter(f"{problem.code}:{problem.severity}" for problem in problems)
    assert (db.form, counts, dict(found)) == EXPECTED[name]
    assert all(problem.where is not None and problem.where.line is not None for problem in problems)


@pytest.mark.parametrize("name", [name for name, (form, *_) in EXPECTED.items() if form in {"nested", "flat"}])
def test_rows_are_counted_as_a_plain_parser_counts_them(files: dict[str, Path], name: str) -> None:
    data = json.loads(files[name].read_text(encoding="utf-8"))
    assert tables_of(read_config_db(files[name].read_bytes(), name)) == count_rows(data)


def tables_of(db: ConfigDb) -> Counter[str]:
    """Count rows by table."""
    found: Counter[str] = Counter()
    for scope in db.scopes:
        for table, rows in scope.tables.items():
            found[table] += len(rows)
    return found


@pytest.mark.parametrize("name", [name for name in EXPECTED if "db_migrator" in name])
def test_groups_and_queues_are_those_of_the_keys(files: dict[str, Path], name: str) -> None:
    """Count what keys name, as ``BUFFER_PG|Ethernet0|3-4`` names two groups of one port, with a plain expression."""
    content = files[name].read_bytes()
    (device,) = configure([(name, content)])
    for table, found in (
        ("BUFFER_PG", {(port.name, group.key) for port in device.ports for group in port.groups}),
        ("BUFFER_QUEUE", {(port.name, queue.key) for port in device.ports for queue in port.queues}),
    ):
        keys = re.findall(rf'"{table}\|(Ethernet\d+)\|(\d)(?:-(\d))?"', content.decode())
        wanted = {(port, number) for port, low, high in keys for number in range(int(low), int(high or low) + 1)}
        assert found == wanted
    names = set(re.findall(r'"PORT\|(Ethernet\d+)"', content.decode()))
    assert {port.name for port in device.ports} == names
    xoff = {m[0]: int(m[1]) for m in re.findall(r'"BUFFER_PROFILE\|([^"]+)": \{[^}]*"xoff": "(\d+)"', content.decode())}
    for port in device.ports:
        for group in port.groups:
            profile = "" if group.profile is None else group.profile.value
            assert (group.xoff_bytes.value if group.xoff_bytes else None) == xoff.get(profile)


def test_every_row_of_a_file_has_a_line(files: dict[str, Path]) -> None:
    for name, path in files.items():
        db = read_config_db(path.read_bytes(), name)
        lines = path.read_text(encoding="utf-8").split("\n")
        for scope in db.scopes:
            for table, rows in scope.tables.items():
                for key, row in rows.items():
                    for field in [*row][:2]:
                        line = db.place(scope, table, key, field).line
                        assert line is not None
                        assert f'"{field}' in lines[line - 1], (name, table, key, field)


SHOWN = {
    "show_acl_rule": (1, 9, 0, 0),
    "show_acl_table": (0, 0, 0, 1),
    "show_bgp_device_global": (1, 1, 0, 0),
    "show_buffer_information": (0, 0, 12, 0),
    "show_buffer_pool_persistent_watermark": (1, 2, 0, 0),
    "show_dropcounters_counts": (2, 4, 0, 0),
    "show_dropcounters_counts_g_LEGIT": (1, 3, 0, 0),
    "show_ecn": (0, 0, 2, 0),
    "show_interfaces_counters_fec_stats": (1, 3, 0, 0),
    "show_interfaces_counters_rif": (1, 5, 0, 0),
    "show_interfaces_counters_trim": (1, 3, 0, 0),
    "show_interfaces_status": (1, 3, 0, 0),
    "show_interfaces_transceiver_lpmode_Ethernet100": (1, 1, 0, 0),
    "show_interfaces_transceiver_status_Ethernet0": (0, 0, 0, 1),
    "show_ip_bgp_neighbors": (0, 0, 0, 1),
    "show_ipv6_bgp_summary": (0, 0, 0, 1),
    "show_lldp_table": (1, 3, 0, 1),
    "show_pfc_asymmetric": (1, 8, 0, 0),
    "show_vrf": (1, 3, 0, 0),
    "show_vxlan_name_tunnel3": (1, 1, 0, 0),
    "show_vxlan_tunnel": (1, 3, 0, 0),
}
"""Tables, rows, blocks and problems of each output; those without any are no tables with a rule under their head."""


def test_every_output_of_a_switch_is_read(corpus: Path) -> None:
    found: dict[str, tuple[int, int, int, int]] = {}
    for path in sorted((corpus / "roce" / "sonic-utilities" / "show_outputs").iterdir()):
        assert recognise(path.name, path.read_bytes()) == "sonic-show"
        text = read_show(path.read_bytes(), path.name)
        rows = sum(len(table.rows) for table in text.tables)
        found[path.stem] = (len(text.tables), rows, len(text.blocks), len(text.problems))
    assert found == SHOWN


def test_a_dump_of_counters_says_what_the_commands_show(files: dict[str, Path]) -> None:
    """Hold some of the 250 counts of the dump against the texts that sonic-utilities prints of it."""
    name = "sonic-utilities/mock_tables/tests__mock_tables__counters_db.json"
    content = files[name].read_bytes()
    (device,) = configure([(name, content)])
    found = {(item.kind, item.port, item.key): item.value for item in device.evidence}
    assert len(found) == len(device.evidence) == 250
    lines = content.decode().split("\n")
    assert all((item.where.line and str(item.value) in lines[item.where.line - 1]) or item.kind == "storm-drops"
               for item in device.evidence)  # fmt: skip
    for wanted in (
        ("pause-received", "Ethernet0", 0, 1200),
        ("pause-received", "Ethernet8", 7, 807),
        ("pause-sent", "Ethernet4", 3, 413),
        ("pause-received-time", "Ethernet0", 0, 12_000_000),
        ("group-drops", "Ethernet0", 3, 803),
        ("queue-watermark", "Ethernet8", 2, 2040),
        ("storms-detected", "Ethernet8", 4, 3),
        ("storms-restored", "Ethernet8", 4, 2),
        ("storm-drops", "Ethernet0", 3, 600),
        ("headroom-pool-watermark", "ingress_lossless_pool", -1, 863_616),
    ):
        assert found[wanted[:3]] == wanted[3], wanted
