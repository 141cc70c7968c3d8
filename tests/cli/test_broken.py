"""Broken declarations through the command: always exit 1 with a code, never a traceback, within time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import environment, hold, run
from tests.properties.broken import BREAKERS, broken_declarations

BROKEN = broken_declarations(200, seed=1)
ALONE = broken_declarations(len(BREAKERS), seed=7)
LIMIT_S = 30
LIMITED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({LIMIT_S}, {LIMIT_S}))
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from weftline.cli.main import call
status = call(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # ru_maxrss is the parent's too
sys.stderr.write(f"peak {{peak.split()[1]}}")
sys.exit(status)
"""


@pytest.mark.parametrize(("name", "data"), BROKEN, ids=[name for name, _ in BROKEN])
def test_is_refused_with_a_code(name: str, data: bytes, tmp_path: Path) -> None:
    place = tmp_path / "broken.yaml"
    place.write_bytes(data)
    verb = ("check", "up", "build", "diff")[len(data) % 4]
    more = [place] if verb == "diff" else []
    ran = run(verb, place, *more, "--json")
    error = hold(ran.document, "error")
    assert ran.status == 1, name
    assert error["code"].split(".")[0] in {"spec", "capability"}
    assert error["where"]["file"] == str(place)
    assert error["problem_count"] >= 1
    assert [path.name for path in tmp_path.iterdir()] == ["broken.yaml"]
    talk = run("check", place)
    assert (talk.status, talk.out) == (1, "")
    assert len(talk.err) < 100_000
    assert f"[{error['code']}]" in talk.err


@pytest.mark.parametrize(("name", "data"), ALONE[::2], ids=[name for name, _ in ALONE[::2]])
def test_within_time_and_memory(name: str, data: bytes, tmp_path: Path) -> None:
    """The limit on address space holds for the libraries too, so the bound on memory in use lies below it."""
    place = tmp_path / "broken.yaml"
    place.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "check", str(place), "--json"],
        env=environment(), capture_output=True, text=True, timeout=2 * LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1, f"{name}\n{done.stderr}"
    hold(json.loads(done.stdout), "error")
    assert int(done.stderr.split()[-1]) < 512 * 1024  # KiB


HUGE = (
    ("count: 4", "count: 1000000000"),
    ("count: 4", "count: 1000000000000000000000000000000"),
    ("unit_size: 2", "unit_size: 1000000000"),
    ("gpus: 8\n  rails: 8", "gpus: 1000000\n  rails: 1000000"),
    ("parameters: 8e9", "parameters: 1e300"),
    ("global_batch: 64", "global_batch: 10000000000000000000000000000"),
    ("sequence_length: 4096", "sequence_length: 99999999999999999999999"),
    ("tensor_parallel: 8", "tensor_parallel: 9223372036854775807"),
    ("gpu_hour_price: 2.5", "gpu_hour_price: 1e308"),
    ("utilisation: 0.4", "utilisation: 1e-300"),
    ("rate_gbps: 400", "rate_gbps: 1e30"),
    ("kind: fat-tree", "kind: fat-tree\n  oversubscription: 1e300"),
    ("kind: fat-tree", "kind: fat-tree\n  oversubscription: 1e-300"),
    ("kind: fat-tree", "kind: fat-tree\n  planes: 1000000000"),
)


@pytest.mark.parametrize(("old", "new"), HUGE)
def test_huge_numbers(old: str, new: str, small: Path) -> None:
    text = small.read_text(encoding="utf-8")
    assert old in text
    small.write_text(text.replace(old, new), encoding="utf-8")
    ran = run("up", small, "--json")
    document = ran.document
    assert ran.status in {0, 1, 2}
    hold(document, "error" if ran.status == 1 else "up")
