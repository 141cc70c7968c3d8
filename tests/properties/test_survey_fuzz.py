"""No bytes make a reader of an existing subnet raise, and what it returns names files and lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import fabric_files
from weftline.adopt import FORMS, build_fabric, read_discovery, read_survey, recognise
from weftline.model.discovery import Discovery
from weftline.model.survey import Survey

RECORDED = Path(__file__).parents[1] / "unit" / "formats" / "infiniband"


def _seeds() -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in sorted(RECORDED.iterdir())}
    truth = read_discovery(found["ibnetdiscover.txt"], "a")
    assert isinstance(truth, Discovery)
    return found | {
        "ibdiagnet2.db_csv": fabric_files.write_db_csv(truth),
        "opensm-smdb.dump": fabric_files.write_smdb(truth),
        "ports.json": fabric_files.write_ufm_ports(truth),
        "links.json": fabric_files.write_ufm_links(truth),
        "ibdiagnet2.net_dump": fabric_files.write_net_dump(truth),
        "ibdiagnet2.sm": b"SM - master\n Port=1 lid=0x0001 guid=0x0000000000000020 priority:3\n",
        "pkeys.json": b'{"0x7001": {"guids": [{"guid": "02b31e1525be0001", "membership": "full", "index0": true}]}}',
    }


SEEDS = _seeds()


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    """Draw a file with pieces cut out, repeated, replaced or inserted."""
    file = draw(st.sampled_from(sorted(SEEDS)))
    data = bytearray(SEEDS[file])
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        size = draw(st.integers(0, 200))
        kind = draw(st.sampled_from(["cut", "repeat", "replace", "insert", "end"]))
        if kind == "cut":
            del data[at : at + size]
        elif kind == "repeat":
            data[at:at] = data[at : at + size]
        elif kind == "replace":
            piece = draw(st.binary(max_size=8) | st.sampled_from([b"\n", b",", b'"', b"0x", b"N/A", b"9" * 30, b"-1"]))
            data[at : at + len(piece)] = piece
        elif kind == "insert":
            data[at:at] = draw(
                st.sampled_from([b"\n", b'"', b"{", b"}", b"END_NODES\n", b"START_NODES\n", b"\x00", b"[" * 50])
            )
        else:
            del data[at:]
    return file, bytes(data)


def check(survey: Survey) -> None:
    """Hold what must be true of any survey."""
    names = {source.file for source in survey.sources}
    for problem in survey.problems:
        assert problem.where is None or problem.where.file in names
        assert problem.message
    if survey.discovery is not None:
        build_fabric(survey.discovery)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_a_damaged_file_is_read_or_refused_in_words(case: tuple[str, bytes]) -> None:
    file, data = case
    check(read_survey([(file, data)]))
    check(read_survey([case, ("zz/ibnetdiscover.txt", SEEDS["ibnetdiscover.txt"])]))


@given(st.sampled_from([form.name for form in FORMS if form.parse is not None]), st.binary(max_size=2000))
def test_no_reader_raises_on_any_bytes(form: str, data: bytes) -> None:
    (parse,) = [entry.parse for entry in FORMS if entry.name == form]
    assert parse is not None
    parse(data, "x")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([form.name for form in FORMS if form.parse is not None]), damaged())
def test_no_reader_raises_on_the_file_of_another_form(form: str, case: tuple[str, bytes]) -> None:
    (parse,) = [entry.parse for entry in FORMS if entry.name == form]
    assert parse is not None
    parse(case[1], "x")


@pytest.mark.parametrize("file", sorted(SEEDS))
def test_every_seed_is_recognised(file: str) -> None:
    assert recognise(file, SEEDS[file]) is not None
