"""Each rule of an audit: what it finds, what it leaves alone, and what stays unknown where no file speaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.designs import render_design
from tests.tables import change_entries, clockwise_routes, ring
from weftline.adopt import build_fabric, read_discovery
from weftline.errors import Place, Problem
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption
from weftline.model.audit import AuditInput, Declared, Judged
from weftline.model.finding import Topic
from weftline.model.proof import ProofRules
from weftline.model.routes import no_route
from weftline.model.survey import ArbitrationFact, LaneFact, ManagerFact, PortFact, Source, Survey, SurveyPart
from weftline.prove import prove
from weftline.technologies.infiniband.audit import OBSERVATION, fabric, files, keys, lanes, links, managers, routing

DUMP = Path(__file__).parents[2] / "golden" / "cases" / "adopt-lab" / "input" / "ibnetdiscover.txt"
HERE = Place("dump", 1)


@pytest.fixture(scope="module")
def adoption() -> Adoption:
    """A small fabric as it was discovered."""
    discovery = read_discovery(DUMP.read_bytes(), "dump")
    assert not isinstance(discovery, tuple)
    adopted = build_fabric(discovery)
    assert not isinstance(adopted, tuple)
    return adopted


def survey(form: str = "ibdiagnet-csv", **parts: Any) -> Survey:
    """Make a survey of one file that says this."""
    part = SurveyPart(**parts)
    return Survey((Source("dump", form, "0" * 64),), (part,), None, "", part.problems)


def given(adopted: Adoption | None = None, form: str = "ibdiagnet-csv", **parts: Any) -> AuditInput:
    """Make the input of a rule."""
    return AuditInput(survey(form, **parts), adopted, None, None)


def rules(topic: Topic) -> list[str]:
    """List the rules that found something."""
    return [finding.rule for finding in topic.findings]


def test_without_any_file_that_speaks_nothing_is_good() -> None:
    nothing = AuditInput(Survey((Source("x", "", "0" * 64),), (SurveyPart(),), None, "", ()), None, None, None)
    topics = OBSERVATION.judge(nothing)
    assert {topic.key: topic.verdict for topic in topics if topic.key != "files"} == {
        topic.key: "unknown" for topic in topics if topic.key != "files"
    }
    assert all(topic.unjudged for topic in topics if topic.key != "files")
    assert not any(topic.good_controls for topic in topics)


def test_controls_that_rules_name_exist(adoption: Adoption) -> None:
    topics = OBSERVATION.judge(given(adoption))
    named = {key for topic in topics for item in (*topic.findings, *topic.unjudged) for key in item.controls}
    assert named <= set(OBSERVATION.controls)


def test_files_that_nobody_knows() -> None:
    topic = files.judge(given(form=""))
    assert rules(topic) == ["files.nothing-read", "files.not-known"]
    assert topic.verdict == "bad"
    one = given(form="ibnetdiscover")
    strange = replace(one, survey=replace(one.survey, sources=(*one.survey.sources, Source("notes", "", "0"))))
    topic = files.judge(strange)
    assert rules(topic) == ["files.not-known"]
    assert topic.verdict == "good"


def test_what_is_wrong_with_a_file_is_bad_news(adoption: Adoption) -> None:
    """Be it a file of the survey, or one that the tables were read from; adoption may find more."""
    wrong = Problem("artifact.table-port", "it has no such port", "dump it again", HERE)
    assert (files.judge(given()).verdict, files.judge(given(problems=(wrong,))).verdict) == ("good", "bad")
    world = ring(4, hosts=2)
    routes = clockwise_routes(world, 4, ties="opposite")
    read = Judged(routes, "of a test", prove(world, routes, ProofRules()), (wrong,))
    topic = files.judge(replace(given(), programmed=read))
    assert (topic.verdict, rules(topic), topic.findings[0].where) == ("bad", ["artifact.table-port"], (HERE,))
    topic = fabric.judge(given(replace(adoption, problems=(*adoption.problems, wrong))))
    assert (topic.verdict, rules(topic)) == ("bad", ["artifact.table-port"])


def test_a_fabric_is_counted(adoption: Adoption) -> None:
    topic = fabric.judge(given(adoption))
    assert topic.verdict == "good"
    assert dict(topic.figures)["Switches"] == "4"


@pytest.mark.parametrize("rule", [routing.judge_reach, routing.judge_deadlock, routing.judge_balance])
def test_routing_without_tables_is_unknown(rule: Any, adoption: Adoption) -> None:
    topic = rule(given(adoption))
    assert topic.verdict == "unknown"
    assert topic.unjudged[0].needs.startswith("dump_fts")


MASTER = ManagerFact(HERE, port_guid=1, lid=1, priority=14, state="master")
STANDBY = ManagerFact(HERE, port_guid=2, lid=2, priority=13, state="standby")


def declared(adoption: Adoption, *guids: int) -> Declared:
    """Make a declaration that has these managers."""
    return Declared("x.yaml", adoption.fabric, adoption.addresses, (), guids)


def test_managers_as_declared(adoption: Adoption) -> None:
    source = replace(given(adoption, managers=(MASTER, STANDBY)), declared=declared(adoption, 1, 2))
    topic = managers.judge(source)
    assert (topic.verdict, topic.good_controls) == ("good", ("IBS-05",))


def test_managers_without_a_declaration_are_unknown(adoption: Adoption) -> None:
    topic = managers.judge(given(adoption, managers=(MASTER, STANDBY)))
    assert (topic.verdict, topic.good_controls) == ("unknown", ())


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        ((MASTER, replace(STANDBY, state="master")), "managers.two-masters"),
        ((MASTER,), "managers.no-standby"),
        ((MASTER, replace(STANDBY, priority=14)), "managers.same-priority"),
        ((MASTER, STANDBY, replace(STANDBY, port_guid=3, lid=3)), "managers.undeclared"),
        ((MASTER, STANDBY, replace(STANDBY, port_guid=3, lid=3, state="discovering")), "managers.undeclared"),
    ],
)
def test_managers(found: tuple[ManagerFact, ...], rule: str, adoption: Adoption) -> None:
    source = replace(given(adoption, managers=found), declared=declared(adoption, 1, 2))
    assert rule in rules(managers.judge(source))


def test_two_files_about_one_manager_are_one_manager(adoption: Adoption) -> None:
    port = int(adoption.fabric.endpoint_port[0])
    guid, lid = int(adoption.addresses.port_id[port]), int(adoption.addresses.port_address[port])
    by_lid = ManagerFact(HERE, lid=lid, state="master", priority=5)
    by_guid = ManagerFact(HERE, port_guid=guid, lid=lid, state="master")
    topic = managers.judge(given(adoption, managers=(by_lid, by_guid, STANDBY)))
    assert "managers.two-masters" not in rules(topic)
    assert topic.figures[0] == (adoption.fabric.port_name(port), "master, priority 5")


def test_what_files_say_of_one_manager_is_joined(adoption: Adoption) -> None:
    """The first file names it without saying what it is."""
    port = int(adoption.fabric.endpoint_port[0])
    guid, lid = int(adoption.addresses.port_id[port]), int(adoption.addresses.port_address[port])
    told = ManagerFact(HERE, lid=lid, state="master", priority=14)
    other = replace(MASTER, port_guid=2, lid=999)
    for facts in ((ManagerFact(HERE, port_guid=guid), told, other), (told, ManagerFact(HERE, port_guid=guid), other)):
        source = replace(given(adoption, managers=facts), declared=declared(adoption, guid, 2))
        assert "managers.two-masters" in rules(managers.judge(source))


def test_managers_none_of_which_is_master_are_not_good(adoption: Adoption) -> None:
    idle = (STANDBY, replace(STANDBY, port_guid=1, lid=1))
    topic = managers.judge(replace(given(adoption, managers=idle), declared=declared(adoption, 1, 2)))
    assert (topic.verdict, topic.good_controls) == ("unknown", ())


def test_the_master_alone_does_not_tell_whether_others_answer(adoption: Adoption) -> None:
    topic = managers.judge(given(adoption, form="sminfo", managers=(MASTER,)))
    assert topic.verdict == "unknown"
    assert "managers.no-standby" not in rules(topic)


SAME = tuple([0] * 16)
EVEN = LaneFact(1, 1, 2, SAME, HERE)


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"lanes": (EVEN, EVEN, LaneFact(1, 2, 1, (1, *SAME[1:]), HERE))}, "lanes.uneven"),
        ({"lanes": (LaneFact(1, 1, 2, (15, *SAME[1:]), HERE),)}, "lanes.dropped"),
        ({"arbitration": (ArbitrationFact(1, 1, ((1, 4),), ((0, 0), (1, 8)), HERE),)}, "lanes.starved"),
    ],
)
def test_lanes(facts: dict[str, Any], rule: str) -> None:
    topic = lanes.judge(given(**facts))
    assert rule in rules(topic)
    assert topic.verdict == "bad"


def test_lanes_in_order() -> None:
    shares = (ArbitrationFact(1, 1, ((0, 4),), ((0, 8),), HERE),)
    assert lanes.judge(given(lanes=(EVEN, EVEN), arbitration=shares)).verdict == "good"
    assert lanes.judge(given(lanes=(EVEN, EVEN))).verdict == "unknown"


def ends(adoption: Adoption, **near: Any) -> tuple[PortFact, ...]:
    """Say what both ends of the link of the first endpoint can and do; ``near`` changes that end."""
    found, ids = adoption.fabric, adoption.addresses
    port = int(found.endpoint_port[0])
    peer = int(found.port_peer[port])
    full: dict[str, Any] = {
        "width": 4, "width_supported": 4, "speed": "NDR", "speed_supported": "NDR", "mtu": 4096, "state": 4,
        "physical": 5,
    }  # fmt: skip
    host = PortFact(0, 1, HERE, port_guid=int(ids.port_id[port]), **{**full, **near})
    leaf = PortFact(int(ids.node_id[found.port_node[peer]]), int(found.port_number[peer]), HERE, **full)
    return host, leaf


def test_only_ports_that_have_a_key_of_their_own_are_asked_for_it(adoption: Adoption) -> None:
    host, leaf = ends(adoption, protection=2, has_management_key=True)
    outer = replace(leaf, protection=0, has_management_key=False)
    assert "keys.protection-level" not in rules(keys.judge(given(adoption, ports=(host, outer))))
    base = replace(outer, number=0)
    assert "keys.protection-level" in rules(keys.judge(given(adoption, ports=(host, base))))
    assert "keys.protection-level" in rules(keys.judge(given(adoption, ports=(replace(host, protection=1), outer))))


def test_a_leaf_that_lacks_an_uplink_is_named_with_the_switch_above(adoption: Adoption) -> None:
    made = render_design("infiniband", hosts=8, rails=4).fabric
    whole = replace(adoption, fabric=made)
    assert "fabric.few-uplinks" not in rules(fabric.judge(given(whole)))
    port = next(
        port
        for port, peer in enumerate(made.port_peer.tolist())
        if peer != NIL and made.node_tier[made.port_node[port]] == 1 and made.node_tier[made.port_node[peer]] == 2
    )
    peers = made.port_peer.copy()
    peers[[port, int(peers[port])]] = NIL
    topic = fabric.judge(given(replace(whole, fabric=replace(made, port_peer=peers))))
    (finding,) = [one for one in topic.findings if one.rule == "fabric.few-uplinks"]
    assert finding.subject == made.node_name[made.port_node[port]]
    assert made.node_name[made.port_node[made.port_peer[port]]] in finding.message
    assert topic.verdict == "bad"


def test_what_a_dump_only_counts_is_counted_in_the_answer(adoption: Adoption) -> None:
    problems = (
        Problem("artifact.unassigned-lid", "port 1 has LID 0", "", HERE, "warning"),
        Problem(
            "artifact.dump-repeated", "532 more problems artifact.unassigned-lid are not listed", "", HERE, "warning"
        ),
    )
    topic = fabric.judge(given(replace(adoption, problems=problems)))
    assert topic.summary.startswith("533 places of the dump to look at (artifact.unassigned-lid); ")


def every_end(adoption: Adoption, **near: Any) -> tuple[PortFact, ...]:
    """Say what both ends of every link can and do; ``near`` changes that of the first endpoint."""
    found, ids = adoption.fabric, adoption.addresses
    _, like = ends(adoption)
    first = int(found.endpoint_port[0])
    facts: list[PortFact] = []
    for port in np.flatnonzero(found.port_peer != NIL).tolist():
        changes: dict[str, Any] = near if port == first else {}
        node, number = int(ids.node_id[found.port_node[port]]), int(found.port_number[port])
        guid = 0 if found.switch_row[found.port_node[port]] != NIL else int(ids.port_id[port])
        facts.append(replace(like, node=node, number=number, port_guid=guid, **changes))
    return tuple(facts)


def test_links_at_their_best(adoption: Adoption) -> None:
    topic = links.judge(given(adoption, ports=every_end(adoption)))
    assert (topic.verdict, topic.findings) == ("good", ())
    assert topic.summary.endswith("or than its ports can.")


@pytest.mark.parametrize("near", [{"width_supported": None}, {"speed_supported": ""}])
def test_links_of_which_nobody_says_what_they_can_are_open(near: dict[str, Any], adoption: Adoption) -> None:
    count = int((adoption.fabric.port_peer != NIL).sum()) // 2
    topic = links.judge(given(adoption, ports=every_end(adoption, **near)))
    assert topic.verdict == "unknown"
    assert topic.unjudged[0].question.startswith(f"What can 1 of {count} links do at most?")
    assert links.judge(given(adoption, ports=every_end(adoption)[:-1])).verdict == "unknown"


def test_what_adoption_says_of_speeds_is_judged_here(adoption: Adoption) -> None:
    slow = Problem("artifact.slow-link", "it runs below the others", "", HERE, "warning")
    blind = Problem("artifact.unknown-speed", "its speed is not printed", "", HERE, "warning")
    other = Problem("artifact.table-port", "it has no such port", "", HERE)
    ports = every_end(adoption)
    for problem, found, verdict in ((slow, ["artifact.slow-link"], "bad"), (blind, [], "unknown"), (other, [], "good")):
        topic = links.judge(given(replace(adoption, problems=(problem,)), ports=ports))
        assert (rules(topic), topic.verdict) == (found, verdict)


def test_a_manager_that_a_file_names_by_lid_is_the_one_of_the_fabric(adoption: Adoption) -> None:
    port = int(adoption.fabric.endpoint_port[0])
    guid, lid = int(adoption.addresses.port_id[port]), int(adoption.addresses.port_address[port])
    by_lid = ManagerFact(HERE, lid=lid, state="master", priority=5)
    source = replace(given(adoption, managers=(by_lid, STANDBY)), declared=declared(adoption, guid, 2))
    assert managers.judge(source).good_controls == ("IBS-05",)
    assert rules(managers.judge(replace(source, declared=declared(adoption, 1, 2)))) == ["managers.undeclared"]


def test_ports_of_hosts_are_found_by_their_lid(adoption: Adoption) -> None:
    """As smpquery names them."""
    facts = list(every_end(adoption, speed="HDR"))
    of_guid = {
        int(guid): int(lid)
        for guid, lid in zip(adoption.addresses.port_id, adoption.addresses.port_address, strict=True)
    }
    by_lid = [replace(fact, port_guid=0, lid=of_guid[fact.port_guid]) if fact.port_guid else fact for fact in facts]
    topic = links.judge(given(adoption, ports=tuple(by_lid)))
    assert (rules(topic), topic.unjudged) == (["links.slow"], ())


def test_two_files_say_what_a_port_can_and_what_it_does(adoption: Adoption) -> None:
    """One knows what runs, another what could; neither alone shows the link that runs below."""
    whole = every_end(adoption, speed="HDR")
    runs = tuple(replace(fact, width_supported=None, speed_supported="") for fact in whole)
    can = tuple(replace(fact, width=None, speed="") for fact in whole)
    assert rules(links.judge(given(adoption, ports=(*runs, *can)))) == ["links.slow"]
    assert rules(links.judge(given(adoption, ports=(*can, *runs)))) == ["links.slow"]
    assert links.judge(given(adoption, ports=runs)).verdict == "unknown"


@pytest.mark.parametrize(
    ("near", "rule"),
    [
        ({"width": 1}, "links.narrow"),
        ({"speed": "HDR"}, "links.slow"),
        ({"state": 2}, "links.not-active"),
    ],
)
def test_links(near: dict[str, Any], rule: str, adoption: Adoption) -> None:
    topic = links.judge(given(adoption, ports=ends(adoption, **near)))
    assert rules(topic) == [rule]
    assert "host-" in topic.findings[0].subject or "leaf-" in topic.findings[0].subject


def test_a_port_with_a_small_mtu(adoption: Adoption) -> None:
    ports = (*ends(adoption), *ends(adoption, mtu=2048)[:1], *ends(adoption)[1:])
    odd = replace(ports[0], port_guid=77, node=77, mtu=2048)
    assert rules(links.judge(given(adoption, ports=(*ends(adoption), odd)))) == ["links.small-mtu"]


def test_a_link_that_can_less_is_no_finding(adoption: Adoption) -> None:
    slower = {"speed": "HDR", "speed_supported": "HDR"}
    assert links.judge(given(adoption, ports=ends(adoption, **slower))).findings == ()


@pytest.mark.parametrize(
    ("ties", "broken", "rule", "verdict"),
    [
        ("clockwise", False, "routing.deadlock", "bad"),
        ("opposite", True, "routing.reach", "bad"),
        ("clockwise", False, "routing.balance", "good"),
    ],
)
def test_programmed_tables(ties: str, broken: bool, rule: str, verdict: str, adoption: Adoption) -> None:
    world = ring(4, hosts=2)
    routes = clockwise_routes(world, 4, ties=ties)
    if broken:
        routes = change_entries(routes, {(0, 4): no_route(routes.group)})
    report = prove(world, routes, ProofRules(balance_threshold=1.0))
    source = replace(given(adoption), programmed=Judged(routes, "of a test", report))
    found = {topic.key: topic for topic in OBSERVATION.judge(source)}[rule.partition(".")[2]]
    assert (rules(found), found.verdict) == ([rule], verdict)


@pytest.mark.parametrize(
    ("lanes", "words"),
    [
        ((), "judged as on one lane"),
        ([0] * 16, ""),
        ([0, 1] * 8, "judged as on one lane; ports map service levels to 2 lanes"),
        ([0, *[15] * 15], ""),
    ],
)
def test_a_circle_on_one_lane_may_be_broken_by_levels(lanes: list[int], words: str) -> None:
    world = ring(4, hosts=2)
    routes = clockwise_routes(world, 4, ties="clockwise")
    facts = (LaneFact(1, 1, 2, tuple(lanes), HERE),) if lanes else ()
    report = prove(world, routes, ProofRules())
    topic = routing.judge_deadlock(replace(given(lanes=facts), programmed=Judged(routes, "of a test", report)))
    assert topic.verdict == "bad"
    assert bool(topic.unjudged) == bool(words)
    assert topic.summary.endswith(words)
    assert all("NCCL_IB_SL" in one.needs for one in topic.unjudged)
    free = clockwise_routes(world, 4, ties="opposite")
    proved = Judged(free, "of a test", prove(world, free, ProofRules()))
    assert routing.judge_deadlock(replace(given(lanes=facts), programmed=proved)).unjudged == ()


def test_an_endpoint_on_a_leaf_of_another_rail_is_named() -> None:
    lab = Path(__file__).parents[3] / "examples" / "lab-8.topo"
    discovery = read_discovery(lab.read_bytes(), "dump")
    assert not isinstance(discovery, tuple)
    adopted = build_fabric(discovery)
    assert not isinstance(adopted, tuple)
    topic = fabric.judge(given(adopted))
    strays = [finding.subject for finding in topic.findings if finding.rule == "fabric.stray-rail"]
    assert strays == ["host-0001/nic1", "host-0001/nic2"]
