"""Every command, declaration and Python block of the documentation runs, and prints what is quoted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture import console, source
from tests.lab.conftest import IS_ABSENT
from weftline.cli.main import call

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Page:
    """One page with its fenced blocks."""

    path: Path

    def blocks(self, language: str) -> list[str]:
        """List the blocks of one language."""
        return [body for found, body in BLOCK.findall(self.path.read_text(encoding="utf-8")) if found == language]


def list_pages() -> list[Page]:
    """List the pages that people write."""
    docs = source.ROOT / "docs"
    made = (docs / "_build", docs / "reference" / "generated")
    paths = [path for path in sorted(docs.rglob("*.md")) if not any(path.is_relative_to(folder) for folder in made)]
    return [Page(source.ROOT / "README.md"), *(Page(path) for path in paths)]


def with_blocks(*languages: str) -> list[object]:
    """List the pages that have blocks of these languages, as parameters of a test."""
    return [
        pytest.param(page, id=page.path.relative_to(source.ROOT).as_posix())
        for page in list_pages()
        if any(page.blocks(language) for language in languages)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", with_blocks("console"))
def test_commands_run_and_print_what_is_quoted(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in order in a folder with the examples; ``# exit 2`` behind a command says what to expect.

    After a change of what a command prints: ``python -m tests.architecture.console PAGE`` renews the page.
    """
    console.prepare(tmp_path, page.path.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    run_blocks(page.blocks("console"))


@pytest.mark.lab
@pytest.mark.skipif(IS_ABSENT, reason="opensm, ibsim-utils or infiniband-diags is not installed")
@pytest.mark.parametrize("page", with_blocks("lab"))
def test_labs_run_and_print_what_is_quoted(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of ``lab`` are like those of ``console``; what they start is stopped, whatever happened."""
    console.prepare(tmp_path, page.path.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    try:
        run_blocks(page.blocks("lab"))
    finally:
        for example in sorted((tmp_path / "examples").glob("*.yaml")):
            assert call(["lab", "down", "--quiet", str(example)]) == 0


def run_blocks(blocks: list[str]) -> None:
    """Run the commands of blocks in order, in the current folder."""
    for step in (step for block in blocks for step in console.read_steps(block)):
        status, printed = console.run(step)
        shown = "\n".join(printed)
        assert status == step.status, f"{step.line}\n{shown}"
        assert console.agrees(step.quoted, printed), f"{step.line} prints something else than is quoted:\n{shown}"


def test_a_wrong_quotation_is_found() -> None:
    printed = ["one", "two", "three"]
    assert console.agrees((), printed)
    assert console.agrees(("one", "...", "three"), printed)
    assert not console.agrees(("one", "three"), printed)
    assert not console.agrees(("...", "four"), printed)


@pytest.mark.parametrize("page", with_blocks("yaml"))
def test_declarations_are_sound(page: Page, tmp_path: Path) -> None:
    """A block that declares hosts and a technology is a whole declaration; others are pieces, and only parse."""
    import yaml

    from weftline import declare

    for number, block in enumerate(page.blocks("yaml")):
        keys = yaml.safe_load(block)
        if isinstance(keys, dict) and {"technology", "hosts"} <= set(keys):  # pyright: ignore[reportUnknownArgumentType]
            path = tmp_path / f"block-{number}.yaml"
            path.write_text(block, encoding="utf-8")
            assert not isinstance(declare.read_spec(path), tuple)


def test_python_runs() -> None:
    for page in list_pages():
        names: dict[str, object] = {}
        for block in page.blocks("python"):
            exec(compile(block, str(page.path), "exec"), names)  # noqa: S102
