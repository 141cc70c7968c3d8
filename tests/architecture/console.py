"""Console blocks of the documentation: commands run in order, and what they print held against what the page quotes.

``python -m tests.architecture.console PAGE ...`` runs the commands and puts what they print into the pages, except
where a page leaves lines out with ``...``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(console|lab)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Blocks of ``lab`` start real programs, and run where those are installed."""
NAMED = re.compile(r"^```(?:yaml|text)\n(# (\S+\.\w+)\n.*?)^```$", re.MULTILINE | re.DOTALL)
WEFTLINE = re.compile(r"(?:\.venv/bin/)?weftline\b(.*)")
STATUS = re.compile(r"\s+# exit (\d+)$")
LEFT_OUT = "..."


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a block, as written, and the lines that the page quotes below it."""

    line: str
    quoted: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command without the prompt and without the status behind it."""
        return STATUS.sub("", self.line.removeprefix("$ "))

    @property
    def status(self) -> int:
        """The exit status that the page promises."""
        found = STATUS.search(self.line)
        return int(found[1]) if found else 0


def read_steps(block: str) -> list[Step]:
    """Read the commands of a block and what is quoted below each."""
    steps: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line, ()))
        elif steps:
            steps[-1] = Step(steps[-1].line, (*steps[-1].quoted, line.rstrip()))
    return steps


def prepare(folder: Path, page: str) -> None:
    """Lay out what the commands of a page find: examples, the auditor, and blocks that begin with a file name."""
    for name in ("examples", "auditor"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    for block in NAMED.finditer(page):
        (folder / block[2]).write_text(block[1], encoding="utf-8")


def run(step: Step) -> tuple[int, list[str]]:
    """Run one command in the current folder; weftline in this process, others in a shell. Returns status and lines."""
    from weftline.cli.main import call

    found = WEFTLINE.fullmatch(step.command)
    if found is None:
        done = subprocess.run(["/bin/bash", "-c", step.command], capture_output=True, text=True, check=False)
        return done.returncode, trim(done.stdout + done.stderr)
    out, talk = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(talk):
        status = call(shlex.split(found[1]))
    progress = re.compile(r"^.* \.\.\.\n", re.MULTILINE)
    return status, trim(out.getvalue() + progress.sub("", talk.getvalue()))


def trim(text: str) -> list[str]:
    """Split into lines without trailing blanks, and without empty lines around them."""
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def agrees(quoted: tuple[str, ...], printed: list[str]) -> bool:
    """Judge whether what is quoted was printed; ``...`` stands for any number of lines, and nothing for anything."""
    if not quoted:
        return True
    pattern = "".join("(?:.*\n)*?" if line == LEFT_OUT else f"{re.escape(line)}\n" for line in quoted)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def renew(page: str) -> str:
    """Put what the commands print into a page, where it quotes anything in full; commands run in the current folder."""

    def fill(block: re.Match[str]) -> str:
        lines: list[str] = []
        for step in read_steps(block[2]):
            status, printed = run(step)
            if status != step.status:
                sys.stderr.write(f"{step.line}: left with {status}\n" + "\n".join(printed) + "\n")
            if step.quoted and LEFT_OUT in step.quoted and not agrees(step.quoted, printed):
                sys.stderr.write(f"{step.line}: quoted in part, and no longer true\n")
            is_whole = bool(step.quoted) and LEFT_OUT not in step.quoted
            lines += [step.line, *(printed if is_whole else step.quoted)]
        return f"```{block[1]}\n" + "\n".join(lines) + "\n```"

    return FENCE.sub(fill, page)


def main() -> None:
    """Renew the pages that are named."""
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        page = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            prepare(Path(folder), page)
            path.write_text(renew(page), encoding="utf-8")


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    main()
