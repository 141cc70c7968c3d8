"""Partitions and keys of a fabric that exists, judged from the files that somebody took of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.designs import Rendered, render_design
from weftline.adopt import build_fabric, read_survey
from weftline.app.configured import judge_configuration
from weftline.errors import Place
from weftline.formats import partitions_conf, topology
from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL
from weftline.model.audit import AuditInput, Declared
from weftline.model.finding import Topic
from weftline.model.survey import PortFact, Source, SurveyPart
from weftline.technologies.infiniband.audit import keys, partitions
from weftline.technologies.infiniband.owners import list_owners
from weftline.vendors.opensm.prediction import PartitionOptions, predict
from weftline.vendors.opensm.subnet import describe_subnet

OPTIONS = "m_key 0x5\nm_key_protection_level 2\nm_key_lease_period 60\nsm_key 7\nsa_key 8\npart_enforce both\n"
GROUPS = """MCMember Record dump:
\t\tMGID....................ff12:401b:8001::1
\t\tPortGid.................{}
\t\tmlid....................0xc001
\t\tpkey....................0x8001
"""
LOG = "Nov 30 15:32:42 736978 [8396F740] 0x03 -> OpenSM 3.3.23\n"


@pytest.fixture(scope="module")
def made() -> Rendered:
    """Two tenants on a small fabric, each host of its own."""
    return render_design(
        "infiniband",
        hosts=4,
        rails=2,
        unit_size=2,
        tenants=(("red", "1-2"), ("blue", "3-4")),
        extras=(("ufm", 1, "auto"),),
    )


def write_tables(made: Rendered, changes: Mapping[str, str]) -> str:
    """Write what smpquery says of every host port and of the switch port before it, some of it changed."""
    file = partitions_conf.parse(made.text("opensm/subnet-1/partitions.conf").encode(), "p")
    fabric, ids = made.fabric, made.addresses
    manager = next(
        int(ids.port_id[port]) for port in fabric.endpoint_port.tolist() if fabric.port_name(port).startswith("ufm")
    )
    predicted = predict(file, describe_subnet(fabric, ids, None, manager), PartitionOptions())
    lines: list[str] = []
    for port in fabric.endpoint_port.tolist():
        peer = int(fabric.port_peer[port])
        if peer == NIL:
            continue
        node, number = int(fabric.port_node[peer]), int(fabric.port_number[peer])
        end = next(e for e in describe_subnet(fabric, ids, None).ends if e.guid == int(ids.port_id[port]))
        own, wall = predicted.tables[end.place].keys, predicted.tables[int(ids.node_id[node]), number].keys
        lines += _answer(f"-G {format_guid(end.guid)}", own, changes.get(fabric.port_name(port)))
        lines += _answer(f"{int(ids.node_address[node])} {number}", wall, changes.get(f"{fabric.port_name(port)}!"))
    return "".join(lines)


def _answer(asked: str, keys: tuple[int, ...], changed: str | None) -> list[str]:
    if changed == "":
        return []
    words = changed.split() if changed else [f"0x{key:04x}" for key in keys]
    padded = [*words, *["0x0000"] * (64 - len(words))]
    rows = [f"{start:4d}: {' '.join(padded[start : start + 8])}\n" for start in range(0, 64, 8)]
    return [f"# smpquery pkeys {asked}\n", *rows, "64 pkeys capacity for this port\n"]


def gather(made: Rendered, files: Mapping[str, str], *, declared: bool = True) -> AuditInput:
    """Read files as an audit does."""
    everything = {"net": topology.write(made.fabric, made.addresses), **files}
    survey = read_survey([(name, text.encode()) for name, text in everything.items() if text])
    assert survey.discovery is not None
    adoption = build_fabric(survey.discovery)
    assert not isinstance(adoption, tuple), adoption
    predicted, configured = judge_configuration(survey, adoption)
    owners = list_owners(made.design, made.fabric)
    managers = tuple(
        int(made.addresses.port_id[port]) for port, owner in owners.of_port.items() if owner == "/management"
    )
    known = Declared("d", made.fabric, made.addresses, made.fabric.tenant_name, managers, owners)
    return AuditInput(survey, adoption, None, None, predicted, configured, known if declared else None)


def judge(made: Rendered, changes: Mapping[str, str] | None = None, **files: str) -> Topic:
    """Judge the tables of a fabric in order, with some changes."""
    whole = {
        "tables.txt": write_tables(made, changes or {}),
        "opensm.conf": OPTIONS,
        "groups": GROUPS.format("::"),
        "opensm.log": LOG,
        **{name.replace("_", "."): text for name, text in files.items()},
    }
    return partitions.judge(gather(made, whole))


def rules(topic: Topic) -> set[str]:
    """Name the rules that found something."""
    return {finding.rule for finding in topic.findings}


def test_a_fabric_in_order(made: Rendered) -> None:
    topic = judge(made)
    assert (rules(topic), topic.unjudged, topic.verdict) == (set(), (), "good")
    assert {"TEN-01", "TEN-02", "TEN-03", "TEN-04", "TEN-11"} <= set(topic.good_controls)
    assert "tenants meet in no partition" in topic.summary
    assert dict(topic.figures)["partition 0x0001"] == "4 full, 0 limited"


CHANGES = {
    "partition.tenants-meet": {"host-0003/nic1": "0x8002 0x8001 0x7fff", "host-0003/nic1!": "0x8002 0x8001 0x7fff"},
    "partition.default-full": {"host-0003/nic1": "0x8002 0xffff", "host-0003/nic1!": "0x8002 0xffff"},
    "partition.wall-differs": {"host-0003/nic1!": "0x8002 0x7fff 0x0005"},
    "partition.both-membership": {"host-0003/nic1": "0x8002 0x0002 0x7fff"},
    "partition.no-index0": {"host-0003/nic1": "0x7fff 0x8002"},
    "partition.host-in-two": {"host-0003/nic1": "0x8009 0x7fff", "host-0003/nic1!": "0x8009 0x7fff"},
}


def test_a_partition_in_which_all_are_full_opens_every_other_one(made: Rendered) -> None:
    own = {"host-0001": "0x8001", "host-0002": "0x8001", "host-0003": "0x8002", "host-0004": "0x8002"}
    ports = [made.fabric.port_name(port) for port in made.fabric.endpoint_port.tolist()]
    shared = {
        f"{port}{wall}": f"{own[port.split('/')[0]]} 0x8010 0x7fff"
        for port in ports
        if port.split("/")[0] in own
        for wall in ("", "!")
    }
    assert "partition.everybody-full" in rules(judge(made, shared))
    alone = dict.fromkeys(shared, "0x8010 0x7fff")
    assert "partition.everybody-full" not in rules(judge(made, alone))


@pytest.mark.parametrize("rule", CHANGES)
def test_each_rule_is_raised_by_a_table(made: Rendered, rule: str) -> None:
    topic = judge(made, CHANGES[rule])
    assert rule in rules(topic)
    assert topic.verdict == "bad"
    finding = next(finding for finding in topic.findings if finding.rule == rule)
    assert finding.message
    assert not set(finding.controls) & set(topic.good_controls)
    allowed = {rule, "partition.tenants-meet"} if rule == "partition.default-full" else {rule}
    assert rules(topic) <= allowed


def test_enforcement_by_options_and_by_the_log(made: Rendered) -> None:
    assert {"partition.enforcement-off", "partition.tenants-meet"} <= rules(
        judge(made, opensm_conf=OPTIONS.replace("both", "off"))
    )
    node = int(made.addresses.node_id[made.fabric.switch_node[0]])
    line = LOG.replace(
        "OpenSM 3.3.23", f"ERR 0507: Not enough pkey entries (8 <= 9) on switch 0x{node:016x} port 1 (x)"
    )
    assert {"partition.enforcement-off", "partition.switch-overflow"} <= rules(judge(made, opensm_log=LOG + line))
    given_up = LOG.replace("OpenSM 3.3.23", "Partition configuration in error; retrying with default config")
    assert "partition.given-up" in rules(judge(made, opensm_log=LOG + given_up))


def test_multicast_and_violations(made: Rendered) -> None:
    blue = next(p for p in made.fabric.endpoint_port.tolist() if made.fabric.port_name(p) == "host-0003/nic1")
    guid = f"{int(made.addresses.port_id[blue]):016x}"
    gid = "fe80::" + ":".join(guid[start : start + 4] for start in range(0, 16, 4))
    assert rules(judge(made, groups=GROUPS.format(gid))) == {"partition.multicast-stranger"}
    source = gather(made, {"tables.txt": write_tables(made, {})})
    (part,) = [part for part in source.survey.parts if part.keys]
    fact = part.keys[0]
    seen = replace(part, ports=(PortFact(0, NIL, fact.where, fact.port_guid, key_violations=7),))
    parts = tuple(seen if one is part else one for one in source.survey.parts)
    topic = partitions.judge(replace(source, survey=replace(source.survey, parts=parts)))
    assert "partition.violations" in rules(topic)


def test_the_file_beside_the_tables(made: Rendered) -> None:
    text = made.text("opensm/subnet-1/partitions.conf")
    assert rules(judge(made, partitions_conf=text)) == set()
    other = text.replace("blue=0x0002", "blue=0x0009")
    assert "partition.not-as-configured" in rules(judge(made, partitions_conf=other))
    broken = judge(made, partitions_conf=text + "broken\n")
    assert "partition.syntax-error" in rules(broken)
    only = partitions.judge(gather(made, {"partitions.conf": text, "opensm.conf": OPTIONS}))
    assert only.verdict == "unknown"
    assert "tenants meet in no partition" in only.summary


@pytest.mark.parametrize(
    ("missing", "open_controls"),
    [("host-0003/nic1", {"TEN-01", "TEN-02", "TEN-04", "TEN-11"}), ("host-0003/nic1!", {"TEN-01", "TEN-03"})],
)
def test_a_table_that_nobody_read_is_unknown(made: Rendered, missing: str, open_controls: set[str]) -> None:
    topic = judge(made, {missing: ""})
    assert topic.verdict == "unknown"
    assert not open_controls & set(topic.good_controls)


def test_members_of_a_group_whose_keys_nobody_knows(made: Rendered) -> None:
    red = next(p for p in made.fabric.endpoint_port.tolist() if made.fabric.port_name(p) == "host-0001/nic1")
    member = GROUPS.format(f"fe80::{write_gid(int(made.addresses.port_id[red]))}")
    good = judge(made, groups=member)
    assert (good.verdict, "TEN-10" in good.good_controls) == ("good", True)
    for changes, text in (
        ({"host-0001/nic1": ""}, member),
        ({}, GROUPS.format("fe80::dead:beef:1:2")),
        ({}, member.replace("pkey....................0x8001", "")),
    ):
        topic = judge(made, changes, groups=text)
        assert topic.verdict == "unknown"
        assert "TEN-10" not in topic.good_controls
        assert any("TEN-10" in question.controls for question in topic.unjudged)


def write_gid(guid: int) -> str:
    """Write a GUID as the second half of a GID."""
    return ":".join(f"{guid:016x}"[start : start + 4] for start in range(0, 16, 4))


def test_a_tenant_that_was_not_found_leaves_the_others_open(made: Rendered) -> None:
    """A host that is found and not declared may be the one that is declared and not found."""
    source = whole(made)
    assert partitions.judge(source).verdict == "good"
    assert source.adoption is not None
    names = [name.replace("host-000", "node") for name in source.adoption.fabric.node_name]
    renamed = replace(source.adoption.fabric, node_name=tuple(names))
    other = replace(source.adoption.addresses, scheme="other")
    kept = {name: renamed.node_name.index(name) for name in ("node2", "node3", "node4")}
    for name, node in kept.items():
        names[node] = name.replace("node", "host-000")
    adoption = replace(source.adoption, fabric=replace(renamed, node_name=tuple(names)), addresses=other)
    topic = partitions.judge(replace(source, adoption=adoption))
    assert topic.verdict == "bad"  # by its keys, node1 is the host of red that is missing
    assert "partition.tenants-meet" in rules(topic)
    # what is red by nobody's word meets only itself, and that is no proof either
    names[kept["node2"]] = "node2"
    adoption = replace(source.adoption, fabric=replace(renamed, node_name=tuple(names)), addresses=other)
    topic = partitions.judge(replace(source, adoption=adoption))
    assert topic.verdict == "unknown"
    assert "TEN-01" not in topic.good_controls
    assert any("host-0001 of red was not found, one of 2, and node1 is not" in one.needs for one in topic.unjudged)


def whole(made: Rendered, **files: str) -> AuditInput:
    """Read all that a fabric in order gives."""
    texts = {"tables.txt": write_tables(made, {}), "opensm.conf": OPTIONS, "groups": GROUPS.format("::")}
    return gather(made, {**texts, "opensm.log": LOG, **files})


def test_options_that_do_not_speak_of_enforcement_leave_it_open(made: Rendered) -> None:
    topic = judge(made, opensm_conf=OPTIONS.replace("part_enforce both\n", ""))
    assert topic.verdict == "unknown"
    assert not {"TEN-01", "TEN-03"} & set(topic.good_controls)


def test_without_a_log_or_groups_a_question_is_open(made: Rendered) -> None:
    for topic, control in ((judge(made, opensm_log=""), "TEN-05"), (judge(made, groups=""), "TEN-10")):
        assert topic.verdict == "unknown"
        assert [question.controls for question in topic.unjudged] == [(control,)]
        assert control not in topic.good_controls


def test_two_option_files_must_both_be_in_order(made: Rendered) -> None:
    same = whole(made, **{"standby/opensm.conf": OPTIONS.replace("m_key 0x5", "m_key 0x6")})
    assert partitions.judge(same).verdict == "good"
    assert set(keys.judge(same).good_controls) == {"IBS-02"}  # what ports hold, no port says
    open_keys = whole(made, **{"standby/opensm.conf": OPTIONS.replace("m_key 0x5", "m_key 0").replace("sa_key 8", "")})
    assert keys.judge(open_keys).verdict == "bad"
    assert keys.judge(open_keys).good_controls == ()
    for first, second in (("both", "in"), ("in", "both")):
        texts = [OPTIONS.replace("both", word) for word in (first, second)]
        topic = partitions.judge(whole(made, **{"opensm.conf": texts[0], "standby/opensm.conf": texts[1]}))
        assert "partition.enforcement-off" in rules(topic)
        assert "TEN-01" not in topic.good_controls


@pytest.mark.parametrize(
    ("inbound", "outbound", "verdict"),
    [
        (True, True, "good"),
        (True, False, "bad"),
        (False, True, "bad"),
        (True, None, "unknown"),
        (None, True, "unknown"),
    ],
)
def test_what_ports_say_of_enforcement_stands_before_options(
    made: Rendered, inbound: bool | None, outbound: bool | None, verdict: str
) -> None:
    source = whole(made)
    host = next(p for p in made.fabric.endpoint_port.tolist() if made.fabric.port_name(p) == "host-0001/nic1")
    peer = int(made.fabric.port_peer[host])
    node, number = int(made.addresses.node_id[made.fabric.port_node[peer]]), int(made.fabric.port_number[peer])
    fact = PortFact(node, number, Place("portinfo", 1), enforces_in=inbound, enforces_out=outbound)
    stranger = replace(fact, node=0x77, enforces_in=True, enforces_out=True)
    silent = replace(fact, enforces_in=None, enforces_out=None)
    topic = partitions.judge(add_ports(source, fact, stranger, silent))
    assert topic.verdict == verdict
    assert ("TEN-03" in topic.good_controls) == (verdict == "good")
    assert partitions.judge(add_ports(source, silent)).verdict == "good"


def add_ports(source: AuditInput, *ports: PortFact) -> AuditInput:
    """Let one more file speak of ports."""
    survey = source.survey
    more = Source("portinfo", "smpquery-portinfo", "0" * 64)
    parts, sources = (*survey.parts, SurveyPart(ports=ports)), (*survey.sources, more)
    return replace(source, survey=replace(survey, parts=parts, sources=sources))


def test_the_old_word_switches_enforcement_off_whatever_the_new_one_says(made: Rendered) -> None:
    topic = judge(made, opensm_conf=OPTIONS + "no_partition_enforcement TRUE\n")
    (found,) = [one for one in topic.findings if one.rule == "partition.enforcement-off" and "face" in one.message]
    assert found.message.startswith("9 switch ports")
    assert "partition.tenants-meet" in rules(topic)
    proof = next(one for one in topic.findings if one.rule == "partition.tenants-meet")
    assert "does not enforce" in proof.message


def test_without_any_evidence(made: Rendered) -> None:
    source = gather(made, {}, declared=False)
    topic = partitions.judge(source)
    assert (topic.verdict, topic.good_controls) == ("unknown", ())
    assert all(question.needs for question in topic.unjudged)
    alone = partitions.judge(replace(source, adoption=None))
    assert alone.verdict == "unknown"


def test_keys(made: Rendered) -> None:
    good = keys.judge(gather(made, {"opensm.conf": OPTIONS}))
    assert (good.verdict, rules(good)) == ("unknown", {"keys.residual-risk"})
    assert set(good.good_controls) == {"IBS-02"}  # what ports hold, no port says
    assert dict(good.figures)["m_key"] == "set"
    bad = keys.judge(gather(made, {"opensm.conf": OPTIONS.replace("m_key 0x5", "m_key 0")}))
    assert (bad.verdict, bad.good_controls) == ("bad", ("IBS-02",))
    nothing = keys.judge(gather(made, {}))
    assert nothing.verdict == "unknown"
    assert {"IBS-01", "IBS-02", "IBS-03", "IBS-04", "IBS-08"} <= {c for one in nothing.unjudged for c in one.controls}


def protect(made: Rendered, **facts: object) -> list[PortFact]:
    """Say of every switch and host port that it is protected, and never lets go of its key."""
    said: dict[str, Any] = {"protection": 2, "lease_s": 0, "has_management_key": True, **facts}
    fabric, ids, here = made.fabric, made.addresses, Place("portinfo", 1)
    lit = [p for p in fabric.endpoint_port.tolist() if fabric.port_peer[p] != NIL]
    switches = [PortFact(int(ids.node_id[node]), 0, here, **said) for node in fabric.switch_node.tolist()]
    return [*switches, *(PortFact(0, NIL, here, int(ids.port_id[port]), **said) for port in lit)]


def test_keys_by_what_ports_say(made: Rendered) -> None:
    source = gather(made, {})
    good = keys.judge(add_ports(source, *protect(made)))
    assert (rules(good), good.good_controls) == ({"keys.residual-risk"}, ("IBS-01",))
    assert f"{len(protect(made))} ports are protected" in good.summary
    lower: tuple[dict[str, object], ...] = ({"protection": 1}, {"protection": 0}, {"has_management_key": False})
    for facts in lower:
        ports = protect(made)
        ports[3] = protect(made, **facts)[3]
        bad = keys.judge(add_ports(source, *ports))
        assert (bad.verdict, bad.good_controls) == ("bad", ())
        assert "keys.protection-level" in rules(bad)


@pytest.mark.parametrize(
    ("lost", "facts"),
    [(0, {}), (-1, {}), (None, {"lease_s": 60}), (None, {"lease_s": None}), (None, {"has_management_key": None})],
    ids=["a switch", "a host", "a lease", "no lease", "no key shown"],
)
def test_ports_do_not_tell_all_of_keys(made: Rendered, lost: int | None, facts: dict[str, object]) -> None:
    ports = protect(made, **facts)
    if lost is not None:
        del ports[lost]
    topic = keys.judge(add_ports(gather(made, {}), *ports))
    assert "IBS-01" not in topic.good_controls
    assert any("IBS-01" in question.controls for question in topic.unjudged)
    beside = gather(made, {"opensm.conf": OPTIONS})
    assert "IBS-01" in keys.judge(add_ports(beside, *ports)).good_controls


RED = "0x8001 0x7fff"
STRANGER = "0x8001 0x7fff 0x8002"


@pytest.mark.parametrize("file", ["a-pkeys.txt", "z-pkeys.txt"])
def test_tables_that_contradict_each_other_are_judged_as_the_keys_of_both(made: Rendered, file: str) -> None:
    port = next(p for p in made.fabric.endpoint_port.tolist() if made.fabric.port_name(p) == "host-0001/nic1")
    asked = f"-G {format_guid(int(made.addresses.port_id[port]))}"
    for held in (STRANGER, "0x7fff"):
        other = "".join(_answer(asked, (), held))
        topic = partitions.judge(gather(made, {**in_order(made), file: other}))
        assert "partition.tables-disagree" in rules(topic)
        assert ("partition.tenants-meet" in rules(topic)) == (held == STRANGER)
    again = partitions.judge(gather(made, {**in_order(made), file: "".join(_answer(asked, (), RED))}))
    assert (rules(again), again.verdict) == (set(), "good")


def in_order(made: Rendered) -> dict[str, str]:
    return {
        "tables.txt": write_tables(made, {}), "opensm.conf": OPTIONS, "groups": GROUPS.format("::"), "opensm.log": LOG
    }  # fmt: skip


@pytest.mark.parametrize("is_first", [True, False])
def test_what_one_file_calls_open_is_open(made: Rendered, is_first: bool) -> None:
    port = next(p for p in made.fabric.endpoint_port.tolist() if made.fabric.port_name(p) == "host-0001/nic1")
    peer = int(made.fabric.port_peer[port])
    lid, number = made.addresses.node_address[made.fabric.port_node[peer]], made.fabric.port_number[peer]

    def write(bit: int) -> str:
        return f"# Port info: Lid {lid} port {number}\nPartEnforceInb:..{bit}\nPartEnforceOutb:..{bit}\n"

    files = {"a.txt": write(0 if is_first else 1), "b.txt": write(1 if is_first else 0)}
    assert "partition.enforcement-off" in rules(partitions.judge(gather(made, {**in_order(made), **files})))
    closed = {"a.txt": write(1), "b.txt": write(1)}
    assert rules(partitions.judge(gather(made, {**in_order(made), **closed}))) == set()


def test_configurations_that_contradict_each_other_are_named_and_not_predicted_from(made: Rendered) -> None:
    own = made.text("opensm/subnet-1/partitions.conf")
    alike = gather(made, {**in_order(made), "partitions.conf": own, "old/partitions.conf": own})
    assert alike.predicted
    assert not any(finding.rule == "partition.several-files" for finding in alike.configured)
    files = {"partitions.conf": own, "z/partitions.conf": "Default=0x7fff : ALL=full ;\n"}
    odd = gather(made, {**in_order(made), **files})
    assert odd.predicted is None
    assert "partition.several-files" in rules(partitions.judge(odd))


def test_members_of_groups_that_cannot_be_judged_leave_the_question_open(made: Rendered) -> None:
    guid = int(made.addresses.port_id[made.fabric.endpoint_port[0]])
    gid = f"fe80::{guid:016x}"
    member = ":".join([gid[:10], gid[10:14], gid[14:18], gid[18:22]])
    assert "TEN-10" in judge(made, groups=GROUPS.format(member)).good_controls
    for text in (
        GROUPS.format("fe80::dead:beef:1:2"),
        GROUPS.format(member).replace("\t\tpkey....................0x8001\n", ""),
        GROUPS.format(member).replace("Record dump", "Record group dump"),
    ):
        topic = judge(made, groups=text)
        assert "TEN-10" not in topic.good_controls
        assert topic.verdict == "unknown"


def test_tables_of_ports_that_the_topology_lacks_leave_the_question_open(made: Rendered) -> None:
    topic = judge(made, stray_txt="".join(_answer("-G 0x00deadbeef000001", (), RED)))
    assert "TEN-01" not in topic.good_controls
    assert topic.verdict == "unknown"


NAMED = f"{OPTIONS}partition_config_file /etc/opensm/partitions.conf\n"


def test_a_partition_file_that_is_named_and_not_given_is_asked_for(made: Rendered) -> None:
    """Without it every port is a full member of one partition; only tables of all ports say that it is not so."""
    alone = partitions.judge(gather(made, {"opensm.conf": NAMED}, declared=False))
    asked = next(one for one in alone.unjudged if "partition file that opensm.conf names" in one.question)
    assert asked.needs.startswith("/etc/opensm/partitions.conf")
    assert asked.controls == ("TEN-01", "TEN-02")
    assert alone.verdict == "unknown"
    told = judge(made, opensm_conf=NAMED)
    assert not any("/etc/opensm/partitions.conf" in one.needs for one in told.unjudged)
    some = judge(made, {"host-0001/nic1": ""}, opensm_conf=NAMED)
    assert any("/etc/opensm/partitions.conf" in one.needs for one in some.unjudged)
    given = gather(made, {"opensm.conf": NAMED, "partitions.conf": made.text("opensm/subnet-1/partitions.conf")})
    assert not any("/etc/opensm/partitions.conf" in one.needs for one in partitions.judge(given).unjudged)
