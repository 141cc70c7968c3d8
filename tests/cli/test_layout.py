"""What is alike stands together, and nothing is lost by it."""

from __future__ import annotations

from weftline.cli.layout import gather_names, list_differences
from weftline.cli.output import clean, gather_problems
from weftline.errors import Place, Problem
from weftline.model.difference import Difference


def test_runs_of_names() -> None:
    assert gather_names([]) == []
    assert gather_names(["a"]) == ["a"]
    assert gather_names(["host-0009", "host-0010", "host-0011"]) == ["host-0009 to host-0011"]
    assert gather_names(["host-0009", "host-0011"]) == ["host-0009", "host-0011"]
    assert gather_names(["host-9", "host-10"]) == ["host-9", "host-10"]
    assert gather_names(["leaf-001", "spine-02"]) == ["leaf-001", "spine-02"]
    assert gather_names(["host-2", "host-1"]) == ["host-2", "host-1"]
    huge = ["x" + "9" * 5000, "x" + "9" * 4999 + "8"]
    assert gather_names(huge) == huge


def missing(name: str) -> Difference:
    return Difference("missing-node", name, f"{name} is declared and was not found, nor its cable")


def test_few_differences_stand_alone() -> None:
    found = list(list_differences([missing("b"), missing("a")]))
    assert found == [f"missing-node: {name} is declared and was not found, nor its cable" for name in "ba"]


def test_many_alike_differences_stand_together() -> None:
    swapped = Difference("swapped-cables", "a~b", "a~b and c~d have exchanged their ends: found a~d and c~b")
    found = list(list_differences([*(missing(f"host-{number}") for number in range(1, 6)), swapped]))
    assert found == [
        "missing-node: 5, each of which is declared and was not found, nor its cable:",
        "  host-1 to host-5",
        "swapped-cables: a~b and c~d have exchanged their ends: found a~d and c~b",
    ]


def test_a_message_that_does_not_begin_with_its_subject() -> None:
    odd = [Difference("extra-node", "x", "the node x is new") for _ in range(5)]
    assert list(list_differences(odd)) == ["extra-node: the node x is new"] * 5


def test_braces_in_names() -> None:
    assert len(list(list_differences([missing("{}{0}{x}") for _ in range(5)]))) == 6


def problem(line: int, code: str = "artifact.slow-link", severity: str = "warning") -> Problem:
    level = "error" if severity == "error" else "warning"
    return Problem(code, f"link {line} is slow", "reseat it", Place("dump", line, 1), level)


def test_few_problems_stand_alone() -> None:
    assert list(gather_problems([problem(1), problem(2)])) == [
        "warning: dump:1:1: link 1 is slow [artifact.slow-link]",
        "  hint: reseat it",
        "warning: dump:2:1: link 2 is slow [artifact.slow-link]",
        "  hint: reseat it",
    ]


def test_many_alike_problems_stand_together() -> None:
    assert list(gather_problems([problem(line) for line in range(1, 313)])) == [
        "warning: 312 problems of one kind in dump [artifact.slow-link]",
        "  line 1: link 1 is slow",
        "  line 2: link 2 is slow",
        "  line 3: link 3 is slow",
        "  and 309 more like these",
        "  hint: reseat it",
    ]


def test_problems_of_two_kinds_do_not_mix() -> None:
    mixed = [problem(line, severity=("error", "warning")[line % 2]) for line in range(8)]
    assert [line for line in gather_problems(mixed) if "of one kind" in line] == [
        "error: 4 problems of one kind in dump [artifact.slow-link]",
        "warning: 4 problems of one kind in dump [artifact.slow-link]",
    ]


def test_clean() -> None:
    assert clean("h\u00f6lle \u4e16 [b]\n next") == "h\u00f6lle \u4e16 [b]\n next"
    assert clean("\x1b[31m\r\t\x00\udcff\u202e\x9b") == "\\x1b[31m\\r\\t\\x00\\udcff\\u202e\\x9b"
