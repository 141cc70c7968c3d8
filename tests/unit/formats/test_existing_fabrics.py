"""Files that describe an existing subnet, form by form: what is read, what is unknown, and what is wrong where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import fabric_files
from weftline.adopt import FORMS, read_survey
from weftline.errors import Place, Problem
from weftline.formats import (
    codes,
    ibdiagnet_csv,
    iblinkinfo,
    managers,
    net_dump,
    node_name_map,
    opensm_smdb,
    smpquery,
    subnet_lst,
    ufm,
)
from weftline.kernels.column import NIL
from weftline.model.discovery import Discovery
from weftline.model.survey import NodeFact, PortFact, SurveyPart

RECORDED = Path(__file__).parent / "infiniband"
LEAF = 0x02F3765884E00000
HOST = 0x0269B4FE8CAA0000


def truth() -> Discovery:
    found = read_survey([("a.txt", (RECORDED / "ibnetdiscover.txt").read_bytes())]).discovery
    assert found is not None
    return found


def codes_of(part: SurveyPart) -> list[tuple[str, str, int | None]]:
    return [
        (problem.code, problem.severity, problem.where.line if problem.where else None) for problem in part.problems
    ]


def port(part: SurveyPart, node: int, number: int) -> PortFact:
    (found,) = [fact for fact in part.ports if (fact.node, fact.number) == (node, number)]
    return found


# ---------------------------------------------------------------------------------------------- ibdiagnet2.db_csv


def test_db_csv_says_what_ports_and_switches_can_and_do() -> None:
    part = ibdiagnet_csv.parse(fabric_files.write_db_csv(truth()), "x.db_csv")
    assert part.problems == ()
    assert part.skipped == ("PHY_DB7",)
    (leaf,) = [fact for fact in part.nodes if fact.node == LEAF]
    assert leaf == NodeFact(LEAF, Place("x.db_csv", 5), "switch", "leaf-002", 8, 54002, None, LEAF, "", 64, 32, 49152)
    outer = port(part, LEAF, 1)
    assert (outer.lid, outer.width, outer.width_supported, outer.speed, outer.speed_supported) == (
        NIL,
        4,
        4,
        "HDR",
        "NDR",
    )
    assert (outer.vls, outer.vls_used, outer.mtu, outer.enforces_in, outer.enforces_out) == (8, 4, 4096, True, True)
    assert (outer.protection, outer.has_management_key, outer.state, outer.physical) == (None, None, 4, 5)
    assert port(part, LEAF, 0).lid == 10


def test_a_management_key_is_only_said_to_be_there() -> None:
    text = fabric_files.write_db_csv(truth(), "0x00deadbeef00cafe")
    part = ibdiagnet_csv.parse(text, "x.db_csv")
    assert {fact.has_management_key for fact in part.ports if fact.node == HOST} == {True}
    assert str(0x00DEADBEEF00CAFE) not in repr(part)
    assert "deadbeef" not in repr(part)


def test_a_key_that_reads_zero_under_protection_is_unknown() -> None:
    part = ibdiagnet_csv.parse(fabric_files.write_db_csv(truth()), "x.db_csv")
    assert port(part, LEAF, 0).has_management_key is False
    assert port(part, HOST, 1).has_management_key is None
    assert [codes.has_key(*case) for case in ((1, 0), (0, 0), (0, 1), (0, None), (None, 0))] == [
        True, False, None, None, None,
    ]  # fmt: skip


def test_what_a_run_did_not_collect_is_unknown() -> None:
    text = b"START_PORTS\nNODEGUID,portnum,VLCap,PartEnfInb\n0x0002c90300100000,1,N/A,\nEND_PORTS\n"
    part = ibdiagnet_csv.parse(text, "x.db_csv")
    fact = port(part, 0x0002C90300100000, 1)
    assert (fact.vls, fact.enforces_in, fact.enforces_out, fact.has_management_key, fact.mtu) == (None,) * 5
    assert part.discovery is None
    assert codes_of(part) == [("artifact.not-collected", "note", 1)]


def test_rows_are_read_with_quotes_and_refused_by_line_where_they_are_broken() -> None:
    text = (
        "START_NODES\n"
        "NodeDesc,NumPorts,NodeType,NodeGUID\n"
        '"a, quoted name",2,1,0x1\n'
        "an open, comma,2,1,0x2\n"
        "short,2\n"
        '"open quote,2,1,0x3\n'
        "never read,2,1,0x4\n"
        "END_NODES\n"
    )
    part = ibdiagnet_csv.parse(text.encode(), "x.db_csv")
    assert [fact.description for fact in part.nodes] == ["a, quoted name"]
    assert [(code, line) for code, _, line in codes_of(part) if code == "artifact.dump-line"] == [
        ("artifact.dump-line", 4), ("artifact.dump-line", 5), ("artifact.dump-line", 6),
    ]  # fmt: skip


def test_a_section_cut_off_repeated_or_of_other_columns_is_said() -> None:
    cut = ibdiagnet_csv.parse(b"x\nSTART_NODES\nNodeGUID,NodeType\n0x1,2\n", "x")
    assert codes_of(cut)[1] == ("artifact.dump-truncated", "error", 2)
    twice = ibdiagnet_csv.parse(b"START_NODES\nNodeGUID,NodeType\nEND_NODES\n" * 2, "x")
    assert ("artifact.dump-line", "error", 4) in codes_of(twice)
    other = ibdiagnet_csv.parse(b"START_LINKS\nA,B\n1,2\nEND_LINKS\nSTART_PKEY\nA,B\n1,2\nEND_PKEY\n", "x")
    assert codes_of(other) == [
        ("artifact.layout-unknown", "warning", 1), ("artifact.layout-unknown", "warning", 5),
    ]  # fmt: skip
    assert other.skipped == ("PKEY",)


def test_keys_firmware_managers_and_what_the_tool_found_are_read() -> None:
    text = (
        "START_NODES\nNodeDesc,NodeType,NodeGUID\nh,1,0x1\nEND_NODES\n"
        "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\nEND_LINKS\n"
        "START_NODES_INFO\nNodeGUID,FWInfo_Major,FWInfo_Minor,FWInfo_SubMinor\n0x1,0x1c,0x27,0x3ea\nEND_NODES_INFO\n"
        "START_SM_INFO\nNodeGUID,PortGUID,PortNumber,Sm_Key,SmState,Priority\n0x1,0x2,1,0x77,3,14\nEND_SM_INFO\n"
        "START_PKEY\nPortGUID,PortNum,PKey,Membership\n0x2,1,0x7fff,Full\n0x2,1,0x7001,Limited\nEND_PKEY\n"
        "START_WARNINGS_DISCOVERY\nScope,NodeGUID,PortGUID,PortNumber,EventName,Summary\n"
        'CLUSTER,0x1,0x2,1,DUP,"two nodes of one name"\nEND_WARNINGS_DISCOVERY\n'
    )
    part = ibdiagnet_csv.parse(text.encode(), "x")
    assert part.nodes[0].firmware == "28.39.1002"
    (manager,) = part.managers
    assert (manager.port_guid, manager.state, manager.priority, manager.has_key) == (2, "master", 14, True)
    (keys,) = part.keys
    assert (keys.port_guid, keys.number, keys.keys, keys.is_ordered, keys.is_whole) == (
        2,
        1,
        (0xFFFF, 0x7001),
        False,
        False,
    )
    (fault,) = [problem for problem in part.problems if problem.code == "artifact.recorded-fault"]
    assert (fault.severity, "two nodes of one name" in fault.message) == ("warning", True)


def test_links_that_contradict_or_lead_nowhere_are_problems() -> None:
    text = (
        "START_NODES\nNodeDesc,NodeType,NodeGUID\nsw,2,0x10\na,1,0x1\nb,1,0x2\nalone,1,0x3\nEND_NODES\n"
        "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n"
        "0x10,1,0x1,1\n0x10,1,0x2,1\n0x10,2,0x99,1\n0x10,255,0x2,1\n0x10,,0x2,1\nEND_LINKS\n"
    )
    part = ibdiagnet_csv.parse(text.encode(), "x")
    assert {(code, line) for code, _, line in codes_of(part)} == {
        ("artifact.duplicate-port", 11), ("artifact.unknown-node", 12), ("artifact.port-range", 13),
        ("artifact.dump-line", 14), ("artifact.unlinked-adapter", 5), ("artifact.unlinked-adapter", 6),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------- other topologies


def test_the_database_of_a_manager_names_managers_and_engine() -> None:
    part = opensm_smdb.parse(fabric_files.write_smdb(truth()), "opensm-smdb.dump")
    assert part.engine == "ar_updn"
    assert [(fact.port_guid, fact.lid, fact.priority, fact.state, fact.name) for fact in part.managers] == [
        (HOST + 1, 1, 14, "master", "host-0001"), (0x02B31E1525BE0001, 2, 13, "standby", ""),
    ]  # fmt: skip
    assert part.skipped == ()


def test_a_link_list_names_its_own_manager_and_a_broken_line() -> None:
    data = (RECORDED / "opensm-subnet.lst").read_bytes()
    part = subnet_lst.parse(data, "x.lst")
    assert [(fact.port_guid, fact.lid, fact.state) for fact in part.managers] == [(HOST + 1, 1, "master")]
    broken = subnet_lst.parse(data.replace(b"PHY=4x", b"PHY=", 1), "x.lst")
    assert codes_of(broken)[0] == ("artifact.dump-line", "error", 1)


def test_switches_that_a_link_list_calls_adapters_are_switches() -> None:
    text = (RECORDED / "opensm-subnet.lst").read_text().replace("{ SW ", "{ CA ")
    part = subnet_lst.parse(text.encode(), "x.lst")
    assert [(code, severity) for code, severity, _ in codes_of(part)] == [("artifact.node-kind", "warning")]
    assert part.discovery is not None
    assert sum(node.kind == "switch" for node in part.discovery.nodes) == 3


def test_iblinkinfo_keeps_dark_ports_and_refuses_what_it_cannot_place() -> None:
    text = (RECORDED / "iblinkinfo.txt").read_text()
    dark = '          10    9[  ] ==(                Down/ Polling)==>             [  ] "" ( )\n'
    at = text.index("Switch: 0x02fc")
    part = iblinkinfo.parse((text[:at] + dark + text[at:]).encode(), "x")
    assert part.problems == ()
    assert (port(part, LEAF, 9).state, port(part, LEAF, 9).physical) == (1, 2)
    alone = iblinkinfo.parse("\n".join(text.splitlines()[8:17]).encode(), "x")
    assert {code for code, _, _ in codes_of(alone)} == {"artifact.unknown-node"}


def test_net_dump_is_read_by_its_column_names() -> None:
    part = net_dump.parse(fabric_files.write_net_dump(truth()), "x")
    assert (port(part, LEAF, 1).mtu, port(part, LEAF, 1).state, port(part, LEAF, 1).speed) == (4096, 4, "HDR")
    wide = (
        "Ty : # : #IB : GUID : LID : Sta : PhysSta : LWA : LSA : Conn LID : FEC mode : RTR : Raw BER : Node Desc\n"
        'SW : sw1p1 : 1 : 0x02f3765884e00000 : 10 (0xa) : ACT : LINK_UP : 4x : 100 : 5 : RS : NO : 2e-13 : "leaf : 2"\n'
        'CA : 1 : 1 : 0x0269b4fe8caa0000 : 1 (0x1) : INIT : LINK_UP : 2x : 200 : 9 : RS : N : N/A : "host-0001 HCA-1"\n'
        "SW : cut : off\n"
    )
    part = net_dump.parse_wide(wide.encode(), "x")
    assert (port(part, LEAF, 1).speed, port(part, HOST, 1).lid, port(part, HOST, 1).state) == ("NDR", 1, 2)
    assert [fact.description for fact in part.nodes] == ["leaf : 2", "host-0001 HCA-1"]
    assert codes_of(part) == [("artifact.dump-line", "error", 4)]


# --------------------------------------------------------------------------------------------------------- the rest


def test_managers_are_read_from_sminfo_and_from_the_report() -> None:
    (manager,) = managers.parse_sminfo((RECORDED / "sminfo.txt").read_bytes(), "x").managers
    assert (manager.lid, manager.port_guid, manager.priority, manager.state) == (1, HOST + 1, 0, "master")
    report = (
        "fabric SM report\n\n  SM - master\n    leaf/P0 lid=0x0009 guid=0x0000000000000010 dev=1 priority:15\n"
        "  SM - standby\n    Port=1 lid=0x0001 guid=0x0000000000000020 dev=1 priority:3\n"
    )
    part = managers.parse_report(report.encode(), "ibdiagnet2.sm")
    assert [(fact.port_guid, fact.lid, fact.priority, fact.state) for fact in part.managers] == [
        (16, 9, 15, "master"), (32, 1, 3, "standby"),
    ]  # fmt: skip
    unknown = managers.parse_report(b"something else\n", "ibdiagnet2.sm")
    assert codes_of(unknown) == [("artifact.layout-unknown", "warning", 1)]


def test_smpquery_says_what_ports_and_switches_can_and_do() -> None:
    part = smpquery.parse((RECORDED / "smpquery.txt").read_bytes(), "x")
    assert part.problems == ()
    outer = port(part, LEAF, 1)
    assert (outer.lid, outer.vls, outer.vls_used, outer.width, outer.speed, outer.mtu) == (10, 8, 8, 4, "HDR", 2048)
    assert (outer.enforces_in, outer.protection, outer.lease_s) == (False, None, None)
    own = port(part, LEAF, 0)
    assert (own.protection, own.lease_s, own.has_management_key) == (0, 4089, None)
    assert [fact.table_capacity for fact in part.nodes if fact.table_capacity] == [30720]
    assert [fact.switch_key_capacity for fact in part.nodes if fact.switch_key_capacity] == [64]
    assert len(part.lanes) == 9
    assert part.lanes[0].lanes == (*range(15), 7)
    (table,) = part.arbitration
    assert (table.number, table.high[:2], table.low[:2]) == (1, ((0, 4), (1, 0)), ((0, 0), (1, 4)))


def test_an_answer_by_directed_route_without_a_lid_is_left_out_in_words() -> None:
    text = b"# Port info: DR path slid 65535; dlid 65535; 0,1 port 2\nLid:......0\nVLCap:....VL0-7\n"
    part = smpquery.parse(text, "x")
    assert part.ports == ()
    assert codes_of(part) == [("artifact.unknown-node", "note", 1)]


def test_names_are_read_and_a_second_one_is_said() -> None:
    part = node_name_map.parse(b'# names\n0x1 "a" # first\n0x1 "b"\n0x2 c\n', "x")
    assert part.names == {1: "a"}
    assert codes_of(part) == [("artifact.duplicate-name", "warning", 3), ("artifact.dump-line", "error", 4)]


def test_exports_of_ufm_are_read_and_broken_ones_are_refused_by_place() -> None:
    text = b'[{"pkey": "0x7fff", "guids": [{"guid": "0x2", "membership": "limited", "index0": false}, {"guid": "3"}]}]'
    part = ufm.parse_pkeys(text, "x")
    assert [(fact.port_guid, fact.keys) for fact in part.keys] == [(2, (0x7FFF,))]
    assert codes_of(part) == [("artifact.dump-line", "error", None)]
    systems = b'[{"system_guid": "10", "guid": "10", "type": "switch", "system_name": "sw", "fw_version": "31.2"}]'
    (node,) = ufm.parse_systems(systems, "x").nodes
    assert (node.node, node.kind, node.description, node.firmware) == (16, "switch", "sw", "31.2")
    for parse in (ufm.parse_ports, ufm.parse_links, ufm.parse_systems, ufm.parse_pkeys):
        assert codes_of(parse(b'[\n {"guid": }]', "x"))[0] == ("artifact.dump-line", "error", 2)
        assert codes_of(parse(b"[]", "x")) == [("artifact.dump-empty", "error", 1)]
        assert codes_of(parse(b"[" * 100_000, "x"))[0][1] == "error"


@pytest.mark.parametrize("form", [form.name for form in FORMS if form.parse is not None])
def test_binary_and_empty_files_are_problems_and_no_traceback(form: str) -> None:
    (parse,) = [entry.parse for entry in FORMS if entry.name == form]
    assert parse is not None
    for data in (b"", b"\x00\x01\x02", b"\xff\xfe" * 100, b"\n" * 10):
        part = parse(data, "x")
        assert all(isinstance(problem, Problem) for problem in part.problems)
        assert part.discovery is None
