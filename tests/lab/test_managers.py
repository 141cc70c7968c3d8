"""Two managers of one subnet on real OpenSM: the standby takes over with the same tables, and a third one is named."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import hold, refused
from tests.lab.conftest import Place
from tests.lab.keeping import TREE, Keeper, count_lost, read
from weftline.app.lab import lab_folder
from weftline.labs.ibsim import opensm, seats, state
from weftline.labs.ibsim.waiting import Tail
from weftline.model.lab import LabProcess

MANAGERS = """\
infiniband:
  managers: [mgmt/1, spare/1]
hosts:
  extra_endpoints:
    - {name: mgmt, ports: 1}
    - {name: spare, ports: 1}
"""
PAIRS = 50 * 49


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Place]:
    """A small tree with two managers, up, and stopped afterwards."""
    path = tmp_path / "pair.yaml"
    text = TREE.format(hosts=48, unit=16).replace("hosts:\n", MANAGERS, 1)
    path.write_text(text, encoding="utf-8")
    made = Place(path)
    ran = made.lab("up", "--json")
    assert ran.status == 0, ran.out
    yield made
    made.lab("down")
    assert made.running == {}


def test_the_standby_takes_over_with_the_same_tables(pair: Place) -> None:
    assert set(pair.running) == {"ibsim", "opensm", "opensm-standby-1"}
    assert "managers: mgmt/1 master of priority 15, spare/1 standby of priority 14" in pair.lab("verify").out
    before = read(pair)
    (one,) = hold(pair.lab("kill-master", "--json").document, "lab-takeover")["subnets"]
    assert (one["gone"], one["master"]) == ("opensm", "opensm-standby-1")
    after = read(pair)
    assert {guid: table.tolist() for guid, table in after.tables.items()} == {
        guid: table.tolist() for guid, table in before.tables.items()
    }
    assert (after.keys, after.ports.keys()) == (before.keys, before.ports.keys())
    assert {place: port.address for place, port in after.ports.items()} == {
        place: port.address for place, port in before.ports.items()
    }
    ran = pair.lab("verify", "--json")
    assert ran.status == 5
    (difference,) = pair.differences(ran)
    assert (difference["kind"], difference["subject"], difference["running"]) == ("manager", "mgmt/1", "none")
    refused(pair.lab("kill-master", "--json"), 1, "capability.no-standby")
    assert "manager opensm of subnet-1" in pair.lab("heal").out
    assert pair.lab("verify").status == 0


def test_a_manager_that_nobody_declared_is_named(pair: Place, tmp_path: Path) -> None:
    record = state.read(lab_folder(pair.path)).subnets[0]
    folder = tmp_path / "third"
    folder.mkdir()
    stranger = state.SeatRecord(program="x", folder="x", host="H7", entry=0, priority=None)
    environment = {**os.environ, **opensm.make_environment(record, stranger), "LD_PRELOAD": opensm.find_library()}
    with subprocess.Popen(
        ["opensm", "-p", "3", "-f", "log", "-e", "-d", "2", "-D", "0x03"],
        env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as third:  # fmt: skip
        try:
            log, end = folder / "log", time.monotonic() + 20.0
            while not (log.exists() and b"Entering STANDBY state" in log.read_bytes()):
                assert time.monotonic() < end
                time.sleep(0.05)
            ran = pair.lab("verify", "--json")
            assert ran.status == 5
            (difference,) = pair.differences(ran)
            assert difference == {
                "kind": "manager",
                "subject": "host-0008/nic1",
                "rendered": "no manager",
                "running": "a standby of priority 3",
            }
        finally:
            third.send_signal(signal.SIGTERM)
    assert pair.lab("verify").status == 0


def wait_for_both(pair: Place) -> None:
    """Wait until both managers run: one that stopped answering meanwhile may just be started again."""
    limit = time.monotonic() + 60
    while sum(name.startswith("opensm") for name in pair.running) < 2:
        assert time.monotonic() < limit, pair.running
        time.sleep(0.1)


def test_what_is_kept_stays_kept_under_the_standby(pair: Place) -> None:
    """A repair is written for every manager, so that the one that takes over does not put the dead entries back."""
    keeper = Keeper(pair)
    try:
        assert pair.lab("break", "spine-01").status == 0
        keeper.until(down=["spine-01"])
        wait_for_both(pair)
        assert pair.lab("kill-master").status == 0
        assert count_lost(read(pair)) == (PAIRS, 0)
        assert pair.lab("heal").status == 0
        keeper.until(down=[])
        assert pair.lab("verify").status == 0
        assert keeper.end()["status"] == 0
    finally:
        keeper.kill()


def test_a_master_that_hangs_is_started_again(pair: Place) -> None:
    """ibsim loses an answer now and then, and OpenSM then waits for it for ever; a stopped process does as much."""
    keeper = Keeper(pair)
    hung = pair.running["opensm"]
    try:
        os.kill(hung.pid, signal.SIGSTOP)
        assert pair.lab("break", "spine-01").status == 0
        event = keeper.until(down=["spine-01"])
        assert event["why"] == "the manager had stopped answering and was started again"
        assert pair.running["opensm"].pid != hung.pid
        assert count_lost(read(pair)) == (PAIRS, 0)
        assert keeper.end()["status"] == 0
    finally:
        keeper.kill()


def test_nobody_is_killed_where_nobody_can_take_over(lab: Place) -> None:
    refused(lab.lab("kill-master", "--json"), 1, "capability.no-standby")
    assert lab.lab("verify").status == 0


def test_a_standby_that_does_not_take_over_is_said(pair: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "TAKEOVER_S", 0.5)
    note = state.read(lab_folder(pair.path))
    standby = next(process for process in note.processes if "standby" in process.name)
    os.kill(standby.pid, signal.SIGSTOP)
    try:
        refused(pair.lab("kill-master", "--json"), 5, "enact.no-takeover")
    finally:
        os.kill(standby.pid, signal.SIGCONT)


def test_a_manager_whose_sweep_hangs_is_started_once_more(pair: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pair.lab("kill-master").status == 0
    asked: list[int] = []
    is_through = seats._is_through

    def hang_once(place: Path, tail: Tail, process: LabProcess) -> bool:
        asked.append(process.pid)
        return len(asked) > 1 and is_through(place, tail, process)

    monkeypatch.setattr(seats, "_is_through", hang_once)
    assert pair.lab("heal").status == 0
    first, second = asked
    assert pair.running["opensm"].pid == second != first
    assert pair.lab("verify").status == 0


@pytest.mark.parametrize(
    ("kinds", "is_swept"),
    [
        ("Entering STANDBY state|Entering MASTER state", False),
        ("Entering MASTER state|SUBNET UP", True),
        ("Entering MASTER state|SUBNET UP|Entering STANDBY state|Entering MASTER state", False),
        ("Entering MASTER state|Entering STANDBY state", True),
        ("Entering STANDBY state", False),
    ],
)
def test_a_sweep_is_over_when_the_last_master_says_so(kinds: str, is_swept: bool) -> None:
    lines = [f"Nov 30 17:58:23 742058 [747A36C0] 0x80 -> {kind}\n" for kind in kinds.split("|")]
    assert seats._is_swept("".join(lines).encode()) is is_swept


def test_a_master_that_was_cut_off_is_the_master_again(pair: Place) -> None:
    """The standby takes over meanwhile, and hands the subnet back as soon as the fault is taken out."""
    standby = Tail(pair.folder / "standby-1" / opensm.LOG)
    assert pair.lab("break", "mgmt").status == 0
    end = time.monotonic() + 30
    while b"Entering MASTER state" not in standby.read():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert pair.lab("heal").status == 0
    ran = pair.lab("verify")
    assert ran.status == 0, ran.out
