"""Files that do not say what was meant are told apart from those that do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.designs import Rendered, render_design
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.render import check_files
from weftline.render.check import SHOWN
from weftline.technologies import TECHNOLOGIES

MADE = {technology: render_design(technology, hosts=2, rails=2) for technology in TECHNOLOGIES}


def change(made: Rendered, end: str, old: bytes, new: bytes) -> ArtifactSet:
    """Change the first file whose path ends so."""
    files = list(made.artifacts.artifacts)
    which = next(place for place, file in enumerate(files) if file.path.endswith(end))
    content = files[which].content.replace(old, new, 1)
    assert content != files[which].content
    files[which] = Artifact(files[which].path, content, files[which].device, files[which].vendor)
    return replace(made.artifacts, artifacts=tuple(files))


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_what_was_just_rendered_says_what_was_meant(technology: str) -> None:
    made = MADE[technology]
    assert check_files(made.intents, made.vendors, made.artifacts) == ()


def test_a_value_that_differs_is_named_with_its_place() -> None:
    made = MADE["roce"]
    (problem,) = check_files(made.intents, made.vendors, change(made, "nccl.conf", b"IB_TC=106", b"IB_TC=10"))
    assert problem.code == "internal.render-differs"
    assert problem.message.startswith("host-0001: host.traffic_class is 10,")
    assert "and should be " in problem.message
    assert problem.where is not None
    assert problem.where.file.endswith("nccl.conf")


def test_a_table_with_one_other_port_differs() -> None:
    made = MADE["infiniband"]
    found = check_files(made.intents, made.vendors, change(made, "lfts.conf", b"0x0001 001", b"0x0001 002"))
    assert [problem.message.split(" is ")[0] for problem in found] == ["subnet-1: forwarding.table"]


def test_what_two_vendors_say_differently_is_seen() -> None:
    made = MADE["roce"]
    number = next(intent for intent in made.intents if intent.forwarding).forwarding
    assert number is not None
    assert number.exchange is not None
    said = str(number.exchange.number).encode()
    found = check_files(made.intents, made.vendors, change(made, "frr.conf", b"router bgp " + said, b"router bgp 7"))
    assert [problem.message.split(",")[0] for problem in found] == ["leaf-001: forwarding.exchange.number is 7"]


def test_what_no_file_says_and_what_nobody_meant() -> None:
    made = MADE["roce"]
    files = tuple(file for file in made.artifacts.artifacts if not file.path.endswith("host-0002/sysctl.conf"))
    gone = check_files(made.intents, made.vendors, replace(made.artifacts, artifacts=files))
    assert gone
    assert all(problem.message.startswith("host-0002: no file says host.settings.") for problem in gone)
    without = tuple(intent for intent in made.intents if intent.device != "host-0002")
    unmeant = check_files(without, made.vendors, made.artifacts)
    assert len(unmeant) == SHOWN
    assert all(problem.message.endswith("and should be unsaid") for problem in unmeant)


def test_what_cannot_be_read_back_is_a_problem() -> None:
    made = MADE["infiniband"]
    found = check_files(made.intents, made.vendors, change(made, "partitions.conf", b" ;", b""))
    assert found[0].code == "artifact.unreadable-line"
