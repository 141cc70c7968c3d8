"""A declared fabric under a real OpenSM: brought up, read back, disturbed, and stopped without a trace."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import COMMAND, environment, hold, refused, run, start
from tests.lab.conftest import SMALL, Place, make_place
from weftline.app.lab import lab_folder
from weftline.drivers.opensm.reading import read_state
from weftline.formats import lft
from weftline.labs import holding, processes
from weftline.labs.ibsim import opensm, running, state
from weftline.model.driver import SubnetState

LIMIT_S = 20.0


def wait_for(is_true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + LIMIT_S
    while not is_true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def read(lab: Place, *, lanes: bool = False) -> SubnetState:
    """Read the one subnet of a lab."""
    (access,) = running.verify(lab_folder(lab.path)).accesses
    return read_state(access, lanes)


def test_up_verify_down(place: Place) -> None:
    ran = place.lab("up", "--json")
    document = hold(ran.document, "lab")
    assert (ran.status, document["equal"], document["running"]) == (0, True, True)
    (subnet,) = document["subnets"]
    assert subnet["compared"]["node"] == 8 * 2 + 5
    assert subnet["compared"]["entry"] > 100
    assert subnet["compared"]["keys"] > 8 * 2 * 2
    assert set(place.running) == {"ibsim", "opensm"}
    again = place.lab("verify", "--json")
    assert (again.status, hold(again.document, "lab")["equal"]) == (0, True)
    assert "equal to what was rendered" in place.lab("verify").out
    stopped = place.lab("down", "--json")
    assert {one["name"] for one in hold(stopped.document, "lab-down")["stopped"]} == {"ibsim", "opensm"}
    assert place.running == {}
    assert not lab_folder(place.path).exists()
    refused(place.lab("verify", "--json"), 4, "source.lab-down")
    assert place.lab("down").out == "no lab was running\n"


def test_what_is_read_is_what_the_diagnostics_say(lab: Place) -> None:
    found = read(lab)
    dump = lft.parse(lab.ask("dump_fts").encode(), "dump")
    assert isinstance(dump, lft.LftDump)
    assert {record.guid for record in dump.tables} == set(found.tables)
    for index, record in enumerate(dump.tables):
        part = slice(int(dump.table_ptr[index]), int(dump.table_ptr[index + 1]))
        told = dict(zip(dump.entry_lid[part].tolist(), dump.entry_port[part].tolist(), strict=True))
        held = {lid: port for lid, port in enumerate(found.tables[record.guid].tolist()) if port != lft.NO_PORT}
        assert {lid: port for lid, port in told.items() if port != lft.NO_PORT} == held
    for place in found.endpoints.values():
        said = lab.ask("smpquery", "pkeys", str(found.ports[place].address), str(place[1]))
        keys = [int(word, 16) for word in re.findall(r"0x([0-9a-f]{4})", said)]
        assert tuple(key for key in keys if key) == found.keys[place]


def test_tenants_hold_no_key_in_common(lab: Place) -> None:
    found = read(lab)
    full = [{key for key in found.keys[place] if key & 0x8000} for place in found.endpoints.values()]
    assert {0x8001, 0x8002} <= set().union(*full)
    assert not any({0x8001, 0x8002} <= keys for keys in full)


def test_an_entry_that_was_changed_is_named(lab: Place) -> None:
    """Another table is put under the running manager, as somebody with access to it could."""
    path = lab.folder / "lfts.conf"
    text = path.read_text(encoding="utf-8")
    head, entry = re.search(r"\((leaf-001)\):\n(?:0x.*\n)*?(0x0008 \d{3})\n", text).groups()  # type: ignore[union-attr]
    assert head == "leaf-001"
    port = int(entry[-3:])
    other = port + 1 if port % 2 else port - 1
    start_at = text.index("(leaf-001)")
    path.write_text(text[:start_at] + text[start_at:].replace(entry, f"0x0008 {other:03d}", 1), encoding="utf-8")
    key = holding.key_of(lab_folder(lab.path))
    assert processes.signal_process(key, lab.running["opensm"], signal.SIGHUP)
    wait_for(lambda: lab.lab("verify").status == 5)
    (difference,) = lab.differences(lab.lab("verify", "--json"))
    assert difference["kind"] == "entry"
    assert re.fullmatch(r"leaf-001 to host-\d{4}/nic\d \(LID 0x0008\)", difference["subject"])
    assert (difference["rendered"], difference["running"]) == (f"port {port}", f"port {other}")
    assert lab.lab("up", "--json").document["equal"]


def test_a_partition_file_with_an_error_is_found(lab: Place) -> None:
    """OpenSM opens every partition then, and says SUBNET UP."""
    path = lab.folder / "partitions.conf"
    path.write_text(path.read_text(encoding="utf-8") + "no rule\n", encoding="utf-8")
    key = holding.key_of(lab_folder(lab.path))
    processes.signal_process(key, lab.running["opensm"], signal.SIGHUP)
    wait_for(lambda: lab.lab("verify").status == 5)
    ran = lab.lab("verify", "--json")
    assert {one["kind"] for one in lab.differences(ran)} == {"keys"}
    (warning,) = ran.document["problems"]
    assert warning["code"] == "enact.lab-log"


def test_a_manager_that_was_killed_is_named(lab: Place) -> None:
    os.kill(lab.running["opensm"].pid, signal.SIGKILL)
    wait_for(lambda: "opensm" not in lab.running)
    error = refused(lab.lab("verify", "--json"), 4, "source.lab-process")
    assert "opensm of subnet-1" in error["message"]
    refused(lab.lab("break", "leaf-001", "--json"), 4, "source.lab-process")
    assert lab.lab("up").status == 0


def test_break_and_heal(lab: Place) -> None:
    link = "leaf-004/1"
    assert lab.lab("break", link).status == 0
    wait_for(lambda: "opensm" in lab.running and lab.lab("verify").status == 5)
    ran = lab.lab("verify", "--json")
    assert ran.document["faults"] == [{"kind": "break", "subject": link, "outage": None}]
    kinds = {one["kind"]: one["subject"] for one in lab.differences(ran)}
    assert kinds["node"] == "host-0005/nic2"
    assert kinds["link"] == "host-0005/nic2~leaf-004/1"
    assert hold(lab.lab("heal", "--json").document, "lab-faults")["faults"]
    wait_for(lambda: lab.lab("verify").status == 0)
    assert lab.lab("heal").out == "there was no fault\n"


def test_a_switch_breaks_after_one_of_its_links(lab: Place) -> None:
    assert lab.lab("break", "leaf-004/1").status == 0
    assert lab.lab("break", "leaf-004").status == 0
    assert "leaf-004" in {
        one["subject"] for one in lab.differences(lab.lab("verify", "--json")) if one["kind"] == "node"
    }
    assert lab.lab("break", "leaf-004").status == 0  # what is out stays out
    assert lab.lab("heal").status == 0
    wait_for(lambda: lab.lab("verify").status == 0)


def test_a_switch_and_a_wrong_cable(lab: Place) -> None:
    assert lab.lab("break", "leaf-004").status == 0
    assert lab.lab("miscable", "leaf-001/1", "leaf-002/2").status == 0
    found = lab.differences(lab.lab("verify", "--json"))
    assert "leaf-004" in {one["subject"] for one in found if one["kind"] == "node"}
    wrong = {one["subject"]: one["running"] for one in found if one["kind"] == "link"}
    assert "leaf-001/1~host-0002/nic2" in wrong["host-0001/nic1~leaf-001/1"]
    assert lab.lab("heal").status == 0
    wait_for(lambda: lab.lab("verify").status == 0)


def test_a_link_with_errors(lab: Place) -> None:
    assert lab.lab("degrade", "leaf-001/1", "--counter", "symbol=120").status == 0
    found = read(lab)
    addresses = [found.ports[node, 0].address for node in found.tables]
    told = [re.search(r"SymbolErrorCounter:\.*(\d+)", lab.ask("perfquery", str(lid), "1")) for lid in addresses]
    assert sorted(int(match[1]) for match in told if match) == [0] * (len(addresses) - 1) + [120]
    refused(lab.lab("degrade", "leaf-001/1", "--counter", "symbol=70000", "--json"), 64, "usage.counter")
    refused(lab.lab("degrade", "leaf-001/1", "--counter", "symbol", "--json"), 64, "usage.counter")
    refused(lab.lab("break", "leaf-999", "--json"), 1, "spec.unknown-device")


def test_two_labs_side_by_side(lab: Place, tmp_path: Path) -> None:
    folder = tmp_path / "a folder with blanks"
    folder.mkdir()
    other = make_place(folder, SMALL.replace("count: 8", "count: 7").replace("4-8", "4-7"))
    try:
        assert other.lab("up").status == 0
        assert lab.lab("verify").status == other.lab("verify").status == 0
        assert other.lab("down").status == 0
        assert other.running == {}
        assert lab.lab("verify").status == 0
    finally:
        other.lab("down")


def test_an_up_that_was_killed_leaves_nothing_in_the_way(place: Place) -> None:
    """What is left is a folder that says so and programs without a record."""
    assert place.lab("up").status == 0
    path = lab_folder(place.path) / state.FILE
    note = state.State.model_validate_json(path.read_bytes())
    state.write(path.parent, note.model_copy(update={"stage": "starting", "processes": ()}))
    refused(place.lab("verify", "--json"), 4, "source.lab-down")
    before = {process.pid for process in place.running.values()}
    assert place.lab("up").status == 0
    assert before.isdisjoint(process.pid for process in place.running.values())
    path.write_text("{", encoding="utf-8")
    refused(place.lab("verify", "--json"), 4, "source.lab-down")
    shutil.rmtree(lab_folder(place.path))
    assert len(place.running) == 2
    assert place.lab("down").status == 0


def test_the_programs_outlive_the_command(place: Place) -> None:
    ran = start("lab", "up", place.path, "--quiet")
    assert (ran.status, ran.err) == (0, "")
    assert start("lab", "verify", place.path).status == 0
    sessions = {os.getsid(process.pid) for process in place.running.values()}
    assert os.getsid(0) not in sessions
    changed = place.path.read_text(encoding="utf-8").replace("count: 8", "count: 7").replace("4-8", "4-7")
    place.path.write_text(changed, encoding="utf-8")
    ran = place.lab("verify", "--json")
    assert ran.status == 5
    assert "enact.lab-drift" in {problem["code"] for problem in ran.document["problems"]}


def test_a_manager_that_refuses_the_files(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables for ports that no switch has: nothing is left running, and the log says why."""
    from weftline.labs.ibsim import opensm

    good = opensm.start

    def start_badly(folder: Path, key: str, subnet: state.SubnetRecord, files: dict[str, bytes], **more: Any) -> object:
        return good(folder, key, subnet, {**files, "partitions.conf": b"Default=0x7fff : ALL=full\nno rule\n"}, **more)

    monkeypatch.setattr(opensm, "start", start_badly)
    error = refused(place.lab("up", "--json"), 5, "enact.lab-log")
    assert any("PARSE ERROR" in problem["message"] for problem in error["problems"])
    assert place.running == {}
    assert (place.folder / "opensm.log").exists()


