"""Each rule of the linter of OpenSM's files, raised by a file that breaks it and by no other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.designs import Rendered, render_design
from weftline.formats import opensm_conf, partitions_conf
from weftline.model.discovery import Discovery, NodeRecord, PortRecord
from weftline.model.lint import Linted, LintInput
from weftline.model.partitions import PartitionFile
from weftline.vendors.opensm.linting import lint
from weftline.vendors.opensm.prediction import PartitionOptions

GOOD = "Default=0x7fff : ALL=limited, ALL_SWITCHES=full, SELF=full ;\n"
ONE, TWO, THREE = 0x11, 0x21, 0x31
"""Port GUIDs of three adapters; those of their nodes end in 0."""


def make_discovery(hosts: int = 3) -> Discovery:
    """Make a switch with some hosts."""
    ends = [
        NodeRecord("ca", f"H-{n}", 1, (PortRecord(1, "S-1", n, guid=n * 16 + 1),), guid=n * 16, description=f"host {n}")
        for n in range(1, hosts + 1)
    ]
    ports = tuple(PortRecord(n, f"H-{n}", 1) for n in range(1, hosts + 1))
    return Discovery("ibnetdiscover", "net", "0", (*ends, NodeRecord("switch", "S-1", 36, ports, guid=0x900)))


@pytest.fixture(scope="module")
def made() -> Rendered:
    """Two tenants, and a host of none."""
    return render_design("infiniband", hosts=5, rails=2, unit_size=4, tenants=(("red", "1-2"), ("blue", "3-4")))


def judge(made: Rendered, text: str, options: str | None = None, capacities: tuple[int, int] | None = None) -> Linted:
    """Lint a file against the switch with three hosts."""
    found = None if options is None else opensm_conf.parse(options.encode(), "opensm.conf").options
    file = partitions_conf.parse(text.encode(), "partitions.conf")
    return lint(
        LintInput(file, found, made.fabric, made.addresses, make_discovery(), manager=0x11, capacities=capacities)
    )


KEYS = "m_key 0x5\nm_key_protection_level 2\nm_key_lease_period 60\nsm_key 7\nsa_key 8\n"
BROKEN = {
    "partition.syntax-error": (GOOD + "a=0x1 0x21=full ;\n", None, (2, 1)),
    "partition.loose-word": (GOOD + "a=0x1, indx0 : 0x21=ful ;\n", None, (2, 16)),
    "partition.loose-key": (GOOD + "a, indx0 : 0x21=full ;\n", None, (2, 1)),
    "partition.lost-text": (GOOD + "a=0x1, indx0 : 0x21=full ; " + " " * 4100 + "b=0x2 : 0x11 ;\n", None, (2, 4095)),
    "partition.unknown-guid": (GOOD + "a=0x1, indx0 : 0x21=full, 0x41=full ;\n", None, (2, 27)),
    "partition.node-guid": (GOOD + "a=0x1, indx0 : 0x20=full ;\n", None, (2, 16)),
    "partition.default-full": ("Default=0x7fff : ALL=full ;\n", None, (1, 18)),
    "partition.everybody-full": (GOOD + "s=0x10 : ALL=full ;\n", None, (2, 10)),
    "partition.missing-default": ("a=0x1, indx0 : 0x21=full ;\n", None, None),
    "partition.both-membership": (GOOD + "a=0x1, indx0 : 0x21=both ;\n", None, (2, 16)),
    "partition.duplicate-name": (GOOD + "a=0x1, indx0 : 0x21=full ;\na=0x2 : 0x21 ;\n", None, (3, 1)),
    "partition.shared-key": (GOOD + "a=0x1, indx0 : 0x21=full ;\nb=0x1, indx0 : 0x31=full ;\n", None, (3, 1)),
    "partition.no-index0": (GOOD + "a=0x1 : 0x21=full, 0x31=full ;\n", None, (2, 1)),
    "partition.storage-not-hub-and-spoke": (
        GOOD + "a=0x1, indx0 : 0x21=full ;\nb=0x2, indx0 : 0x31=full ;\ns=0x3 : 0x21=full, 0x31=full ;\n", None, (4, 1),
    ),
    "partition.enforcement-off": (GOOD, KEYS + "part_enforce off\n", (6, 1)),
    "keys.no-management-key": (GOOD, KEYS.replace("0x5", "0x0"), (1, 1)),
    "keys.protection-level": (GOOD, KEYS.replace("level 2", "level 1"), (2, 1)),
    "keys.lease": (GOOD, KEYS.replace("60", "10"), (3, 1)),
    "keys.sm-key": (GOOD, KEYS.replace("sm_key 7", "sm_key 0x0000000000000001"), (4, 1)),
    "keys.sa-key": (GOOD, KEYS.replace("sa_key 8", "sa_key 0"), (5, 1)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("compute=0x10, indx0 : ALL=full ;\n", "warning"),
        ("s=0x10 : ALL=full ;\na=0x1, indx0 : 0x21=full ;\n", "critical"),
        ("s=0x10 : ALL_CAS=full ;\na=0x1, indx0 : 0x21=full ;\n", "critical"),
        ("s=0x10 : ALL=limited, 0x31=full ;\na=0x1, indx0 : 0x21=full ;\n", None),
        ("s=0x10 : ALL_SWITCHES=full ;\na=0x1, indx0 : 0x21=full ;\n", None),
    ],
)
def test_a_partition_in_which_all_are_full_is_as_open_as_the_default(
    made: Rendered, text: str, severity: str | None
) -> None:
    found = {finding.rule: finding.severity for finding in judge(made, GOOD + text).findings}
    assert found.get("partition.everybody-full") == severity


@pytest.mark.parametrize("rule", BROKEN)
def test_each_rule_has_a_file_that_breaks_it_alone(made: Rendered, rule: str) -> None:
    text, options, place = BROKEN[rule]
    linted = judge(made, text, options)
    assert {finding.rule for finding in linted.findings} == {rule}
    finding = linted.findings[0]
    assert finding.message
    assert finding.next_step
    if place is not None:
        assert (finding.where[0].line, finding.where[0].column) == place
    assert (linted.predicted is not None) == (rule != "unpredictable")


def test_a_file_in_order(made: Rendered) -> None:
    linted = judge(made, GOOD + "a=0x1, indx0, defmember=full : 0x21, 0x31 ;\n", KEYS + "part_enforce both\n")
    assert linted.findings == ()
    assert linted.predicted is not None
    tables = {one.guid: one.table for one in linted.predicted if one.guid}
    assert tables[TWO].keys == (0x8001, 0x7FFF)
    assert tables[ONE].keys == (0xFFFF,)
    assert tables[0x900].keys == (0xFFFF,)  # the switch itself
    facing = next(one for one in linted.predicted if (one.node, one.number) == (0x900, 2))
    assert (facing.table.keys, facing.table.enforces_in, facing.guid) == ((0x8001, 0x7FFF), True, 0)


def test_words_for_all_of_a_kind_reach_that_kind(made: Rendered) -> None:
    router = NodeRecord("router", "R-1", 1, (PortRecord(1, "S-1", 9, guid=0x951),), guid=0x950)
    found = make_discovery()
    *ends, switch = found.nodes
    discovery = replace(found, nodes=(*ends, router, replace(switch, ports=(*switch.ports, PortRecord(9, "R-1", 1)))))
    text = GOOD + "a=0x1 : ALL_CAS=full ;\nb=0x2 : ALL_SWITCHES=full ;\nc=0x3 : ALL_ROUTERS=full ;\n"
    file = partitions_conf.parse(text.encode(), "partitions.conf")
    linted = lint(LintInput(file, None, made.fabric, made.addresses, discovery, manager=ONE))
    assert linted.predicted is not None
    tables = {one.guid: set(one.table.keys) for one in linted.predicted if one.guid}
    assert tables == {
        ONE: {0xFFFF, 0x8001}, TWO: {0x7FFF, 0x8001}, THREE: {0x7FFF, 0x8001}, 0x900: {0xFFFF, 0x8002},
        0x951: {0x7FFF, 0x8003},
    }  # fmt: skip
    walls = {one.number: set(one.table.keys) for one in linted.predicted if one.node == 0x900 and one.number}
    assert walls == {1: tables[ONE], 2: tables[TWO], 3: tables[THREE], 9: tables[0x951]}


@pytest.mark.parametrize(
    ("lines", "held"),
    [
        ("a=0x1 : 0x21=full ;\na=0x1 : 0x21=limited ;\n", {0x7FFF, 0x0001}),
        ("a=0x1 : 0x21=limited ;\na=0x1 : 0x21=full ;\n", {0x7FFF, 0x8001}),
        ("a : 0x21=full ;\nb : 0x21=full ;\n", {0x7FFF, 0x8001, 0x8002}),
        ("a=0x1 : 0x11=full ;\nb : 0x21=full ;\n", {0x7FFF, 0x8002}),
        ("a : 0x11=full ;\na : 0x21=full ;\n", {0x7FFF, 0x8001}),
    ],
)
def test_the_last_word_counts_and_keys_are_chosen_in_turn(made: Rendered, lines: str, held: set[int]) -> None:
    linted = judge(made, GOOD + lines)
    assert linted.predicted is not None
    tables = {one.guid: set(one.table.keys) for one in linted.predicted if one.guid}
    assert tables[TWO] == held
    assert tables[ONE] >= {0xFFFF}
    assert tables[THREE] == {0x7FFF}


@pytest.mark.parametrize(
    ("lines", "held"),
    [
        ("a=0x1 : 0x21=both ;\n", {0x7FFF, 0x8001, 0x0001}),
        ("a=0x1 : 0x21=both ;\na=0x1 : 0x21=limited ;\n", {0x7FFF, 0x0001}),
        ("a=0x1 : 0x21=both ;\na=0x1 : 0x21=full ;\n", {0x7FFF, 0x8001}),
        ("a=0x1 : ALL=full ;\na=0x1 : ALL=limited ;\n", {0x7FFF, 0x0001}),
    ],
)
def test_both_memberships_where_options_allow_them(made: Rendered, lines: str, held: set[int]) -> None:
    linted = judge(made, GOOD + lines, KEYS + "part_enforce both\nallow_both_pkeys TRUE\n")
    assert linted.predicted is not None
    assert next({*one.table.keys} - {0} for one in linted.predicted if one.guid == TWO) == held


@pytest.mark.parametrize("count", [6, 40])
def test_tables_that_are_too_small(made: Rendered, count: int) -> None:
    rules = "".join(f"p{n}=0x{n:x} : 0x21=full ;\n" for n in range(1, count))
    linted = judge(made, GOOD + "p=0x70, indx0 : 0x21=full ;\n" + rules, capacities=(4 if count < 10 else 64, 32))
    assert {finding.rule for finding in linted.findings} == {
        "partition.overflow" if count < 10 else "partition.switch-overflow"
    }


def test_what_cannot_be_predicted_is_not_predicted(made: Rendered) -> None:
    linted = judge(made, GOOD + "a=0x1 : mgid=ff12::1 ;\n")
    assert linted.predicted is None
    assert "cannot be predicted" in linted.outcome


def test_what_opensm_gives_up_is_said_first(made: Rendered) -> None:
    linted = judge(made, GOOD.replace("\n", "\r\n"))
    assert linted.outcome.startswith("OpenSM gives the file up")
    assert linted.predicted is not None
    assert {one.table.keys for one in linted.predicted} == {(0xFFFF,)}


@pytest.mark.parametrize(
    ("options", "both_ways"),
    [
        ({}, (True, True)),
        ({"part_enforce": "On"}, (True, True)),
        ({"part_enforce": "in"}, (True, False)),
        ({"part_enforce": "out"}, (False, True)),
        ({"part_enforce": "off"}, (False, False)),
        ({"part_enforce": "both", "no_partition_enforcement": "TRUE"}, (False, False)),
        ({"part_enforce": "off", "no_partition_enforcement": "FALSE"}, (False, False)),
        ({"no_partition_enforcement": "true"}, (True, True)),
    ],
)
def test_which_way_enforcement_goes(options: dict[str, str], both_ways: tuple[bool, bool]) -> None:
    read = PartitionOptions.read(options)
    assert (read.enforces_in, read.enforces_out, read.allows_both) == (*both_ways, False)


@pytest.mark.parametrize("words", ["part_enforce in", "part_enforce out", "no_partition_enforcement TRUE"])
def test_half_an_enforcement(made: Rendered, words: str) -> None:
    assert {one.rule for one in judge(made, GOOD, KEYS + words + "\n").findings} == {"partition.enforcement-off"}


def test_rendered_files_are_in_order_but_for_keys(made: Rendered) -> None:
    file = partitions_conf.parse(made.text("opensm/subnet-1/partitions.conf").encode(), "partitions.conf")
    options = opensm_conf.parse(made.text("opensm/subnet-1/opensm.conf").encode(), "opensm.conf").options
    linted = lint(LintInput(file, options, made.fabric, made.addresses))
    assert {finding.rule.partition(".")[0] for finding in linted.findings} <= {"keys"}


def test_a_secret_never_leaves_the_parser() -> None:
    text = "m_key 0xdeadbeef\nsm_key 0x1\nsa_key\t0x0\ncc_key 0xfeedface\nkey_mgr_seed hush\nm_key_lease_period 60\n"
    part = opensm_conf.parse(text.encode(), "opensm.conf")
    assert {one.name: one.value for one in part.options} == {
        "m_key": "set", "sm_key": "default", "sa_key": "zero", "cc_key": "set", "key_mgr_seed": "set",
        "m_key_lease_period": "60",
    }  # fmt: skip
    assert "dead" not in repr(part)
    assert "hush" not in repr(part)


TEXT = st.text("Aa0x1f7, =;:#\n\t\r\0LSEFmgid", max_size=60)


@given(TEXT)
def test_any_text_is_read(text: str) -> None:
    file = partitions_conf.parse(text.encode(), "p")
    assert isinstance(file, PartitionFile)
    for problem in file.remarks:
        assert problem.where is not None


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    assert isinstance(partitions_conf.parse(data, "p"), PartitionFile)
    opensm_conf.parse(data, "o")


def test_carriage_returns_are_named(made: Rendered) -> None:
    (finding,) = [
        one for one in judge(made, GOOD.replace("\n", "\r\n")).findings if one.rule == "partition.syntax-error"
    ]
    assert "carriage returns end the lines" in finding.message


NAMED = KEYS + "partition_config_file /etc/opensm/partitions.conf\n"


def judge_folder(made: Rendered, options: str, text: str | None = None, *, has_all: bool = True) -> Linted:
    """Lint what stands in the folder of a manager."""
    found = opensm_conf.parse(options.encode(), "conf/opensm.conf").options
    file = None if text is None else partitions_conf.parse(text.encode(), "conf/partitions.conf")
    return lint(LintInput(file, found, made.fabric, made.addresses, make_discovery(), manager=ONE, has_all=has_all))


@pytest.mark.parametrize("options", [NAMED, KEYS, KEYS + "partition_config_file (null)\n"])
def test_a_partition_file_that_is_not_there(made: Rendered, options: str) -> None:
    linted = judge_folder(made, options)
    (finding,) = [one for one in linted.findings if one.rule == "partition.no-file"]
    assert finding.severity == "critical"
    assert linted.outcome.startswith("OpenSM finds no partition file: every port becomes a full member")
    assert linted.predicted is not None
    assert {one.table.keys for one in linted.predicted} == {(0xFFFF,)}


def test_a_partition_file_of_another_name(made: Rendered) -> None:
    linted = judge_folder(made, NAMED.replace("partitions.conf", "tenants.conf"), GOOD)
    (finding,) = [one for one in linted.findings if one.rule == "partition.no-file"]
    assert "tenants.conf, and none of that name is in the folder, and conf/partitions.conf" in finding.message
    assert linted.predicted is not None
    assert {one.table.keys for one in linted.predicted} == {(0xFFFF,)}
    assert linted.outcome.startswith("OpenSM finds no partition file")


def test_a_partition_file_that_is_there_or_was_not_asked_for(made: Rendered) -> None:
    assert not judge_folder(made, NAMED, GOOD).findings
    alone = judge_folder(made, NAMED, has_all=False)
    assert (alone.findings, alone.predicted) == ((), None)
    assert "Without one every port would be a full member" in alone.outcome
