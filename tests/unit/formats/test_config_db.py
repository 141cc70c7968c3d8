from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.errors import Place
from weftline.formats import config_db_keys, config_db_read
from weftline.formats.config_db import write_tables
from weftline.formats.config_db_keys import QueueKey, Reference
from weftline.formats.config_db_read import ConfigDb, read_config_db

NESTED: dict[str, Any] = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf-001", "buffer_model": "traditional"}},
    "PORT": {"Ethernet0": {"alias": "etp1", "speed": "400000"}, "Ethernet4": {"alias": "etp2", "speed": "400000"}},
    "ACL_TABLE": {"edge": {"type": "L3", "ports": ["Ethernet0", "Ethernet4"]}},
    "BUFFER_PG": {"Ethernet0,Ethernet4|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless]"}},
    "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}},
    "FEATURE": {"bgp": {"state": "enabled"}, "lldp": {"state": "enabled"}},
}


def flatten(tables: dict[str, Any]) -> dict[str, Any]:
    """Write a configuration as redis holds it."""
    flat: dict[str, Any] = {"CONFIG_DB_INITIALIZED": "1"}
    for table, rows in tables.items():
        for key, row in rows.items():
            fields = {
                name if isinstance(value, str) else f"{name}@": value if isinstance(value, str) else ",".join(value)
                for name, value in row.items()
            }
            flat[f"{table}|{key}"] = fields or {"NULL": "NULL"}
    return flat


def read(data: object, indent: int | None = 1) -> ConfigDb:
    return read_config_db(json.dumps(data, indent=indent).encode(), "leaf-001/config_db.json")


def said(db: ConfigDb) -> list[tuple[str, str, int | None, str]]:
    """List problems as (code, severity, line, path)."""
    return [(p.code, p.severity, p.where.line, p.where.path) for p in db.problems if p.where is not None]


def test_nested_and_flat_say_the_same() -> None:
    nested, flat = read(NESTED), read(flatten(NESTED))
    dumped = read(
        {key: {"type": "hash", "value": row, "ttl": -1} for key, row in flatten(NESTED).items() if "|" in key}
    )
    assert (nested.form, flat.form, dumped.form) == ("nested", "flat", "flat")
    assert nested.problems == flat.problems == dumped.problems == ()
    assert nested.scopes == flat.scopes == dumped.scopes
    assert nested.scopes[0].rows("ACL_TABLE")["edge"]["ports"] == ("Ethernet0", "Ethernet4")
    assert nested.scopes[0].rows("PORTCHANNEL_MEMBER") == {"PortChannel1|Ethernet0": {}}
    assert nested.scopes[0].skipped == {"FEATURE": 2}
    assert nested.rows == 6


def test_a_place_is_a_path_and_a_line_in_either_form() -> None:
    for db in (read(NESTED), read(flatten(NESTED))):
        place = db.place(db.scopes[0], "PORT", "Ethernet4", "speed")
        assert place.path == "PORT.Ethernet4.speed"
        text = json.dumps(NESTED if db.form == "nested" else flatten(NESTED), indent=1).splitlines()
        assert place.line is not None
        assert '"speed"' in text[place.line - 1]
        assert "Ethernet4" in "".join(text[place.line - 4 : place.line - 1])
        absent = db.place(db.scopes[0], "PORT", "Ethernet4", "mtu")
        assert "Ethernet4" in text[(absent.line or 0) - 1]
        assert db.place(db.scopes[0], "PFC_WD", "Ethernet0").line is None


def test_a_half_flat_file_is_read_and_named() -> None:
    db = read({"PORT": NESTED["PORT"], "PORT|Ethernet8": {"speed": "100000"}})
    assert db.form == "half-flat"
    assert set(db.scopes[0].rows("PORT")) == {"Ethernet0", "Ethernet4", "Ethernet8"}
    assert said(db) == [("artifact.half-flat", "warning", 12, "PORT.Ethernet8")]