def test_lanes_are_read_back(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options for lanes reach every port, and one that is not as rendered is named."""
    from weftline.app import lab as app_lab

    lanes = "qos TRUE\nqos_max_vls 4\nqos_high_limit 4\nqos_vlarb_high 0:64,1:32\nqos_vlarb_low 0:4,1:4,2:4,3:4\n"
    levels = "qos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3\n"
    good = app_lab._design

    def with_lanes(*arguments: object) -> object:
        design = good(*arguments)  # type: ignore[arg-type]
        for subnet in design.subnets:
            subnet.files["opensm.conf"] += (lanes + levels).encode()  # type: ignore[index]
        return design

    monkeypatch.setattr(app_lab, "_design", with_lanes)
    ran = place.lab("up", "--json")
    assert ran.status == 0, ran.out
    assert ran.document["subnets"][0]["compared"]["lanes"] > 100
    assert ran.document["subnets"][0]["compared"]["arbitration"] >= 64
    levels = levels.replace("0,1,2,3\n", "0,1,2,2\n")
    ran = place.lab("verify", "--json")
    assert ran.status == 5
    assert {one["kind"] for one in place.differences(ran)} == {"lanes"}


TWO_PLANES = """\
fabric:
  name: two-planes
technology: infiniband
hosts:
  count: 8
  part: DGX-H100
  nic: ConnectX-6
  gpus: 2
  rails: 2
  rate_gbps: 200
  unit_size: 4
  extra_endpoints:
    - {name: ufm, ports: 2}
topology:
  kind: rail-optimised
  planes: 2
routing:
  lmc: 1
claims:
  required: [reach, deadlock]
"""


def test_each_plane_runs_as_a_subnet(tmp_path: Path) -> None:
    """With an extra endpoint of two ports as the manager's, and two addresses per endpoint."""
    place = make_place(tmp_path, TWO_PLANES)
    try:
        up = place.lab("up", "--json")
        assert up.status == 0, up.out
        assert [subnet["subnet"] for subnet in up.document["subnets"]] == ["subnet-1", "subnet-2"]
        assert place.lab("break", "host-0002/nic1p2").status == 0
        first, second = place.lab("verify", "--json").document["subnets"]
        assert first["equal"]
        assert {one["subject"] for one in second["differences"] if one["kind"] == "node"} == {"host-0002/nic1p2"}
    finally:
        assert len(place.lab("down", "--json").document["stopped"]) == 4


RAIL_ONLY = SMALL.replace("rail-optimised", "rail-only").replace("unit_size: 4", "unit_size: 8")


def test_each_rail_of_a_rail_only_fabric_runs_as_a_subnet(tmp_path: Path) -> None:
    place = make_place(tmp_path, RAIL_ONLY)
    try:
        ran = place.lab("up", "--json")
        assert (ran.status, hold(ran.document, "lab")["equal"]) == (0, True), ran.out
        subnets = ran.document["subnets"]
        assert [subnet["subnet"] for subnet in subnets] == ["subnet-1-part-1", "subnet-1-part-2"]
        assert [subnet["compared"]["node"] for subnet in subnets] == [8 + 1, 8 + 1]
        assert [len(set(subnet["compared"])) for subnet in subnets] == [5, 5]
        assert place.lab("break", "host-0003/nic2").status == 0
        wait_for(lambda: place.lab("verify", "--json").status == 5)
        first, second = place.lab("verify", "--json").document["subnets"]
        assert (first["equal"], second["equal"]) == (True, False)
        assert {one["subject"].split("~")[0] for one in second["differences"] if one["kind"] == "link"} == {
            "host-0003/nic2"
        }
        assert place.lab("heal").status == 0
        wait_for(lambda: place.lab("verify", "--json").status == 0)
    finally:
        place.lab("down")
    assert place.running == {}


@pytest.mark.slow
def test_the_example_of_512(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "sovereign-512.yaml"
    shutil.copy(root / "examples" / path.name, path)
    try:
        assert run("lab", "up", path).status == 0
        assert run("lab", "verify", path).status == 0
    finally:
        assert run("lab", "down", path).status == 0


def test_ctrl_c_while_it_starts_leaves_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from weftline.labs.ibsim import opensm

    def interrupt(*_arguments: object) -> None:
        wait_for(lambda: set(place.running) == {"ibsim", "opensm"})  # one that has just begun may still become itself
        raise KeyboardInterrupt

    monkeypatch.setattr(opensm, "wait_up", interrupt)
    assert place.lab("up").status == 130
    assert place.running == {}
    refused(place.lab("verify", "--json"), 4, "source.lab-down")


def test_kill_9_at_any_moment_of_up(place: Place) -> None:
    """The next command finds a clean state, or says what stands."""
    with subprocess.Popen([*COMMAND, "lab", "up", str(place.path)], env=environment(), stderr=subprocess.DEVNULL) as up:
        wait_for(lambda: bool(place.running) or up.poll() is not None)
        up.kill()
    verified = place.lab("verify")
    assert verified.status in {0, 4}
    assert verified.status == 0 or "weftline lab up" in verified.err
    assert place.lab("up").status == 0
    assert set(place.running) == {"ibsim", "opensm"}


@pytest.mark.parametrize(("subject", "is_noticed"), [("host-0001", False), ("host-0001", True), ("leaf-001", True)])
def test_the_manager_is_cut_off_and_back(lab: Place, subject: str, is_noticed: bool) -> None:
    """The manager runs on host-0001; once healed it is the master again and has swept, whatever it noticed."""
    log = lab.folder / opensm.LOG
    since = log.stat().st_size
    assert lab.lab("break", subject).status == 0
    if is_noticed:
        wait_for(lambda: b"SM port is down" in log.read_bytes()[since:])  # it looks once in ten seconds
    assert lab.lab("heal").status == 0
    ran = lab.lab("verify")
    assert ran.status == 0, ran.out


def test_a_heal_that_was_killed_before_it_took_the_note_off(lab: Place) -> None:
    assert lab.lab("break", "leaf-004/1").status == 0
    assert "may be healed" not in lab.lab("verify").out
    folder = lab_folder(lab.path)
    note = (folder / state.FILE).read_bytes()
    assert lab.lab("heal").status == 0
    (folder / state.FILE).write_bytes(note)
    ran = lab.lab("verify")
    assert ran.status == 0
    assert "break leaf-004/1 (may be healed" in " ".join(ran.out.split())
    assert hold(lab.lab("verify", "--json").document, "lab")["maybe_healed"] == [
        {"kind": "break", "subject": "leaf-004/1", "outage": None}
    ]
    assert lab.lab("heal").status == 0
    ran = lab.lab("verify")
    assert ran.status == 0
    assert "faults" not in ran.out


def test_lines_that_lead_other_tools_to_the_lab(lab: Place, tmp_path: Path) -> None:
    ran = lab.lab("env")
    assert ran.status == 0
    script = f"{ran.out}\nLD_PRELOAD=$UMAD2SIM sminfo\n"
    done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "SMINFO_MASTER" in done.stdout, done.stderr
    document = hold(lab.lab("env", "--subnet", "subnet-1", "--json").document, "lab-env")
    assert document["environment"]["IBSIM_SOCKNAME"] in ran.out
    refused(lab.lab("env", "--subnet", "subnet-9", "--json"), 64, "usage.choice")
