"""EOS: what Weftline writes is read back exactly, and what anybody wrote is read with its places."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import intents
from tests.designs import render_design
from tests.tenants import fit_tenants
from weftline.model.artifact import ArtifactSet
from weftline.model.intent import DeviceIntent, list_facts
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.render.check import check_files
from weftline.vendors import VENDORS
from weftline.vendors.eos.configured import configure

EOS = VENDORS["eos"]
_IDENTITY = re.compile(r"qos map traffic-class (\d) to tx-queue \1")
"""A class whose line is missing has the queue of its number, on the switch as well."""


def fit(intent: DeviceIntent) -> DeviceIntent:
    """Make of an intent one that EOS can carry: pauses by the number of the class, the watchdog where there is one."""
    intent = fit_tenants(intent, one_number=True)
    assert intent.queues is not None
    assert intent.queues.watchdog is not None
    classes = tuple(
        replace(item, priority=None if item.priority is None else item.key) for item in intent.queues.classes
    )
    paused = tuple(item.key for item in classes if item.priority is not None) or None
    watchdog = intent.queues.watchdog
    action = watchdog.action if watchdog.action in {"drop", "forward"} else "drop"
    return replace(
        intent,
        ports=tuple(replace(port, pause_priorities=paused, watched_priorities=paused) for port in intent.ports),
        queues=replace(intent.queues, classes=classes, watchdog=replace(watchdog, action=action)),
    )


def write(intent: DeviceIntent) -> ArtifactSet:
    """Render one switch."""
    return ArtifactSet("", EOS.render((intent,)))


@given(intents.switches())
@settings(max_examples=30)
def test_the_law(intent: DeviceIntent) -> None:
    intent = fit(intent)
    assert check_files((intent,), (EOS,), write(intent)) == ()


@given(intents.switches(), st.data())
@settings(max_examples=30)
def test_a_line_that_is_gone_is_noticed(intent: DeviceIntent, data: st.DataObject) -> None:
    """Each line that decides something is read: without it the file says something else."""
    intent = fit(intent)
    (artifact,) = EOS.render((intent,))
    lines = artifact.content.decode().split("\n")
    silent = ("!", "end", "service routing", "ip routing", "ipv6", "timers", "bgp ", "no bgp", "address-family",
              "neighbor FABRIC", "route-map", "match", "aggregate", "no switchport", "tx-queue",
              "bandwidth guaranteed", "qos random-detect", "no shutdown", "interface Loopback0",
              "vxlan udp-port", "vxlan qos ecn", "router-id",
             )  # fmt: skip
    loopback = (
        f"ip address {intent.forwarding.exchange.router_address}"
        if intent.forwarding and intent.forwarding.exchange
        else ""
    )
    places = [
        place
        for place, line in enumerate(lines)
        if line.strip()
        and not line.strip().startswith(silent)
        and line.strip() != loopback
        and not _IDENTITY.fullmatch(line)
    ]
    place = data.draw(st.sampled_from(places))
    content = "\n".join(lines[:place] + lines[place + 1 :]).encode()
    damaged = ArtifactSet("", (replace(artifact, content=content),))
    assert check_files((intent,), (EOS,), damaged) != (), lines[place]


def test_what_no_line_says() -> None:
    made = render_design("roce")
    intent = made.intent("leaf-001")
    assert EOS.unsaid is not None
    paths = [path for path in list_facts(intent) if EOS.unsaid(path)]
    assert {path.rpartition(".")[2] for path in paths if path.split(".")[0] in {"ports", "queues"}} >= {
        "length_m", "group", "poll_ms",
    }  # fmt: skip


SAMPLE = b"""! Command: show running-config
! device: leaf-01 (DCS-7060X6-64PE, EOS-4.34.2F)
hostname leaf-01
qos profile ROCE
   qos trust dscp
   !
   tx-queue 3
      no priority
      bandwidth percent 50
      random-detect ecn minimum-threshold 500 kbytes maximum-threshold 1500 kbytes max-mark-probability 20
   !
   uc-tx-queue 6
      priority strict
      random-detect ecn minimum-threshold 10 segments maximum-threshold 20 segments
   !
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   priority-flow-control pause watchdog
   priority-flow-control pause watchdog port action drop
   priority-flow-control pause watchdog port timer timeout 0.2 polling-interval auto recovery-time 0.4 forced