def test_chips_of_one_switch_are_scopes() -> None:
    db = read({"localhost": {"DEVICE_METADATA": NESTED["DEVICE_METADATA"]}, "asic0": flatten(NESTED)})
    assert [scope.name for scope in db.scopes] == ["localhost", "asic0"]
    assert db.place(db.scopes[1], "PORT", "Ethernet0", "alias").path == "asic0.PORT.Ethernet0.alias"
    assert db.place(db.scopes[1], "PORT", "Ethernet0", "alias").line is not None


def test_partial_configurations_are_read_in_their_order() -> None:
    db = read([{"PORT": {"Ethernet0": {"speed": "100000", "mtu": "9100"}}}, {"PORT": {"Ethernet0": {"mtu": "9216"}}}])
    assert db.form == "configlets"
    assert db.scopes[0].rows("PORT") == {"Ethernet0": {"speed": "100000", "mtu": "9216"}}
    assert db.problems == ()


def test_the_last_of_two_equal_keys_counts_as_in_sonic() -> None:
    text = b'{"PORT": {"Ethernet0": {"mtu": "9100",\n"mtu": "1500"}}}'
    db = read_config_db(text, "x.json")
    assert db.scopes[0].rows("PORT")["Ethernet0"]["mtu"] == "1500"
    assert said(db) == [("artifact.said-twice", "warning", 2, "PORT.Ethernet0.mtu")]


@pytest.mark.parametrize(
    ("data", "code", "severity", "path", "words"),
    [
        ({"DSCP_TO_TC_MAPP": {"A": {}}}, "artifact.unknown-table", "warning", "DSCP_TO_TC_MAPP", "1 row"),
        ({"PORT": {"Ethernet0": {"sped": "1"}}}, "artifact.unknown-field", "warning", "PORT.Ethernet0.sped", "sped"),
        ({"PORT": {"Ethernet0": {"mtu": 9100}}}, "artifact.wrong-type", "warning", "PORT.Ethernet0.mtu", "9100"),
        ({"PORT": {"Ethernet0": {"mtu": 1e3}}}, "artifact.wrong-type", "warning", "PORT.Ethernet0.mtu", "1000.0"),
        ({"PORT": {"Ethernet0": {"mtu": True}}}, "artifact.wrong-type", "warning", "PORT.Ethernet0.mtu", "true"),
        ({"PORT": {"Ethernet0": {"mtu": None}}}, "artifact.wrong-type", "error", "PORT.Ethernet0.mtu", "null"),
        ({"PORT": {"Ethernet0": {"mtu": {}}}}, "artifact.wrong-type", "error", "PORT.Ethernet0.mtu", "an object"),
        ({"ACL_TABLE": {"a": {"ports": ["x", 1]}}}, "artifact.wrong-type", "warning", "ACL_TABLE.a.ports", "list"),
        ({"PORT": {"Ethernet0": []}}, "artifact.wrong-type", "error", "PORT.Ethernet0", "a list"),
        ({"PORT": "x"}, "artifact.wrong-type", "error", "PORT", "'x'"),
        ({"DEVICE_METADATA": {}, "PORT": {"Ethernet0": "x"}}, "artifact.wrong-type", "error", "PORT.Ethernet0", "'x'"),
        ({"ACL_TABLE": {"a": {"ports": ["x"], "ports@": "x"}}}, "artifact.said-twice", "warning", "ACL_TABLE.a.ports@",
         "text and as list"),
    ],
)  # fmt: skip
def test_what_is_odd_is_kept_and_named(data: dict[str, Any], code: str, severity: str, path: str, words: str) -> None:
    db = read({"DEVICE_METADATA": {"localhost": {}}, **data})
    (problem,) = db.problems
    assert said(db) == [(code, severity, problem.where.line if problem.where else None, path)]
    assert problem.where is not None
    assert problem.where.line is not None
    assert words in problem.message
    assert db.scopes


