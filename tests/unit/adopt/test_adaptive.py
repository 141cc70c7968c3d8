"""Adaptive routing: every port that a packet may choose is judged, and what is not in the files is unknown."""

from __future__ import annotations

import pytest

from tests.fabrics import from_links
from tests.tables import minimal_routes
from tests.unit.adopt.dumps import number
from tests.unit.adopt.tabled import lid_of, ports, write_far, write_fdbs
from weftline.adopt import find_adaptive, read_programmed, read_survey
from weftline.app.adopt import tell_tables
from weftline.model.adoption import Tables
from weftline.model.proof import ProofReport, ProofRules, Verdict
from weftline.model.survey import OptionFact, Place, Survey, SurveyPart
from weftline.prove import prove
from weftline.route import compute_routes

# Two leaves and two spines, a host on each: the shape in which traffic between spines goes down and up again.
FABRIC = from_links(4, 1, [(0, 2), (0, 3), (1, 2), (1, 3)])
ADDRESSES = number(FABRIC)
STATIC = compute_routes(FABRIC, "updown", to_switches=True)
CHOICE = minimal_routes(FABRIC, tie=lambda _row, _d, found: found, to_switches=True)
FDBS = ("x/ibdiagnet2.fdbs", write_fdbs(FABRIC, ADDRESSES, STATIC, "osm_ucast_mgr_dump_ucast_routes: ").encode())
FAR = ("x/ibdiagnet2.far", write_far(FABRIC, ADDRESSES, STATIC, CHOICE).encode())
AR = ("x/ibdiagnet2.ar", b"Switch 0x0002c90300100000 whatever\n")


def read(*files: tuple[str, bytes], evidence: tuple[str, ...] = ()) -> Tables:
    found = read_programmed(files, FABRIC, ADDRESSES, evidence)
    assert isinstance(found, Tables), found
    return found


def judge(tables: Tables) -> ProofReport:
    rules = ProofRules(required=("reach", "deadlock"), balance_threshold=10.0)
    return prove(FABRIC, tables.routes, rules, None, tables.unseen)


def verdicts(report: ProofReport) -> dict[str, Verdict]:
    return {proof.claim: proof.verdict for proof in report.proofs}


def codes(tables: Tables) -> list[tuple[str, str]]:
    return [(problem.code, problem.severity) for problem in tables.problems]


def test_a_table_only_audit_misses_real_paths() -> None:
    alone = read(FDBS)
    assert verdicts(judge(alone)) == dict.fromkeys(("reach", "deadlock", "balance"), Verdict.PROVED)
    tables = read(FDBS, FAR)
    report = judge(tables)
    assert verdicts(report)["reach"] is Verdict.PROVED
    assert verdicts(report)["deadlock"] is Verdict.REFUTED
    assert not report.is_accepted
    witness = next(proof.witness for proof in report.proofs if proof.claim == "deadlock")
    assert witness is not None
    assert len(witness.detail["cycle"]) == 4
    assert all("/" in link and "~" in link for link in witness.detail["cycle"])
    assert tables.adaptive.state == "judged"
    assert tables.adaptive.switches == 4
    assert "every port that adaptive routing may choose" in tables.routes.guarantee
    assert "every port that adaptive routing may choose" in tell_tables(tables)
    assert not tables.problems


def test_the_groups_are_the_static_port_and_the_choices() -> None:
    for files in ((FDBS, FAR), (FAR, FDBS), (FAR,)):
        routes = read(*files).routes
        for row in range(4):
            for d in range(len(routes.destination_node)):
                want = sorted({*ports(FABRIC, STATIC, row, d), *ports(FABRIC, CHOICE, row, d)})
                assert sorted(ports(FABRIC, routes, row, d)) == want


def test_a_static_port_outside_the_group_counts_too() -> None:
    text = FAR[1].decode()
    line = next(line for line in text.splitlines() if "Free" in line)
    lid, _, _, group = line.split()
    tables = read((FAR[0], text.replace(line, f"{lid}  1  Free  {group}", 1).encode()))
    d = next(d for d in range(len(STATIC.destination_node)) if lid_of(STATIC, ADDRESSES, d) == int(lid, 16))
    assert sorted(ports(FABRIC, tables.routes, 0, d)) == sorted({1, *ports(FABRIC, CHOICE, 0, d)})
    assert verdicts(judge(tables))["reach"] is Verdict.REFUTED


def test_adaptive_routing_is_on_and_its_groups_are_absent() -> None:
    tables = read(FDBS, evidence=("option routing_engine of opensm.conf is ar_updn",))
    assert codes(tables) == [("artifact.adaptive-missing", "warning")]
    assert tables.adaptive.state == "unknown"
    report = judge(tables)
    assert verdicts(report) == dict.fromkeys(("reach", "deadlock", "balance"), Verdict.UNKNOWN)
    assert not report.is_accepted
    assert "ar_updn" in report.proofs[0].statement
    assert "not in the files" in tell_tables(tables)


def test_what_is_refuted_stays_refuted() -> None:
    data = write_fdbs(FABRIC, ADDRESSES, STATIC).replace(": 001  :", ": 255  :").encode()
    report = judge(read(("opensm.fdbs", data), evidence=("it is on",)))
    assert verdicts(report)["reach"] is Verdict.REFUTED


@pytest.mark.parametrize("name", ["x/ibdiagnet2.ar", "x/ibdiagnet2.plft"])
def test_a_layout_that_is_not_known_makes_it_unknown_not_none(name: str) -> None:
    tables = read(FDBS, (name, AR[1]))
    assert codes(tables) == [("artifact.adaptive-unread", "warning"), ("artifact.adaptive-missing", "warning")]
    assert verdicts(judge(tables))["deadlock"] is Verdict.UNKNOWN
    assert read(FDBS, (name, b"# nothing\n")).adaptive.state == "not-seen"
    assert read(FDBS, FAR, (name, AR[1])).adaptive.state == "judged"


