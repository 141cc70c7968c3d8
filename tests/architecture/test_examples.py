"""Every command, declaration and Python block of the documentation runs."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture import source

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?:\.venv/bin/)?weftline (.*?)(?:\s+# exit (\d+))?$", re.MULTILINE)


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
def test_commands_run(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in order in a folder with the examples; ``# exit 2`` behind a command says what to expect."""
    from weftline.cli.main import call

    (tmp_path / "examples").mkdir()
    examples = [path for path in (source.ROOT / "examples").iterdir() if path.is_file()]
    for example in examples:
        (tmp_path / "examples" / example.name).write_bytes(example.read_bytes())
    monkeypatch.chdir(tmp_path)
    for block in page.blocks("console"):
        for command, status in COMMAND.findall(block):
            talk = io.StringIO()
            with contextlib.redirect_stdout(talk), contextlib.redirect_stderr(talk):
                done = call(shlex.split(command))
            assert done == int(status or 0), f"weftline {command}\n{talk.getvalue()[-2000:]}"


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
