"""Partition tables as the diagnostics print them; the samples are what they print on a small fabric in ibsim."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.adopt import recognise
from weftline.formats import key_tables, opensm_log
from weftline.model.survey import SurveyPart

ZEROS = " 0x0000" * 8
ANSWER = "".join(
    f"{index:4d}:{' 0x8001 0x7fff' + ' 0x0000' * 6 if index == 0 else ZEROS}\n" for index in range(0, 64, 8)
) + "64 pkeys capacity for this port\n"  # fmt: skip


def record(block: int, keys: str, lid: int = 3, port: int = 1) -> str:
    """Write a record of saquery."""
    rows = "\t\t" + keys.ljust(55) + "\n" + ("\t\t" + ZEROS.strip() + "\n") * 3
    return (
        f"PKeyTableRecord dump:\n\t\tLID........................{lid}\n\t\tPort.......................{port}\n"
        f"\t\tBlock......................{block}\n\t\tPKey Table:\n{rows}\n"
    )


FIRST = "0x8001 0x7fff" + " 0x0000" * 6


def test_smpquery() -> None:
    text = f"# smpquery pkeys 3 1\n{ANSWER}$ smpquery pkeys -G 0x2671377fee50001\n{ANSWER}"
    part = key_tables.parse_answers(text.encode(), "tables.txt")
    assert part.problems == ()
    assert [(one.lid, one.number, one.port_guid, one.keys, one.is_whole) for one in part.keys] == [
        (3, 1, 0, (0x8001, 0x7FFF), True),
        (-1, -1, 0x2671377FEE50001, (0x8001, 0x7FFF), True),
    ]
    named = key_tables.parse_answers(ANSWER.encode(), "folder/pkeys-10-2.txt")
    assert [(one.lid, one.number) for one in named.keys] == [(10, 2)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (ANSWER, "artifact.dump-line"),
        (f"# smpquery pkeys 3 1\n{ANSWER[:200]}", "artifact.dump-truncated"),
        (f"# smpquery pkeys 3 1\n{ANSWER.replace('   8:', '  16:')}", "artifact.dump-line"),
        ("\0", "artifact.dump-binary"),
    ],
)
def test_smpquery_broken(text: str, code: str) -> None:
    part = key_tables.parse_answers(text.encode(), "tables.txt")
    assert code in {problem.code for problem in part.problems}
    assert part.keys == ()


def test_saquery() -> None:
    text = record(0, FIRST) + record(1, ZEROS.strip()) + record(0, FIRST, 10, 0)
    part = key_tables.parse_records(text.encode(), "pktr.txt")
    assert [(one.lid, one.number, one.keys, one.is_whole) for one in part.keys] == [
        (3, 1, (0x8001, 0x7FFF), True),
        (10, 0, (0x8001, 0x7FFF), True),
    ]
    cut = key_tables.parse_records((text + record(0, FIRST, 11)[:120]).encode(), "pktr.txt")
    assert [problem.code for problem in cut.problems] == ["artifact.dump-truncated"]
    assert [one.is_whole for one in cut.keys] == [True, False]
    holes = key_tables.parse_records(record(1, FIRST).encode(), "pktr.txt")
    assert [one.is_whole for one in holes.keys] == [False]


def test_saquery_that_was_cut_between_two_blocks_is_not_whole() -> None:
    whole = record(0, FIRST) + record(1, ZEROS.strip())
    short = key_tables.parse_records((whole + record(0, FIRST, 11)).encode(), "pktr.txt")
    assert [(one.lid, one.is_whole) for one in short.keys] == [(3, True), (11, False)]
    text = record(0, FIRST) + record(1, ZEROS.strip()).replace("0x0000", "0x8005")
    alike = key_tables.parse_records(text.encode(), "pktr.txt")
    assert [one.is_whole for one in alike.keys] == [False]


def test_an_answer_with_keys_behind_its_last_place_is_not_whole() -> None:
    places = ANSWER.rpartition(" pkeys capacity")[0].rpartition("\n")[2]
    text = f"# smpquery pkeys 3 1\n{ANSWER.replace(f'{places} pkeys', '1 pkeys')}"
    part = key_tables.parse_answers(text.encode(), "tables.txt")
    assert [problem.code for problem in part.problems] == ["artifact.dump-line"]
    assert [(one.keys, one.is_whole) for one in part.keys] == [((0x8001, 0x7FFF), False)]


def test_ibdiagnet() -> None:
    text = (
        "GROUP PKey:0x7fff Hosts:2\n   Part host-1/U1/P1\n   Full sm/U1/P1\n" + "-" * 80 + "\n"
        "GROUP PKey:0x0001 Hosts:1\n   Full host-1/U1/P1\n"
    )
    part = key_tables.parse_groups(text.encode(), "ibdiagnet2.pkey")
    assert {one.name: one.keys for one in part.keys} == {
        "host-1/U1/P1": (0x7FFF, 0x8001),
        "sm/U1/P1": (0xFFFF,),
    }
    assert not any(one.is_ordered for one in part.keys)
    cut = key_tables.parse_groups(text.replace("Hosts:1", "Hosts:9").encode(), "ibdiagnet2.pkey")
    assert [one.is_whole for one in cut.keys] == [False, False]


def test_multicast() -> None:
    text = (
        "MCMember Record dump:\n\t\tMGID....................ff12:401b:8001::ffff:ffff\n"
        "\t\tPortGid.................fe80::267:1377:fee5:1\n\t\tmlid....................0xc001\n"
        "\t\tpkey....................0x8001\n"
    )
    (group,) = key_tables.parse_multicast(text.encode(), "mcmr.txt").groups
    assert (group.mlid, group.key, group.members) == (0xC001, 0x8001, (0x2671377FEE50001,))


LOG = (
    "Nov 30 15:32:42 736978 [8396F740] 0x03 -> OpenSM 3.3.23\n"
    "Nov 30 15:32:42 773208 [809686C0] 0x01 -> osm_prtn_make_partitions: Partition configuration in error; retrying "
    "with default config\n"
    "Nov 30 15:32:42 773208 [809686C0] 0x01 -> pkey_mgr_update_port: ERR 0512: Failed to set PKey 0x8042 because Pkey "
    "table is full for node 0x0277413517970000 port 1 (host)\n"
    "Nov 30 15:32:42 773208 [809686C0] 0x01 -> x: ERR 0507: Not enough pkey entries (8 <= 9) on switch "
    "0x0225ff4f16390000 port 2 (leaf). Clearing Enforcement bit\n"
    "Nov 30 15:32:42 800000 [809686C0] 0x80 -> SUBNET UP\n"
)


def test_the_log_of_the_last_sweep() -> None:
    part = opensm_log.parse_part(LOG.encode(), "opensm.log")
    assert part.log is not None
    assert [(one.kind, one.node, one.number, one.where.line) for one in part.log] == [
        ("given-up", 0, -1, 2),
        ("key-lost", 0x277413517970000, 1, 3),
        ("enforcement-cleared", 0x225FF4F16390000, 2, 4),
    ]
    later = LOG + LOG.splitlines(keepends=True)[-1] * 2
    assert opensm_log.parse_part(later.encode(), "opensm.log").log == ()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (f"# smpquery pkeys 3 1\n{ANSWER}", "pkeys"),
        (record(0, FIRST), "pktr"),
        ("GROUP PKey:0x7fff Hosts:2\n", "ibdiagnet-pkey"),
        ("MCMember Record dump:\n\t\tMGID....................ff12::1\n", "mcmr"),
        (LOG, "opensm-log"),
        ("m_key 0x0\nsm_key 0x1\n", "opensm-conf"),
        ("Default=0x7fff : ALL=limited ;\n", "partitions"),
        ("# words\nred = 0x1, indx0:\n  0x0002c90300800011=full;\n", "partitions"),
    ],
)
def test_forms(text: str, form: str) -> None:
    found = recognise("some/file", text.encode())
    assert found is not None
    assert found.name == form


PARSERS: list[Callable[[bytes, str], SurveyPart]] = [
    key_tables.parse_answers, key_tables.parse_records, key_tables.parse_groups, key_tables.parse_multicast,
    opensm_log.parse_part,
]  # fmt: skip


@pytest.mark.parametrize("parser", PARSERS)
@given(data=st.one_of(st.binary(max_size=300), st.text("0x18fGROUP PKey:.\n\tMCLID", max_size=300).map(str.encode)))
def test_any_bytes_are_read(parser: Callable[[bytes, str], SurveyPart], data: bytes) -> None:
    assert isinstance(parser(data, "file"), SurveyPart)


@given(st.integers(0, len(ANSWER)))
def test_an_answer_that_is_cut_is_never_whole(end: int) -> None:
    part = key_tables.parse_answers(f"# smpquery pkeys 3 1\n{ANSWER[:end]}".encode(), "t")
    assert all(one.keys == (0x8001, 0x7FFF) for one in part.keys if one.is_whole)


def test_a_line_of_megabytes_in_a_log_is_read_at_once() -> None:
    line = b"Nov 30 15:32:42 736978 [8396F740] 0x03 -> " + b"ERR 0512: " * 400_000
    assert opensm_log.parse_part(line, "opensm.log").log == ()


def test_a_key_in_a_log_is_not_passed_on() -> None:
    line = b"Nov 30 15:32:42 736978 [8396F740] 0x03 -> M_Key: 0x5ec2e7cafe Partition configuration in error; retrying\n"
    facts = opensm_log.parse_part(line, "opensm.log").log or ()
    assert len(facts) == 1
    fact = facts[0]
    assert "5ec2e7" not in fact.text
    assert "M_Key (hidden)" in fact.text
