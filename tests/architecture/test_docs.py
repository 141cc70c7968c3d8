from __future__ import annotations

import pkgutil
import re
import tomllib
from pathlib import Path

from tests.architecture import source

WORDS = """
node switch host nic port link cable lane channel rail plane unit path route flow claim proof witness certificate
finding incident action change stage step entry
"""


def read_page(name: str) -> str:
    """Read one page of the documentation."""
    return (source.ROOT / "docs" / name).read_text(encoding="utf-8")


def list_names(text: str, rooms: set[str]) -> list[str]:
    """List the dotted names in backticks that begin with a room."""
    names = re.findall(r"`(?:weftline\.)?([a-z_]+(?:\.\w+)+)`", text)
    return [name for name in names if name.split(".", maxsplit=1)[0] in rooms]


def find_unknown(names: list[str]) -> list[str]:
    """List the names that do not exist in the program."""
    unknown: list[str] = []
    for name in names:
        try:
            pkgutil.resolve_name(f"weftline.{name}")
        except (ImportError, AttributeError):
            unknown.append(name)
    return unknown


def test_names_on_the_walk_exist() -> None:
    names = list_names(read_page("internals/how-it-works.md"), source.list_rooms())
    assert len(names) > 15
    assert find_unknown(names) == []


def test_an_invented_name_is_found() -> None:
    assert find_unknown(["declare.read_minds", "model.fabric.Fabric"]) == ["declare.read_minds"]


def test_the_layout_names_the_rooms_that_exist() -> None:
    named = re.findall(r"^\| `weftline\.(\w+)` \|", read_page("internals/layout.md"), re.MULTILINE)
    assert len(named) == len(set(named))
    assert set(named) == source.list_rooms()


def test_the_layout_names_the_folders_that_exist(root: Path) -> None:
    page = read_page("internals/layout.md")
    beside = page[page.index("## Beside the source") : page.index("## Where a command lives")]
    named = set(re.findall(r"^\| `([\w.]+)` \|", beside, re.MULTILINE))
    made = {"src", "out", "dist", "build"}
    exist = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    assert named == exist - made


def test_every_dependency_has_a_reason(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    wanted = [*project["project"]["dependencies"], *groups["dev"], *groups["docs"]]
    names = {re.split(r"[\[><=~! ]", requirement, maxsplit=1)[0] for requirement in wanted}
    assert set(re.findall(r"^\| `([\w-]+)` \|", read_page("internals/dependencies.md"), re.MULTILINE)) == names


def test_the_glossary_has_every_word_once() -> None:
    terms = re.findall(r"^(\w+)$", read_page("reference/glossary.md"), re.MULTILINE)
    assert len(terms) == len(set(terms))
    assert set(WORDS.split()) - set(terms) == set()
