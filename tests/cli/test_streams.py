"""stdout is data, stderr is talk; neither a pipe, a full disk nor a terminal brings a traceback."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, environment, run, start

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]")
COLUMNS = 80
WEFTLINE = " ".join(COMMAND)


def shell(line: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {line.replace('weftline', WEFTLINE)}"],
        cwd=cwd, env=environment(env), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stdout + done.stderr, done.stderr.decode()
    assert b"Exception ignored" not in done.stderr, done.stderr.decode()
    return done


def watch(*arguments: object, cwd: Path, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Run the command on a terminal of 80 columns; returns its status and everything it sent."""
    terminal, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *(str(argument) for argument in arguments)],
        cwd=cwd, env=environment({"TERM": "xterm-256color", **(env or {})}),
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    sent = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not data:
            break
        sent += data
    os.close(terminal)
    status = process.wait(timeout=60)
    text = sent.decode()
    assert "Traceback" not in text, text
    return status, text


def test_stdout_is_data_and_stderr_is_talk(places: Path) -> None:
    ran = run("prove", places / "roce.yaml", "--json")
    assert json.loads(ran.out)["proofs"]
    stages = ["reading the declaration", "compiling the fabric", "computing routes", "proving the claims"]
    stages += ["rendering device files"]  # RoCE is proved on them
    assert ran.err.splitlines() == [f"{stage} ..." for stage in stages]


@pytest.mark.parametrize("verb", ["check", "build", "route", "prove", "simulate", "cables"])
def test_quiet_leaves_stderr_empty(verb: str, places: Path) -> None:
    quiet, loud = run(verb, places / "roce.yaml", "--quiet"), run(verb, places / "roce.yaml")
    assert quiet.err == ""
    assert loud.out.endswith(quiet.out)
    assert quiet.out


def test_no_escapes_without_a_terminal(places: Path, tmp_path: Path) -> None:
    ran = start("up", places / "roce.yaml", "--out", tmp_path)
    assert ran.status == 0
    assert "\x1b" not in ran.out + ran.err
    assert max(len(line) for line in ran.out.splitlines() if str(tmp_path) not in line) <= 100
    assert [line for line in ran.out.splitlines() if line != line.rstrip()] == []


def test_a_terminal_gets_colours_progress_and_tables_that_fit(places: Path, tmp_path: Path) -> None:
    status, sent = watch("up", places / "roce.yaml", "--out", tmp_path, cwd=places)
    assert status == 0
    assert COLOUR.search(sent)
    assert "simulating" in sent
    assert "\x1b[?25l" in sent
    assert sent.rindex("\x1b[?25h") > sent.rindex("\x1b[?25l")  # the cursor is back
    printed = sent[sent.rindex("\x1b[2K") :]
    lines = [line for line in ESCAPE.sub("", printed).replace("\r", "").split("\n") if str(tmp_path) not in line]
    assert [line for line in lines if len(line) > COLUMNS] == []
    proved = [line.split()[0] for line in lines if " proved" in line]
    assert proved == ["reach", "deadlock", "balance", "lossless", "deadlock-in-failures", "converge"]
    assert "report   " in ESCAPE.sub("", printed)


@pytest.mark.parametrize(("option", "env"), [(("--no-color",), None), ((), {"NO_COLOR": "1"})])
def test_a_terminal_without_colours(option: tuple[str, ...], env: dict[str, str] | None, places: Path) -> None:
    status, sent = watch("prove", "roce.yaml", *option, cwd=places, env=env)
    assert status == 0
    assert not COLOUR.search(sent)


def test_a_terminal_that_is_quiet(places: Path) -> None:
    status, sent = watch("build", "roce.yaml", "--quiet", "--no-color", cwd=places)
    assert status == 0
    assert "compiling" not in sent
    assert "\x1b[?25l" not in sent


def test_a_narrow_reader(places: Path) -> None:
    assert shell("weftline build roce.yaml | head -1", places).stdout.startswith(b"tier")
    gone = shell("weftline cables roce.yaml --json | true", places)
    assert gone.returncode in {0, 141}
    gone = shell("(sleep 1; weftline prove -q roce.yaml; echo $? >&2) | true", places)
    assert gone.stderr.split() == [b"141"]


@pytest.mark.parametrize("option", ["", "--json"])
def test_a_closed_stdout(option: str, places: Path) -> None:
    done = shell(f"weftline build -q roce.yaml {option} >&-", places)
    assert (done.returncode, done.stderr) == (0, b"")
    assert shell(f"weftline build nothere {option} >&- 2>&-", places).returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["build -q roce.yaml", "build -q roce.yaml --json", "cables roce.yaml", "schema"])
def test_a_full_disk_behind_stdout(words: str, unbuffered: str, places: Path) -> None:
    env = {"PYTHONUNBUFFERED": unbuffered}
    done = shell(f"weftline {words} > /dev/full", places, env)
    assert done.returncode == 1
    assert b"No space left on device [artifact.system]" in done.stderr
    assert shell(f"weftline {words} > /dev/full 2>&1", places, env).returncode == 1


def test_an_encoding_without_our_characters(places: Path, tmp_path: Path) -> None:
    place = tmp_path / "h\u00f6lle \u4e16\u754c.yaml"
    shutil.copy(places / "roce.yaml", place)
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for name in (place.name, "nothere \u4e16.yaml"):
        done = shell(f"weftline check -q --json '{name}'", tmp_path, env)
        document = json.loads(done.stdout.decode("ascii"))
        assert document.get("declaration", name) == name
    assert shell(f"weftline up -q '{place.name}'", tmp_path, env).returncode == 0
    assert shell("weftline check 'nothere \u4e16.yaml'", tmp_path, env).returncode == 1


def test_names_are_printed_as_they_are(places: Path, tmp_path: Path) -> None:
    """Neither the markup of a console nor a line end in the middle of a path."""
    folder = tmp_path / "[bold] :warning: a b" / ("long" * 40)
    folder.mkdir(parents=True)
    shutil.copy(places / "roce.yaml", folder / "x.yaml")
    ran = run("up", folder / "x.yaml", "--quiet")
    assert f"report   {folder}/.weftline/x/report.html\n" in ran.out
    assert f" in {folder}/.weftline/x/artifacts\n" in ran.out


def test_what_would_steer_a_terminal_is_written_out(tmp_path: Path) -> None:
    ran = run("check", tmp_path / "\x1b[2J\x07.yaml")
    assert ran.status == 1
    assert "\x1b" not in ran.err
    assert "\\x1b[2J\\x07.yaml does not exist" in ran.err


def test_a_dump_does_not_steer_the_terminal(tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "golden" / "cases" / "adopt-lab" / "input"
    dump = tmp_path / "dump.txt"
    text = (folder / "ibnetdiscover.txt").read_text(encoding="utf-8")
    assert "host-0001" in text
    dump.write_text(text.replace("host-0001", "host-\x1b[31m1[bold]"), encoding="utf-8")
    for arguments in (("adopt", dump), ("diff", folder / "ibnetdiscover.txt", dump)):
        ran = run(*arguments)
        assert ran.status in {0, 1, 2}
        assert "\x1b" not in ran.out + ran.err