interface Ethernet1/1
   description host-0001/nic1
   mtu 9214
   speed forced 400gfull
   error-correction encoding reed-solomon
   no switchport
   vrf A
   ip address 10.0.0.0/31
   ip access-group EDGE in
   ip verify unicast source reachable-via rx
   service-profile ROCE
interface Ethernet1/5
   shutdown
   speed 100g-2
   flowcontrol receive on
   service-profile ROCE
   priority-flow-control priority 3 drop
   priority-flow-control priority 4 no-drop
   qos trust cos
   !
   tx-queue 3
      bandwidth guaranteed 100
interface Ethernet2/1
   no priority-flow-control
   channel-group 7 mode active
   priority-flow-control mode on
interface Port-Channel7
   switchport access vlan 11
   service-profile ROCE
interface Loopback1
   ip address 192.0.2.101/32
interface Vxlan1
   vxlan source-interface Loopback1
   vxlan udp-port 4789
   vxlan vlan 11-12 vni 10011-10012
   vxlan vrf A vni 10
   vxlan qos dscp propagation encapsulation
   vxlan qos map dscp to traffic-class decapsulation
vrf instance A
vrf instance B
qos rewrite dscp
qos map dscp 26 to traffic-class 3
qos map dscp 64 to traffic-class 3
qos map traffic-class 6 to tx-queue 5
qos map traffic-class 4 to dscp 33
priority-flow-control pause watchdog default timeout 0.05
priority-flow-control pause watchdog action no-drop
ip access-list EDGE
   10 deny udp any any eq 4789
   20 permit ip 10.0.0.0/24 any
ip route vrf A 0.0.0.0/0 192.0.2.1
ip route vrf A 198.51.100.0/24 egress-vrf B 192.0.2.7
monitor session SPY source Ethernet1/1 both
monitor session SPY destination tunnel mode gre source 192.0.2.1 destination 192.0.2.99
sflow destination 192.0.2.98
sflow run
platform trident mmu queue profile X
router general
   vrf B
      leak routes source-vrf A subscribe-policy ALL
router bgp 65001
   router-id 192.0.2.1
   maximum-paths 64 ecmp 128
   no bgp default ipv4-unicast
   neighbor UP peer group
   neighbor UP bfd
   neighbor interface Et31/1-2 peer-group UP remote-as 65100
   vlan 11
      rd 192.0.2.1:10011
      route-target both 11:11
   address-family evpn
      neighbor UP activate
   address-family ipv4
      neighbor UP activate
   vrf A
      rd 192.0.2.1:10
      route-target import evpn 10:10
      route-target export evpn 10:10
      redistribute connected
