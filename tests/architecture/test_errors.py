from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture import source
from weftline.app import explain

FAMILIES = (
    "spec|capability|artifact|source|enact|usage|refused|internal|"
    "files|fabric|routing|managers|lanes|links|cabling|partition|keys|"
    "classes|pauses|watchdog|buffers|queue|mtu|tunnel|link|nic|drift|evidence|tenancy|change"
)
"""Families of errors, and those of the rules of an audit and of lint."""
CODE = re.compile(rf"(?:{FAMILIES})\.[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
NO_CODES = frozenset({"buffers.model", "keys.roots", "routing.engine", "routing.lanes"})
"""Paths of facts and of declarations that look like codes."""
FILE_SUFFIXES = (".json", ".yaml", ".md", ".csv", ".html", ".txt", ".topo", ".name", ".conf")


def find_codes() -> dict[str, str]:
    """Map every error code in the source to a place that uses it."""
    codes: dict[str, str] = {}
    for module in source.read_modules():
        for line, text in source.list_strings(module.tree):
            if CODE.fullmatch(text) and text not in NO_CODES and not text.endswith(FILE_SUFFIXES):
                codes.setdefault(text, f"{module.name}:{line}")
    return codes


@pytest.fixture(scope="module")
def codes() -> dict[str, str]:
    """The codes of the source."""
    return find_codes()


def test_there_are_codes(codes: dict[str, str]) -> None:
    assert "usage.unknown-code" in codes


def test_every_code_is_explained(codes: dict[str, str]) -> None:
    explained = explain.read_explanations()
    assert {code: place for code, place in codes.items() if code not in explained} == {}


def test_every_explanation_belongs_to_a_code(codes: dict[str, str]) -> None:
    assert set(explain.read_explanations()) - set(codes) == set()


def test_every_explanation_says_enough() -> None:
    short = [code for code, entry in explain.read_explanations().items() if entry.text.count(".") < 2]
    assert short == []


def test_no_code_is_explained_twice() -> None:
    folder = source.PACKAGE / "app" / "explanations"
    headings = [
        line
        for path in sorted(folder.glob("*.md"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    ]
    assert sorted(headings) == sorted(set(headings))


def test_every_code_occurs_in_a_test(codes: dict[str, str], root: Path) -> None:
    here = Path(__file__).parent
    texts = [
        path.read_text(encoding="utf-8", errors="replace")
        for path in (root / "tests").rglob("*")
        if path.is_file()
        and path.suffix in {".py", ".txt", ".json", ".ambr", ".yaml", ".md"}
        and here not in path.parents
    ]
    tested = {code for text in texts for code in CODE.findall(text)}
    assert {code: place for code, place in codes.items() if code not in tested} == {}


def test_codes_can_be_searched_for() -> None:
    """A code that is put together at run time is found by no search."""
    glued = [
        f"{module.name}:{node.lineno}"
        for module in source.read_modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.JoinedStr)
        and isinstance(node.values[0], ast.Constant)
        and re.fullmatch(rf"(?:{FAMILIES})\.[a-z-]*", str(node.values[0].value))
    ]
    assert glued == []
