from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numba", "llvmlite", "numpy", "scipy", "yaml", "jinja2", "networkx"}


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], {*HEAVY, "pydantic"}),
        (["--version"], {*HEAVY, "pydantic"}),
        (["up", "--help"], HEAVY),  # typer itself uses pydantic to read the arguments of a verb
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str], heavy: set[str]) -> None:
    """The time of ``--help`` is measured by ``make bench``; what decides it is what it imports."""
    command = [sys.executable, "-X", "importtime", "-m", "weftline", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "typer" in imported
    assert imported & heavy == set()
