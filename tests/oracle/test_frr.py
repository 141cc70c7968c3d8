"""Real FRR daemons take our files as they are, and packets then use every path that was meant."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.designs import Rendered, render_design
from weftline.formats.config_db import interface_name
from weftline.kernels.column import NIL
from weftline.model.fabric import NodeKind

ZEBRA, BGPD = Path("/usr/lib/frr/zebra"), Path("/usr/lib/frr/bgpd")
PROGRAMS = ("ip", "vtysh", "ping", "sysctl")
PATIENCE_S = 20.0
SETTINGS = (
    "net.ipv4.ip_forward=1",
    "net.ipv4.fib_multipath_hash_policy=1",
    "net.ipv4.conf.all.ignore_routes_with_linkdown=1",
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv6.conf.all.accept_dad=0",
    "net.ipv6.conf.default.accept_dad=0",
)


def can_make_namespaces() -> bool:
    """Try to make a network namespace, and remove it again."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"weftline-{os.getpid()}-try"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0
    if made:
        subprocess.run(["ip", "netns", "delete", name], check=True)
    return made


pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not ZEBRA.exists() or not BGPD.exists() or any(shutil.which(name) is None for name in PROGRAMS),
        reason="frr, iproute2 or ping is not installed",
    ),
    pytest.mark.skipif(not can_make_namespaces(), reason="network namespaces need root"),
]


def run(*command: str) -> str:
    """Run one program to its end."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


@dataclass(frozen=True)
class Lab:
    """A fabric of namespaces, one per switch and host, and the folder with one folder per switch."""

    made: Rendered
    folder: Path
    prefix: str

    def space(self, device: str) -> str:
        """Name the namespace of a device."""
        return f"{self.prefix}-{device}"

    def ip(self, device: str, *words: str) -> str:
        """Run ``ip`` in the namespace of a device."""
        return run("ip", "-n", self.space(device), *words)

    def address(self, host: str) -> str:
        """Address of a host's first NIC."""
        (port,) = [port for port in self.made.intent(host).ports if port.key == 1]
        assert port.address is not None
        return port.address.partition("/")[0]

    def ways(self, switch: str, host: str) -> set[str]:
        """Interfaces that a switch sends packets of different flows to a host by."""
        found: set[str] = set()
        for sport in range(49152, 49184):
            flow = ("ipproto", "udp", "sport", str(sport), "dport", "4791")
            found.add(json.loads(self.ip(switch, "-j", "route", "get", self.address(host), *flow))[0]["dev"])
        return found

    def hops(self, switch: str, host: str) -> set[str]:
        """Interfaces of the kernel's route of a switch to a host; empty where it has none."""
        routes: list[dict[str, Any]] = json.loads(self.ip(switch, "-j", "route", "show", "match", self.address(host)))
        return {hop["dev"] for route in routes for hop in route.get("nexthops", [route]) if "dev" in hop}


def port_interface(made: Rendered, port: int) -> str:
    """Name the interface of a port as the rendered files do."""
    fabric = made.fabric
    node = int(fabric.port_node[port])
    number = int(fabric.port_number[port])
    if fabric.node_kind[node] != NodeKind.SWITCH:
        return f"nic{number}"
    platform = made.intent(fabric.node_name[node]).platform
    assert platform is not None
    return interface_name(number, platform.ports_per_cage)


def wire(lab: Lab) -> None:
    """Join the namespaces by one veth pair per link, both ends at the MTU of the files."""
    fabric = lab.made.fabric
    for port in range(fabric.port_count):
        peer = int(fabric.port_peer[port])
        if peer == NIL or peer < port:
            continue
        ends = [
            (lab.space(fabric.node_name[int(fabric.port_node[end])]), port_interface(lab.made, end))
            for end in (port, peer)
        ]
        (space, name), (far_space, far_name) = ends
        run(*("ip", "link", "add", name, "mtu", "9216", "netns", space, "type", "veth"),
            *("peer", "name", far_name, "mtu", "9216", "netns", far_space))  # fmt: skip
        run("ip", "-n", space, "link", "set", name, "up")
        run("ip", "-n", far_space, "link", "set", far_name, "up")


def address_devices(lab: Lab) -> None:
    """Set the addresses that the rendered files say: of switches as SONiC would, of hosts as our script would."""
    for intent in lab.made.intents:
        if intent.role == "switch":
            tables = json.loads(lab.made.text(f"switches/{intent.device}/config_db.json"))
            # The kernel may have no dummy device, so a pair of its own stands in.
            lab.ip(intent.device, "link", "add", "Loopback0", "type", "veth", "peer", "name", "Loopback0-end")
            for name in ("Loopback0", "Loopback0-end"):
                lab.ip(intent.device, "link", "set", name, "up")
            for key in (*tables["INTERFACE"], *tables["LOOPBACK_INTERFACE"]):
                name, _, address = key.partition("|")
                if address:
                    lab.ip(intent.device, "address", "add", address, "dev", name)
        elif intent.role == "host" and intent.host is not None:
            (port,), (nic,) = intent.ports, intent.host.nics
            assert port.address is not None
            assert nic.gateway is not None
            lab.ip(intent.device, "link", "set", "nic1", "mtu", str(port.mtu))
            lab.ip(intent.device, "address", "add", port.address, "dev", "nic1")
            lab.ip(intent.device, "route", "add", "default", "via", nic.gateway)


