"""The script for NICs is run in a network namespace of its own: real links, addresses and rules, stand-ins for mlx5."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import host_programs
from tests.designs import render_design
from weftline.model.spec import LosslessSection
from weftline.vendors.host.dumps import read_hosts
from weftline.vendors.host.script import RULES, SCRIPT, UNIT

MADE = render_design("roce", hosts=2, rails=2, lossless=LosslessSection(priority=4, dscp=30, cnp_dscp=50))
FOLDER = "hosts/host-0001"
PROGRAMS = ("mlnx_qos", "ethtool", "cma_roce_tos")
LINKS = """
set -e
mount -t sysfs none /sys
for number in 0 1; do
    ip link add eth$number type veth peer name far$number
    ip link set eth$number up
    ip link set far$number mtu 9000 up
done
ip link set lo up
"""
SET = """
ip link set eth0 mtu 4200
ip link set eth1 mtu 4200
ip address replace 10.128.0.1/31 dev eth0
ip address replace 10.128.0.5/31 dev eth1
ip route replace default via 10.128.0.0 dev eth0 table 101
ip route replace default via 10.128.0.4 dev eth1 table 102
ip rule add from 10.128.0.1 table 101
ip rule add from 10.128.0.5 table 102
"""
"""What a first run left in the kernel, which is new in each test."""


@dataclass
class Host:
    """A host with two NICs that nobody built."""

    folder: Path

    @property
    def root(self) -> Path:
        """What the script takes for /."""
        return self.folder / "root"

    def run(self, *arguments: str, before: str = "", after: str = "") -> subprocess.CompletedProcess[str]:
        """Run the script in a new namespace, after and before other commands there."""
        command = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-n", "-m", "bash", "-c"]
        text = f'{LINKS}{before}\nbash {self.folder}/apply.sh "$@"\nstatus=$?\n{after}\nexit $status'
        text = text.replace("\nbash", "\nset +e\nbash", 1)
        environment = {
            **os.environ,
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "STANDINS": str(self.folder / "state"),
            "WEFTLINE_ROOT": str(self.root),
            "WEFTLINE_WAIT": "0",
        }
        return subprocess.run(
            [*command, text, "x", *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    def state(self, owner: str) -> dict[str, Any]:
        """What the stand-in holds of an interface or device."""
        return json.loads((self.folder / f"state/{owner}.json").read_text())

    def set_state(self, owner: str, **values: object) -> None:
        """Change what the stand-in holds."""
        file = self.folder / f"state/{owner}.json"
        state = json.loads(file.read_text()) if file.exists() else dict(host_programs.DEFAULT)
        file.write_text(json.dumps({**state, **values}))

    def calls(self) -> list[str]:
        """Calls so far that change something."""
        lines = (self.folder / "state/log").read_text().splitlines()
        return [line for line in lines if not line.endswith(" -a") and " -a " not in line and line.count(" ") > 2]

    def system(self, path: str) -> Path:
        """A file below the stand-in for /sys/class."""
        return self.root / "sys/class" / path


def make_host(tmp_path: Path) -> Host:
    """Make a host with the files that Weftline rendered for it, and two NICs as they come."""
    made = Host(tmp_path)
    (tmp_path / "state").mkdir()
    (tmp_path / "bin").mkdir()
    for name in PROGRAMS:
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {host_programs.__file__} {name} "$@"\n')
        program.chmod(0o755)
    (tmp_path / "apply.sh").write_text(MADE.text("hosts/apply-nics.sh"))
    for name in ("nics.conf", "classes.conf", "collectives.env"):
        file = made.root / "etc/weftline" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(MADE.text(f"{FOLDER}/{name}"))
    (made.root / "etc/nccl.conf").write_text(MADE.text(f"{FOLDER}/nccl.conf"))
    for number in range(2):
        device, port = made.system(f"infiniband/mlx5_{number}"), made.system(f"net/eth{number}")
        (device / f"device/net/eth{number}").mkdir(parents=True)
        for kind, rows in (("gids", ("fe80::1", "fe80::1")), ("gid_attrs/types", ("IB/RoCE v1", "RoCE v2"))):
            (device / "ports/1" / kind).mkdir(parents=True)
            for index, text in enumerate(rows):
                (device / f"ports/1/{kind}/{index}").write_text(f"{text}\n")
        for index, kind in ((2, "IB/RoCE v1"), (3, "RoCE v2")):
            gid = f"0000:0000:0000:0000:0000:ffff:0a80:{'0001' if number == 0 else '0005'}"
            (device / f"ports/1/gids/{index}").write_text(gid + "\n")
            (device / f"ports/1/gid_attrs/types/{index}").write_text(kind + "\n")
        (device / "tc/1").mkdir(parents=True)
        (device / "tc/1/traffic_class").write_text("Global tclass=0\n")
        for part in ("roce_np", "roce_rp"):
            (port / f"ecn/{part}/enable").mkdir(parents=True)
            for priority in range(8):
                (port / f"ecn/{part}/enable/{priority}").write_text("0\n")
        (port / "ecn/roce_np/cnp_dscp").write_text("48\n")
        (port / "ecn/roce_np/cnp_802p_prio").write_text("6\n")
        for name in ("mtu", "flags"):
            (port / name).symlink_to(f"/sys/class/net/eth{number}/{name}")
    return made


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host with NICs as they come."""
    return make_host(tmp_path)


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Host:
    """A host after a first run; do not change it."""
    made = make_host(tmp_path_factory.mktemp("first"))
    done = made.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return made


