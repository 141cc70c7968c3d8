"""FRR files that anybody wrote are read as devices: what they say, where they say it, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.designs import render_design
from weftline.model.observed import ObservedDevice
from weftline.vendors import VENDORS
from weftline.vendors.frr import FRR
from weftline.vendors.frr.configured import configure, recognise

TENANTS = b"""frr version 8.4.4
hostname leaf-01
no zebra nexthop kernel enable
ip prefix-list OWN seq 5 permit 10.0.0.0/24 le 32
ip route 0.0.0.0/0 192.0.2.9 vrf A
vrf A
 vni 10001
 ip route 198.51.100.0/24 192.0.2.1 nexthop-vrf B
exit-vrf
!
interface swp1 vrf A
 description host-0001/nic1
 ip address 10.0.0.1/31
exit
router bgp 65001
 bgp router-id 192.0.2.1
 no bgp default ipv4-unicast
 neighbor UP peer-group
 neighbor UP remote-as external
 neighbor UP bfd
 neighbor swp51 interface peer-group UP
 neighbor swp52 interface remote-as 65100
 neighbor 192.0.2.7 remote-as 65001
 neighbor 192.0.2.7 peer-group GONE
 bgp listen range 10.9.0.0/16 peer-group UP
 address-family ipv4 unicast
  redistribute connected route-map OWN
  network 192.0.2.1/32
  neighbor UP activate
  neighbor UP route-map IN in
  neighbor UP allowas-in
  no neighbor swp51 activate
  maximum-paths 64
 exit-address-family
 address-family l2vpn evpn
  neighbor UP activate
  advertise-all-vni
 exit-address-family
exit
router bgp 65001 vrf A
 address-family ipv4 unicast
  import vrf B
  import vrf route-map LEAK
  rt vpn both 1:1
 exit-address-family
exit
router bgp 65001 vrf B
 address-family l2vpn evpn
  rd 192.0.2.1:2
  route-target import 65001:10002 65002:10002
  route-target export 65001:10002
  default-originate ipv4
 exit-address-family
