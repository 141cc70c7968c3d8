"""Discovery dumps cut, flipped, empty, binary or endless: a verdict or an error with a code, never a traceback."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import environment, hold, run

LAB = Path(__file__).parents[1] / "golden" / "cases" / "adopt-lab" / "input"
REAL = (
    "topograph/tests_output_ibnetdiscover_example.out",
    "topograph/tests_output_ibnetdiscover_example-bad.out",
    "treydock_infiniband_exporter/ibnetdiscover/test.out",
    "treydock_infiniband_exporter/ibnetdiscover/test2.out",
    "treydock_infiniband_exporter/ibnetdiscover/test3.out",
    "ufm_sdk/plugins_UFM_NDT_Plugin_tests_positive_flow_ibnetdiscover_ibnetdiscover_director.txt",
)
TABLES = ("dump_fts.txt", "dump_fts-n.txt", "opensm-lfts.dump", "opensm.fdbs", "ibroute-leaf-001.txt")


def judge(dump: Path, *more: object) -> int:
    """Adopt a dump; what comes back keeps its contract, whatever the dump holds."""
    ran = run("adopt", dump, *more, "--json")
    assert ran.status in {0, 1, 2}, ran.out
    document = hold(ran.document, "error" if ran.status == 1 else "adoption")
    if ran.status == 1:
        assert document["code"].split(".")[0] in {"artifact", "capability", "spec"}
    return ran.status


def flip(data: bytes, seed: int) -> bytes:
    source = random.Random(seed)
    flipped = bytearray(data)
    for _ in range(source.choice((1, 5, 50))):
        flipped[source.randrange(len(flipped))] ^= 1 << source.randrange(8)
    return bytes(flipped)


@pytest.mark.parametrize("part", range(21))
@pytest.mark.parametrize("name", ["ibnetdiscover.txt", "portlist.txt"])
def test_cut(name: str, part: int, tmp_path: Path) -> None:
    data = (LAB / name).read_bytes()
    dump = tmp_path / "dump.txt"
    dump.write_bytes(data[: len(data) * part // 20])
    status = judge(dump)
    assert part != 0 or status == 1
    assert part != 20 or status in {0, 2}


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("name", ["ibnetdiscover.txt", "portlist.txt"])
def test_flipped(name: str, seed: int, tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_bytes(flip((LAB / name).read_bytes(), seed))
    judge(dump)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", TABLES)
def test_tables_cut_and_flipped(name: str, seed: int, tmp_path: Path) -> None:
    data = (LAB / name).read_bytes()
    tables = tmp_path / "tables.txt"
    tables.write_bytes(flip(data, seed) if seed % 2 else data[: len(data) * seed // 6])
    judge(LAB / "ibnetdiscover.txt", "--tables", tables)


@pytest.mark.parametrize("name", REAL)
def test_real_dumps_cut(name: str, corpus: Path, tmp_path: Path) -> None:
    data = (corpus / "infiniband" / name).read_bytes()
    dump = tmp_path / "dump.txt"
    is_large = len(data) > 1_000_000
    for part in range(1, 21, 10 if is_large else 1):
        dump.write_bytes(data[: len(data) * part // 20])
        judge(dump)


@pytest.mark.parametrize("name", REAL[:-1])
def test_real_dumps_flipped(name: str, corpus: Path, tmp_path: Path) -> None:
    data = (corpus / "infiniband" / name).read_bytes()
    dump = tmp_path / "dump.txt"
    for seed in range(6):
        dump.write_bytes(flip(data, seed))
        judge(dump)


def test_line_ends_do_not_matter(tmp_path: Path) -> None:
    data = (LAB / "ibnetdiscover.txt").read_bytes()
    dump = tmp_path / "dump.txt"
    seen: list[object] = []
    for text in (data, data.replace(b"\n", b"\r\n")):
        dump.write_bytes(text)
        seen.append(run("adopt", dump, "--json").document | {"digest": "of the bytes of the dump"})
    assert seen[0] == seen[1]


JUNK = {
    "empty": b"",
    "blank": b"\n \t\n" * 1000,
    "zero": b"\0",
    "binary": random.Random(1).randbytes(200_000),
    "utf-16": 'Switch\t64 "S-0002c90000000001"\n'.encode("utf-16"),
    "old-mac": (LAB / "ibnetdiscover.txt").read_bytes().replace(b"\n", b"\r"),
    "one-line": b"Switch " * 300_000,
    "brackets": b"[" * 500_000,
    "quotes": b'"' * 500_000 + b"\n",
    "digits": b"9" * 1_000_000,
    "numbers": b"Switch\t" + b"9" * 5000 + b' "S-1"\n[' + b"9" * 5000 + b']\t"H-1"[1]\n',
    "declaration": b"fabric: {name: x}\ntechnology: roce\n",
    "html": b"<!doctype html><title>login</title>",
    "shell": b"ibnetdiscover: command not found\n",
    "twice": (LAB / "ibnetdiscover.txt").read_bytes() * 2,
    "backwards": b"\n".join(reversed((LAB / "ibnetdiscover.txt").read_bytes().split(b"\n"))),
}  # fmt: skip


@pytest.mark.parametrize("kind", JUNK)
def test_junk(kind: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_bytes(JUNK[kind])
    judge(dump)
    judge(LAB / "ibnetdiscover.txt", "--tables", dump)


@pytest.mark.parametrize("size", [1 << 30, 64 << 20], ids=["gigabyte", "64-mebibytes"])
def test_zeros(size: int, tmp_path: Path) -> None:
    """A sparse file costs the disk nothing; reading it may cost time and memory within bounds."""
    dump = tmp_path / "zeros"
    with dump.open("wb") as file:
        os.truncate(file.fileno(), size)
    script = "import resource, sys; from weftline.cli.main import call; status = call(sys.argv[1:]); \
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)); sys.exit(status)"
    done = subprocess.run(
        [sys.executable, "-c", script, "adopt", "-q", "--json", str(dump)],
        env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    error = hold(json.loads(done.stdout), "error")
    assert done.returncode == 1
    assert error["code"] == "artifact.too-large" or size < 1 << 30
    assert int(done.stderr.split()[-1]) < 1 << 20  # KiB


@pytest.mark.parametrize("name", ["ibnetdiscover.txt", "portlist.txt"])
def test_diff_with_a_cut_dump(name: str, places: Path, tmp_path: Path) -> None:
    data = (LAB / name).read_bytes()
    dump = tmp_path / "dump.txt"
    dump.write_bytes(data[: len(data) // 2])
    for arguments in ((places / "infiniband.yaml", dump), (dump, LAB / "ibnetdiscover.txt"), (dump, dump)):
        ran = run("diff", *arguments, "--json")
        assert ran.status in {0, 1, 2}
        hold(ran.document, "error" if ran.status == 1 else "diff")
