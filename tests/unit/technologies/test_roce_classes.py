from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from tests.designs import render_design
from tests.fabrics import make_design
from weftline.errors import Place, Problem
from weftline.formats import pg_profile_lookup
from weftline.model.design import ResolvedSpec
from weftline.model.roce import RoceSection
from weftline.model.spec import RoutingSection
from weftline.technologies.roce.classes import make_queues, number_classes
from weftline.technologies.roce.limits import count_problems

RDMA = {"name": "rdma", "dscps": [26], "lossless": True}
STORAGE = {"name": "storage", "dscps": [18, 20], "weight": 20}
CONTROL = {"name": "control", "dscps": [46], "schedule": "strict"}
TABLE = b"# speed cable size xon xoff threshold\n400000 5m 105472 19456 86016 0\n400000 40m 123904 19456 104448 0\n"


def design_of(*classes: dict[str, Any], **roce: Any) -> ResolvedSpec:
    section = RoceSection.model_validate({"classes": classes, **roce} if classes else roce)
    design = make_design(technology="roce", roce=section)
    places = {key: Place("f.yaml", 3, 1, key) for key in ("roce.classes", "roce.ecn", "roce.watchdog.detect_ms")}
    return replace(design, places=MappingProxyType(places))


def judge(*classes: dict[str, Any], **roce: Any) -> list[Problem]:
    return list(count_problems(design_of(*classes, **roce), 16, 8))


def test_one_declaration_gives_every_number() -> None:
    queues = make_queues(design_of(RDMA, STORAGE, CONTROL).spec)
    found = {
        one.name: (one.key, one.group, one.queue, one.schedule, one.weight, one.priority) for one in queues.classes
    }
    assert found == {
        "rdma": (3, 3, 3, "weighted", 40, 3),
        "storage": (0, 0, 0, "weighted", 20, None),
        "control": (1, 0, 1, "strict", None, None),
        "rest": (2, 0, 2, "weighted", 40, None),
        "cnp": (6, 0, 6, "strict", None, None),
    }
    assert sorted(dscp for one in queues.classes for dscp in one.dscps) == list(range(64))
    assert {one.name: one.dscps for one in queues.classes}["storage"] == (18, 20)


def test_several_classes_may_be_lossless() -> None:
    queues = make_queues(design_of(RDMA, {"name": "second", "dscps": [24], "lossless": True}).spec)
    assert [(one.name, one.priority, one.group) for one in queues.classes if one.priority is not None] == [
        ("rdma", 3, 3),
        ("second", 4, 4),
    ]
    made = render_design("roce", roce=design_of(RDMA, {"name": "second", "dscps": [24], "lossless": True}).spec.roce)
    assert all(port.pause_priorities == (3, 4) for intent in made.intents for port in intent.ports)


def test_what_is_given_is_taken() -> None:
    given = {"name": "rdma", "dscps": [3], "lossless": True, "priority": 4, "traffic_class": 5, "group": 2, "queue": 7}
    (one,) = number_classes(design_of(given).spec).declared
    assert (one.priority, one.key, one.group, one.queue) == (4, 5, 2, 7)


def test_an_old_declaration_means_what_it_meant() -> None:
    old = make_queues(make_design(technology="roce").spec)
    assert old == make_queues(design_of(RDMA).spec)


@pytest.mark.parametrize(
    ("classes", "roce", "code", "words"),
    [
        ([RDMA, {**STORAGE, "dscps": [26]}], {}, "capability.class-clash", "DSCP 26 belongs to class rdma and"),
        ([{**RDMA, "dscps": [48]}], {}, "capability.class-clash", "DSCP 48 is that of class rdma and of congestion"),
        (
            [{**RDMA, "priority": 3}, {**STORAGE, "priority": 3}],
            {},
            "capability.class-clash",
            "class rdma and class storage both have",
        ),
        ([{**RDMA, "priority": 6}], {}, "capability.class-clash", "congestion notifications and class rdma both have"),
        ([RDMA, {**STORAGE, "queue": 3}], {}, "capability.class-clash", "both have queue 3"),
        (
            [RDMA, {**STORAGE, "group": 3}],
            {},
            "capability.class-clash",
            "shares priority group 3 with one that may not",
        ),
        ([STORAGE], {}, "spec.no-lossless-class", "none of the 1 classes"),
        ([RDMA, {**STORAGE, "name": "rdma"}], {}, "spec.duplicate-name", "'rdma'"),
        ([{**RDMA, "weight": 90}, {**STORAGE, "weight": 10}], {}, "spec.class-shares", "90 + 10 = 100 of 100 percent"),
        ([RDMA], {"ecn": {"min_bytes": 10, "max_bytes": 5}}, "spec.marks", "min_bytes is 10, above max_bytes, 5"),
        ([RDMA], {"adaptive_routing": True}, "capability.adaptive-routing", "cannot be written for sonic"),
        (
            [RDMA, *({"name": f"c{dscp}", "dscps": [dscp]} for dscp in range(7))],
            {},
            "capability.too-many-classes",
            "8 declared + 1 (notifications) + 1 (all else) = 10",
        ),
    ],
)
def test_what_cannot_be_is_refused(classes: list[dict[str, Any]], roce: dict[str, Any], code: str, words: str) -> None:
    found = judge(*classes, **roce)
    assert code in [problem.code for problem in found if words in problem.message], found


