from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.designs import Rendered, render_design
from weftline.errors import ArtifactError, CapabilityError, EnactError, SourceError, SpecError, UsageError
from weftline.formats import opensm_log
from weftline.kernels.column import NIL
from weftline.labs import LABS, holding, processes
from weftline.labs.ibsim import faults, opensm, running, simulator, state, waiting
from weftline.labs.ibsim.topology import Topology, list_parts, make_topology, name_place
from weftline.model.lab import Injection, LabDesign, LabProcess, LabSubnet

MADE = render_design("infiniband", hosts=8, rails=2, unit_size=4, kind="rail-optimised")
EXTRAS = render_design("infiniband", hosts=7, rails=2, unit_size=4, kind="rail-optimised", extras=(("ufm", 2, "auto"),))
PLANES = render_design("infiniband", hosts=8, planes=2)
DESIGN = LabDesign("d", MADE.fabric, MADE.addresses, (LabSubnet("subnet-1", 0, {}),))
KEY = "weftline-test"


def whole(made: Rendered, plane: int = 0) -> Topology:
    """Write a plane that is one subnet."""
    (part,) = list_parts(made.fabric, plane)
    return make_topology(made.fabric, made.addresses, part)


def guids(text: str) -> dict[str, list[int]]:
    """Map each adapter of a topology to the ids that ibsim makes for its ports."""
    found: dict[str, list[int]] = {}
    for block in text.split("\n\n"):
        match = re.match(r'caguid=0x([0-9a-f]{16})\nCa\t\d+ "(\S+)"', block)
        if match:
            numbers = re.findall(r"^\[(\d+)\]", block, re.MULTILINE)
            found[match[2]] = [int(match[1], 16) + int(number) for number in numbers]
    return found


@pytest.mark.parametrize("made", [MADE, EXTRAS, PLANES], ids=["rails", "extras", "planes"])
def test_an_adapter_has_the_id_from_which_its_ports_follow(made: Rendered) -> None:
    """ibsim makes the id of a port from that of its adapter and the number of the port."""
    fabric = made.fabric
    for plane in range(fabric.planes):
        topology = whole(made, plane)
        adapters = guids(topology.text)
        assert topology.entry in adapters
        ends = fabric.endpoint_port[fabric.port_plane[fabric.endpoint_port] == plane]
        lit = ends[fabric.port_peer[ends] != NIL]
        assert sorted(guid for ports in adapters.values() for guid in ports) == sorted(made.addresses.port_id[lit])
        assert len(adapters) + topology.switches == topology.nodes
        assert not re.search("NDR|XDR", topology.text)
        assert max(len(line) for line in topology.text.split("\n")) < 200


def test_names_are_plain_and_short_and_differ() -> None:
    """ibsim reads 255 characters of a line, and ends a name at a quotation mark."""
    names = tuple(f'{"x" * 90} "a"; # b{node}' for node in range(MADE.fabric.node_count))
    made = replace(MADE, fabric=replace(MADE.fabric, node_name=names))
    found = re.findall(r'# "([^"]*)"', whole(made).text)
    assert len(set(found)) == len(found) == whole(made).nodes
    assert max(len(line) for line in whole(made).text.split("\n")) < 200
    slow = replace(MADE, fabric=replace(MADE.fabric, port_rate_gbps=MADE.fabric.port_rate_gbps * 0 + 7.0))
    assert "lid 0 4xSDR" in whole(slow).text


def test_the_manager_stands_on_an_extra_endpoint_or_on_the_first_host() -> None:
    fabric = EXTRAS.fabric
    topology = whole(EXTRAS)
    assert fabric.port_name(topology.entry_port) == "ufm/1"
    assert f'"{topology.entry}"' in topology.text
    assert MADE.fabric.port_name(whole(MADE).entry_port) == "host-0001/nic1"


def test_each_plane_is_a_subnet() -> None:
    texts = [whole(PLANES, plane).text for plane in range(2)]
    names = [set(re.findall(r"switchguid=0x([0-9a-f]+)", text)) for text in texts]
    assert names[0]
    assert names[0].isdisjoint(names[1])
    assert set(guids(texts[0])).isdisjoint(guids(texts[1]))


def test_a_rail_only_plane_is_a_subnet_per_rail() -> None:
    made = render_design("infiniband", hosts=16, rails=2, unit_size=4, kind="rail-only")
    design = LabDesign("d", made.fabric, made.addresses, (LabSubnet("subnet-1", 0, {}),))
    subnets = running.split(design)
    assert [subnet.name for subnet in subnets] == ["subnet-1-part-1", "subnet-1-part-2"]
    hosts = [set(guids(subnet.topology.text)) for subnet in subnets]
    assert [len(names) for names in hosts] == [16, 16]
    assert hosts[0].isdisjoint(hosts[1])
    assert [made.fabric.port_name(subnet.topology.entry_port) for subnet in subnets] == [
        "host-0001/nic1",
        "host-0001/nic2",
    ]
    steps = faults._plan(design, Injection("break", ("host-0003",)))
    assert [subnet for subnet, _, _ in steps] == [(0, 0), (0, 1)]


