"""One fabric read through every form gives the same nodes, links and LIDs; where files differ, that is said."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests import fabric_files
from weftline.adopt import FORMS, build_fabric, read_discovery, read_survey, recognise
from weftline.adopt.survey import EXACTNESS
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery
from weftline.model.survey import SurveyPart

RECORDED = Path(__file__).parents[1] / "formats" / "infiniband"
"""What real tools printed of one fabric in ibsim under a real OpenSM."""
WRITERS = {
    "ibdiagnet2.db_csv": fabric_files.write_db_csv,
    "opensm-smdb.dump": fabric_files.write_smdb,
    "ports.json": fabric_files.write_ufm_ports,
    "links.json": fabric_files.write_ufm_links,
    "ibdiagnet2.net_dump": fabric_files.write_net_dump,
}


def recorded(file: str) -> bytes:
    return (RECORDED / file).read_bytes()


def truth() -> Discovery:
    found = read_survey([("ibnetdiscover.txt", recorded("ibnetdiscover.txt"))]).discovery
    assert found is not None
    return found


def read(file: str, data: bytes) -> SurveyPart:
    form = recognise(file, data)
    assert form is not None, file
    assert form.parse is not None, file
    return form.parse(data, file)


def summary(discovery: Discovery) -> tuple[set[tuple[str, str]], set[tuple[str, int]], dict[tuple[str, str], float]]:
    """Say what an adopted fabric is by names: links, LIDs, and rates."""
    adoption = build_fabric(discovery)
    assert isinstance(adoption, Adoption), adoption
    assert [problem for problem in adoption.problems if problem.is_error] == []
    fabric, addresses = adoption.fabric, adoption.addresses
    title = [
        f"{fabric.node_name[node]}/{number}"
        for node, number in zip(fabric.port_node.tolist(), fabric.port_number.tolist(), strict=True)
    ]
    peers: list[int] = fabric.port_peer.tolist()
    rates: dict[tuple[str, str], float] = {}
    for port, peer in enumerate(peers):
        if peer != NIL:
            ends = sorted((title[port], title[peer]))
            rates[(ends[0], ends[1])] = float(fabric.port_rate_gbps[port])
    lids = {(name, int(lid)) for name, lid in zip(fabric.node_name, addresses.node_address, strict=True) if lid > 0}
    lids |= {(title[port], int(lid)) for port, lid in enumerate(addresses.port_address) if lid > 0}
    return set(rates), lids, rates


@pytest.mark.parametrize("file", ["ports.txt", "opensm-subnet.lst", "iblinkinfo.txt", "iblinkinfo-l.txt"])
def test_what_real_tools_print_of_one_fabric_is_one_fabric(file: str) -> None:
    part = read(file, recorded(file))
    assert part.problems == ()
    assert part.discovery is not None
    assert summary(part.discovery) == summary(truth())


@pytest.mark.parametrize("file", sorted(WRITERS))
def test_a_fabric_written_in_other_forms_is_the_same_fabric(file: str) -> None:
    part = read(file, WRITERS[file](truth()))
    assert part.problems == ()
    assert part.discovery is not None
    links, lids, rates = summary(part.discovery)
    expected = summary(truth())
    assert links == expected[0]
    if file != "links.json":  # its export knows neither LIDs nor speeds
        assert (lids, rates) == expected[1:]


def test_files_of_one_fabric_agree() -> None:
    files = [(path.name, path.read_bytes()) for path in sorted(RECORDED.iterdir())]
    files += [(f"made/{name}", write(truth())) for name, write in WRITERS.items()]
    survey = read_survey(files)
    assert [problem for problem in survey.problems if problem.severity != "note"] == []
    assert survey.discovery_file == "ibnetdiscover.txt"
    assert {source.form for source in survey.sources} >= set(EXACTNESS)
    nodes = {node.guid for node in truth().nodes}
    assert {fact.node for part in survey.parts for fact in (*part.ports, *part.nodes, *part.lanes)} <= nodes


def test_a_cable_moved_between_two_files_is_named() -> None:
    moved = recorded("opensm-subnet.lst").decode().splitlines()
    at = [row for row, line in enumerate(moved) if "{leaf-001}" in line and "{host-0001 HCA-1}" in line]
    text = "\n".join(
        line.replace("{leaf-001} LID:0009 PN:01", "{leaf-001} LID:0009 PN:07X").replace("PN:07X", "PN:07")
        if row in at
        else line
        for row, line in enumerate(moved)
        if "{leaf-001} LID:0009 PN:07" not in line
    )
    survey = read_survey([("a.txt", recorded("ibnetdiscover.txt")), ("b.lst", text.encode())])
    (problem,) = survey.problems
    assert (problem.code, problem.severity) == ("artifact.sources-disagree", "warning")
    assert "a.txt (ibnetdiscover) and this file (subnet-lst) say otherwise" in problem.message
    assert "2 links are only in the former" in problem.message
    assert "leaf-001/7~host-0001 HCA-1/1" in problem.message or "host-0001 HCA-1/1~leaf-001/7" in problem.message
    assert problem.where is not None
    assert problem.where.file == "b.lst"


def test_a_whole_file_counts_before_a_more_exact_one_that_is_cut_off() -> None:
    cut = recorded("ibnetdiscover.txt")
    survey = read_survey([("a.txt", cut[: len(cut) // 2]), ("b.lst", recorded("opensm-subnet.lst"))])
    assert survey.discovery_file == "b.lst"
    assert "artifact.sources-disagree" in {problem.code for problem in survey.problems}


def test_names_of_a_node_name_map_replace_descriptions() -> None:
    names = b'0x02ef0619569e0000 "sw-hall-1"\n0x0269b4fe8caa0001 "gpu-1/nic1"\n'
    survey = read_survey([("a.txt", recorded("ibnetdiscover.txt")), ("node-name-map", names)])
    assert survey.discovery is not None
    found = {node.description for node in survey.discovery.nodes}
    assert {"sw-hall-1", "gpu-1 HCA-1"} <= found
    assert "leaf-001" not in found


def test_answers_by_lid_and_members_by_port_are_brought_to_their_nodes() -> None:
    member = '{"guid": "02b31e1525be0001", "membership": "full", "index0": true}'
    pkeys = f'{{"0x7001": {{"partition": "blue", "ip_over_ib": true, "guids": [{member}]}}}}'.encode()
    lanes = re.sub(rb"(?s)^.*?(# SL2VL)", rb"\1", recorded("smpquery.txt")).split(b"# Node info")[0]
    survey = read_survey([("a.txt", recorded("ibnetdiscover.txt")), ("pkeys.json", pkeys), ("smpquery.txt", lanes)])
    (key,) = survey.parts[1].keys
    assert (key.node, key.number, key.keys, key.is_whole) == (0x02B31E1525BE0000, 1, (0xF001,), False)
    assert {lane.node for lane in survey.parts[2].lanes} == {0x02F3765884E00000}
    assert {table.node for table in survey.parts[2].arbitration} == {0x02F3765884E00000}


def test_a_map_names_a_switch_and_rates_are_known() -> None:
    adoption = build_fabric(truth())
    assert isinstance(adoption, Adoption)
    assert np.all(adoption.fabric.port_rate_gbps == 200.0)


def test_forms_have_names_of_their_own_and_say_who_writes_them() -> None:
    assert len({form.name for form in FORMS}) == len(FORMS)
    assert all(form.title and form.written_by for form in FORMS)
    noted = {"ar", "plft"}  # that they are there says that adaptive routing is on
    assert all(form.is_read or form.parse is None or form.name in noted for form in FORMS)


@pytest.mark.parametrize(
    "head",
    [
        b"\xef\xbb\xbfSystem,Port,Peer Node,Peer Port\nleaf,1,spine,2\n",
        b"timestamp,source_id,tag,Node_GUID,port_guid,Port_Number,Link_Down\n1,2,3,4,5,6,7\n",
    ],
)
def test_tables_of_ufm_are_known(head: bytes) -> None:
    form = recognise("export.csv", head)
    assert form is not None
    assert (form.name, form.is_read) == ("ufm-table", False)


@pytest.mark.parametrize(
    ("file", "form"),
    [
        ("ibdiagnet2.log", "ibdiagnet-log"),
        ("x/ibdiagnet2.cables", "ibdiagnet-cables"),
        ("ibdiagnet2.pm", "ibdiagnet-pm"),
        ("ibdiagnet2.nodes_info", "ibdiagnet-nodes-info"),
        ("ibdiagnet2.vports", "ibdiagnet-other"),
    ],
)
def test_files_that_nobody_reads_are_known_by_name_and_keep_no_bytes(file: str, form: str) -> None:
    survey = read_survey([(file, b"-I- something that is no other form\n")])
    assert [(source.form, source.data) for source in survey.sources] == [(form, b"")]


@pytest.mark.parametrize("file", [*sorted(WRITERS), "opensm-subnet.lst", "iblinkinfo-l.txt"])
def test_each_topology_is_adopted_alone(file: str) -> None:
    data = WRITERS[file](truth()) if file in WRITERS else recorded(file)
    found = read_discovery(data, file)
    assert isinstance(found, Discovery)
    assert summary(found)[0] == summary(truth())[0]


def test_a_file_without_links_is_refused_in_words() -> None:
    found = read_discovery(b"START_NODES\nNodeGUID,NodeType\n0x1,2\nEND_NODES\n", "x.db_csv")
    assert isinstance(found, tuple)
    assert [problem.code for problem in found] == ["artifact.not-collected", "artifact.dump-empty"]
