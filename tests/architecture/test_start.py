from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numba", "llvmlite", "numpy", "scipy", "pydantic", "yaml", "jinja2", "networkx"}


@pytest.mark.parametrize("arguments", [["--help"], ["up", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    """The time of ``--help`` is measured by ``make bench``; what decides it is what it imports."""
    command = [sys.executable, "-X", "importtime", "-m", "weftline", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "typer" in imported
    assert imported & HEAVY == set()