def test_groups_that_are_empty_or_have_ports_that_do_not_exist() -> None:
    text = FAR[1].decode()
    row = next(line for line in text.splitlines() if line.startswith("0  0  0  "))
    empty = read((FAR[0], text.replace(row, "0  0  0", 1).encode()))
    assert codes(empty) == [("artifact.adaptive-group", "error")]
    wrong = read((FAR[0], text.replace(row, f"{row},77", 1).encode()))
    assert codes(wrong) == [("artifact.table-port", "error")]


def test_some_switches_without_an_adaptive_table() -> None:
    text = FAR[1].decode()
    tables = read(FDBS, (FAR[0], text[: text.rindex("Switch")].encode()))
    assert codes(tables) == [("artifact.adaptive-partial", "warning")]


def test_files_that_contradict_each_other() -> None:
    lines = FDBS[1].decode().splitlines()
    at = next(at for at, line in enumerate(lines) if ": 002  :" in line)
    lines[at] = lines[at].replace(": 002  :", ": 003  :")
    tables = read(FDBS, ("y/opensm.fdbs", "\n".join(lines).encode()))
    assert codes(tables) == [("artifact.table-differs", "error")]
    assert str(tables.problems[0].where) == f"y/opensm.fdbs:{at + 1}:1"
    assert not codes(read(FDBS, ("y/opensm.fdbs", FDBS[1])))
    twice = read((FDBS[0], FDBS[1] + FDBS[1]))
    assert {code for code, _ in codes(twice)} == {"artifact.table-repeated"}


def test_private_tables_are_choices() -> None:
    text = FDBS[1].decode()
    head, rest = text.split("\n", 1)
    own = rest[: rest.index("osm_")]
    swapped = own.replace(": 002  :", ": XXX  :").replace(": 003  :", ": 002  :").replace(": XXX  :", ": 003  :")
    data = f"{head}\nPLFT_NUM: 0\n{own}PLFT_NUM: 1\n{swapped}{rest[len(own) :]}".encode()
    tables = read((FDBS[0], data))
    assert codes(tables) == [("artifact.table-private", "warning")]
    d = next(d for d in range(len(STATIC.destination_node)) if ports(FABRIC, STATIC, 0, d) == [2])
    assert ports(FABRIC, tables.routes, 0, d) == [2, 3]
    lid = f"0x{lid_of(STATIC, ADDRESSES, 0):04X}"
    drops = read((FDBS[0], data.replace(b"PLFT_NUM: 1\n", f"PLFT_NUM: 1\n{lid} : 255  : 00\n".encode())))
    assert "private tables drop" in drops.unseen


def test_how_it_is_known_to_be_on() -> None:
    where = Place("opensm.conf", 3, 1)

    def survey(part: SurveyPart) -> Survey:
        empty = read_survey([("opensm.conf", b"")])
        return Survey(empty.sources, (part,), None, "", ())

    def option(name: str, value: str) -> SurveyPart:
        return SurveyPart(options=(OptionFact(name, value, where),))

    assert find_adaptive(survey(option("routing_engine", "ar_updn,updn"))) == (
        "option routing_engine of opensm.conf is ar_updn,updn",
    )
    assert find_adaptive(survey(option("ar_mode", "1")))
    assert find_adaptive(survey(SurveyPart(engine="ar_ftree")))
    assert find_adaptive(survey(SurveyPart(skipped=("AR_INFO",))))
    assert find_adaptive(survey(SurveyPart(is_adaptive=True)))
    assert not find_adaptive(survey(SurveyPart(is_adaptive=False)))
    for name, value in (("routing_engine", "ftree,updn"), ("ar_mode", "0"), ("other", "ar_updn")):
        assert not find_adaptive(survey(option(name, value)))
    assert find_adaptive(read_survey([AR])) == ("x/ibdiagnet2.ar has tables that are not read",)


@pytest.mark.parametrize(
    ("column", "value", "is_on", "skipped"),
    [
        ("e", "1", True, False),
        ("e", "0", False, False),
        ("isARSupported", "1", None, True),
        ("en", "N/A", None, True),
    ],
)
def test_what_the_switches_say(column: str, value: str, is_on: bool | None, skipped: bool) -> None:
    nodes = 'START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID,PortGUID\n"s",4,2,0x0002c90300100000,0x0002c90300100000\n'
    info = f"START_AR_INFO\nNodeGUID,{column}\n0x0002c90300100000,{value}\nEND_AR_INFO\n"
    survey = read_survey([("ibdiagnet2.db_csv", f"{nodes}END_NODES\n\n{info}".encode())])
    assert survey.parts[0].is_adaptive is is_on
    assert ("AR_INFO" in survey.parts[0].skipped) is skipped
    assert bool(find_adaptive(survey)) is (is_on is not False)


def test_what_the_log_of_ibdiagnet_says() -> None:
    log = b"Discovery\n-I- Adaptive Routing is enabled on %d switches\n"
    for count in (0, 4):
        survey = read_survey([("ibdiagnet2.log", log % count)])
        assert survey.parts[0].is_adaptive is bool(count)
    assert read_survey([("ibdiagnet2.log", b"Discovery\n")]).parts[0].is_adaptive is None


def test_nothing_that_can_be_read() -> None:
    assert isinstance(read_programmed((AR,), FABRIC, ADDRESSES), tuple)
    found = read_programmed((("x", b"words\n"),), FABRIC, ADDRESSES)
    assert isinstance(found, tuple)
    assert any(problem.is_error for problem in found)
