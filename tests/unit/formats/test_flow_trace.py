from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weftline.formats import flow_trace
from weftline.formats.flow_trace import parse
from weftline.model.trace import FlowTrace

GOOD = """# made by hand
source,target,bytes,start_us,after,name
host-0001/nic1,host-0002/nic1,4MiB,,,first
host-0002/nic1,"host-0003/nic1",1000,12.5,first,second
\t
host-0001/nic1,host-0003/nic1,0,,first; second
"""


def needs(trace: FlowTrace) -> list[list[int]]:
    """List what each row waits for."""
    return [trace.need[a:b].tolist() for a, b in zip(trace.need_ptr[:-1], trace.need_ptr[1:], strict=True)]


def test_a_trace_is_read() -> None:
    trace = parse(GOOD.encode(), "t.csv")
    assert trace.problems == ()
    assert trace.end_name == ("host-0001/nic1", "host-0002/nic1", "host-0003/nic1")
    assert [(place.line, place.column) for place in trace.end_place] == [(3, 1), (3, 16), (4, 16)]
    assert (trace.source.tolist(), trace.target.tolist()) == ([0, 1, 0], [1, 2, 2])
    assert trace.size_bytes.tolist() == [4 * 2**20, 1000, 0]
    assert trace.start_us.tolist() == [0, 12.5, 0]
    assert needs(trace) == [[], [0], [0, 1]]


def test_without_names_rows_are_numbered_and_columns_may_stand_in_any_order() -> None:
    trace = parse(b"\xef\xbb\xbfbytes,AFTER,target,source\r\n7,,b,a\r\n8,1,a,b\r\n9,1;2,a,b\r\n", "t.csv")
    assert trace.problems == ()
    assert trace.size_bytes.tolist() == [7, 8, 9]
    assert needs(trace) == [[], [0], [0, 1]]
    assert len(trace.start_us) == 0