"""


@pytest.fixture
def device() -> ObservedDevice:
    """The sample as a device."""
    (read,) = configure([("leaf-01.cfg", SAMPLE)])
    return read


def port(device: ObservedDevice, name: str) -> ObservedPort:
    """Find a port."""
    return next(one for one in device.ports if one.name == name)


def value(said: object) -> object:
    """Return what is said, or None."""
    return getattr(said, "value", None)


def test_a_port_takes_the_lines_of_its_profile(device: ObservedDevice) -> None:
    one = port(device, "Ethernet1/1")
    assert [value(said) for said in (one.number, one.peer, one.mtu, one.rate_gbps, one.fec, one.vrf, one.trust)] == [
        1, "host-0001/nic1", 9214, 400.0, "rs", "A", "dscp",
    ]  # fmt: skip
    assert one.pauses is not None
    assert (one.pauses.value, one.pauses.where.line) == ((3,), 16)
    assert one.watched is not None
    assert (one.watched.value, one.watched.where.line) == ((3,), 18)
    assert one.watchdog is not None
    assert [value(one.watchdog.detect_ms), value(one.watchdog.restore_ms), value(one.watchdog.poll_ms)] == [
        200,
        400,
        None,
    ]
    three, six = one.queues
    assert three.marks is not None
    assert [value(said) for said in (three.schedule, three.weight, three.marks.min_bytes, three.marks.percent)] == [
        "weighted", 50, 500_000, 20,
    ]  # fmt: skip
    assert six.marks is not None
    assert (value(six.schedule), value(six.marks.is_marking), six.marks.min_bytes) == ("strict", True, None)
    assert (value(one.checks_source), [said.value for said in one.filters_in]) == ("strict", ["EDGE"])
    assert one.class_of_dscp is not None
    assert (one.class_of_dscp.value[26], one.class_of_dscp.value[0], len(one.class_of_dscp.value)) == (3, 1, 64)
    assert one.queue_of_class is not None
    assert one.queue_of_class.value == {key: 5 if key == 6 else key for key in range(8)}
    assert value(one.dscp_of_class) == {0: 8, 1: 0, 2: 16, 3: 24, 4: 33, 5: 40, 6: 48, 7: 56}


def test_lines_of_a_port_stand_over_its_profile(device: ObservedDevice) -> None:
    one = port(device, "Ethernet1/5")
    assert [value(said) for said in (one.number, one.is_up, one.rate_gbps, one.link_pause, one.pauses, one.trust)] == [
        2, False, 100.0, "rx", (4,), "pcp",
    ]  # fmt: skip
    assert value(one.queues[0].is_guaranteed) is True


def test_a_member_of_a_lag_follows_the_lag(device: ObservedDevice) -> None:
    one = port(device, "Ethernet2/1")
    assert (value(one.bundle), value(one.pauses)) == ("Port-Channel7", (3,))
    assert [said.value for said in one.vlans] == [11]


def test_tenancy(device: ObservedDevice) -> None:
    fabric, tenant = device.routers
    assert [(one.name, value(one.number), value(one.has_bfd)) for one in fabric.neighbours] == [
        ("Ethernet31/1", 65100, True),
        ("Ethernet31/2", 65100, True),
    ]
    assert [said.value for said in fabric.neighbours[0].families] == ["evpn", "ipv4"]
    assert (value(fabric.number), value(fabric.width)) == (65001, 64)
    assert (tenant.vrf, value(tenant.rd), [said.value for said in tenant.imports]) == ("A", "192.0.2.1:10", ["10:10"])
    assert [(vrf.name, value(vrf.vni)) for vrf in device.vrfs] == [("A", 10), ("B", None)]
    assert [said.value for said in device.vrfs[0].static_routes] == [
        "0.0.0.0/0 via 192.0.2.1",
        "198.51.100.0/24 via 192.0.2.7 vrf B",
    ]
    assert device.tunnel is not None
    tunnel = device.tunnel
    assert [value(said) for said in (tunnel.source, tunnel.udp_port, tunnel.dscp_out, tunnel.dscp_in)] == [
        "192.0.2.101", 4789, "copy", "preserve",
    ]  # fmt: skip
    assert [(vlan, said.value) for vlan, said in tunnel.vni_of_vlan] == [(11, 10011), (12, 10012)]


def test_filters_and_mirrors(device: ObservedDevice) -> None:
    (edge,) = device.filters
    assert [(rule.action, rule.source, rule.protocol, rule.target_port) for rule in edge.rules] == [
        ("deny", "", "udp", "4789"),
        ("permit", "10.0.0.0/24", "", ""),
    ]
    assert (value(edge.stage), [said.value for said in edge.ports], value(edge.otherwise)) == (
        "in",
        ["Ethernet1/1"],
        "deny",
    )
    assert [(one.name, one.kind.value, value(one.target)) for one in device.mirrors] == [
        ("SPY", "erspan", "192.0.2.99"),
        ("sflow", "sflow", "192.0.2.98"),
    ]


def test_head_problems_and_unread_lines(device: ObservedDevice) -> None:
    assert (device.name, value(device.platform), value(device.release)) == ("leaf-01", "DCS-7060X6-64PE", "4.34.2F")
    (problem,) = device.problems
    assert problem.where is not None
    assert (problem.code, problem.where.line) == ("artifact.out-of-range", 63)
    assert device.unread == (("platform trident mmu (buffers)", 1),)
    assert device.watchdog is not None
    assert [value(device.watchdog.detect_ms), value(device.watchdog.action)] == [50, "no-drop"]
    assert "buffers" not in device.covers


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("interface Ethernet1\n   service-profile GONE", "artifact.dangling"),
        ("interface Ethernet1\n   mtu 99999999", "artifact.out-of-range"),
        ("interface Ethernet1\n   ip access-group GONE in", "artifact.dangling"),
        ("interface Ethernet1\n   priority-flow-control priority 9 no-drop", "artifact.out-of-range"),
        ("interface Ethernet1\n   tx-queue 77", "artifact.out-of-range"),
        ("qos map dscp 3 to traffic-class 9", "artifact.out-of-range"),
        ("priority-flow-control pause watchdog default timeout soon", "artifact.out-of-range"),
        ("interface Vxlan1\n   vxlan vlan 1-3 vni 5", "artifact.out-of-range"),
        ("interface Vxlan1\n   vxlan vrf GONE vni 5", "artifact.dangling"),
        ("router bgp 1\n   neighbor A peer group GONE", "artifact.dangling"),
        ("router bgp 70000.1", "artifact.out-of-range"),
    ],
)
def test_what_cannot_be_is_named(lines: str, code: str) -> None:
    (read,) = configure([("x.cfg", f"{lines}\nhostname y\n".encode())])
    assert [(problem.code, problem.severity) for problem in read.problems] == [(code, "warning")]
    assert read.name == "y"


def test_pauses_that_are_off_everywhere() -> None:
    (read,) = configure([("x", SAMPLE + b"priority-flow-control all off\n")])
    assert {value(one.pauses) for one in read.ports if one.name.startswith("Ethernet")} == {()}


@given(st.integers(0, len(SAMPLE)), st.binary(max_size=5), st.integers(0, 60))
def test_damage_never_raises(place: int, junk: bytes, gone: int) -> None:
    configure([("x.cfg", SAMPLE[:place] + junk + SAMPLE[place + gone :])])


def test_ranges_are_bounded() -> None:
    (read,) = configure([("x", b"interface Ethernet1-4000\n   mtu 9000\n" * 200)])
    assert [problem.code for problem in read.problems] == ["artifact.out-of-range"]
    assert len(read.ports) == 4_000


CORPUS = {
    "avd/eos_cli": (102, 2, 0, 6),
    "batfish/arista": (26, 8, 26, 4),
}
"""Ports, VRFs, routing processes and filters over all files of a folder."""


@pytest.mark.parametrize("folder", CORPUS)
def test_the_corpus_is_read(corpus: Path, folder: str) -> None:
    files = sorted((corpus / "roce" / folder).iterdir())
    read = [configure([(path.name, path.read_bytes())])[0] for path in files]
    counts = tuple(
        sum(len(items) for items in group)
        for group in (
            [one.ports for one in read],
            [one.vrfs for one in read],
            [one.routers for one in read],
            [one.filters for one in read],
        )
    )
    assert counts == CORPUS[folder]
    assert {problem.code for one in read for problem in one.problems} <= {"artifact.dangling"}
