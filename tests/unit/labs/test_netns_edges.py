"""Filters of rendered tables as the kernel is told them, and what is said of packets that came in nevertheless."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lab.netns.conftest import SMALL
from tests.unit.labs.test_netns import design_of
from weftline.errors import CapabilityError
from weftline.labs.netns.expecting import choose_pairs
from weftline.labs.netns.intruding import choose_intrusions, compare_intrusions, write_order
from weftline.labs.netns.layout import lay_out
from weftline.labs.netns.prober import write_packet
from weftline.labs.netns.sieving import write_filters

TENANTS = "tenants:\n  - {name: red, hosts: 1-2}\n  - {name: blue, hosts: 3-4}\n"
ROW = {"PRIORITY": "5", "PACKET_ACTION": "DROP"}


def write(*rules: dict[str, str], **table: str) -> str:
    """Write the filters of one table at two interfaces."""
    tables = {
        "ACL_TABLE": {"A": {"type": "L3", "stage": "ingress", "ports": "e1,e2", **table}},
        "ACL_RULE": {f"A|{place}": {**ROW, **rule} for place, rule in enumerate(rules)},
    }
    return write_filters(tables, ["e1", "e.3"])


def test_rules_stand_in_the_order_in_which_they_act() -> None:
    text = write({"PRIORITY": "1"}, {"PRIORITY": "10", "SRC_IP": "10.0.0.1/32", "PACKET_ACTION": "FORWARD"},
                 {"PRIORITY": "9", "DST_IP": "10.0.0.0/8", "IP_PROTOCOL": "17", "L4_DST_PORT": "4789"})  # fmt: skip
    assert text.splitlines()[3:7] == [
        'type filter hook ingress device "e1" priority 0; policy accept;',
        "ip saddr 10.0.0.1/32 accept",
        "ip daddr 10.0.0.0/8 meta l4proto 17 th dport 4789 counter name edge_e1 drop",
        "counter name edge_e1 drop",
    ]


def test_rules_of_other_ports_and_other_tables_are_left_out() -> None:
    assert "e1" in write({"IN_PORTS": "e1,e9"})
    assert write({"IN_PORTS": "e2"}) == ""
    for table in ({"ports": "e2"}, {"stage": "egress"}, {"type": "CTRLPLANE"}):
        assert write({}, **table) == ""
    assert "edge_e_3" in write({}, ports="e.3", stage="INGRESS")


@pytest.mark.parametrize(
    "rule", [{"DSCP": "3"}, {"PACKET_ACTION": "REDIRECT:x"}, {"ETHER_TYPE": "0x86dd"}, {"IP_TYPE": "ARP"}]
)
def test_what_the_kernel_is_not_told_is_refused(rule: dict[str, str]) -> None:
    with pytest.raises(CapabilityError, match=r"ACL_RULE A\|0 has what the lab does not know"):
        write(rule)


def test_the_kernel_takes_what_is_written() -> None:
    text = write({"ETHER_TYPE": "2048", "IP_TYPE": "IPV4ANY", "IP_PROTOCOL": "17", "L4_DST_PORT": "4789"},
                 {"SRC_IP": "10.0.0.0/31", "DST_IP": "10.0.0.1/32", "PACKET_ACTION": "FORWARD"})  # fmt: skip
    words = ["unshare", "--net", "sh", "-c", "ip link add e1 type veth peer name e2 && nft -f - && nft list ruleset"]
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=True)
    assert "udp dport 4789" in done.stdout


def test_every_host_tries_as_another_tenant_and_to_two_tunnel_ends(tmp_path: Path) -> None:
    design = design_of(tmp_path, SMALL + TENANTS)
    layout = lay_out(design)
    assert "edge_Ethernet0" in layout.namespaces["leaf-001.Vrfred"].filters
    assert layout.namespaces["leaf-001"].filters == ""
    pairs = choose_pairs(design, layout, 1_000)
    intrusions, ends = choose_intrusions(design, layout, pairs)
    assert len(intrusions) == 8
    assert {end.namespace for end in ends} == {"leaf-001", "leaf-002", "leaf-003", "leaf-004"}
    for one in intrusions:
        assert len(one.ends) == 2
        assert ends[one.ends[0]].namespace == one.near.namespace.partition(".")[0]
        assert ends[one.ends[1]].namespace != ends[one.ends[0]].namespace
    order = write_order(intrusions, ends, layout, pairs)
    assert order["tries"][0]["counter"] == "edge_Ethernet0"
    names = [f"n{place}" for place in range(8)]
    good: dict[str, Any] = {"itself": True, "foreign": False, "ends": [], "dropped": 3}
    assert list(compare_intrusions(intrusions, ends, [good] * 8, names)) == []
    for bad, words in (
        ({"itself": False}, "as itself"), ({"foreign": True}, f"as {intrusions[0].foreign}"),
        ({"ends": [0]}, "to UDP 4789 of 10.0.0.1"), ({"dropped": 2}, "as another or to tunnels"),
    ):  # fmt: skip
        (found,) = compare_intrusions(intrusions[:1], ends, [{**good, **bad}], names)
        assert (found.kind, found.subject) == ("edge", f"n0 {words}")


def test_a_fabric_without_tenants_has_nothing_to_try(tmp_path: Path) -> None:
    design = design_of(tmp_path)
    layout = lay_out(design)
    assert choose_intrusions(design, layout, choose_pairs(design, layout, 1_000)) == ((), ())


def test_a_packet_has_a_checksum_that_a_router_takes() -> None:
    """RFC 1071: the sum over the header with its checksum is all ones."""
    packet = write_packet("10.128.0.1", "10.0.0.1", 4789, b"x" * 16)
    total = sum(int.from_bytes(packet[at : at + 2], "big") for at in range(0, 20, 2))
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF
    assert (len(packet), packet[9], packet[22:24]) == (44, 17, (4789).to_bytes(2, "big"))