HEAD = "source,target,bytes,start_us,after,name\n"


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "said"),
    [
        ("", "artifact.trace-header", 1, 1, "no header"),
        ("source,target\n", "artifact.trace-header", 1, 1, "no column bytes"),
        ("source,target,size\n", "artifact.trace-header", 1, 15, "column 'size' is not known"),
        ("source,target,bytes,source\n", "artifact.trace-header", 1, 21, "stands twice"),
        (HEAD + "a,b\n", "artifact.trace-row", 2, 1, "too few"),
        (HEAD + "a,b,1,,,x,more\n", "artifact.trace-row", 2, 11, "7 fields, more than the 6"),
        (HEAD + ",b,1\n", "artifact.trace-row", 2, 1, "source is empty"),
        (HEAD + "a,,1\n", "artifact.trace-row", 2, 3, "target is empty"),
        (HEAD + "a,b,-1\n", "artifact.trace-row", 2, 5, "'-1' is no size"),
        (HEAD + "a,b,4 XB\n", "artifact.trace-row", 2, 5, "is no size"),
        (HEAD + "a,b,9999999999999999999\n", "artifact.trace-row", 2, 5, "is no size"),
        (HEAD + "a,b,1,soon\n", "artifact.trace-row", 2, 7, "'soon' is no time"),
        (HEAD + "a,b,1,-2\n", "artifact.trace-row", 2, 7, "is no time"),
        (HEAD + "a,b,1,1000000001\n", "artifact.trace-row", 2, 7, "is no time"),
        (HEAD + "a,b,1,,x\n", "artifact.trace-after", 2, 8, "waits for 'x', which no row above is called"),
        (HEAD + "a,b,1,,me,me\n", "artifact.trace-after", 2, 8, "waits for 'me'"),
        (HEAD + "a,b,1,,,x\na,b,1,,,x\n", "artifact.trace-row", 3, 9, "the name 'x' is taken"),
        (HEAD + "a,b,1,,,x;y\n", "artifact.trace-row", 2, 9, "is no name"),
        (HEAD + 'a,"b,1\n', "artifact.trace-row", 2, 3, "quotation mark"),
        (HEAD + "a,b,1,," + ";".join("x" * 65) + "\n", "artifact.trace-row", 2, 8, "waits for 65 rows"),
        (HEAD + "a,b," + "1" * 5000 + "\n", "artifact.trace-row", 2, 1, "characters"),
        ("source,target,bytes,after\na,b,1,1\n", "artifact.trace-after", 2, 7, "waits for '1'"),
        ("source,target,bytes,after\na,b,1,0\n", "artifact.trace-after", 2, 7, "waits for '0'"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, code: str, line: int, column: int, said: str) -> None:
    (problem,) = parse(text.encode(), "t.csv").problems
    assert problem.where is not None
    assert (problem.code, problem.where.file, problem.where.line, problem.where.column) == (code, "t.csv", line, column)
    assert said in problem.message
    assert problem.hint


def test_a_file_of_another_kind_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse(b"PK\x03\x04\x00", "t.csv").problems[0].code == "artifact.dump-binary"
    many = (HEAD + "a,b,x\n" * 5000).encode()
    problems = parse(many, "t.csv").problems
    assert len(problems) < 200
    assert any("is this a trace" in problem.hint or "not listed" in problem.message for problem in problems)
    monkeypatch.setattr(flow_trace, "MAX_FILE_BYTES", 10)
    assert parse(GOOD.encode(), "t.csv").problems[0].code == "artifact.dump-too-large"


def check_sound(trace: FlowTrace) -> None:
    """Whatever was read hangs together; without a problem the rows are all whole."""
    rows = len(trace.source)
    assert len(trace.target) == len(trace.size_bytes) == len(trace.need_ptr) - 1 == rows
    assert len(trace.start_us) in {0, rows}
    assert np.isfinite(trace.size_bytes).all()
    assert (trace.size_bytes >= 0).all()
    for row, wanted in enumerate(needs(trace)):
        assert all(0 <= need < row for need in wanted)
    for problem in trace.problems:
        assert problem.where is not None
    if not trace.problems:
        assert all(0 <= end < len(trace.end_name) for end in (*trace.source.tolist(), *trace.target.tolist()))


CELL = st.sampled_from(
    ["a", "b", "host-0001/nic1", "1", "4MiB", "", " ", "0", "1e9", "-1", "x;1", '"', '"a,b"', "é", "nan"]
)


@given(st.binary(max_size=400))
@example(b"source,target,bytes\na,b,1\xff\n")
def test_no_bytes_end_in_a_crash(data: bytes) -> None:
    check_sound(parse(data, "t.csv"))
    check_sound(parse(HEAD.encode() + data, "t.csv"))


@given(
    st.permutations(["source", "target", "bytes", "start_us", "after", "name"]), st.lists(st.lists(CELL, max_size=7))
)
def test_no_table_ends_in_a_crash(head: list[str], rows: list[list[str]]) -> None:
    text = "\n".join([",".join(head), *(",".join(row) for row in rows)])
    check_sound(parse(text.encode(), "t.csv"))


@given(st.data())
def test_what_is_written_is_read(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 20))
    lines = [HEAD.strip()]
    wanted: list[tuple[str, str, float, float, list[int]]] = []
    for row in range(count):
        ends = data.draw(st.tuples(st.integers(0, 5), st.integers(0, 5)))
        size, start = data.draw(st.integers(0, 2**60)), data.draw(st.integers(0, 10**9))
        after = data.draw(st.lists(st.integers(0, row - 1), max_size=3)) if row else []
        lines.append(f"e{ends[0]},e{ends[1]},{size},{start},{';'.join(f'f{n}' for n in after)},f{row}")
        wanted.append((f"e{ends[0]}", f"e{ends[1]}", float(size), float(start), after))
    trace = parse("\n".join(lines).encode(), "t.csv")
    assert trace.problems == ()
    times: list[float] = trace.start_us.tolist() or [0.0] * count
    read: list[tuple[str, str, float, float, list[int]]] = [
        (trace.end_name[a], trace.end_name[b], size, time, after)
        for a, b, size, time, after in zip(
            trace.source.tolist(), trace.target.tolist(), trace.size_bytes.tolist(), times, needs(trace), strict=True
        )
    ]
    assert read == wanted
