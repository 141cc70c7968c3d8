"""Congestion control of InfiniBand, as options of a subnet manager and published sets say it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.media import medium_of, profile_of, route, source_of
from tests.unit.technologies.test_infiniband_medium import facts
from weftline.errors import ArtifactError, UsageError
from weftline.formats import opensm_conf
from weftline.model.packet import Carriage, DelayTable, RootMarking
from weftline.model.parameters import CarriageChoice, PacketSource
from weftline.technologies import TECHNOLOGIES

ON = {
    "congestion_control": "TRUE",
    "cc_sw_cong_setting_control_map": "0x14",
    "cc_sw_cong_setting_threshold": "0x0C",
    "cc_sw_cong_setting_packet_size": "8",
    "cc_sw_cong_setting_marking_rate": "3",
    "cc_ca_cong_setting_control_map": "0x0001",
    "cc_ca_cong_setting_ccti_timer 0": "100",
    "cc_ca_cong_setting_ccti_increase 0": "2",
    "cc_ca_cong_setting_ccti_min 0": "1",
    "cc_cct": "0:0,0:1,1:3,3:16383",
}
BUFFER = 131_072


def told(**changes: str | None) -> PacketSource:
    """Say options; a blank of a name is an underline twice, None leaves one out."""
    options = dict(ON)
    for name, value in changes.items():
        known = name.replace("__", " ")
        if value is None:
            del options[known]
        else:
            options[known] = value
    return replace(source_of(route("infiniband")), options=(facts(list(options.items())),))


def carriage_of(source: PacketSource, pacing: str | None = None) -> Carriage:
    return TECHNOLOGIES["infiniband"].transport.carriage(source, CarriageChoice(pacing=pacing))


def marking_of(source: PacketSource, pacing: str | None = None, name: str = "leaf-001/3") -> RootMarking | None:
    marking = profile_of(source, medium_of(source, CarriageChoice(pacing=pacing)), name).marking
    assert marking is None or isinstance(marking, RootMarking)
    return marking


def test_without_a_manager_that_says_so_nothing_is_marked() -> None:
    for source in (source_of(route("infiniband")), told(congestion_control="FALSE"), told(congestion_control=None)):
        assert marking_of(source) is None
        assert carriage_of(source).pacing is None


def test_options_say_what_switches_mark_and_how_adapters_wait() -> None:
    source = told()
    # Weight 12 of 15: (16 - 12) / 16 of the lane's buffer. Packets of 8 blocks and more have at least 7 * 64 + 1 bytes.
    assert marking_of(source) == RootMarking(BUFFER // 4, 449, 250_000)
    assert marking_of(source, name="host-0001/nic1") is None
    entries = ((0, 0), (0, 1), (1, 3), (3, 16_383))
    assert carriage_of(source).pacing == DelayTable("opensm", entries, increase=2, timer_ps=102_400_000, least=1)
    assert marking_of(source, "none") is None
    assert carriage_of(source, "none").pacing is None


def test_victims_mark_where_their_bit_is_set() -> None:
    source = told(cc_sw_cong_setting_control_map="0x15", cc_sw_cong_setting_victim_mask="0x8")
    is_marked = {name: marking_of(source, name=name) for name in ("leaf-001/1", "leaf-001/3")}
    assert [bool(one and one.marks_victims) for one in is_marked.values()] == [False, True]
    # Without its bit in the control map a mask means nothing.
    marking = marking_of(told(cc_sw_cong_setting_victim_mask="0x8"))
    assert marking is not None
    assert not marking.marks_victims


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cc_sw_cong_setting_control_map": "0x10"}, "no threshold is set: nothing is marked"),
        ({"cc_sw_cong_setting_threshold": "0"}, "no threshold is set: nothing is marked"),
        ({"cc_sw_cong_setting_control_map": "0x1c"}, "marks for starved credit are not simulated"),
    ],
)
def test_what_is_not_marked_is_said(changes: dict[str, str], words: str) -> None:
    source = told(**changes)
    is_off = "nothing is marked" in words
    assert (marking_of(source) is None) == is_off
    assert any(words in one for one in carriage_of(source).assumptions)


@pytest.mark.parametrize(
    ("changes", "words", "is_off"),
    [
        ({"cc_ca_cong_setting_control_map": "0x2"}, "none slows down", True),
        ({"cc_ca_cong_setting_ccti_timer__0": "0"}, "none slows down", True),
        ({"cc_ca_cong_setting_ccti_increase__0": "0"}, "none slows down", True),
        ({"cc_cct": "(null)"}, "none slows down", True),
        ({"cc_ca_cong_setting_port_control": "1"}, "here each flow for itself", False),
        ({"cc_ca_cong_setting_control_map": "0xffff"}, "as the settings of service level 0 say", False),
    ],
)
def test_what_adapters_do_differently_is_said(changes: dict[str, str], words: str, *, is_off: bool) -> None:
    carriage = carriage_of(told(**changes))
    assert (carriage.pacing is None) == is_off
    assert any(words in one for one in carriage.assumptions)


def test_a_rate_that_is_not_valid_marks_every_packet() -> None:
    marking = marking_of(told(cc_sw_cong_setting_control_map="0x4"))
    assert marking is not None
    assert marking.chance_ppm == 1_000_000


@pytest.mark.parametrize(
    "changes",
    [
        {"cc_sw_cong_setting_threshold": "16"},
        {"cc_sw_cong_setting_threshold": "loose"},
        {"cc_sw_cong_setting_packet_size": "-1"},
        {"cc_ca_cong_setting_ccti_timer__0": "65536"},
        {"cc_ca_cong_setting_ccti_min__0": "4"},
        {"cc_cct": "4:0"},
        {"cc_cct": "0:16384"},
        {"cc_cct": "0:0,,0:1"},
        {"cc_cct": "0:0,1"},
        {"cc_cct": ",".join(["0:1"] * 129)},
    ],
)
def test_what_is_no_setting_is_refused_with_its_place(changes: dict[str, str]) -> None:
    with pytest.raises(ArtifactError) as refused:
        carriage_of(told(**changes))
    assert refused.value.code == "artifact.packet-option"
    assert refused.value.where is not None
    assert refused.value.where.file == "opensm.conf"


def test_published_sets_are_chosen_by_name() -> None:
    source = source_of(route("infiniband"))
    known = TECHNOLOGIES["infiniband"].transport.pacings
    assert known == ("opensm", "ofed", "simula", "none")
    ofed, simula = (carriage_of(source, name).pacing for name in ("ofed", "simula"))
    assert isinstance(ofed, DelayTable)
    assert isinstance(simula, DelayTable)
    assert len(ofed.entries) == len(simula.entries) == 128
    # 7 * 127^2 / 95^2 / 0.218 and 7 * 127^2 / 106^2 / 0.218 / 2^3.
    assert ofed.entries[127] == (0, 57)
    assert simula.entries[127] == (3, 46)
    assert ofed.entries[0] == (0, 0)
    assert marking_of(source, "ofed") == RootMarking(BUFFER // 16, 449, 1_000_000 // 11)
    assert marking_of(source, "simula") == RootMarking(BUFFER // 16, 449, 1_000_000)
    with pytest.raises(UsageError, match="is not known for infiniband") as refused:
        medium_of(source, CarriageChoice(pacing="paper"))
    assert "opensm, ofed, simula, none" in refused.value.hint


def test_subnets_that_differ_are_told() -> None:
    source = told()
    both = replace(source, fabric=replace(source.fabric, planes=2), options=(*source.options, facts([("lmc", "0")])))
    carriage = carriage_of(both)
    assert carriage.pacing is not None
    assert any("subnets differ in how adapters slow down" in words for words in carriage.assumptions)


def test_parameters_tell_every_figure_with_its_source() -> None:
    source = told()
    rows = TECHNOLOGIES["infiniband"].transport.parameters(source, CarriageChoice())
    found = {row.name: row for row in rows}
    assert found["marks above a queue of"].value == BUFFER // 4
    assert "no document says" in found["marks above a queue of"].source
    assert (found["weight of the threshold"].value, found["weight of the threshold"].origin) == (12, "file")
    assert found["weight of the threshold"].where is not None
    assert found["longest delay"].value == 16_383 / 8
    assert found["an entry is taken back after"].value == 102.4
    chosen = TECHNOLOGIES["infiniband"].transport.parameters(source, CarriageChoice(pacing="ofed"))
    assert any("Mellanox OFED manual" in row.source for row in chosen)


def test_an_option_stands_once_for_each_service_level() -> None:
    text = (
        b"cc_ca_cong_setting_ccti_timer 0 150\ncc_ca_cong_setting_ccti_timer 1 200\ncc_sw_cong_setting_threshold 0x0F\n"
    )
    found = {one.name: (one.value, one.where.line) for one in opensm_conf.parse(text, "opensm.conf").options}
    assert found == {
        "cc_ca_cong_setting_ccti_timer 0": ("150", 1),
        "cc_ca_cong_setting_ccti_timer 1": ("200", 2),
        "cc_sw_cong_setting_threshold": ("0x0F", 3),
    }
