"""The auditor stays what an auditor can read in an hour, and run on any machine with Python 3.9."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

MAX_LINES = 500
MAX_WIDTH = 120
OLDEST = (3, 9)


def read_auditor(root: Path) -> str:
    """Read the one file."""
    return (root / "auditor" / "weftline_audit.py").read_text(encoding="ascii")


def test_auditor_is_one_short_file(root: Path) -> None:
    lines = read_auditor(root).splitlines()
    assert len(lines) < MAX_LINES
    assert [line for line in lines if len(line) > MAX_WIDTH] == []
    assert [path.name for path in (root / "auditor").iterdir() if path.name != "__pycache__"] == ["weftline_audit.py"]


def test_auditor_imports_the_standard_library_alone(root: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(read_auditor(root))) if isinstance(node, ast.Import)]
    names = {alias.name.split(".")[0] for node in imports for alias in node.names}
    assert names <= sys.stdlib_module_names
    assert not [node for node in ast.walk(ast.parse(read_auditor(root))) if isinstance(node, ast.ImportFrom)]
    assert not {"__import__(", "importlib", "eval(", "exec("} & set(read_auditor(root).split())


def test_auditor_is_python_that_old_machines_have(root: Path) -> None:
    ast.parse(read_auditor(root), feature_version=OLDEST)


def test_auditor_writes_nothing_and_starts_nothing(root: Path) -> None:
    text = read_auditor(root)
    assert "O_RDONLY" in text
    assert not [word for word in ("O_WRONLY", "O_RDWR", "O_CREAT", "subprocess", "os.system", "socket") if word in text]


def test_auditor_runs_without_anything_of_ours(root: Path, tmp_path: Path) -> None:
    file = root / "auditor" / "weftline_audit.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(file), str(tmp_path)], capture_output=True, text=True, env={}, check=False
    )
    assert done.returncode == 1
    assert "unreadable" in done.stdout