def test_a_near_name_is_proposed() -> None:
    db = read({"PORT": {"Ethernet0": {"pfc_asim": "on"}}, "WRED_PROFILES": {}})
    assert [problem.hint for problem in db.problems] == ["did you mean pfc_asym?", "did you mean WRED_PROFILE?"]


def test_a_number_without_quotes_keeps_its_digits() -> None:
    db = read({"PORT": {"Ethernet0": {"mtu": 9100, "speed": 10**30}}})
    assert db.scopes[0].rows("PORT")["Ethernet0"] == {"mtu": "9100", "speed": str(10**30)}


def test_a_password_is_not_kept() -> None:
    db = read(
        {"BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65001", "auth_password": "hunter2"}}, "SNMP_COMMUNITY": {"s3": {}}}
    )
    assert "hunter2" not in repr(db.scopes)
    assert "s3" not in repr(db.scopes)
    assert db.scopes[0].rows("BGP_NEIGHBOR")["10.0.0.1"]["auth_password"] == "set"  # noqa: S105


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{}", "holds no table"),
        (b"[]", "holds no table"),
        (b'"PORT"', "holds no table"),
        (b'{"hosts": {"a": 1}}', "'hosts'"),
        (b'{"COUNTERS:oid:0x1": {"a": "1"}, "RATES:x": {}}', "COUNTERS_DB"),
        (b'{"PORT_TABLE:Ethernet0": {"mtu": "1"}}', "APPL_DB"),
        (b'{"TRANSCEIVER_INFO|Ethernet0": {}}', "STATE_DB"),
        (b'[{"op": "add", "path": "/PORT/Ethernet0", "value": {}}]', "JSON patch"),
    ],
)
def test_other_documents_are_named(content: bytes, words: str) -> None:
    db = read_config_db(content, "x.json")
    assert [problem.code for problem in db.problems] == ["artifact.not-config-db"]
    assert words in db.problems[0].message
    assert db.scopes == ()
    assert db.form == "none"


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"", 1, "no JSON"),
        (b"hostname leaf-001\n!\ninterface Ethernet1\n", 1, "no JSON"),
        (b'{"PORT": {\n"Ethernet0": {"mtu": "91', 2, "ends in the middle"),
        (b'{"PORT": {\n"Ethernet0": {"mtu": "9100"}\n', 3, "ends in the middle"),
        (b'{"PORT": {}},\n{"VLAN": {}}', 1, "no JSON"),
        (b"{'PORT': {}}", 1, "no JSON"),
        (b'{"PORT": {"Ethernet0": {"mtu": "9100",}}}', 1, "no JSON"),
        (b'{"PORT":\n{"\xff": {}}}', 2, "0xff"),
        (b"\x1f\x8b\x08\x00", 1, "0x8b"),
        (b"\x00" * 100, 1, "no JSON"),
        (b'{"PORT": {"Ethernet0": {"mtu": NaN}}}', None, "NaN"),
        (b"[" * 100_000, None, "no JSON"),
        (b'{"a":' * 100_000, None, "no JSON"),
        (b'{"PORT": {"Ethernet0": {"mtu": ' + b"9" * 100_000, 1, "ends in the middle"),
    ],
)
def test_bytes_that_are_no_json_end_in_one_problem(content: bytes, line: int | None, words: str) -> None:
    db = read_config_db(content, "x.json")
    assert [problem.code for problem in db.problems] == ["artifact.not-json"]
    (problem,) = db.problems
    assert problem.where is not None
    assert problem.where.line == line
    assert words in problem.message


def test_a_huge_file_is_not_parsed() -> None:
    db = read_config_db(b'{"PORT": {' + b" " * config_db_read.MAX_BYTES, "x.json")
    assert [problem.code for problem in db.problems] == ["artifact.not-json"]
    assert "16,777,216" in db.problems[0].message


