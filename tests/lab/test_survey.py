"""What the diagnostics print of one lab is one fabric, whichever of them is asked."""

from __future__ import annotations

from tests.lab.conftest import Place
from weftline.adopt import read_survey
from weftline.model.survey import Survey


def take(lab: Place) -> list[tuple[str, bytes]]:
    """Ask the subnet as a person would who gathers files for an audit."""
    files = {
        "ibnetdiscover.txt": lab.ask("ibnetdiscover"),
        "ports.txt": lab.ask("ibnetdiscover", "-p"),
        "iblinkinfo.txt": lab.ask("iblinkinfo"),
        "iblinkinfo-l.txt": lab.ask("iblinkinfo", "-l"),
        "sminfo.txt": lab.ask("sminfo"),
        "smpquery.txt": "".join(lab.ask("smpquery", what, "1") for what in ("nodeinfo", "portinfo")),
    }
    written = {name: (lab.folder / name).read_bytes() for name in ("opensm-subnet.lst", "node-name-map")}
    return [(name, text.encode()) for name, text in files.items()] + list(written.items())


def test_all_tools_say_the_same_of_one_fabric(lab: Place) -> None:
    survey = read_survey(take(lab))
    assert [problem for problem in survey.problems if problem.severity != "note"] == []
    assert {source.form for source in survey.sources} == {
        "ibnetdiscover", "portlist", "iblinkinfo", "subnet-lst", "sminfo", "smpquery", "node-name-map",
    }  # fmt: skip
    managers = {(fact.port_guid, fact.state) for part in survey.parts for fact in part.managers}
    assert len(managers) == 1
    assert survey.discovery is not None
    assert {"host-0001 HCA-1", "leaf-001", "spine-01"} <= {node.description for node in survey.discovery.nodes}


def codes(survey: Survey) -> set[str]:
    return {problem.code for problem in survey.problems}


def test_files_taken_before_and_after_a_cable_was_pulled_disagree(lab: Place) -> None:
    before = dict(take(lab))
    assert lab.lab("break", "leaf-001/2").status == 0
    try:
        after = {"ibnetdiscover.txt": lab.ask("ibnetdiscover").encode(), "iblinkinfo.txt": before["iblinkinfo.txt"]}
        survey = read_survey(list(after.items()))
        assert "artifact.sources-disagree" in codes(survey)
        assert survey.discovery_file == "ibnetdiscover.txt"
    finally:
        lab.lab("heal")