@pytest.mark.parametrize(
    ("roce", "tenants", "words"),
    [
        ({"platform": {"system": "nvue"}}, (), "not written for nvue"),
        ({"platform": {"system": "eos"}}, (), "not written for eos"),
        ({}, (("red", "1-2"), ("blue", "3-4")), "tenants in VRFs"),
        ({}, (), ""),
    ],
)
def test_weights_that_no_file_would_say_are_refused(
    roce: dict[str, Any], tenants: tuple[tuple[str, str], ...], words: str
) -> None:
    design = make_design(
        technology="roce",
        roce=RoceSection.model_validate(roce),
        routing=RoutingSection(engine="weighted-ecmp"),
        tenants=tenants,
    )
    found = [one for one in count_problems(design, 16, 8) if one.code == "capability.weighted-ways"]
    assert [words in one.message and bool(one.hint) for one in found] == ([True] if words else [])


def test_classes_are_said_in_one_place() -> None:
    design = design_of(RDMA)
    twice = replace(design, places=MappingProxyType({"lossless.dscp": Place("f.yaml", 5, 3, "lossless.dscp")}))
    assert [problem.code for problem in count_problems(twice, 16, 8)] == ["spec.class-twice"]
    assert count_problems(design, 16, 8) == ()


def with_table(data: bytes, **buffers: Any) -> ResolvedSpec:
    rows, problems = pg_profile_lookup.parse(data, "pg_profile_lookup.ini")
    assert problems == ()
    design = design_of(RDMA, buffers={"total_bytes": 10_000_000, **buffers}, headroom_table="pg_profile_lookup.ini")
    return replace(design, headroom_rows=rows)


def test_a_table_below_the_floor_is_refused_and_one_for_quick_peers_warned_of() -> None:
    assert not [one for one in count_problems(with_table(TABLE), 16, 8) if one.is_error]
    short = TABLE.replace(b"86016", b"4000")
    (bad,) = [one for one in count_problems(with_table(short), 16, 8) if one.is_error]
    assert (bad.code, bad.where and bad.where.line) == ("capability.headroom-table", 2)
    assert "1,515 B on the cable there and back + 4,200 B of a frame = 5,715 B" in bad.message
    quick = TABLE.replace(b"86016", b"50000")
    found = [one for one in count_problems(with_table(quick), 16, 8) if "needs" in one.message]
    assert [(one.code, one.severity) for one in found] == [("capability.headroom-table", "warning")]


def test_a_table_without_the_length_is_refused() -> None:
    found = count_problems(with_table(b"400000 5m 105472 19456 86016 0\n"), 16, 8)
    assert "no row for 400 Gb/s at 30 m" in found[0].message
    assert "5 m" in found[0].hint


def test_a_watchdog_that_is_quicker_than_an_honest_pause_is_refused() -> None:
    slow = design_of(RDMA, buffers={"total_bytes": 2 * 10**9}, watchdog={"detect_ms": 100})
    (problem,) = count_problems(slow, 16, 8)
    assert problem.code == "spec.watchdog"
    assert "can last 200 ms" in problem.message
    waits = make_queues(slow.spec, pause_ms=730.0).watchdog
    assert waits is not None
    assert (waits.detect_ms, waits.restore_ms, waits.poll_ms) == (100, 200, 100)
    auto = make_queues(design_of(RDMA).spec, pause_ms=730.0).watchdog
    assert auto is not None
    assert (auto.detect_ms, auto.restore_ms, auto.poll_ms) == (800, 1600, 800)


def test_a_watchdog_can_be_off() -> None:
    made = render_design("roce", roce=RoceSection.model_validate({"watchdog": {"enabled": False}}))
    assert "PFC_WD" not in made.text("switches/leaf-001/config_db.json")


@pytest.mark.parametrize("line", [b"400000 5 1 2 3 0", b"400000 5m 1 2 0", b"x", b"400000 5m 1 2 3 0 4 5", b""])
def test_a_row_that_is_none_is_named(line: bytes) -> None:
    rows, problems = pg_profile_lookup.parse(line + b"\n", "f.ini")
    assert rows == ()
    assert [problem.code for problem in problems] == ["spec.headroom-table"]


def test_a_row_twice_is_named() -> None:
    rows, problems = pg_profile_lookup.parse(TABLE + b"400000 5m 1 2 3 0\n", "f.ini")
    assert len(rows) == 2
    assert "stands twice (first in line 2)" in problems[0].message


def test_every_shipped_table_is_read(corpus: Any) -> None:
    lines = (corpus / "roce" / "pg_profile_lookup.csv").read_text().splitlines()[1:]
    for line in lines:
        words = line.split(",")
        row = " ".join(words[3:9] + [word for word in words[9:10] if word])
        rows, problems = pg_profile_lookup.parse(row.encode(), "f.ini")
        assert (len(rows), problems) == (1, ()), row


@pytest.mark.parametrize(
    ("buffers", "words"),
    [
        ({"model": "traditional"}, "give roce.buffers.total_bytes"),
        ({"model": "traditional", "total_bytes": 10**8}, "give roce.headroom_table"),
        ({"model": "dynamic"}, "no source says that its chip computes headroom"),
    ],
)
def test_what_is_missing_for_a_model_is_said(buffers: dict[str, Any], words: str) -> None:
    found = judge(RDMA, buffers=buffers)
    assert {one.code for one in found} == {"capability.buffer-model"}
    assert all(words in one.hint for one in found)