def test_more_rows_than_any_switch_has_are_not_read() -> None:
    rows: dict[str, dict[str, str]] = {f"E{i}": {} for i in range(config_db_read.MAX_ROWS + 1)}
    db = read({"PORT": rows, "VLAN": {"Vlan1": dict[str, str]()}})
    assert [(p.code, p.severity) for p in db.problems] == [("artifact.dump-too-large", "error")]
    assert set(db.scopes[0].rows("VLAN")) == {"Vlan1"}


def test_many_problems_of_one_kind_are_counted() -> None:
    db = read({"PORT": {f"Ethernet{i}": {"mtu": i} for i in range(5000)}})
    assert len(db.problems) == 101
    assert "4900 more" in db.problems[-1].message or "4,900 more" in db.problems[-1].message


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x", (Reference("", "x"),)),
        ("", ()),
        ("[BUFFER_PROFILE|x]", (Reference("BUFFER_PROFILE", "x"),)),
        ("[BUFFER_POOL:x]", (Reference("BUFFER_POOL", "x"),)),
        ("[BUFFER_PROFILE|a],[BUFFER_PROFILE|b]", (Reference("BUFFER_PROFILE", "a"), Reference("BUFFER_PROFILE", "b"))),
        ("a,b", (Reference("", "a"), Reference("", "b"))),
        ("[BUFFER_PROFILE|]", (Reference("BUFFER_PROFILE", ""),)),
        ("[BUFFER_PROFILE|a", (Reference("", "[BUFFER_PROFILE|a"),)),
    ],
)
def test_references(text: str, found: tuple[Reference, ...]) -> None:
    assert config_db_keys.read_references(text) == found


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("Ethernet0|3", QueueKey(("Ethernet0",), 3, 3)),
        ("Ethernet0,Ethernet4|3-4", QueueKey(("Ethernet0", "Ethernet4"), 3, 4)),
        ("card-1|asic0|Ethernet0|0-2", QueueKey(("Ethernet0",), 0, 2, "card-1", "asic0")),
        ("Ethernet0", None),
        ("Ethernet0|", None),
        ("Ethernet0|4-3", None),
        ("Ethernet0|3-4-5", None),
        ("Ethernet0|999", None),
        ("Ethernet0,|3", None),
        ("a|Ethernet0|3", None),
        ("Ethernet0|\u0663", None),
    ],
)
def test_keys_of_queues(key: str, found: QueueKey | None) -> None:
    assert config_db_keys.read_queue_key(key) == found
    if found is not None:
        assert list(found.numbers) == list(range(found.first, found.last + 1))


def test_numbers_and_lengths() -> None:
    assert config_db_keys.read_number(" 166912") == 166912
    assert config_db_keys.read_number("-3") == -3
    assert [config_db_keys.read_number(text) for text in ("", "1.5", "0x10", "9" * 30, "\u0663", "1 2")] == [None] * 6
    assert config_db_keys.read_numbers("3, 4") == (3, 4)
    assert config_db_keys.read_numbers("") == ()
    assert config_db_keys.read_numbers("3,") is None
    assert config_db_keys.read_length("40m") == 40
    assert [config_db_keys.read_length(text) for text in ("40", "m", "-1m", "40 m", "4e1m")] == [None] * 5


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["PORT", "PORT|Ethernet0", "QUEUE", "localhost", "asic0", "ports@", "NULL", "value", "type", "X"]
            )
            | st.text(max_size=6),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(json_values)
def test_no_document_raises(data: object) -> None:
    db = read(data)
    assert db.scopes or db.problems
    for problem in db.problems:
        assert problem.where is not None
        assert problem.where.file == db.file


