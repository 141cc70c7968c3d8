"""Text of switch configurations becomes lines and trees with places, whatever the bytes are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats import cumulus, eos, frr_conf, nvue
from weftline.formats.config_text import MAX_BYTES, ConfigLine, ConfigText

EOS_FILE = b"""! Command: show running-config all
leaf-01#show running-config all
banner login
Only for
   interface Ethernet99
EOF
!
interface Ethernet1
   mtu 9214
   !
   tx-queue 3
      no priority
      default bandwidth percent
!
! a comment between
   priority-flow-control on
vrf instance A
router bgp 65001
   neighbor 192.0.2.1 password 7 0123secret
end
"""
FRR_FILE = b"""frr version 8.4.4
interface Ethernet0
 ip address 192.0.2.1/31
 ip nht resolve-via-default
router bgp 65001 vrf A
 neighbor UP peer-group
 !
 address-family ipv4 unicast
 neighbor UP activate
 neighbor UP remote-as external
 exit-address-family
 address-family l2vpn evpn
  vni 10
   rd 192.0.2.1:10
  exit-vni
  advertise-all-vni
exit
vrf A
 vni 10
 ip route 192.0.2.0/24 Null0
ip route 198.51.100.0/24 Null0
route-map R permit 10
 match ip address prefix-list P
ip prefix-list P seq 5 permit any
"""


def outline(lines: tuple[ConfigLine, ...], depth: int = 0) -> list[str]:
    """Write a tree with its line numbers."""
    found: list[str] = []
    for line in lines:
        found.append(f"{line.number} {'  ' * depth}{line.text}")
        found += outline(line.children, depth + 1)
    return found


def codes(read: ConfigText | nvue.NvueFile | cumulus.CumulusFile) -> list[tuple[str, int | None]]:
    """List codes and lines of problems."""
    return [(problem.code, problem.where.line if problem.where else None) for problem in read.problems]


def test_eos_blocks_follow_indentation_and_texts_are_left_out() -> None:
    read = eos.read_eos(EOS_FILE, "leaf-01.cfg")
    assert outline(read.lines) == [
        "3 banner login",
        "8 interface Ethernet1",
        "9   mtu 9214",
        "11   tx-queue 3",
        "12     no priority",
        "13     default bandwidth percent",
        "16   priority-flow-control on",
        "17 vrf instance A",
        "18 router bgp 65001",
        "19   neighbor 192.0.2.1 password set",
    ]
    assert codes(read) == [("artifact.terminal-text", 2)]
    queue = read.lines[1].children[1]
    assert [line.is_negated for line in queue.children] == [True, True]
    assert queue.children[1].body == ("bandwidth", "percent")
    assert b"secret" not in repr(read).encode()


def test_frr_contexts_follow_the_words() -> None:
    read = frr_conf.read_frr(FRR_FILE, "frr.conf")
    assert outline(read.lines) == [
        "1 frr version 8.4.4",
        "2 interface Ethernet0",
        "3   ip address 192.0.2.1/31",
        "4 ip nht resolve-via-default",
        "5 router bgp 65001 vrf A",
        "6   neighbor UP peer-group",
        "8   address-family ipv4 unicast",
        "9     neighbor UP activate",
        "10   neighbor UP remote-as external",
        "12   address-family l2vpn evpn",
        "13     vni 10",
        "14       rd 192.0.2.1:10",
        "16     advertise-all-vni",
        "18 vrf A",
        "19   vni 10",
        "20   ip route 192.0.2.0/24 Null0",
        "21   ip route 198.51.100.0/24 Null0",
        "22 route-map R permit 10",
        "23   match ip address prefix-list P",
        "24 ip prefix-list P seq 5 permit any",
    ]
    assert read.problems == ()
    assert [line.value("vrf") for line in read.find("router", "bgp")] == ["A"]


def test_cumulus_parts_keep_the_lines_of_the_whole_file() -> None:
    file = b"leaf01\n# This file describes the network interfaces\nauto swp1\niface swp1\n address 192.0.2.1/31\n"
    read = cumulus.read_cumulus(file + b"# ports.conf --\n1=4x25G\nfrr version 8\nrouter bgp 1\n", "leaf01")
    assert (read.hostname, outline(read.interfaces)) == (
        "leaf01",
        ["3 auto swp1", "4 iface swp1", "5   address 192.0.2.1/31"],
    )
    assert [line.text for line in read.ports] == ["1=4x25G"]
    assert outline(read.routing.lines) == ["8 frr version 8", "9 router bgp 1"]


def test_eos_ranges() -> None:
    assert eos.expand_interfaces("Et2-3,5") == ("Ethernet2", "Ethernet3", "Ethernet5")
    assert eos.expand_interfaces("Et3/1/1,4/1/1-2") == ("Ethernet3/1/1", "Ethernet4/1/1", "Ethernet4/1/2")
    assert eos.expand_interfaces("Xy1") == ("Xy1",)
    assert eos.expand_interfaces("Et1-99999999") == ("Et1-99999999",)
    assert eos.expand_numbers("9-11,3") == (9, 10, 11, 3)
    assert [eos.expand_numbers(text) for text in ("", "a", "1-", "1-99999", "1" * 30)] == [None] * 5


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"interface Ethernet1\n mtu 9000\n\x00\x01 gone\n", ("artifact.config-binary", 3)),
        (b"hostname x\n" + b"a" * 20_000 + b"\n", ("artifact.config-line", 2)),
        (b"   mtu 9000\n", ("artifact.config-block", 1)),
        (b"hostname x\nbanner motd\nnever ended\n", ("artifact.config-truncated", 2)),
        (b"x" * 60 + b"\n" + b"hostname x\n" * (MAX_BYTES // 11), ("artifact.config-too-large", None)),
    ],
)
def test_what_eos_cannot_be(data: bytes, found: tuple[str, int | None]) -> None:
    assert found in codes(eos.read_eos(data, "x.cfg"))


def test_deep_blocks_end() -> None:
    read = eos.read_eos(b"".join(b" " * depth + b"x\n" for depth in range(2_000)), "x.cfg")
    assert ("artifact.config-block", 13) in codes(read)


def test_each_form_knows_its_own() -> None:
    heads = {"eos": EOS_FILE, "frr": FRR_FILE, "nvue": b"- header:\n    model: x\n- set:\n    qos: {}\n"}
    for name, head in heads.items():
        assert eos.looks_like(head) == (name == "eos")
        assert frr_conf.looks_like("a.txt", head) == (name == "frr")
        assert nvue.looks_like(head) == (name == "nvue")
    assert frr_conf.looks_like("leaf-01/frr.conf", b"!\n")
    assert frr_conf.could_be(b"route-map R permit 10\n")


@given(st.binary(max_size=300) | st.text("interface routr bgpv!\n exit-qoué0123\t{}:-&*", max_size=300).map(str.encode))
def test_nothing_raises(data: bytes) -> None:
    eos.read_eos(data, "x")
    frr_conf.read_frr(data, "x")
    cumulus.read_cumulus(data, "x")
    nvue.read_nvue(data, "x")


@given(st.integers(0, len(FRR_FILE)), st.binary(max_size=4))
def test_damage_stays_local(place: int, junk: bytes) -> None:
    for read in (frr_conf.read_frr, eos.read_eos):
        whole = read(FRR_FILE[:place] + junk + FRR_FILE[place:], "x")
        numbers = [line.number for line in whole.walk()]
        assert numbers == sorted(numbers)
