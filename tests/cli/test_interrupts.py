"""A run that is interrupted, killed or not alone leaves nothing half-written, and the next run is clean."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import environment, run

BIG = """\
fabric: {name: big}
technology: infiniband
hosts: {count: 128, rate_gbps: 400, unit_size: 32}
topology: {kind: rail-optimised}
"""
LOAD = ("--collective", "all-reduce", "--algorithm", "ring", "--ranks", "1024", "--placement", "random", "--json")


LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # who started the tests may have switched it off
from weftline.cli.main import run
run()
"""


def launch(*arguments: object) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", LISTENING, *(str(argument) for argument in arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    """Read stderr until a stage begins."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(words):
            return
    raise AssertionError(f"{words} was never said")


MOMENTS = (
    ("reading the declaration", 0.0),
    ("computing routes", 0.02),
    ("computing routes", 0.15),  # kernels are loaded: C code that calls back swallows an exception or crashes on it
    ("laying out", 0.02),
    ("simulating", 0.3),
)


@pytest.mark.parametrize(("words", "delay"), MOMENTS)
def test_ctrl_c(words: str, delay: float, tmp_path: Path) -> None:
    (tmp_path / "big.yaml").write_text(BIG, encoding="utf-8")
    process = launch("simulate", tmp_path / "big.yaml", *LOAD)
    wait_for(process, words)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "interrupted; nothing is half-written" in err
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["big.yaml"]


def test_ctrl_c_before_anything_is_said(small: Path) -> None:
    """Python itself may not listen yet, our modules be loading, or Weftline be done; no function of ours is cut off."""
    for delay in (0.06, 0.12, 0.2):
        process = launch("check", small)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode in {0, 130, -signal.SIGINT} or "Fatal Python error: init_import_site" in err
        assert re.search(r"weftline/\S+, line \d+, in (?!<module>)", err) is None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_stopped_at_any_moment(number: signal.Signals, small: Path) -> None:
    assert run("up", small).status == 0
    folder = small.parent / ".weftline"
    whole = digests(folder)
    source = random.Random(int(number))
    for words in ("rendering", "rendering", "drawing"):
        if source.random() < 0.6:
            shutil.rmtree(folder)
        process = launch("up", small)
        wait_for(process, words)
        time.sleep(source.random() * 0.1)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode in {0, -number, 130}
        assert "Traceback" not in err
        assert run("up", small).status == 0
        assert digests(folder) == whole


def test_what_a_killed_run_left_beside_a_file_goes(small: Path) -> None:
    folder = small.parent / ".weftline" / "infiniband"
    folder.mkdir(parents=True)
    (folder / ".report.html.part").write_text("half", encoding="utf-8")
    assert run("report", small).status == 0
    assert [path.name for path in folder.iterdir()] == ["report.html"]


def test_two_at_once(small: Path) -> None:
    assert run("up", small).status == 0
    whole = digests(small.parent)
    shutil.rmtree(small.parent / ".weftline")
    processes = [launch("up", small, "--json") for _ in range(3)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in processes]
    assert 0 in {status for _, status in ended}
    for (out, err), status in ended:
        assert "Traceback" not in err
        assert status == 0 or (status == 1 and '"artifact.busy"' in out)
    assert digests(small.parent) == whole