@pytest.fixture
def ready(first_run: Host, tmp_path: Path) -> Host:
    """A host after a first run."""
    shutil.copytree(first_run.folder, tmp_path / "copy", symlinks=True)
    return Host(tmp_path / "copy")


def address(number: int) -> str:
    """The address of a NIC by the rendered list."""
    lines = [line.split() for line in MADE.text(f"{FOLDER}/nics.conf").splitlines()]
    head = next(line for line in lines if line[:1] == ["nic"])
    row = next(line for line in lines if line[:1] == [str(number)])
    return row[head.index("address")]


def test_the_stand_ins_have_the_addresses_of_the_list(host: Host) -> None:
    assert [address(1), address(2)] == ["10.128.0.1/31", "10.128.0.5/31"]
    assert host.root.is_dir()


def test_what_the_list_says_is_set_and_read_back(host: Host) -> None:
    done = host.run(after="ip -j addr; ip rule; ip route show table 101; cat /sys/class/net/eth1/mtu")
    assert done.returncode == 0, done.stdout + done.stderr
    state = host.state("eth0")
    mapped: dict[int, int] = {int(dscp): priority for dscp, priority in state["map"].items()}
    assert {dscp for dscp, priority in mapped.items() if priority == 4} == {30}
    assert {dscp for dscp, priority in mapped.items() if priority == 6} == {50}
    assert len(mapped) == 64
    assert {name: state[name] for name in ("dcbx", "trust", "pfc", "cable", "rx", "tx")} == {
        "dcbx": "OS controlled",
        "trust": "dscp",
        "pfc": [0, 0, 0, 0, 1, 0, 0, 0],
        "cable": 3,
        "rx": "off",
        "tx": "off",
    }
    assert state["buffers"] == [0, 0, 0, 0, 1, 0, 0, 0]
    assert state["sizes"][1] == 143_568
    assert host.state("mlx5_1")["tos"] == 122
    assert host.system("infiniband/mlx5_1/tc/1/traffic_class").read_text() == "122\n"
    assert host.system("net/eth1/ecn/roce_np/enable/4").read_text() == "1\n"
    assert host.system("net/eth1/ecn/roce_rp/enable/4").read_text() == "1\n"
    assert host.system("net/eth1/ecn/roce_np/cnp_dscp").read_text() == "50\n"
    assert "10.128.0.1" in done.stdout
    assert "from 10.128.0.5 lookup 102" in done.stdout
    assert "default via 10.128.0.0 dev eth0" in done.stdout
    assert done.stdout.endswith("4200\n")


def test_pauses_are_never_switched_off_by_a_cable_length(host: Host) -> None:
    host.run()
    assert [call for call in host.calls() if "--cable_len" in call and "--pfc" not in call] == []
    assert any("--cable_len" in call for call in host.calls())