def start_switch(lab: Lab, device: str, stack: ExitStack) -> None:
    """Start the daemons of one switch, and let vtysh load the rendered file as it stands."""
    folder = lab.folder / device
    folder.mkdir()
    shutil.chown(folder, "frr", "frr")
    (folder / "vtysh.conf").write_text("service integrated-vtysh-config\n")
    (folder / "frr.conf").write_text(lab.made.text(f"switches/{device}/frr.conf"))
    for program in (ZEBRA, BGPD):
        empty = folder / f"{program.name}.conf"
        empty.write_text("")
        command = ["ip", "netns", "exec", lab.space(device), str(program), "-u", "frr", "-g", "frr"]
        command += ["-f", str(empty), "-i", f"{folder}/{program.name}.pid"]
        command += ["--vty_socket", str(folder), "-z", f"{folder}/zserv.api"]
        daemon = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        stack.callback(stop, daemon)
        socket = folder / f"{program.name}.vty"
        wait_for(socket.exists, f"{program.name} of {device}")
    said = run("vtysh", "-b", "--config_dir", str(folder), "--vty_socket", str(folder))
    assert "Unknown command" not in said
    assert "rror" not in said, said


def stop(daemon: subprocess.Popen[bytes]) -> None:
    """Stop one daemon that we started."""
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(timeout=5)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds; only its absence fails, however long it took."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.1)


@contextmanager
def run_lab(made: Rendered) -> Generator[Lab]:
    """Run a fabric of real daemons, and remove all of it afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weftline-frr-")))
        folder.chmod(0o755)  # the daemons give up root
        lab = Lab(made, folder, f"weftline-{os.getpid()}")
        for intent in made.intents:
            run("ip", "netns", "add", lab.space(intent.device))
            stack.callback(run, "ip", "netns", "delete", lab.space(intent.device))
            run("ip", "netns", "exec", lab.space(intent.device), "sysctl", "-qw", *SETTINGS)
            lab.ip(intent.device, "link", "set", "lo", "up")
        wire(lab)
        address_devices(lab)
        for intent in made.intents:
            if intent.role == "switch":
                start_switch(lab, intent.device, stack)
        yield lab


def check_reach(lab: Lab) -> None:
    """Hold every leaf's kernel to both paths to each far host, then let the first and the last host reach all."""
    uplinks = {"Ethernet16", "Ethernet24"}
    host_of = {intent.device: intent.ports[0] for intent in lab.made.intents if intent.role == "host"}
    for leaf in [intent.device for intent in lab.made.intents if intent.tier == "leaf"]:
        far = [name for name, port in host_of.items() if not port.peer.startswith(f"{leaf}/")]
        for host in far:
            wait_for(lambda leaf=leaf, host=host: lab.hops(leaf, host) == uplinks, f"both paths of {leaf} to {host}")
        assert lab.ways(leaf, far[-1]) == uplinks
    for source in (min(host_of), max(host_of)):
        for target in host_of:
            # A packet as large as a host may send, that no switch may split.
            words = ("ping", "-n", "-q", "-c", "1", "-W", "5", "-M", "do", "-s", str(4200 - 28), lab.address(target))
            run("ip", "netns", "exec", lab.space(source), *words)


def test_two_tiers_use_every_path_and_never_a_valley() -> None:
    made = render_design("roce", hosts=4, unit_size=2, ports=4, spine_ports=2)
    with run_lab(made) as lab:
        check_reach(lab)
        check_no_valley(lab, "host-0001")


def test_three_tiers_use_every_path() -> None:
    made = render_design("roce", hosts=8, unit_size=2, ports=4, tiers=3)
    with run_lab(made) as lab:
        check_reach(lab)


def check_no_valley(lab: Lab, host: str) -> None:
    """Cut a spine from a leaf: the leaves use the other spine, and that spine does not go down and up again."""
    lab.ip("spine-01", "link", "set", "Ethernet0", "down")
    wait_for(lambda: lab.hops("spine-01", host) == set(), "the withdrawal of the lost path")
    wait_for(lambda: len(lab.hops("leaf-002", host)) == 1, "the one path that is left")
    words = ("ping", "-n", "-q", "-c", "1", "-W", "5", lab.address(host))
    run("ip", "netns", "exec", lab.space("host-0004"), *words)
    assert lab.hops("spine-01", host) == set()
    lab.ip("spine-01", "link", "set", "Ethernet0", "up")
    wait_for(lambda: len(lab.hops("leaf-002", host)) == 2, "both paths after the repair")
