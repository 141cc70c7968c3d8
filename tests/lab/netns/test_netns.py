"""A declared routed fabric under real FRR: brought up, held against the declaration, and stopped without a trace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import COMMAND, environment, hold, refused, run
from tests.kernels.reference.settle import settle
from tests.lab.netns.conftest import SMALL, TENANTS, WEIGHED, Place, make_place
from tests.unit.route.walks import find_port, weights_of
from weftline.app.devices import render_devices
from weftline.app.lab import lab_folder
from weftline.app.pipeline import run_to_routes
from weftline.labs import holding, processes
from weftline.labs.netns import running
from weftline.prove.networks import name_prefix
from weftline.prove.speakers import read_speakers
from weftline.prove.tenancy.cabling import find_ports
from weftline.route import compute_routes
from weftline.route.repair import cut_fabric

LIMIT_S = 60.0
ROOT = Path(__file__).parents[3]


def test_up_verify_down(place: Place) -> None:
    ran = place.lab("up", "--json")
    document = hold(ran.document, "lab")
    assert (ran.status, document["equal"], document["running"], document["lab"]) == (0, True, True, "netns")
    (subnet,) = document["subnets"]
    # 8 links between switches have two ends; each leaf knows 3 others, each spine 4, by loopback and network
    assert subnet["compared"] == {
        "session": 16, "watch": 16, "route": 40, "kernel": 40, "pair": 8 * 6, "mark": 8 * 6, "spread": 4,
    }  # fmt: skip
    assert Counter(one.name for one in place.running) == {"zebra": 6, "bgpd": 6, "bfdd": 6, "holder": 1, "launcher": 1}
    again = place.lab("verify", "--json")
    assert (again.status, hold(again.document, "lab")["equal"]) == (0, True)
    assert "equal to what was rendered" in place.lab("verify").out
    stopped = hold(place.lab("down", "--json").document, "lab-down")["stopped"]
    assert {one["name"] for one in stopped} == {"zebra", "bgpd", "bfdd", "holder"}
    assert place.running == ()
    assert not lab_folder(place.path).exists()
    refused(place.lab("verify", "--json"), 4, "source.lab-down")
    assert place.lab("down").out == "no lab was running\n"


def test_the_lab_that_laptops_run(tmp_path: Path) -> None:
    """4 spines, 8 leaves and 16 hosts."""
    place = make_place(tmp_path, (ROOT / "examples" / "roce-lab.yaml").read_text(encoding="utf-8"))
    try:
        ran = place.lab("up", "--json")
        assert ran.status == 0, ran.out
        compared = ran.document["subnets"][0]["compared"]
        assert compared == {
            "session": 64, "watch": 64, "route": 176, "kernel": 176, "pair": 32 * 30, "mark": 32 * 30, "spread": 8,
        }  # fmt: skip
        derived = derive_routes(place)
        assert len(derived) == 12
        for switch, routes in derived.items():
            assert read_bgp(place, switch) == routes, switch
    finally:
        place.lab("down")


def test_switches_run_what_was_rendered(lab: Place) -> None:
    """The shell of FRR and ip(8) say the same as the verdict, and every line of the file is in force."""
    summary = lab.vtysh("leaf-001", "show bgp ipv4 unicast summary json")
    assert {name: row["state"] for name, row in summary["peers"].items()} == {
        "Ethernet16": "Established",
        "Ethernet24": "Established",
    }
    (route,) = lab.vtysh("leaf-001", "show ip route json")["10.128.0.4/30"]
    assert len([hop for hop in route["nexthops"] if hop.get("fib")]) == 2
    table = json.loads(lab.inside("ip", "-n", "leaf-001", "-j", "route", "show", "10.128.0.4/30"))
    assert {hop["dev"] for hop in table[0]["nexthops"]} == {"Ethernet16", "Ethernet24"}
    run("render", lab.path, "--out", lab.path.parent / "out")
    rendered = (lab.path.parent / "out" / "artifacts" / "switches" / "leaf-001" / "frr.conf").read_bytes()
    assert (lab_folder(lab.path) / "leaf-001" / "frr.conf").read_bytes() == rendered
    links = json.loads(lab.inside("ip", "-n", "host-0001", "-j", "link", "show"))
    assert {link["ifname"]: link["mtu"] for link in links if link["ifname"] != "lo"} == {"mlx5_0": 4200, "mlx5_1": 4200}
    policy = "net/ipv4/fib_multipath_hash_policy"
    assert lab.inside("ip", "netns", "exec", "leaf-001", "cat", f"/proc/sys/{policy}") == "1\n"


def derive_routes(place: Place) -> dict[str, dict[str, set[str]]]:
    """Work out, from the rendered files alone, over which interfaces each switch reaches each network."""
    routed = run_to_routes(place.path)
    built = routed.built
    fabric = built.fabric
    files = render_devices(built, routed.addresses, routed.routes)
    speakers = read_speakers(fabric, files.observed)
    assert speakers.doubts == ()
    names = find_ports(fabric, [one for one in files.observed if one.role == "switch"])
    ends = [
        (row, int(fabric.port_peer[far]), int(speakers.session_row[at]), far)
        for row in range(len(speakers.by_row))
        for at in range(int(speakers.session_ptr[row]), int(speakers.session_ptr[row + 1]))
        for far in (int(speakers.session_far[at]),)
    ]
    found: dict[str, dict[str, set[str]]] = {}
    for origin, speaker in enumerate(speakers.by_row):
        assert speaker is not None
        ways, was_choice = settle(origin, ends, speakers.number.tolist())
        assert not was_choice
        widest = [one.prefix for one in speaker.told if not any(_holds(two.prefix, one.prefix) for two in speaker.told)]
        for row, ports in ways.items():
            switch = fabric.node_name[int(fabric.switch_node[row])]
            interfaces = {ref[1] for port in ports if (ref := names(port)) is not None}
            for prefix in widest:
                found.setdefault(switch, {})[name_prefix(prefix)] = interfaces
    return found


def _holds(outer: tuple[int, int, int], inner: tuple[int, int, int]) -> bool:
    return outer != inner and outer[1] <= inner[1] and inner[2] <= outer[2]


def read_bgp(place: Place, switch: str) -> dict[str, set[str]]:
    """Ask real FRR for what it learnt and forwards by; an aggregate of its own leads nowhere."""
    found: dict[str, set[str]] = {}
    for network, rows in place.vtysh(switch, "show ip route bgp json").items():
        for route in rows:
            hops = [hop for hop in route["nexthops"] if hop.get("fib") and "interfaceName" in hop]
            if route.get("selected") and hops:
                found[network] = {hop["interfaceName"] for hop in hops}
    return found


def test_tables_derived_from_the_files_are_those_of_frr(lab: Place) -> None:
    """What the claim converge works out is what real FRR comes to with the same files."""
    derived = derive_routes(lab)
    assert len(derived) == 6
    for switch, routes in derived.items():
        assert read_bgp(lab, switch) == routes, switch


def test_a_kernel_that_forwards_otherwise_than_frr_says_is_named(lab: Place) -> None:
    """FRR shows two ways, the kernel has one: what FRR issues 12239 and 14481 are about."""
    route = "route replace 10.128.0.4/30 proto bgp metric 20"
    hops = [f"via 169.254.0.1 dev {name} onlink" for name in ("Ethernet16", "Ethernet24")]
    lab.inside("ip", "-n", "leaf-001", *f"{route} {hops[0]}".split())
    try:
        found = lab.differences()
        assert [one for one in found if one[0] != "spread"] == [("kernel", "leaf-001 10.128.0.4/30")]
    finally:
        lab.inside("ip", "-n", "leaf-001", *f"{route} nexthop {hops[0]} nexthop {hops[1]}".split())
    wait_equal(lab)


def test_a_switch_that_marks_packets_anew_is_found(lab: Place) -> None:
    """One spine sets DSCP 0: what passes it is no longer lossless at the next switch."""
    rule = 'table netdev x { chain c { type filter hook ingress device "Ethernet0" priority 0; ip dscp set 0; }; }'
    lab.inside("ip", "netns", "exec", "spine-01", "nft", "-f", "-", text=rule + "\n")
    try:
        ran = lab.lab("verify", "--json")
        (subnet,) = ran.document["subnets"]
        assert set(subnet["differing"]) == {"mark"}
        one = subnet["differences"][0]
        assert (one["rendered"], one["running"]) == ("DSCP 26", "DSCP 0")
        assert one["subject"].startswith("host-0001/")
    finally:
        lab.inside("ip", "netns", "exec", "spine-01", "nft", "delete", "table", "netdev", "x")


def test_a_hash_without_ports_is_found(lab: Place) -> None:
    """The default of Linux takes one way for all flows of a pair."""
    policy = "/proc/sys/net/ipv4/fib_multipath_hash_policy"
    lab.inside("ip", "netns", "exec", "leaf-002", "sh", "-c", f"echo 0 >{policy}")
    try:
        assert lab.differences() == [("spread", "leaf-002")]
    finally:
        lab.inside("ip", "netns", "exec", "leaf-002", "sh", "-c", f"echo 1 >{policy}")
    assert "of its even share" in lab.lab("verify").out


def wait_equal(lab: Place) -> None:
    """Wait until everything runs as it was rendered."""
    end = time.monotonic() + LIMIT_S
    while lab.lab("verify").status != 0:
        assert time.monotonic() < end, lab.lab("verify").out
        time.sleep(0.2)


def test_a_link_that_is_too_narrow_is_found_by_packets(lab: Place) -> None:
    """Small packets still pass: only a frame as long as the hosts send shows it."""
    for space, name in (("leaf-002", "Ethernet16"), ("leaf-002", "Ethernet24")):
        lab.inside("ip", "-n", space, "link", "set", "dev", name, "mtu", "1500")
    try:
        found = lab.differences()
        assert {kind for kind, _ in found} == {"pair"}
        assert ("pair", "host-0002/nic1 to host-0001/nic1") in found or len(found) > 0
    finally:
        for space, name in (("leaf-002", "Ethernet16"), ("leaf-002", "Ethernet24")):
            lab.inside("ip", "-n", space, "link", "set", "dev", name, "mtu", "9216")
        wait_equal(lab)


@pytest.mark.parametrize("silent", [(), ("--silent",)])
def test_break_and_heal(lab: Place, silent: tuple[str, ...]) -> None:
    """What a link carried finds another way; how long that takes is measured beside the prediction."""
    ran = lab.lab("break", "leaf-001/3", *silent, "--json")
    (fault,) = hold(ran.document, "lab-faults")["faults"]
    outage = fault["outage"]
    assert (ran.status, outage["flows"], outage["lasting"]) == (0, 96, 0)
    if silent:
        # BFD needs 3 intervals of 300 ms since the last packet, which came at most one interval before
        assert outage["hit"] > 0
        assert outage["longest_s"] > 0.5
        assert outage["predicted_s"] == pytest.approx(0.9 + 0.2 + 0.5)
    else:
        assert outage["predicted_s"] == pytest.approx(0.2 + 0.5)
    wait_kinds(lab, {"session", "watch", "route", "kernel", "spread"})
    assert ("session", "leaf-001 Ethernet16") in lab.differences()
    (fault,) = lab.lab("verify", "--json").document["faults"]
    assert fault["subject"].startswith("leaf-001/3")
    healed = hold(lab.lab("heal", "--json").document, "lab-faults")
    assert [one["outage"]["flows"] for one in healed["faults"]] == [96]
    wait_equal(lab)
    assert lab.lab("heal").out == "there was no fault\n"


def wait_kinds(lab: Place, kinds: set[str]) -> None:
    """Wait until just this differs: as long as nobody has noticed, packets are lost."""
    end = time.monotonic() + LIMIT_S
    found = lab.differences()
    while {kind for kind, _ in found} != kinds:
        assert time.monotonic() < end, found
        found = lab.differences()


def test_a_host_that_loses_its_cable_has_no_other_way(lab: Place) -> None:
    ran = lab.lab("break", "host-0001/nic1")
    assert "no pair of hosts has another way" in ran.out
    # its flows are missing in the spread over the uplinks too
    assert {kind for kind, _ in lab.differences()} in ({"pair"}, {"pair", "spread"})
    assert all("host-0001/nic1" in subject for kind, subject in lab.differences() if kind == "pair")
    lab.lab("heal")
    wait_equal(lab)


def test_names_and_faults_that_do_not_exist(lab: Place) -> None:
    refused(lab.lab("break", "leaf-099", "--json"), 1, "spec.unknown-device")
    refused(lab.lab("degrade", "leaf-001/3", "--counter", "symbol=1", "--json"), 64, "usage.fault")
    refused(lab.lab("miscable", "leaf-001/3", "leaf-002/3", "--json"), 64, "usage.fault")
    refused(lab.lab("kill-master", "--json"), 1, "capability.no-manager")
    refused(lab.lab("keep", "--for", "1", "--json"), 1, "capability.repair-groups")


def test_a_daemon_that_was_killed_is_named(place: Place) -> None:
    assert place.lab("up").status == 0
    (victim,) = [one for one in place.running if (one.subnet, one.name) == ("spine-01", "bgpd")]
    os.kill(victim.pid, signal.SIGKILL)
    end = time.monotonic() + LIMIT_S
    while processes.read_start(victim.pid) == victim.started:
        assert time.monotonic() < end
    error = refused(place.lab("verify", "--json"), 4, "source.lab-process")
    assert "bgpd of spine-01" in error["message"]
    holder = place.holder
    os.kill(holder, signal.SIGKILL)
    while place.running:
        assert time.monotonic() < end
        time.sleep(0.02)
    refused(place.lab("verify", "--json"), 4, "source.lab-process")


@pytest.mark.parametrize("stage", ["making namespaces", "starting zebra", "loading configurations"])
def test_nothing_is_left_of_a_start_that_was_killed(place: Place, stage: str) -> None:
    command = [*COMMAND, "lab", "up", str(place.path), "--quiet"]
    process = subprocess.Popen(command, env=environment(None), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = lab_folder(place.path) / running.LOG
    end = time.monotonic() + LIMIT_S
    while not (log.exists() and stage in log.read_text(encoding="utf-8")):
        assert time.monotonic() < end
        time.sleep(0.005)
    process.kill()
    process.wait()
    refused(place.lab("verify", "--json"), 4, "source.lab-down")
    place.lab("down")
    assert place.running == ()


def test_two_labs_do_not_meet(lab: Place, tmp_path: Path) -> None:
    """The same names and addresses stand twice on the machine."""
    other = make_place(tmp_path / "other")
    try:
        assert other.lab("up").status == 0
        wait_equal(lab)  # the other one took the processors from its sessions
        assert other.holder != lab.holder
    finally:
        other.lab("down")
    wait_equal(lab)


def test_tenants_are_apart_by_real_packets(tmp_path: Path) -> None:
    """Each tenant is a VRF whose packets pass the spines over VXLAN, and keep their DSCP inside."""
    place = make_place(tmp_path, SMALL + TENANTS)
    try:
        ran = place.lab("up", "--json")
        assert ran.status == 0, ran.out
        (subnet,) = ran.document["subnets"]
        assert subnet["compared"]["pair"] == subnet["compared"]["mark"] == 2 * 4 * 2
        assert subnet["compared"]["apart"] == 2 * 4 * 4
        assert subnet["compared"]["edge"] == 8 * 3  # as another, and to the tunnel ends of two leaves
        networks = place.vtysh("leaf-001", "show ip route vrf Vrfred json")
        assert "10.128.0.4/31" in networks  # of host-0002, red as well
        assert "10.128.0.8/31" not in networks
        # outside of the VRF nobody of a tenant is known
        assert set(place.vtysh("spine-01", "show ip route json")) == {f"10.0.0.{number}/32" for number in range(1, 6)}
    finally:
        place.lab("down")


def test_an_edge_without_its_filter_is_found_by_real_packets(tmp_path: Path) -> None:
    """The filters of one VRF are gone, and it has a way to the tunnel end of its switch."""
    place = make_place(tmp_path, SMALL + TENANTS)
    try:
        assert place.lab("up").status == 0
        red, leaf = "leaf-001.Vrfred", "leaf-001"
        one, two = "02:00:00:00:00:01", "02:00:00:00:00:02"
        pair = f"name leak address {one} netns {red} type veth peer name leak address {two} netns {leaf}"
        place.inside("ip", "link", "add", *pair.split())
        place.inside("ip", "-n", leaf, "link", "set", "dev", "leak", "up")
        for words in (
            "link set dev leak up",
            f"neigh replace 10.0.0.1 lladdr {two} dev leak nud permanent",
            "route add 10.0.0.1/32 dev leak",
        ):
            place.inside("ip", "-n", red, *words.split())
        assert "edge" not in {kind for kind, _ in place.differences()}  # the filters hold although there is a way
        place.inside("ip", "netns", "exec", red, "nft", "delete", "table", "netdev", "edge")
        found = place.differences()
        assert ("edge", "host-0001/nic1 to UDP 4789 of 10.0.0.1") in found
        assert ("edge", "host-0001/nic1 as another or to tunnels") in found
        assert any(kind == "edge" and subject.startswith("host-0001/nic1 as 10.") for kind, subject in found)
        assert not any("host-0003" in subject for _, subject in found)
    finally:
        place.lab("down")


def test_a_way_between_tenants_is_found(tmp_path: Path) -> None:
    """Somebody joins the VRFs of two tenants on one switch by a cable and routes."""
    text = SMALL.replace("unit_size: 1", "unit_size: 2").replace("count: 4}", "count: 8}")
    place = make_place(tmp_path, text + "tenants:\n  - {name: red, hosts: '1,3'}\n  - {name: blue, hosts: '2,4'}\n")
    try:
        assert place.lab("up").status == 0
        red, blue = "leaf-001.Vrfred", "leaf-001.Vrfblue"
        one, two = "02:00:00:00:00:01", "02:00:00:00:00:02"
        pair = f"name leak address {one} netns {red} type veth peer name leak address {two} netns {blue}"
        place.inside("ip", "link", "add", *pair.split())
        for space, mac, far in ((red, two, "10.128.0.5"), (blue, one, "10.128.0.1")):
            for words in (
                "link set dev leak up",
                f"neigh replace {far} lladdr {mac} dev leak nud permanent",
                f"route add {far}/32 dev leak",
            ):
                place.inside("ip", "-n", space, *words.split())
        assert ("apart", "host-0001/nic1 to host-0002/nic1") in place.differences()
    finally:
        place.lab("down")


def test_a_service_that_does_not_reach_its_users_is_named(tmp_path: Path) -> None:
    """VRFs that take each other's routes must reach each other, and the tenants that share a service must not."""
    service = "\n  extra_endpoints: [{name: store, ports: 1}]"
    text = SMALL.replace("unit_size: 1", f"unit_size: 2{service}").replace("count: 4}", "count: 10}")
    tenants = "tenants:\n  - {name: red, hosts: '1,3'}\n  - {name: blue, hosts: '2,4'}\n"
    place = make_place(tmp_path, text + tenants + "shared:\n  - {name: storage, endpoints: [store], tenants: all}\n")
    try:
        ran = place.lab("up", "--json")
        (subnet,) = ran.document["subnets"]
        assert subnet["compared"]["pair"] == 2 * 4 * 2 + 2 * 8
        assert subnet["compared"]["apart"] == 2 * 4 * 4
        unlike = subnet["differences"]
        assert {one["kind"] for one in unlike} <= {"pair", "edge"}
        assert all("store/1" in f"{one['subject']} {one['rendered']}" for one in unlike)
        assert ran.status == (5 if subnet["differences"] else 0)
    finally:
        place.lab("down")