def test_what_is_right_is_left_alone(ready: Host) -> None:
    (ready.folder / "state/log").unlink()
    done = ready.run(before=SET)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ready.calls() == []
    assert ready.run("--check", before=SET).stdout == ""


def test_a_check_only_reads(host: Host) -> None:
    done = host.run("--check")
    assert done.returncode == 2
    assert "differs: eth0: trust is pcp, and should be dscp" in done.stdout
    assert "differs: eth0: link pause is rx on tx on, and should be rx off tx off" in done.stdout
    assert "differs: eth1: mtu is 1500, and should be 4200" in done.stdout
    assert "differs: eth0: DCBX mode is Firmware controlled, and should be OS controlled" in done.stdout
    assert host.calls() == []
    assert not (host.root / "var").exists()
    assert host.system("infiniband/mlx5_0/tc/1/traffic_class").read_text() == "Global tclass=0\n"


@pytest.mark.parametrize(
    ("owner", "change", "words"),
    [
        ("eth1", {"trust": "pcp", "map": {}}, "eth1: trust is pcp"),
        ("eth1", {"pfc": [0] * 8}, "eth1: PFC and cable length is 0,0,0,0,0,0,0,0 3"),
        ("eth1", {"pfc": [0, 0, 0, 1, 1, 0, 0, 0]}, "eth1: PFC and cable length is 0,0,0,1,1,0,0,0 3"),
        ("eth1", {"cable": 7}, "eth1: PFC and cable length is 0,0,0,0,1,0,0,0 7"),
        ("eth1", {"sizes": [262144, 1024, 0, 0, 0, 0, 0, 0]}, "eth1: receive buffers is of priorities"),
        ("eth1", {"buffers": [0] * 8}, "eth1: receive buffers is of priorities 0,0,0,0,0,0,0,0"),
        ("eth1", {"tx": "on"}, "eth1: link pause is rx off tx on"),
        ("eth1", {"dcbx": "Firmware controlled"}, "eth1: DCBX mode is Firmware controlled"),
        ("eth1", {"tsa": ["strict"] * 8}, "eth1: traffic classes is"),
        ("mlx5_1", {"tos": 0}, "mlx5_1: class of RDMA-CM is 0"),
    ],
)
def test_every_difference_is_found(ready: Host, owner: str, change: dict[str, object], words: str) -> None:
    ready.set_state(owner, **change)
    done = ready.run("--check", before=SET)
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"differs: {words}")
    assert len(lines) == (2 if "trust" in change else 1)


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("net/eth0/ecn/roce_np/enable/4", "0", "roce_np/enable/4 is 0"),
        ("net/eth0/ecn/roce_rp/enable/4", "0", "roce_rp/enable/4 is 0"),
        ("net/eth0/ecn/roce_np/cnp_dscp", "48", "cnp_dscp is 48"),
        ("net/eth0/ecn/roce_np/cnp_802p_prio", "3", "cnp_802p_prio is 3"),
        ("infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=104", "traffic_class is 104"),
        (
            "infiniband/mlx5_0/ports/1/gid_attrs/types/3",
            "IB/RoCE v1",
            "RoCE v2 GID of 10.128.0.1 is unknown",
        ),
    ],
)
def test_every_different_file_is_found(ready: Host, path: str, text: str, words: str) -> None:
    ready.system(path).write_text(f"{text}\n")
    done = ready.run("--check", before=SET)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stdout
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ip link set eth1 mtu 1500", "eth1: mtu is 1500, and should be 4200"),
        ("ip address del 10.128.0.5/31 dev eth1", "eth1: address is unknown, and should be 10.128.0.5/31"),
        ("ip rule del from 10.128.0.5 table 102", "eth1: rule is unknown, and should be 102"),
        ("ip route flush table 102", "eth1: route of table 102 is unknown, and should be 10.128.0.4"),
    ],
)
def test_what_the_kernel_lacks_is_found(ready: Host, command: str, words: str) -> None:
    done = ready.run("--check", before=f"{SET}\n{command}")
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"differs: {words}\n" in done.stdout


