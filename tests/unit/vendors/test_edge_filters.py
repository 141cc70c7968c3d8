"""Filters at ports of hosts, as each platform writes them, and as they are read in files of anybody."""

from __future__ import annotations

import json

import pytest

from tests.designs import Rendered, render_design
from weftline.model.observed_routing import ObservedRule
from weftline.model.roce import RoceSection
from weftline.vendors.eos.configured import configure as read_eos
from weftline.vendors.nvue.configured import configure as read_nvue
from weftline.vendors.sonic.configured import configure as read_sonic

TENANTS = (("red", "1-2"), ("blue", "3-4"))


def make(system: str, release: str = "auto") -> Rendered:
    """Render a small fabric with two tenants."""
    section = RoceSection.model_validate({"platform": {"system": system, "release": release}})
    return render_design("roce", hosts=4, rails=2, tenants=TENANTS, roce=section)


def test_sonic_has_one_table_whose_rules_name_their_ports() -> None:
    tables = json.loads(make("sonic").text("switches/leaf-001/config_db.json"))
    assert set(tables["ACL_TABLE"]) == {"EDGE"}
    assert tables["ACL_TABLE"]["EDGE"]["type"] in tables["ACL_TABLE_TYPE"]
    known = {*tables["ACL_TABLE_TYPE"]["EDGE"]["MATCHES"], "PRIORITY", "PACKET_ACTION"}
    rules = tables["ACL_RULE"]
    assert all(set(row) <= known for row in rules.values())
    assert rules["EDGE|TUNNEL_4789"] == {
        "PRIORITY": "9999",
        "ETHER_TYPE": "2048",
        "IP_PROTOCOL": "17",
        "L4_DST_PORT": "4789",
        "PACKET_ACTION": "DROP",
    }
    assert rules["EDGE|EDGE_1_1"] == {
        "PRIORITY": "9998",
        "ETHER_TYPE": "2048",
        "IN_PORTS": "Ethernet0",
        "SRC_IP": "10.128.0.1/32",
        "PACKET_ACTION": "FORWARD",
    }
    assert rules["EDGE|REST"] == {"PRIORITY": "1", "ETHER_TYPE": "2048", "PACKET_ACTION": "DROP"}
    named = {row["IN_PORTS"] for row in rules.values() if "IN_PORTS" in row}
    assert named == set(tables["ACL_TABLE"]["EDGE"]["ports"])


def test_eos_drops_tunnels_first_and_then_permits_the_host() -> None:
    text = make("eos").text("switches/leaf-001/running-config")
    assert "ip access-list EDGE_1\n   10 deny udp any any eq 4789\n   20 permit ip host 10.128.0.1 any\n!" in text
    assert text.count("ip access-group EDGE_1 in") == 1


@pytest.mark.parametrize(("release", "is_below"), [("5.15", True), ("5.7", True), ("5.6", False)])
def test_nvue_has_the_port_below_its_protocol_since_5_7(release: str, is_below: bool) -> None:
    text = make("nvue", release).text("switches/leaf-001/startup.yaml")
    (device,) = read_nvue([("startup.yaml", text.encode())])
    one = next(one for one in device.filters if one.name == "EDGE_1")
    assert [(rule.action, rule.source, rule.protocol, rule.target_port, rule.unread) for rule in one.rules] == [
        ("deny", "", "udp", "4789", ()),
        ("permit", "10.128.0.1/32", "", "", ()),
        ("deny", "", "", "", ()),
    ]
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("protocol: udp")
    assert lines[at + 1] == ("udp:" if is_below else "dest-port:")


def read_rule(text: str) -> ObservedRule:
    """Read one rule of an access list of EOS."""
    (device,) = read_eos([("c", f"! device: x (DCS, EOS-4.31)\nip access-list A\n   {text}\n".encode())])
    return device.filters[0].rules[0]


def test_a_source_port_of_eos_is_not_taken_for_nothing() -> None:
    assert read_rule("10 deny udp any eq 9 any eq 4789").unread == ("9",)
    assert read_rule("10 deny udp any any eq vxlan").target_port == "vxlan"
    assert read_rule("10 deny udp any any eq 4789 log").unread == ()
    assert read_rule("10 permit udp any any eq 1 4789").unread == ("4789",)


def read_match(match: str) -> ObservedRule:
    """Read one rule of an access list of NVUE."""
    text = f"- set:\n    system:\n      hostname: x\n    acl:\n      A:\n        rule:\n          '10':\n            action:\n              deny: {{}}\n            match:\n              ip: {match}\n"  # noqa: E501
    (device,) = read_nvue([("x.yaml", text.encode())])
    return device.filters[0].rules[0]


def test_ports_of_nvue_in_all_their_forms() -> None:
    assert read_match("{udp: {dest-port: {'4789': {}}}}").target_port == "4789"
    assert read_match("{udp: {dest-port: {'4789': {}}}}").protocol == "udp"
    assert read_match("{protocol: udp, dest-port: {'4789': {}}}").target_port == "4789"
    assert read_match("{udp: {dest-port: {'1': {}, '4789': {}}}}").target_port == "1,4789"
    assert read_match("{protocol: udp, udp: {source-port: {'9': {}}}}").unread == ("udp.source-port",)
    assert read_match("{tcp: {dest-port: {'4789': {}}}}").protocol == "tcp"


def test_a_rule_that_its_table_does_not_match_is_not_in_force() -> None:
    tables = {
        "PORT": {"Ethernet0": {"lanes": "0", "speed": "100000"}},
        "ACL_TABLE_TYPE": {"MINE": {"MATCHES": ["SRC_IP"], "ACTIONS": ["PACKET_ACTION"], "BIND_POINTS": ["PORT"]}},
        "ACL_TABLE": {"A": {"type": "MINE", "ports": ["Ethernet0"]}, "B": {"type": "L3", "ports": ["Ethernet0"]}},
        "ACL_RULE": {
            "A|r": {"PRIORITY": "9", "L4_DST_PORT": "4789", "PACKET_ACTION": "DROP"},
            "B|r": {"PRIORITY": "9", "IN_PORTS": "Ethernet0", "SRC_IP": "10.0.0.0/31", "PACKET_ACTION": "FORWARD"},
        },
    }
    (device,) = read_sonic([("config_db.json", json.dumps(tables).encode())])
    mine, built_in = device.filters
    assert mine.rules[0].unread == ("L4_DST_PORT",)
    assert mine.stage is not None
    assert mine.stage.value == "in"
    assert built_in.rules[0].unread == ("IN_PORTS",)
    assert built_in.rules[0].in_ports == {"Ethernet0"}
    (problem,) = [one for one in device.problems if "does not match" in one.message]
    assert problem.message == "a table of type MINE does not match L4_DST_PORT, so the switch does not take this rule"
    assert problem.where is not None
    assert problem.where.path == "ACL_RULE.A|r.L4_DST_PORT"