def test_what_no_subnet_manager_reaches_is_refused() -> None:
    dark = replace(MADE.fabric, port_peer=MADE.fabric.port_peer * 0 + NIL)
    with pytest.raises(CapabilityError, match="no endpoint with a cable") as caught:
        list_parts(dark, 0)
    assert caught.value.code == "capability.lab-parts"
    peer = MADE.fabric.port_peer.copy()
    first, second = MADE.fabric.endpoint_port[:2].tolist()
    for port in (first, second):
        peer[peer[port]] = NIL
    peer[first], peer[second] = second, first
    with pytest.raises(CapabilityError, match="cabled to another endpoint") as caught:
        list_parts(replace(MADE.fabric, port_peer=peer), 0)
    assert caught.value.code == "capability.lab-parts"


def test_names_of_faults() -> None:
    fabric = MADE.fabric
    assert [fabric.port_name(port) for port in faults.find_lit_ports(fabric, "host-0002")] == [
        "host-0002/nic1",
        "host-0002/nic2",
    ]
    (port,) = faults.find_lit_ports(fabric, "leaf-001/1~host-0001/nic1")
    assert fabric.port_name(port) == "leaf-001/1"
    assert faults.find_lit_ports(fabric, "leaf-001/1") == [port]
    assert name_place(fabric, port) == (f"S{fabric.port_node[port]}", 1)
    for name in ("leaf-001/1~host-0002/nic1", "leaf-001/99", "leaf-001/", "nobody", "", "/", "~"):
        with pytest.raises(SpecError) as caught:
            faults.find_lit_ports(fabric, name)
        assert caught.value.code == "spec.unknown-device"


def test_counters_hold_what_they_can() -> None:
    for name, value in (("symbol", 65536), ("recovery", 256), ("nothing", 1), ("symbol", -1)):
        with pytest.raises(UsageError) as caught:
            faults._plan(DESIGN, Injection("degrade", ("leaf-001/1",), name, value))
        assert caught.value.code == "usage.counter"
    ((_, command, undo),) = faults._plan(DESIGN, Injection("degrade", ("leaf-001/1",), "symbol", 65535))
    assert command.endswith("PortCounters.SymbolErrorCounter=65535")
    assert undo.endswith("=0")
    planes = LabDesign("d", PLANES.fabric, PLANES.addresses, ())
    with pytest.raises(UsageError, match="different subnets"):
        faults._plan(planes, Injection("miscable", ("host-0001/nic1p1", "host-0002/nic1p2")))


def test_a_log_without_errors_and_one_with() -> None:
    good = (
        b"Nov 30 12:22:33 433767 [D5AC66C0] 0x01 -> setup_routing_engines: "
        b"Failed to setup routing engine 'no_fallback'\n"
        b"Nov 30 12:22:33 557035 [D5AC66C0] 0x02 -> osm_ucast_mgr_process: file tables configured on all switches\n"
        b"Nov 30 12:22:33 607159 [D5AC66C0] 0x02 -> SUBNET UP\n"
    )
    facts = opensm_log.parse(good)
    assert (facts.is_up, facts.has_tables, facts.errors, facts.error_count) == (True, True, (), 0)
    bad = b"Nov 30 12:22:33 433767 [D5AC66C0] 0x01 -> pkey: ERR 0512: Pkey table is full\n"
    facts = opensm_log.parse(bad * 30)
    assert facts.errors[0] == "pkey: ERR 0512: Pkey table is full"
    assert (len(facts.errors), facts.error_count) == (opensm_log.MAX_LISTED, 30)
    assert opensm_log.parse(b"\xff\x00" * 100).error_count == 0


def sleeper(folder: Path, key: str = KEY) -> LabProcess:
    """Start a program as a lab does."""
    program = processes.Program(
        name="sleep", subnet="subnet-1", arguments=["sleep", "60"], environment={}, folder=folder,
        log=folder / "log", errors=folder / "errors",
    )  # fmt: skip
    return processes.start(program, key)


