"""Law: whatever a file holds, it gives a declaration or problems, never an exception, within bounds."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.broken import BASE, BREAKERS, broken_declarations
from weftline.declare import load_catalog, parse_spec, resolve_spec
from weftline.declare.tree import read_tree
from weftline.errors import Problem
from weftline.model.design import ResolvedSpec

BROKEN = broken_declarations(200, seed=1)
CATALOG = load_catalog()


def check(data: bytes) -> ResolvedSpec | tuple[Problem, ...]:
    found = parse_spec(data, Path("broken.yaml"))
    found = found if isinstance(found, tuple) else resolve_spec(found, CATALOG)
    assert isinstance(found, ResolvedSpec) or (found and all(isinstance(problem, Problem) for problem in found))
    return found


@pytest.mark.parametrize(("name", "data"), BROKEN, ids=[name for name, _ in BROKEN])
def test_gives_problems(name: str, data: bytes) -> None:
    problems = check(data)
    assert isinstance(problems, tuple), name
    assert 1 <= len(problems) <= 51
    for problem in problems:
        assert problem.where is not None
        assert problem.where.file == "broken.yaml"
        assert problem.message.isprintable()
        assert problem.hint
        assert len(problem.message) < 400
        assert problem.code.split(".")[0] in {"spec", "capability"}


def test_memory_is_bounded() -> None:
    tracemalloc.start()
    try:
        for name, data in BROKEN[: len(BREAKERS)]:
            tracemalloc.reset_peak()
            check(data)
            assert tracemalloc.get_traced_memory()[1] < 256 * 2**20, name
    finally:
        tracemalloc.stop()


def test_the_same_seed_makes_the_same_bytes() -> None:
    assert broken_declarations(50, 7) == broken_declarations(50, 7)
    assert broken_declarations(50, 7) != broken_declarations(50, 8)


def test_what_they_are_broken_from_is_whole() -> None:
    assert isinstance(check(BASE.encode()), ResolvedSpec)


@given(st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    check(data)


@given(st.text(alphabet=st.sampled_from(" \n\t:-[]{}&*!|>'\"#%@`,?ab01~.<"), max_size=120))
def test_any_yaml_like_text(text: str) -> None:
    check(text.encode())
    read_tree(text, "x")


@given(st.integers(0, len(BASE)), st.text(max_size=6))
def test_any_text_put_into_a_whole_one(place: int, text: str) -> None:
    check((BASE[:place] + text + BASE[place:]).encode())


@given(st.integers(0, len(BASE.splitlines()) - 1), st.integers(0, len(BASE.splitlines()) - 1))
def test_any_two_lines_swapped(one: int, other: int) -> None:
    lines = BASE.splitlines()
    lines[one], lines[other] = lines[other], lines[one]
    check("\n".join(lines).encode())