def test_undo_brings_back_what_was_there(host: Host) -> None:
    first = {"trust": "dscp", "map": {str(dscp): dscp // 8 for dscp in range(64)}, "pfc": [0, 0, 0, 1, 0, 0, 0, 0]}
    host.set_state("eth0", **first)
    host.set_state("eth1", dcbx="OS controlled", rx="off")
    before = {port: host.state(port) for port in ("eth0", "eth1")}
    script = f"bash {host.folder}/apply.sh"
    after = "cat /sys/class/net/eth0/mtu; ip rule; ip addr; ip route show table 101"
    done = host.run("--undo", before=f"{script} || exit 9", after=after)
    assert done.returncode == 0, done.stdout + done.stderr
    for port, state in before.items():
        assert host.state(port) == {**host_programs.DEFAULT, **state}
    assert host.state("mlx5_0")["tos"] == 0
    assert host.system("infiniband/mlx5_0/tc/1/traffic_class").read_text() == "0\n"
    assert host.system("net/eth0/ecn/roce_np/enable/4").read_text() == "0\n"
    assert host.system("net/eth0/ecn/roce_np/cnp_dscp").read_text() == "48\n"
    assert done.stdout.startswith("1500\n")
    assert "10.128.0" not in done.stdout
    assert list((host.root / "var/lib/weftline/nics").iterdir()) == []


def test_the_first_state_is_kept_over_later_runs(ready: Host) -> None:
    script = f"bash {ready.folder}/apply.sh"
    done = ready.run("--undo", before=f"{SET}\n{script} || exit 9")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ready.state("eth0") == host_programs.DEFAULT


def test_an_old_mlnx_qos_takes_one_dscp_at_a_time(host: Host) -> None:
    host.set_state("eth0", takes_many=False)
    done = host.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert host.state("eth0")["map"]["30"] == 4
    assert len(host.state("eth0")["map"]) == 64


def test_buffers_that_do_not_fit_are_a_failure(host: Host) -> None:
    host.set_state("eth0", total=145_000)
    done = host.run()
    assert done.returncode == 1
    assert "failed: eth0: the receive buffers do not fit: 143568 bytes for each of 1" in done.stderr


def test_a_short_cable_needs_no_buffers_of_its_own(host: Host) -> None:
    host.set_state("eth0", has_buffers=False)
    host.set_state("eth1", has_buffers=False)
    assert host.run().returncode == 0
    nics = host.root / "etc/weftline/nics.conf"
    nics.write_text(nics.read_text().replace("  3       10.128.0.1", "  30      10.128.0.1"))
    done = host.run()
    assert done.returncode == 1
    assert "failed: eth0: no receive buffers can be set" in done.stderr


def test_another_gid_index_is_found_and_taken(host: Host) -> None:
    for number in range(2):
        device = host.system(f"infiniband/mlx5_{number}/ports/1")
        for kind in ("gids", "gid_attrs/types"):
            (device / kind / "3").rename(device / kind / "5")
    assert "differs: NCCL_IB_GID_INDEX" in host.run("--check").stdout
    assert host.run().returncode == 0
    assert "NCCL_IB_GID_INDEX=5\n" in (host.root / "etc/nccl.conf").read_text()
    assert "UCX_IB_GID_INDEX=5\n" in (host.root / "etc/weftline/collectives.env").read_text()
    assert "NVSHMEM_IB_GID_INDEX=5\n" in (host.root / "etc/weftline/collectives.env").read_text()


def test_a_host_without_collective_libraries_is_set_all_the_same(ready: Host) -> None:
    (ready.root / "etc/nccl.conf").unlink()
    (ready.root / "etc/weftline/collectives.env").unlink()
    done = ready.run(before=SET)
    assert (done.returncode, done.stdout) == (0, "")


def test_different_gid_indices_are_a_failure(host: Host) -> None:
    device = host.system("infiniband/mlx5_1/ports/1")
    for kind in ("gids", "gid_attrs/types"):
        (device / kind / "3").rename(device / kind / "5")
    done = host.run()
    assert done.returncode == 1
    assert "the RoCE v2 GIDs are at mlx5_0:3 mlx5_1:5: take NCCL_IB_GID_INDEX out of" in done.stderr


def test_members_of_a_bond_are_set_and_its_address_is_the_bonds(host: Host) -> None:
    bond = host.system("net/eth0/bonding")
    bond.mkdir()
    (bond / "slaves").write_text("eth0 eth1\n")
    ndevs = host.system("infiniband/mlx5_0/ports/1/gid_attrs/ndevs")
    ndevs.mkdir()
    (ndevs / "0").write_text("eth0\n")
    nics = host.root / "etc/weftline/nics.conf"
    nics.write_text("".join(f"{line}\n" for line in nics.read_text().splitlines() if not line.startswith("2 ")))
    assert host.run().returncode == 0
    assert [host.state(port)["trust"] for port in ("eth0", "eth1")] == ["dscp", "dscp"]


def test_virtual_functions_get_the_class_of_their_port(host: Host) -> None:
    virtual = host.system("infiniband/mlx5_9/tc/1")
    virtual.mkdir(parents=True)
    (virtual / "traffic_class").write_text("Global tclass=0\n")
    host.system("infiniband/mlx5_0/device/virtfn0/infiniband/mlx5_9").mkdir(parents=True)
    host.system("infiniband/mlx5_0/device/net/eth0v").mkdir()
    host.system("net/eth0v").mkdir()
    host.system("net/eth0v/phys_port_name").write_text("pf0vf0\n")
    assert host.run().returncode == 0
    assert (virtual / "traffic_class").read_text() == "122\n"
    assert not (host.folder / "state/eth0v.json").exists()


def test_a_device_that_is_not_there_is_a_failure(host: Host) -> None:
    shutil.rmtree(host.system("infiniband/mlx5_1"))
    done = host.run()
    assert done.returncode == 1
    assert "failed: mlx5_1: no such RDMA device" in done.stderr
    assert host.state("eth0")["trust"] == "dscp"


def test_what_the_host_prints_afterwards_agrees_with_the_list(ready: Host) -> None:
    after = "".join(f"mlnx_qos -i {port} -a >$STANDINS/mlnx_qos-{port}.txt\n" for port in ("eth0", "eth1"))
    done = ready.run("--check", before=SET, after=after)
    assert done.returncode == 0, done.stdout + done.stderr
    host = ready
    files = [(f"{FOLDER}/{name}", MADE.text(f"{FOLDER}/{name}").encode()) for name in ("nics.conf", "classes.conf")]
    for number in range(2):
        dump = (host.folder / f"state/mlnx_qos-eth{number}.txt").read_bytes()
        files.append((f"{FOLDER}/mlnx_qos-eth{number}.txt", dump))
    files.append((f"{FOLDER}/ibdev2netdev.txt", b"mlx5_0 port 1 ==> eth0 (Up)\nmlx5_1 port 1 ==> eth1 (Up)\n"))
    (device,) = read_hosts(files)
    assert [port.name for port in device.ports] == ["eth0", "eth1"]
    assert [problem for problem in device.problems if problem.code != "artifact.host-disagrees"] == []
    assert [problem.message for problem in device.problems] == []


@pytest.mark.parametrize("arguments", [["--help"], ["--nonsense"]])
def test_other_options_say_how_it_is_used(host: Host, arguments: list[str]) -> None:
    done = host.run(*arguments)
    assert done.returncode == 64
    assert "apply-nics.sh --check" in done.stderr


def test_the_script_is_clean(tmp_path: Path) -> None:
    program = shutil.which("shellcheck")
    if program is None and os.geteuid() != 0:
        pytest.skip("the Debian package shellcheck is missing")
    assert program is not None, "the Debian package shellcheck is missing: make setup installs it"
    (tmp_path / "apply-nics.sh").write_text(SCRIPT)
    done = subprocess.run([program, str(tmp_path / "apply-nics.sh")], capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_the_unit_and_the_rule_run_the_script(tmp_path: Path) -> None:
    assert "ExecStart=/usr/local/sbin/apply-nics.sh\n" in UNIT
    assert 'ENV{SYSTEMD_WANTS}+="weftline-nics.service"' in RULES
    program = shutil.which("systemd-analyze")
    if program is None:
        return
    file = tmp_path / "weftline-nics.service"
    file.write_text(UNIT.replace("/usr/local/sbin/apply-nics.sh", "/bin/true"))
    done = subprocess.run([program, "verify", str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "weftline" in line]) == (0, [])
