from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import source

VIOLATIONS = {
    "the floors of the house": ("route/engines_trial.py", "from weftline import prove\n"),
    "variants never know each other": ("technologies/roce/trial.py", "from weftline.technologies import infiniband\n"),
    "faces know the app and the nouns only": ("cli/trial.py", "from weftline import compile\n"),
    "nouns know the column types, not the loops": ("model/trial.py", "from weftline.kernels import tables\n"),
    "formats turn bytes into records, without loops of their own": (
        "formats/trial.py",
        "def late() -> None:\n    from weftline.kernels import tables\n",
    ),
    "numba only behind its one door": ("simulate/trial.py", "import numba\n"),
    "typer and rich only in the command line": ("app/trial.py", "from rich import table\n"),
    "YAML only where declarations and settings are read": ("render/trial.py", "import yaml\n"),
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the source with the contracts, to break."""
    shutil.copytree(source.PACKAGE, tmp_path / "src" / "weftline", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source.ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def check_contracts(house: Path) -> dict[str, str]:
    """Run import-linter on a copy; the verdict of each contract."""
    tool = Path(sys.executable).with_name("lint-imports")
    environment = {**os.environ, "PYTHONPATH": str(house / "src"), "COLUMNS": "200"}
    done = subprocess.run(
        [tool, "--no-cache", "--no-logo"],
        cwd=house,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    verdicts = dict(re.findall(r"^(.*?) (KEPT|BROKEN)", done.stdout, re.MULTILINE))
    assert verdicts, done.stdout + done.stderr
    return verdicts


@pytest.mark.slow
def test_contracts_hold(house: Path) -> None:
    assert set(check_contracts(house).items()) == {(name, "KEPT") for name in VIOLATIONS}


@pytest.mark.slow
def test_every_contract_catches_its_violation(house: Path) -> None:
    for path, text in VIOLATIONS.values():
        (house / "src" / "weftline" / path).write_text(f'"""Break a contract."""\n\n{text}', encoding="utf-8")
    assert set(check_contracts(house).items()) == {(name, "BROKEN") for name in VIOLATIONS}


@pytest.mark.slow
def test_a_room_without_a_floor_is_refused(house: Path) -> None:
    attic = house / "src" / "weftline" / "attic"
    attic.mkdir()
    (attic / "__init__.py").write_text('"""A room that no floor names."""\n', encoding="utf-8")
    tool = Path(sys.executable).with_name("lint-imports")
    environment = {**os.environ, "PYTHONPATH": str(house / "src"), "COLUMNS": "200"}
    done = subprocess.run(
        [tool, "--no-cache", "--no-logo"], cwd=house, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "attic" in done.stdout + done.stderr