def is_soon(check: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not check() and time.monotonic() < end:
        time.sleep(0.01)
    return check()


def test_programs_are_found_by_their_mark_and_stopped(tmp_path: Path) -> None:
    key = f"{KEY}-{os.getpid()}"
    one = sleeper(tmp_path, key)
    other = sleeper(tmp_path, f"{key}-other")
    try:
        assert processes.find(key) == (one,)
        assert is_soon(lambda: Path(f"/proc/{one.pid}/cwd").readlink() == tmp_path)  # `env` moves there, after it began
        assert os.getsid(one.pid) == one.pid
        stranger = replace(one, started=one.started + 1)
        assert not processes.signal_process(key, stranger, signal.SIGKILL)
        assert not processes.signal_process("weftline-else", one, signal.SIGKILL)
        processes.stop(key, [one])
        assert processes.find(key) == ()
        assert processes.read_start(one.pid) is None
        assert processes.read_start(other.pid) == other.started
    finally:
        processes.stop(f"{key}-other", [other])


def test_a_program_that_will_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TERM_S", 0.1)
    key = f"{KEY}-{os.getpid()}-deaf"
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    program = processes.Program(
        name="deaf", subnet="subnet-1", arguments=[sys.executable, "-c", script], environment={}, folder=tmp_path,
        log=tmp_path / "log", errors=tmp_path / "errors",
    )  # fmt: skip
    process = processes.start(program, key)
    assert waiting.wait(waiting.Tail(tmp_path / "log"), lambda text: b"1" in text, process, 20, lambda _: None)
    processes.stop(key, [process])
    assert processes.find(key) == ()


def test_a_program_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = processes.Program("x", "subnet-1", ["no-such-program"], {}, tmp_path, tmp_path / "l", tmp_path / "e")
    with pytest.raises(ArtifactError) as caught:
        processes.start(program, KEY)
    assert caught.value.code == "artifact.program-missing"
    monkeypatch.setattr(opensm, "LIBRARIES", ())

    def find(name: str) -> str | None:
        return None if name == "opensm" else "/bin/true"

    monkeypatch.setattr(processes, "find_program", find)
    (problem,) = running.list_missing()
    assert problem.code == "artifact.program-missing"
    assert problem.hint == "apt-get install -y opensm ibsim-utils"
    assert "libumad2sim.so" in problem.message


def test_a_simulator_that_ends_at_once(tmp_path: Path) -> None:
    process = sleeper(tmp_path)
    processes.stop(KEY, [process])
    with pytest.raises(EnactError) as caught:
        simulator.wait_ready(tmp_path, process, 5, lambda _: None)
    assert caught.value.code == "enact.lab-start"
    with pytest.raises(EnactError) as caught:
        opensm.wait_up(tmp_path, process, 5, lambda _: None)
    assert caught.value.code == "enact.lab-start"
    (tmp_path / opensm.LOG).write_bytes(b"SUBNET UP\n")
    with pytest.raises(EnactError, match="not with the tables of the file") as caught:
        opensm.wait_up(tmp_path, process, 5, lambda _: None)
    assert caught.value.code == "enact.lab-log"


def test_a_console_that_nobody_reads_and_one_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "COMMAND_S", 0.2)
    os.mkfifo(tmp_path / simulator.CONSOLE)
    with pytest.raises(SourceError) as caught:
        simulator.tell(tmp_path, "Unlink")
    assert caught.value.code == "source.lab-process"
    reader = os.open(tmp_path / simulator.CONSOLE, os.O_RDWR)
    with pytest.raises(SourceError) as caught:
        simulator.tell(tmp_path, "Unlink")
    assert caught.value.code == "source.no-answer"
    os.close(reader)
    monkeypatch.setattr(simulator, "COMMAND_S", 20.0)
    reader = os.open(tmp_path / simulator.CONSOLE, os.O_RDWR)

    def refuse() -> None:
        os.read(reader, 100)
        (tmp_path / simulator.LOG).write_bytes(b"# cannot\nsim> ")

    thread = threading.Thread(target=refuse)
    thread.start()
    with pytest.raises(EnactError) as refused:
        simulator.tell(tmp_path, "Unlink")
    thread.join()
    os.close(reader)
    assert refused.value.code == "enact.lab-command"


def test_a_lab_is_worked_on_by_one_command(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "lab"
    with holding.held(folder), pytest.raises(ArtifactError) as caught, holding.held(folder):
        pass
    assert caught.value.code == "artifact.busy"
    assert holding.key_of(folder) != holding.key_of(tmp_path / "lab")


def test_what_no_lab_wrote(tmp_path: Path) -> None:
    for text in (b"", b"{", b"[]", b'{"stage": "up"}', b"\xff" * 100):
        (tmp_path / state.FILE).write_bytes(text)
        with pytest.raises(SourceError) as caught:
            state.read(tmp_path)
        assert caught.value.code == "source.lab-down"
    with pytest.raises(SourceError):
        LABS["ibsim"].verify(tmp_path / "nowhere" / "lab")
    assert LABS["ibsim"].down(tmp_path / "nowhere" / "lab") == ()
