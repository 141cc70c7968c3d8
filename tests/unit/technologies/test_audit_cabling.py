"""The audit of cabling: good only where a plan is there and everything is as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from weftline.adopt import build_fabric, read_discovery, read_survey
from weftline.model.adoption import Adoption
from weftline.model.audit import AuditInput
from weftline.model.finding import Topic
from weftline.technologies.infiniband.audit import cabling

EXAMPLES = Path(__file__).parents[3] / "examples"
PLAN = (EXAMPLES / "lab-8.ndt").read_text()
DUMP = (EXAMPLES / "lab-8.topo").read_bytes()


@pytest.fixture(scope="module")
def adoption() -> Adoption:
    discovery = read_discovery(DUMP, "lab-8.topo")
    assert not isinstance(discovery, tuple)
    adopted = build_fabric(discovery)
    assert isinstance(adopted, Adoption)
    return adopted


def judge(plan: str, adoption: Adoption | None) -> Topic:
    survey = read_survey([("plan.ndt", plan.encode())])
    assert [source.form for source in survey.sources] == ["plan"]
    return cabling.judge(AuditInput(survey, adoption, None, None))


def test_without_a_plan_or_a_topology_nothing_is_known(adoption: Adoption) -> None:
    nothing = cabling.judge(AuditInput(read_survey([]), adoption, None, None))
    assert (nothing.verdict, len(nothing.unjudged), nothing.findings) == ("unknown", 1, ())
    blind = judge(PLAN, None)
    assert (blind.verdict, len(blind.unjudged)) == ("unknown", 1)
    assert "32 cables" in blind.summary


def test_exchanged_cables_are_named_with_their_lines(adoption: Adoption) -> None:
    topic = judge(PLAN, adoption)
    assert topic.verdict == "bad"
    assert [finding.rule for finding in topic.findings] == ["cabling.miswired"] * 2
    assert topic.findings[0].subject == "HOST-0001/HOST-0001 HCA-1~LEAF-001/Port 1"
    assert [where.line for finding in topic.findings for where in finding.where] == [2, 3]
    assert topic.summary == "30 of 32 planned cables are where the plan has them, 2 are not."
    assert dict(topic.figures)["as planned"] == "30"


def test_a_plan_that_holds_is_good(adoption: Adoption) -> None:
    lines = PLAN.splitlines()
    assert judge("\n".join([lines[0], *lines[3:]]), adoption).verdict == "bad"  # the links at host-0001 are unplanned
    swapped = PLAN.replace("HOST-0001 HCA-1", "HOST-0001 HCA-9").replace("HOST-0001 HCA-2", "HOST-0001 HCA-1")
    right = swapped.replace("HOST-0001 HCA-9", "HOST-0001 HCA-2")
    topic = judge(right, adoption)
    assert (topic.verdict, topic.findings, topic.unjudged) == ("good", (), ())
    broken = judge(f"{right}LEAF-001,abra,LEAF-002,cadabra,Data\n", adoption)
    assert (broken.verdict, broken.findings) == ("unknown", ())
    assert "plan.ndt:34" in broken.unjudged[0].question


def test_many_differences_of_one_device_are_one_finding(adoption: Adoption) -> None:
    few = "\n".join(line for line in PLAN.splitlines() if "SPINE-01" not in line or "LEAF-001" in line)
    gathered = [finding for finding in judge(few, adoption).findings if finding.rule == "cabling.unplanned"]
    assert [finding.subject for finding in gathered] == ["spine-01"]
    assert gathered[0].message.startswith("6 cables are not in the plan")


def test_what_cannot_be_judged_is_open(adoption: Adoption) -> None:
    topic = judge("StartDevice,StartPort,EndDevice,EndPort\nx-1,Port 1,y-1,Port 1\n", adoption)
    assert (topic.verdict, topic.findings) == ("unknown", ())
    assert "1 planned cable" in topic.unjudged[0].question


def test_missing_cables_are_findings(adoption: Adoption) -> None:
    topic = judge(f"{PLAN}HOST-0099,HCA-1,LEAF-099,Port 1,Data\n", adoption)
    assert "cabling.missing" in {finding.rule for finding in topic.findings}
