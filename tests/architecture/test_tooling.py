from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tools.check_skips import count_skips, judge_skips

REPORT = """<testsuites><testsuite>
<testcase name="a"><skipped type="pytest.skip" message="the corpus is absent"/></testcase>
<testcase name="b"><skipped type="pytest.skip" message="no browser"/></testcase>
<testcase name="c"/>
</testsuite></testsuites>"""


@pytest.fixture
def skips(tmp_path: Path) -> Counter[str]:
    """The skips of a small report."""
    path = tmp_path / "junit.xml"
    path.write_text(REPORT, encoding="utf-8")
    return count_skips(path)


def test_skipping_the_corpus_is_wrong_where_it_is_there(skips: Counter[str], tmp_path: Path) -> None:
    assert judge_skips(skips, tmp_path) == "1 tests that read the corpus were skipped, but it is there"


def test_skipping_the_corpus_is_right_where_it_is_absent(skips: Counter[str], tmp_path: Path) -> None:
    assert judge_skips(skips, tmp_path / "absent") == ""


def test_other_skips_are_no_matter_of_the_corpus(tmp_path: Path) -> None:
    assert judge_skips(Counter({"no browser": 3}), tmp_path) == ""


def test_scripts_can_be_run(root: Path) -> None:
    scripts = [root / ".ci" / "run", root / "tools" / "make-venv", root / "tools" / "debian-packages"]
    assert [path.name for path in scripts if not os.access(path, os.X_OK)] == []
    for path in scripts:
        subprocess.run(["bash", "-n", str(path)], check=True)


def test_packages_that_are_there_need_no_network(root: Path) -> None:
    """With nothing asked for, nothing is done; a wrong option is a usage error."""
    script = str(root / "tools" / "debian-packages")
    assert subprocess.run([script, "--required", "", "--optional", ""], check=False).returncode == 0
    assert subprocess.run([script, "--sometimes", "x"], check=False, capture_output=True).returncode == 64


def test_required_packages_that_are_absent_are_named(root: Path, tmp_path: Path) -> None:
    """Without the tools of Debian the script says what is missing, and fails only for what is required."""
    tools = {"bash": "/bin/bash", "env": "/usr/bin/env"}
    for name, target in tools.items():
        (tmp_path / name).symlink_to(target)
    command = ["/bin/bash", str(root / "tools" / "debian-packages")]
    environment = {"PATH": str(tmp_path)}
    options = ["--required", "no-such-package", "--optional", ""]
    needed = subprocess.run([*command, *options], check=False, capture_output=True, text=True, env=environment)
    assert needed.returncode == 1
    assert "no-such-package" in needed.stderr
    options = ["--required", "", "--optional", "no-such-package"]
    wished = subprocess.run([*command, *options], check=False, capture_output=True, text=True, env=environment)
    assert wished.returncode == 0
    assert "no-such-package" in wished.stderr


def test_help_names_every_target_that_people_use(root: Path) -> None:
    done = subprocess.run(["make", "help"], cwd=root, check=True, capture_output=True, text=True)
    named = set(re.findall(r"make (\w+)", done.stdout))
    assert {"run", "test", "bench", "lint", "docs", "coverage", "lock", "clean", "help"} <= named