@given(st.data())
def test_no_damage_raises(data: st.DataObject) -> None:
    content = bytearray(json.dumps(data.draw(st.sampled_from([NESTED, flatten(NESTED), [NESTED]])), indent=1).encode())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(content)))
        piece = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"{", b"}", b'"', b"|", b":", b",", b"[", b"1", b"\n"])
        )
        content[at : at + data.draw(st.integers(0, 30))] = piece
    db = read_config_db(bytes(content), "x.json")
    assert db.scopes or db.problems
    for scope in db.scopes:
        for table, rows in scope.tables.items():
            for key, row in rows.items():
                assert all(isinstance(value, str | tuple) for value in row.values())
                assert db.place(scope, table, key).path


texts = st.text(max_size=6)


@given(st.dictionaries(texts, st.dictionaries(texts, st.dictionaries(texts, texts | st.lists(texts, max_size=3)))))
def test_written_tables_are_the_bytes_of_a_plain_dump(tables: dict[str, dict[str, dict[str, str | list[str]]]]) -> None:
    plain = json.dumps({name: rows for name, rows in tables.items() if rows}, indent=4) + "\n"
    assert write_tables(tables) == plain.encode()


@given(st.data())
def test_a_place_that_is_looked_up_late_is_the_one_that_a_reader_finds(data: st.DataObject) -> None:
    """The slow twin counts lines in the text itself."""
    tables = data.draw(st.sampled_from([NESTED, flatten(NESTED), {"asic0": NESTED}]))
    db = read(tables)
    (scope,) = db.scopes
    table = data.draw(st.sampled_from(sorted(scope.tables)))
    key = data.draw(st.sampled_from(sorted(scope.tables[table])))
    name = data.draw(st.sampled_from(["", *scope.tables[table][key]]))
    late, plain = db.place(scope, table, key, name), db.place(scope, table, key, name)
    assert late.path == ".".join(part for part in (scope.name, table, key, name) if part)
    lines = json.dumps(tables, indent=1).split("\n")
    assert late.line is not None
    shown = lines[late.line - 1]
    assert f'"{name or key}' in shown or f'"{table}|{key}"' in shown
    eager = Place(late.file, late.line, late.column, late.path)
    assert plain == eager == late
    assert hash(plain) == hash(eager)
    assert repr(plain) == repr(eager)
    assert str(plain) == str(eager)
    assert plain != Place(late.file, late.line + 1, late.column, late.path)
    assert plain != Place("other", late.line, late.column, late.path)
    assert plain != late.path
    assert replace(late, line=1) == Place(late.file, 1, late.column, late.path)
    assert copy.deepcopy(db.place(scope, table, key, name)) == eager
    with pytest.raises(AttributeError):
        _ = plain.other  # type: ignore[reportAttributeAccessIssue]


def test_places_of_a_file_that_is_not_looked_at_cost_no_reading_of_its_lines() -> None:
    db = read(NESTED)
    (scope,) = db.scopes
    place = db.place(scope, "PORT", "Ethernet0", "speed")
    assert (place.file, place.path, place.column) == ("leaf-001/config_db.json", "PORT.Ethernet0.speed", None)
    assert len({place, db.place(scope, "PORT", "Ethernet0", "alias")}) == 2
    assert "_index" not in vars(db.lines)
    assert place.line is not None
    assert "_index" in vars(db.lines)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("Ethernet0|3", QueueKey(("Ethernet0",), 3, 3)),
        (" Ethernet0 |3", QueueKey(("Ethernet0",), 3, 3)),
        ("Ethernet0,Ethernet4|3", QueueKey(("Ethernet0", "Ethernet4"), 3, 3)),
        ("card|asic0|Ethernet0|3", QueueKey(("Ethernet0",), 3, 3, "card", "asic0")),
        ("asic0|Ethernet0|3", None), ("|3", None), (" |3", None), ("3", None), ("Ethernet0|\u0663", None),
        ("Ethernet0|", None),
    ],
)  # fmt: skip
def test_keys_of_one_queue_are_read_as_all_keys_are(key: str, found: QueueKey | None) -> None:
    assert config_db_keys.read_queue_key(key) == found