exit
"""


def read(data: bytes, name: str = "frr.conf") -> ObservedDevice:
    """Read one file of one device."""
    (device,) = configure([(name, data)])
    return device


def test_tenants_and_neighbours() -> None:
    device = read(TENANTS)
    fabric, tenant, other = device.routers
    assert (device.name, device.release and device.release.value) == ("leaf-01", "8.4.4")
    assert device.uses_kernel_groups is not None
    assert not device.uses_kernel_groups.value
    assert device.uses_kernel_groups.where.line == 3
    assert fabric.number is not None
    assert fabric.width is not None
    assert (fabric.number.value, fabric.width.value, fabric.width.where.line) == (65001, 64, 33)
    by_name = {peer.name: peer for peer in fabric.neighbours}
    assert list(by_name) == ["UP", "swp51", "swp52", "192.0.2.7"]
    assert [said.value for said in by_name["UP"].families] == ["evpn", "ipv4"]
    assert [said.value for said in by_name["swp51"].families] == ["evpn"]
    assert by_name["swp52"].families == ()
    assert by_name["swp51"].is_external is not None
    assert by_name["swp51"].is_external.where.line == 19
    assert by_name["swp51"].has_bfd is not None
    assert by_name["swp51"].allows_own_number is not None
    assert by_name["swp51"].filter_in is not None
    assert by_name["swp51"].filter_in.value == "IN"
    assert by_name["swp52"].number is not None
    assert by_name["swp52"].number.value == 65100
    assert by_name["192.0.2.7"].is_external is not None
    assert not by_name["192.0.2.7"].is_external.value
    assert [said.value for said in fabric.redistributed] == ["connected via OWN"]
    assert [said.value for said in fabric.networks] == ["192.0.2.1/32"]
    assert [(said.value, said.where.line) for said in tenant.imported_vrfs] == [("B", 42)]
    assert [said.value for said in tenant.leaks] == ["import vrf route-map LEAK"]
    assert [said.value for said in tenant.imports] == ["1:1"]
    assert [said.value for said in other.imports] == ["65001:10002", "65002:10002"]
    assert other.originates_default is not None
    assert [problem.code for problem in device.problems] == ["artifact.dangling"]


def test_vrfs_interfaces_and_lists() -> None:
    device = read(TENANTS)
    (vrf,) = device.vrfs
    assert vrf.vni is not None
    assert (vrf.name, vrf.vni.value, vrf.vni.where.line) == ("A", 10001, 7)
    assert [said.value for said in vrf.static_routes] == [
        "0.0.0.0/0 via 192.0.2.9",
        "198.51.100.0/24 via 192.0.2.1 vrf B",
    ]
    (port,) = device.ports
    assert port.vrf is not None
    assert (port.name, port.vrf.value, port.addresses[0].value) == ("swp1", "A", "10.0.0.1/31")
    (sieve,) = device.filters
    assert (sieve.name, sieve.rules[0].source, sieve.rules[0].order) == ("prefix-list OWN", "10.0.0.0/24 le 32", 5)


def test_a_vni_without_route_targets_makes_its_own() -> None:
    device = read(
        b"vrf A\n vni 7\nexit-vrf\nrouter bgp 1 vrf A\n address-family l2vpn evpn\n  advertise ipv4 unicast\n"
    )
    (router,) = device.routers
    assert [(said.value, said.where.line) for said in (*router.imports, *router.exports)] == [("auto", 2)] * 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("router bgp 0", "artifact.out-of-range"),
        ("router bgp 1\n neighbor A remote-as 99999999999", "artifact.out-of-range"),
        ("router bgp 1\n maximum-paths 5000", "artifact.out-of-range"),
        ("vrf A\n vni 99999999", "artifact.out-of-range"),
        ("router bgp 1\n neighbor A interface peer-group B", "artifact.dangling"),
    ],
)
def test_what_cannot_be_is_named_and_the_rest_is_read(line: str, code: str) -> None:
    device = read(f"hostname x\n{line}\nip route 192.0.2.0/24 Null0\n".encode())
    (problem,) = device.problems
    assert (problem.code, problem.severity) == (code, "warning")
    assert problem.where is not None
    assert problem.where.line in {2, 3}
    assert device.name == "x"
    assert len(device.vrfs) >= 1


def test_lines_that_nobody_reads_are_counted() -> None:
    device = read(
        b"router ospf\n network 0.0.0.0/0 area 0\ninterface a\n ip pim\nrouter bgp 1\n neighbor A ttl-security x\n"
    )
    assert device.unread == (("interface ip pim", 1), ("router bgp neighbor ttl-security", 1), ("router ospf", 1))


def test_files_of_daemons_are_one_device() -> None:
    zebra, bgpd = b"interface a\n ip address 192.0.2.1/31\n", b"router bgp 1\n"
    (device,) = configure([("leaf-07/etc/frr/zebra.conf", zebra), ("leaf-07/etc/frr/bgpd.conf", bgpd)])
    assert (device.name, len(device.files), len(device.ports), len(device.routers)) == ("leaf-07", 2, 1, 1)


def test_cumulus_before_nvue() -> None:
    file = (
        b"leaf01\n# This file describes the network interfaces\niface A\n vrf-table auto\n"
        b"iface swp1\n address 192.0.2.1/31\n mtu 9216\n vrf A\n alias host-1\n"
        b"# ports.conf --\nfrr version 8\nrouter bgp 1\n"
    )
    device = read(file, "leaf01.cfg")
    (port,) = device.ports
    assert port.mtu is not None
    assert port.vrf is not None
    assert (device.name, device.vrfs[0].name, port.mtu.value, port.vrf.value) == ("leaf01", "A", 9216, "A")
    assert recognise("x", file) == "cumulus"


def test_a_file_has_one_form() -> None:
    eos = b"hostname x\nqos profile A\n   qos trust dscp\nrouter bgp 1\n   router-id 1.1.1.1\nroute-map A permit 10\n"
    nvue = b"- set:\n    router: {bgp: {}}\n"
    for head, form in ((eos, "eos"), (nvue, "nvue"), (TENANTS, "frr"), (b"route-map A permit 10\n", "frr")):
        forms = {name: vendor.recognise("running-config", head) for name, vendor in VENDORS.items() if vendor.recognise}
        assert {name for name, found in forms.items() if found} == {form}


def test_what_weftline_renders_is_read_whole() -> None:
    made = render_design("roce")
    for artifact in made.artifacts.artifacts:
        if artifact.vendor != "frr":
            continue
        device = read(artifact.content, artifact.path)
        intent = made.intent(artifact.device)
        assert (device.name, device.problems, device.unread) == (artifact.device, (), ())
        assert intent.forwarding is not None
        assert intent.forwarding.exchange is not None
        (router,) = device.routers
        assert router.number is not None
        assert router.number.value == intent.forwarding.exchange.number
        assert [peer.number.value for peer in router.neighbours if peer.number] == [
            port.neighbour_number for port in intent.ports if port.neighbour_number is not None
        ]
        assert all([said.value for said in peer.families] == ["ipv4"] for peer in router.neighbours)


@given(st.integers(0, len(TENANTS)), st.binary(max_size=5), st.integers(0, 40))
def test_damage_never_raises(place: int, junk: bytes, gone: int) -> None:
    assert FRR.configured is not None
    FRR.configured([("frr.conf", TENANTS[:place] + junk + TENANTS[place + gone :])])


def test_the_corpus_is_read(corpus: Path) -> None:
    folder = corpus / "roce" / "batfish"
    files = [*sorted((folder / "cumulus").iterdir()), *sorted((folder / "sonic").glob("*frr.conf"))]
    taken = [path for path in files if recognise(path.name, path.read_bytes()[:65_536])]
    assert len(taken) == 24
    devices = [read(path.read_bytes(), path.name) for path in taken]
    assert sum(len(device.routers) for device in devices) == 10
    assert sum(len(device.ports) for device in devices) == 24
    assert [problem for device in devices for problem in device.problems] == []
    assert {kind for device in devices for kind, _ in device.unread} == {"interface ip ospf", "router ospf"}
