"""JSON patches that anybody wrote: rows in the order of their operations, each with its line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats.json_patch_read import HEAD, MAX_STEPS, read_patch

PATCH = """\
[
  {"op": "add", "path": "/PORT_QOS_MAP", "value": {"Ethernet0": {"pfc_enable": "3"}, "Ethernet4": {}}},
  {"op": "replace", "path": "/PFC_WD/Ethernet0/action", "value": "drop"},

  {"op": "remove", "path": "/QUEUE/Ethernet0|3"},
  {"op": "add", "path": "/A~1B~0C/x", "value": {"a": "1", "b": [2]}}
]
"""
KNOWN = st.sampled_from(["add", "remove", "replace", "test", "copy", "move", "x", 1, None])
VALUES = st.recursive(st.none() | st.integers() | st.text(max_size=4), lambda inner: st.dictionaries(
    st.text(max_size=4), inner, max_size=3))  # fmt: skip


def test_an_operation_is_a_step_for_each_row_that_it_sets() -> None:
    patch = read_patch(PATCH.encode(), "p.json")
    assert not patch.problems
    assert [(one.verb, one.table, one.row, one.fields, one.where.line) for one in patch.steps] == [
        ("add", "PORT_QOS_MAP", "Ethernet0", (("pfc_enable", "3"),), 2),
        ("add", "PORT_QOS_MAP", "Ethernet4", (), 2),
        ("replace", "PFC_WD", "Ethernet0", (("action", "drop"),), 3),
        ("remove", "QUEUE", "Ethernet0|3", (), 5),
        ("add", "A/B~C", "x", (("a", "1"),), 6),
    ]


@pytest.mark.parametrize(
    "text",
    ['[1, {"op": "add", "path": "/A"}]', '[{"op": "fly", "path": "/A"}, {"op": "add", "path": "/A"}]',
     '[{"op": "add", "path": "A"}, {"op": "add", "path": "/A"}]', '[{"op": "add"}, {"op": "add", "path": "/A"}]'],
)  # fmt: skip
def test_what_is_no_operation_is_named_and_the_others_are_read(text: str) -> None:
    patch = read_patch(text.encode(), "p.json")
    assert [problem.code for problem in patch.problems] == ["artifact.patch-step"]
    assert [one.table for one in patch.steps] == ["A"]


def test_a_patch_without_end_is_read_as_far_as_it_goes() -> None:
    text = json.dumps([{"op": "remove", "path": "/A/b"}] * (MAX_STEPS + 1))
    patch = read_patch(text.encode(), "p.json")
    assert len(patch.steps) == MAX_STEPS
    assert [problem.code for problem in patch.problems] == ["artifact.patch-step"]


@given(
    st.lists(st.fixed_dictionaries({"op": KNOWN, "path": st.text(max_size=6), "value": VALUES}) | VALUES, max_size=5)
)
def test_any_array_is_read_without_a_traceback(operations: list[Any]) -> None:
    text = json.dumps(operations).encode()
    patch = read_patch(text, "p.json")
    assert all(one.where.file == "p.json" for one in patch.steps)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_a_traceback(content: bytes) -> None:
    patch = read_patch(content, "p.json")
    assert patch.steps == () or HEAD.match(content)


def test_a_file_that_is_cut_off_is_a_problem() -> None:
    assert [one.code for one in read_patch(PATCH.encode()[:-30], "p.json").problems] == ["artifact.not-json"]
