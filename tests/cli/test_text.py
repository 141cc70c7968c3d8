"""What a person reads: every verb on a small declaration, word for word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.running import Ran, run
from tests.cli.test_statuses import refuted

CASES = Path(__file__).parents[1] / "golden" / "cases"
PACKETS = ("--fidelity", "packet")
RING = ("--collective", "all-reduce", "--algorithm", "ring", "--size", "8MiB")
UP = "leaf-001/5"
VERBS: dict[str, tuple[str, ...]] = {
    "check": ("check", "infiniband.yaml"),
    "build": ("build", "infiniband.yaml"),
    "route": ("route", "infiniband.yaml"),
    "route-roce": ("route", "roce.yaml"),
    "trace": ("trace", "infiniband.yaml", "host-0001", "host-0004/nic3"),
    "trace-roce": ("trace", "roce.yaml", "host-0001", "host-0004/nic3"),
    "prove": ("prove", "infiniband.yaml"),
    "simulate": ("simulate", "infiniband.yaml"),
    "simulate-options": ("simulate", "roce.yaml", "--collective", "permutation", "--size", "1GB", "--ranks", "16"),
    "parameters": ("simulate", "infiniband.yaml", "--parameters"),
    "parameters-roce": ("simulate", "roce.yaml", "--parameters"),
    "files-alone": ("simulate", "roce.yaml", "--files", "nowhere"),
    "explain": ("explain", "spec.unknown-key"),
    "unknown-verb": ("upp",),
    "unknown-endpoint": ("trace", "infiniband.yaml", "host-0001", "host-0005"),
    "missing": ("up", "nothere.yaml"),
    "simulate-loads": (
        "simulate",
        "roce.yaml",
        "--ranks",
        "16",
        "--size",
        "64MiB",
        "--load",
        "incast:senders=7,size=4MiB",
        "--straggler",
        "3:250",
    ),
    "packets": ("simulate", "infiniband.yaml", *PACKETS, "--load", "victim:senders=3,size=4MiB", "--pacing", "ofed"),
    "fault-flap": (
        "simulate",
        "roce.yaml",
        *PACKETS,
        *RING,
        "--fault",
        f"flap:what={UP},at_us=20,every_us=40,down_us=10,times=3",
    ),
    "fault-slow": (
        "simulate",
        "roce.yaml",
        *PACKETS,
        *RING,
        "--fault",
        "slow:what=host-0001/nic1,at_us=0,until_us=100,every_us=10,share=0.5",
    ),
    "fault-switch": ("simulate", "roce.yaml", *PACKETS, *RING, "--fault", "down:what=spine-01,at_us=20"),
    "load": ("simulate", "roce.yaml", "--load", "incast:sender=7"),
    "size": ("simulate", "roce.yaml", "--size", "64 megs"),
}


def shown(ran: Ran, *folders: Path) -> str:
    """Join what was printed, without what depends on the run: folders and digests."""
    text = f"exit {ran.status}\n--- stdout\n{ran.out}--- stderr\n{ran.err}"
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)


@pytest.mark.parametrize("name", VERBS)
def test_verbs(name: str, places: Path, snapshot: SnapshotAssertion) -> None:
    assert shown(run(*VERBS[name], cwd=places)) == snapshot


@pytest.mark.parametrize("technology", ["infiniband", "roce"])
def test_up(technology: str, places: Path, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    assert shown(run("up", f"{technology}.yaml", "--out", tmp_path, cwd=places), tmp_path) == snapshot


def test_cables(places: Path, snapshot: SnapshotAssertion) -> None:
    lines = run("cables", "infiniband.yaml", cwd=places).out.splitlines()
    assert "\n".join([*lines[:4], "...", *lines[-3:]]) == snapshot


def test_a_refuted_claim(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    place = refuted(tmp_path)
    assert "\n".join(shown(run(verb, place), tmp_path) for verb in ("prove", "render", "up")) == snapshot


def test_problems(small: Path, snapshot: SnapshotAssertion) -> None:
    text = small.read_text(encoding="utf-8")
    for old, new in (("count: 4", "count: -4"), ("unit_size", "unitsize"), ("fat-tree", "fatt-tree")):
        text = text.replace(old, new)
    small.write_text(text, encoding="utf-8")
    assert shown(run("check", small), small.parent) == snapshot


@pytest.mark.parametrize("case", ["adopt-lab", "adopt-faults"])
def test_adopt(case: str, snapshot: SnapshotAssertion) -> None:
    assert shown(run("adopt", CASES / case / "input" / "ibnetdiscover.txt"), CASES) == snapshot


def test_adopt_with_tables(snapshot: SnapshotAssertion) -> None:
    folder = CASES / "adopt-lab" / "input"
    ran = run("adopt", folder / "ibnetdiscover.txt", "--tables", folder / "opensm-lfts.dump")
    assert shown(ran, CASES) == snapshot


def test_diff(small: Path, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    other = tmp_path / "other.yaml"
    text = small.read_text(encoding="utf-8")
    other.write_text(text.replace("count: 4", "count: 9").replace("data_parallel: 4", "data_parallel: 9"), "utf-8")
    assert shown(run("diff", small, other), tmp_path) == snapshot
    assert run("diff", small, small).out == "no difference\n"


def test_diff_with_faults(snapshot: SnapshotAssertion) -> None:
    dumps = [CASES / case / "input" / "ibnetdiscover.txt" for case in ("adopt-lab", "adopt-faults")]
    assert shown(run("diff", *dumps), CASES) == snapshot


def test_help_names_every_verb(snapshot: SnapshotAssertion) -> None:
    assert run("--help").out == snapshot