def test_one_command_at_a_time(lab: Place) -> None:
    with holding.held(lab_folder(lab.path)):
        refused(lab.lab("verify", "--json"), 1, "artifact.busy")


def test_what_switches_refuse_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that FRR does not take is no silence."""
    write = Path.write_bytes

    def spoil(path: Path, content: bytes) -> int:
        return write(path, content + (b"no such words\n" if path.name == "frr.conf" else b""))

    monkeypatch.setattr(Path, "write_bytes", spoil)
    error = refused(place.lab("up", "--json"), 5, "enact.lab-log")
    assert "no such words" in error["message"]
    assert place.running == ()


def test_weights_in_the_kernel_are_those_of_the_engine(place: Place) -> None:
    """A spine lost one of two links to a leaf: FRR tells bandwidths, and the kernel holds unequal next hops."""
    place.path.write_text(WEIGHED, encoding="utf-8")
    ran = place.lab("up", "--json")
    assert ran.status == 0, ran.out
    network = "10.128.0.8/29"
    assert set(read_weights(place, network).values()) == {25}
    assert place.lab("break", "spine-01/3", "--json").status == 0
    whole = run_to_routes(place.path).built.fabric
    cut = cut_fabric(whole, np.array([find_port(whole, "spine-01/3")], dtype=np.int32))
    routes = compute_routes(cut, "weighted-ecmp", to_switches=False)
    row = int(cut.switch_row[cut.node_name.index("leaf-001")])
    goal = routes.destination_node.tolist().index(cut.node_name.index("host-0003"))
    held = weights_of(routes, row, goal)
    assert sorted(held.values()) == [1, 1, 2, 2]
    wanted = {f"Ethernet{8 * (int(cut.port_number[one]) - 1)}": weight for one, weight in held.items()}
    # FRR hands over whole percent, rounded down
    percent = {name: 100 * weight // sum(wanted.values()) for name, weight in wanted.items()}
    end = time.monotonic() + LIMIT_S
    while read_weights(place, network) != percent:
        assert time.monotonic() < end, read_weights(place, network)
        time.sleep(0.2)


def read_weights(place: Place, network: str) -> dict[str, int]:
    """Read the weights of the next hops of leaf-001 by ip(8)."""
    table = json.loads(place.inside("ip", "-n", "leaf-001", "-j", "route", "show", network))
    return {hop["dev"]: hop["weight"] for hop in table[0]["nexthops"]}
