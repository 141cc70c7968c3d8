"""The auditors stay what an auditor can read in an hour each, and run on any machine with Python 3.9."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

MAX_LINES = 500
MAX_WIDTH = 120
OLDEST = (3, 9)


FILES = ("weftline_audit.py", "weftline_audit_routes.py")


@pytest.fixture(params=FILES)
def auditor(root: Path, request: pytest.FixtureRequest) -> Path:
    """Name one file after the other."""
    return root / "auditor" / request.param


def read_auditor(auditor: Path) -> str:
    """Read one file."""
    return auditor.read_text(encoding="ascii")


def test_auditor_is_one_short_file(auditor: Path) -> None:
    lines = read_auditor(auditor).splitlines()
    assert len(lines) < MAX_LINES
    assert [line for line in lines if len(line) > MAX_WIDTH] == []
    assert sorted(path.name for path in auditor.parent.iterdir() if path.name != "__pycache__") == sorted(FILES)


def test_auditor_imports_the_standard_library_alone(auditor: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(read_auditor(auditor))) if isinstance(node, ast.Import)]
    names = {alias.name.split(".")[0] for node in imports for alias in node.names}
    assert names <= sys.stdlib_module_names
    assert not [node for node in ast.walk(ast.parse(read_auditor(auditor))) if isinstance(node, ast.ImportFrom)]
    assert not {"__import__(", "importlib", "eval(", "exec("} & set(read_auditor(auditor).split())


def test_auditor_is_python_that_old_machines_have(auditor: Path) -> None:
    ast.parse(read_auditor(auditor), feature_version=OLDEST)


def test_auditor_writes_nothing_and_starts_nothing(auditor: Path) -> None:
    text = read_auditor(auditor)
    assert "O_RDONLY" in text
    assert not [word for word in ("O_WRONLY", "O_RDWR", "O_CREAT", "subprocess", "os.system", "socket") if word in text]


def test_auditor_runs_without_anything_of_ours(auditor: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(auditor), str(tmp_path)], capture_output=True, text=True, env={}, check=False
    )
    assert done.returncode == 1
    assert "unreadable" in done.stdout
