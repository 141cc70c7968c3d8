"""SONiC files that others wrote, as devices: what each table says, and what is wrong with it, with its place."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import ObservedRule
from weftline.vendors import VENDORS
from weftline.vendors.sonic.configured import configure, recognise

FILE = "leaf-003/config_db.json"
LEAF: dict[str, Any] = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf-003", "hwsku": "ACS-SN5600", "bgp_asn": "65003",
                                      "buffer_model": "traditional", "ecmp_hash_seed": "10",
                                      "docker_routing_config_mode": "separated"}},
    "FEATURE": {"bgp": {"state": "enabled"}},
    "PORT": {
        "Ethernet0": {"alias": "etp1a", "speed": "400000", "lanes": "0,1,2,3", "mtu": "9216", "fec": "rs",
                      "autoneg": "off", "admin_status": "up", "pfc_asym": "off", "description": "host-0001/nic1"},
        "Ethernet4": {"alias": "etp1b", "speed": "400000", "mtu": "9216", "admin_status": "down", "pfc_asym": "on"},
    },
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "40m"}},
    "DEVICE_NEIGHBOR": {"Ethernet4": {"name": "spine-01", "port": "Ethernet8"}},
    "PORTCHANNEL": {"PortChannel1": {"admin_status": "up", "mtu": "9100"}},
    "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet4": {}},
    "VLAN": {"Vlan101": {"vlanid": "101", "mtu": "9000"}},
    "VLAN_MEMBER": {"Vlan101|Ethernet0": {"tagging_mode": "untagged"}},
    "VLAN_INTERFACE": {"Vlan101": {"vrf_name": "VrfA"}, "Vlan101|10.1.0.1/24": {}},
    "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}},
    "PORTCHANNEL_INTERFACE": {"PortChannel1": {"vrf_name": "VrfA"}, "PortChannel1|fc00::1/126": {}},
    "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.255.0.3/32": {}},
    "VRF": {"VrfA": {"vni": "10101"}},
    "VXLAN_TUNNEL": {"vtep": {"src_ip": "10.255.0.3"}},
    "VXLAN_EVPN_NVO": {"nvo": {"source_vtep": "vtep"}},
    "VXLAN_TUNNEL_MAP": {"vtep|map_101": {"vlan": "Vlan101", "vni": "20101"}},
    "STATIC_ROUTE": {"VrfA|0.0.0.0/0": {"nexthop": "10.9.0.1", "nexthop-vrf": "default"}},
    "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65101", "name": "spine-01"}},
    "ACL_TABLE": {"EDGE": {"type": "L3", "stage": "ingress", "ports": ["Ethernet0"]}},
    "ACL_RULE": {"EDGE|last": {"PRIORITY": "1", "PACKET_ACTION": "DROP", "IP_TYPE": "IPV4ANY"},
                 "EDGE|first": {"PRIORITY": "9", "PACKET_ACTION": "FORWARD", "SRC_IP": "10.0.0.0/31"},
                 "EDGE|odd": {"PRIORITY": "5", "PACKET_ACTION": "DROP", "TCP_FLAGS": "0x2/0x2", "IP_TYPE": "IPV6ANY"}},
    "MIRROR_SESSION": {"tap": {"type": "SPAN", "dst_port": "Ethernet4", "src_port": "Ethernet0", "direction": "RX"}},
    "SFLOW": {"global": {"admin_state": "up"}},
    "SFLOW_COLLECTOR": {"c": {"collector_ip": "10.8.0.1"}},
    "SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["SRC_IP", "L4_SRC_PORT", "VLAN_ID"]}},
    "SWITCH_TRIMMING": {"GLOBAL": {"size": "128", "dscp_value": "48"}},
    "DSCP_TO_TC_MAP": {"ROCE": {"0": "0", "26": "3", "48": "6"}, "OTHER": {"3": "3"}},
    "TC_TO_QUEUE_MAP": {"ROCE": {"0": "0", "3": "3", "6": "6"}},
    "TC_TO_PRIORITY_GROUP_MAP": {"ROCE": {"0": "0", "3": "3"}},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"ROCE": {"3": "3"}},
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"ROCE": {"3": "3"}},
    "PORT_QOS_MAP": {
        "global": {"dscp_to_tc_map": "OTHER"},
        "Ethernet0": {"dscp_to_tc_map": "ROCE", "tc_to_queue_map": "ROCE",
                      "tc_to_pg_map": "[TC_TO_PRIORITY_GROUP_MAP|ROCE]", "pfc_to_queue_map": "ROCE",
                      "pfc_to_pg_map": "ROCE", "pfc_enable": "3", "pfcwd_sw_enable": "3,4"},
    },
    "SCHEDULER": {"roce": {"type": "DWRR", "weight": "50"}, "cnp": {"type": "STRICT"}},
    "WRED_PROFILE": {"ROCE": {"ecn": "ecn_all", "wred_green_enable": "true", "green_min_threshold": " 166912",
                              "green_max_threshold": "1500000", "green_drop_probability": "100"}},
    "QUEUE": {"Ethernet0,Ethernet4|3": {"scheduler": "[SCHEDULER|roce]", "wred_profile": "ROCE"},
              "Ethernet0|6": {"scheduler": "cnp"}},
    "BUFFER_POOL": {"lossless": {"type": "ingress", "mode": "dynamic", "size": "30000000", "xoff": "2000000"}},
    "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {"pool": "lossless", "size": "19456", "xoff": "86016",
                                                         "xon": "19456", "xon_offset": "0", "dynamic_th": "0"},
                       "egress": {"pool": "[BUFFER_POOL|lossless]", "size": "0", "static_th": "30000000"}},
    "BUFFER_PG": {"Ethernet0|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_400000_5m_profile]"},
                  "Ethernet4|3": {"profile": "NULL"}},
    "BUFFER_QUEUE": {"Ethernet0|0-3": {"profile": "egress"}},
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "4096", "small_packet_percentage": "50"}},
    "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"},
               "Ethernet0": {"action": "drop", "detection_time": "400", "restoration_time": "2000"}},
}  # fmt: skip


def changed(**rows: Any) -> dict[str, Any]:
    """Change rows of the leaf; None takes a table away."""
    tables = copy.deepcopy(LEAF)
    for table, change in rows.items():
        if change is None:
            del tables[table]
        else:
            tables.setdefault(table, {}).update(change)
    return tables


def read(tables: object, file: str = FILE) -> ObservedDevice:
    (device,) = configure([(file, json.dumps(tables, indent=2).encode())])
    return device


def port(device: ObservedDevice, name: str = "Ethernet0") -> ObservedPort:
    return next(port for port in device.ports if port.name == name)


def value(said: Any) -> Any:
    """The value of a Said."""
    assert said is not None
    assert said.where.file == FILE
    assert said.where.line is not None
    return said.value


def test_the_vendor_reads_what_others_wrote() -> None:
    vendor = VENDORS["sonic"]
    assert vendor.configured is configure
    assert vendor.recognise is recognise


def test_a_good_leaf_has_no_problem_and_covers_everything_of_a_switch() -> None:
    device = read(LEAF)
    assert device.problems == ()
    assert (device.name, device.role, device.vendor, device.files) == ("leaf-003", "switch", "sonic", (FILE,))
    assert value(device.platform) == "ACS-SN5600"
    assert value(device.buffer_model) == "traditional"
    assert device.covers >= {"ports", "classes", "pauses", "buffers", "marks", "schedule", "watchdog", "mtu", "tenancy"}
    assert device.covers >= {"routing", "filters", "mirrors", "hash"}
    assert device.unread == (("FEATURE", 1),)
    assert (value(device.over_subscribe_ratio), value(device.lossless_mtu)) == (2, 4096)
    assert value(device.small_packet_percent) == 50
    assert value(device.hash_fields) == ("source-address", "source-port", "VLAN_ID")
    assert value(device.hash_seed) == 10
    assert [(s.name, value(s.value)) for s in device.settings] == [
        ("SWITCH_TRIMMING.size", "128"),
        ("SWITCH_TRIMMING.dscp_value", "48"),
    ]


def test_a_port_says_its_link() -> None:
    device = read(LEAF)
    first, second = port(device), port(device, "Ethernet4")
    assert (value(first.number), value(second.number)) == (1, 2)
    assert (value(first.rate_gbps), value(first.lanes), value(first.fec)) == (400.0, (0, 1, 2, 3), "rs")
    assert (value(first.is_negotiating), value(first.mtu), value(first.length_m)) == (False, 9216, 5.0)
    assert (value(first.is_up), value(second.is_up)) == (True, False)
    assert (value(first.is_asymmetric), value(second.is_asymmetric)) == (False, True)
    assert (value(first.peer), value(second.peer)) == ("host-0001/nic1", "spine-01/Ethernet8")
    assert second.lanes is None
    assert second.fec is None
    assert value(second.bundle) == "PortChannel1"
    assert [value(vlan) for vlan in first.vlans] == [101]
    assert [value(address) for address in first.addresses] == ["10.0.0.0/31"]
    assert first.where.path == "PORT.Ethernet0"
    assert first.mtu is not None
    assert first.mtu.where.path == "PORT.Ethernet0.mtu"


def test_interfaces_that_are_no_plugs() -> None:
    device = read(LEAF)
    gateway, bundle, loopback = (port(device, name) for name in ("Vlan101", "PortChannel1", "Loopback0"))
    assert (value(gateway.routes_vlan), value(gateway.vrf), value(gateway.mtu)) == (101, "VrfA", 9000)
    assert [value(address) for address in gateway.addresses] == ["10.1.0.1/24"]
    assert (value(bundle.vrf), value(bundle.mtu)) == ("VrfA", 9100)
    assert [value(address) for address in bundle.addresses] == ["fc00::1/126"]
    assert [value(address) for address in loopback.addresses] == ["10.255.0.3/32"]
    assert loopback.rate_gbps is None


def test_a_port_sorts_by_its_own_maps_and_else_by_the_global_one() -> None:
    device = read(LEAF)
    first, second = port(device), port(device, "Ethernet4")
    assert value(first.class_of_dscp) == {0: 0, 26: 3, 48: 6}
    assert value(second.class_of_dscp) == {3: 3}
    assert first.class_of_dscp is not None
    assert first.class_of_dscp.where.path.startswith("DSCP_TO_TC_MAP.")
    assert second.class_of_dscp is not None
    assert second.class_of_dscp.where.path.startswith("DSCP_TO_TC_MAP.")
    assert first.class_of_dscp.where != second.class_of_dscp.where
    assert (value(first.trust), value(second.trust)) == ("dscp", "dscp")
    assert value(first.queue_of_class) == {0: 0, 3: 3, 6: 6}
    assert value(first.group_of_class) == {0: 0, 3: 3}
    assert value(first.queue_of_priority) == value(first.group_of_priority) == {3: 3}
    assert (value(first.pauses), value(first.watched)) == ((3,), (3, 4))
    assert second.pauses is None
    assert second.queue_of_class is None


def test_ports_share_a_map() -> None:
    device = read(changed(PORT_QOS_MAP={"Ethernet4": {"dscp_to_tc_map": "ROCE"}}))
    first, second = port(device).class_of_dscp, port(device, "Ethernet4").class_of_dscp
    assert first is not None
    assert second is not None
    assert first.value is second.value


def test_pcp_maps_and_remarking() -> None:
    device = read(
        changed(
            DOT1P_TO_TC_MAP={"P": {"3": "3"}},
            TC_TO_DSCP_MAP={"R": {"3": "26"}},
            PORT_QOS_MAP={"Ethernet4": {"dot1p_to_tc_map": "P", "tc_to_dscp_map": "R", "pfc_enable": ""}, "global": {}},
        )
    )
    second = port(device, "Ethernet4")
    assert (value(second.class_of_pcp), value(second.dscp_of_class), value(second.trust)) == ({3: 3}, {3: 26}, "pcp")
    assert value(second.pauses) == ()
    assert value(port(device).trust) == "dscp"


def test_only_the_dscp_map_holds_for_all_ports() -> None:
    device = read(changed(PORT_QOS_MAP={"global": {"dscp_to_tc_map": "OTHER", "tc_to_queue_map": "ROCE"}}))
    assert [(p.code, p.severity, p.where and p.where.path) for p in device.problems] == [
        ("artifact.unexpected", "warning", "PORT_QOS_MAP.global.tc_to_queue_map")
    ]
    assert port(device, "Ethernet4").queue_of_class is None


def test_groups_and_queues_hold_what_their_profiles_say() -> None:
    device = read(LEAF)
    first, second = port(device), port(device, "Ethernet4")
    assert [group.key for group in first.groups] == [3, 4]
    group = first.groups[0]
    assert value(group.profile) == "pg_lossless_400000_5m_profile"
    assert (value(group.size_bytes), value(group.xoff_bytes), value(group.xon_bytes)) == (19456, 86016, 19456)
    assert (value(group.xon_offset_bytes), value(group.dynamic_th), value(group.pool)) == (0, 0, "lossless")
    assert group.xoff_bytes is not None
    assert group.xoff_bytes.where.path == "BUFFER_PROFILE.pg_lossless_400000_5m_profile.xoff"
    assert group.where.path == "BUFFER_PG.Ethernet0|3-4"
    assert value(group.is_computed) is False
    assert (value(second.groups[0].is_computed), second.groups[0].xoff_bytes) == (True, None)
    assert [queue.key for queue in first.queues] == [0, 1, 2, 3, 6]
    queue = first.queues[3]
    assert (value(queue.schedule), value(queue.weight)) == ("weighted", 50)
    assert (value(queue.profile), value(queue.pool), value(queue.static_bytes)) == ("egress", "lossless", 30000000)
    assert queue.marks is not None
    assert queue.marks.name == "ROCE"
    assert (value(queue.marks.is_marking), value(queue.marks.drops_unmarked)) == (True, True)
    assert (value(queue.marks.min_bytes), value(queue.marks.max_bytes)) == (166912, 1500000)
    assert value(queue.marks.percent) == 100
    assert value(first.queues[4].schedule) == "strict"
    assert first.queues[4].marks is None
    assert [queue.key for queue in second.queues] == [3]
    (pool,) = device.pools
    assert (pool.name, value(pool.direction), value(pool.mode)) == ("lossless", "ingress", "dynamic")
    assert (value(pool.size_bytes), value(pool.headroom_bytes)) == (30000000, 2000000)


def test_watchdogs() -> None:
    device = read(LEAF)
    assert device.watchdog is not None
    assert value(device.watchdog.poll_ms) == 200
    own = port(device).watchdog
    assert own is not None
    assert (value(own.detect_ms), value(own.restore_ms), value(own.action)) == (400, 2000, "drop")
    assert port(device, "Ethernet4").watchdog is None


def test_tenancy_and_routing() -> None:
    device = read(LEAF)
    (vrf,) = device.vrfs
    assert (vrf.name, value(vrf.vni)) == ("VrfA", 10101)
    assert [value(route) for route in vrf.static_routes] == ["0.0.0.0/0 via 10.9.0.1 vrf default"]
    assert device.tunnel is not None
    assert value(device.tunnel.source) == "10.255.0.3"
    assert [(vlan, value(vni)) for vlan, vni in device.tunnel.vni_of_vlan] == [(101, 20101)]
    (router,) = device.routers
    assert (router.vrf, value(router.number)) == ("default", 65003)
    (neighbour,) = router.neighbours
    assert (neighbour.name, value(neighbour.number), value(neighbour.is_external)) == ("10.0.0.1", 65101, True)


def test_filters_are_in_the_order_of_their_priority() -> None:
    (found,) = read(LEAF).filters
    assert found.name == "EDGE"
    assert value(found.stage) == "in"
    assert [value(bound) for bound in found.ports] == ["Ethernet0"]
    assert [(rule.order, rule.action, rule.source, rule.unread) for rule in found.rules] == [
        (0, "permit", "10.0.0.0/31", ()),
        (1, "deny", "", ("TCP_FLAGS", "IP_TYPE")),
        (2, "deny", "", ()),
    ]
    assert value(found.otherwise) == "permit"
    assert [value(name) for name in port(read(LEAF)).filters_in] == ["EDGE"]


@pytest.mark.parametrize(
    ("rule", "action"),
    [
        ({"PACKET_ACTION": "ACCEPT"}, "permit"),
        ({"MIRROR_INGRESS_ACTION": "tap"}, "mirror"),
        ({"PACKET_ACTION": "REDIRECT:10.0.0.1"}, "other"),
        ({}, "other"),
    ],
)
def test_actions_of_filters(rule: dict[str, str], action: str) -> None:
    device = read(changed(ACL_RULE={"EDGE|first": {"PRIORITY": "9", **rule}}))
    first: ObservedRule = device.filters[0].rules[0]
    assert first.action == action


def test_filters_of_the_switch_itself_are_no_filters_of_traffic() -> None:
    assert read(changed(ACL_TABLE={"EDGE": {"type": "CTRLPLANE", "services": ["SSH"]}})).filters == ()


def test_mirrors() -> None:
    tap, flow = read(LEAF).mirrors
    assert (tap.name, value(tap.kind), value(tap.target)) == ("tap", "SPAN", "Ethernet4")
    assert [value(name) for name in tap.ports] == ["Ethernet0"]
    assert (value(flow.kind), value(flow.target)) == ("sFlow", "10.8.0.1")
    assert len(read(changed(SFLOW={"global": {"admin_state": "down"}})).mirrors) == 1


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"DSCP_TO_TC_MAP": {"ROCE": {"64": "3"}}}, "out-of-range", "DSCP_TO_TC_MAP.ROCE.64", "0 to 63"),
        ({"DSCP_TO_TC_MAP": {"ROCE": {"26": "9"}}}, "out-of-range", "DSCP_TO_TC_MAP.ROCE.26", "most chips have eight"),
        ({"DSCP_TO_TC_MAP": {"ROCE": {"26": "16"}}}, "out-of-range", "DSCP_TO_TC_MAP.ROCE.26", "0 to 15"),
        ({"DSCP_TO_TC_MAP": {"ROCE": {"26": "x"}}}, "out-of-range", "DSCP_TO_TC_MAP.ROCE.26", "'x'"),
        ({"DSCP_TO_TC_MAP": {"UNUSED": {"70": "1"}}}, "out-of-range", "DSCP_TO_TC_MAP.UNUSED.70", "'70'"),
        ({"PORT_QOS_MAP": {"Ethernet4": {"dscp_to_tc_map": "X"}}}, "dangling", "PORT_QOS_MAP.Ethernet4.dscp_to_tc_map",
         "no DSCP_TO_TC_MAP 'X'"),
        ({"PORT_QOS_MAP": {"Ethernet4": {"tc_to_pg_map": "[DSCP_TO_TC_MAP|ROCE]"}}}, "dangling",
         "PORT_QOS_MAP.Ethernet4.tc_to_pg_map", "refers to table DSCP_TO_TC_MAP"),
        ({"PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": "3"}}}, "dangling", "PORT_QOS_MAP.Ethernet8", "no port"),
        ({"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3,8"}}}, "out-of-range", "PORT_QOS_MAP.Ethernet4.pfc_enable",
         "priorities 0 to 7"),
        ({"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "three"}}}, "out-of-range",
         "PORT_QOS_MAP.Ethernet4.pfc_enable", "three"),
        ({"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3,3"}}}, "said-twice", "PORT_QOS_MAP.Ethernet4.pfc_enable",
         "twice"),
        ({"QUEUE": {"Ethernet4|4": {"scheduler": "x"}}}, "dangling", "QUEUE.Ethernet4|4.scheduler", "SCHEDULER"),
        ({"QUEUE": {"Ethernet4|4": {"wred_profile": "x"}}}, "dangling", "QUEUE.Ethernet4|4.wred_profile", "WRED"),
        ({"QUEUE": {"Ethernet4": {"scheduler": "cnp"}}}, "out-of-range", "QUEUE.Ethernet4", "span"),
        ({"QUEUE": {"Ethernet4|40": {"scheduler": "cnp"}}}, "out-of-range", "QUEUE.Ethernet4|40", "above 19"),
        ({"QUEUE": {"Ethernet4|3": {"scheduler": "cnp"}}}, "said-twice", "QUEUE.Ethernet4|3", "two rows"),
        ({"BUFFER_PG": {"Ethernet0|4": {"profile": "NULL"}}}, "said-twice", "BUFFER_PG.Ethernet0|4", "group 4"),
        ({"BUFFER_PG": {"Ethernet0|1": {"profile": "x"}}}, "dangling", "BUFFER_PG.Ethernet0|1.profile", "'x'"),
        ({"BUFFER_PG": {"Ethernet8|1": {"profile": "NULL"}}}, "dangling", "BUFFER_PG.Ethernet8|1", "Ethernet8"),
        ({"BUFFER_QUEUE": {"Ethernet0|5": {"profile": "x"}}}, "dangling", "BUFFER_QUEUE.Ethernet0|5.profile", "'x'"),
        ({"BUFFER_PROFILE": {"p": {"pool": "x"}}}, "dangling", "BUFFER_PROFILE.p.pool", "BUFFER_POOL"),
        ({"BUFFER_PROFILE": {"p": {"dynamic_th": "9"}}}, "out-of-range", "BUFFER_PROFILE.p.dynamic_th", "-8 to 8"),
        ({"BUFFER_PROFILE": {"p": {"xoff": "much"}}}, "out-of-range", "BUFFER_PROFILE.p.xoff", "much"),
        ({"BUFFER_POOL": {"p": {"type": "sideways"}}}, "out-of-range", "BUFFER_POOL.p.type", "sideways"),
        ({"BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": "egress,x"}}}, "dangling",
         "BUFFER_PORT_INGRESS_PROFILE_LIST.Ethernet0.profile_list", "'x'"),
        ({"SCHEDULER": {"s": {"type": "FIFO"}}}, "out-of-range", "SCHEDULER.s.type", "FIFO"),
        ({"SCHEDULER": {"s": {"type": "DWRR", "weight": "0"}}}, "out-of-range", "SCHEDULER.s.weight", "1 to 100"),
        ({"WRED_PROFILE": {"w": {"ecn": "all"}}}, "out-of-range", "WRED_PROFILE.w.ecn", "ecn_all"),
        ({"WRED_PROFILE": {"w": {"red_drop_probability": "101"}}}, "out-of-range",
         "WRED_PROFILE.w.red_drop_probability", "0 to 100"),
        ({"PFC_WD": {"Ethernet4": {"detection_time": "40"}}}, "out-of-range", "PFC_WD.Ethernet4.detection_time", "100"),
        ({"PFC_WD": {"Ethernet4": {"action": "stop"}}}, "out-of-range", "PFC_WD.Ethernet4.action", "forward"),
        ({"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "5000"}}}, "out-of-range", "PFC_WD.GLOBAL.POLL_INTERVAL", "1,000"),
        ({"PFC_WD": {"Ethernet8": {"action": "drop"}}}, "dangling", "PFC_WD.Ethernet8", "Ethernet8"),
        ({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "5"}}}, "out-of-range", "CABLE_LENGTH.AZURE.Ethernet0", "40m"),
        ({"CABLE_LENGTH": {"AZURE": {"Ethernet8": "5m"}}}, "dangling", "CABLE_LENGTH.AZURE.Ethernet8", "Ethernet8"),
        ({"PORT": {"Ethernet0": {"mtu": "10000"}}}, "out-of-range", "PORT.Ethernet0.mtu", "9,216"),
        ({"PORT": {"Ethernet0": {"speed": "fast"}}}, "out-of-range", "PORT.Ethernet0.speed", "fast"),
        ({"PORT": {"Ethernet0": {"fec": "fire"}}}, "out-of-range", "PORT.Ethernet0.fec", "rs"),
        ({"PORT": {"Ethernet0": {"lanes": "a"}}}, "out-of-range", "PORT.Ethernet0.lanes", "lanes"),
        ({"PORT": {"Ethernet0": {"alias": "etp1b"}, "Ethernet4": {"alias": "etp1b"}}}, "said-twice",
         "PORT.Ethernet4.alias", "etp1b"),
        ({"PORTCHANNEL_MEMBER": {"PortChannel9|Ethernet0": {}}}, "dangling",
         "PORTCHANNEL_MEMBER.PortChannel9|Ethernet0", "PortChannel9"),
        ({"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet8": {}}}, "dangling",
         "PORTCHANNEL_MEMBER.PortChannel1|Ethernet8", "no port"),
        ({"PORTCHANNEL_MEMBER": {"PortChannel1": {}}}, "out-of-range", "PORTCHANNEL_MEMBER.PortChannel1", "member"),
        ({"VLAN_MEMBER": {"Vlan9|Ethernet0": {}}}, "dangling", "VLAN_MEMBER.Vlan9|Ethernet0", "no VLAN"),
        ({"VLAN_INTERFACE": {"Vlan9": {}}}, "dangling", "VLAN_INTERFACE.Vlan9", "no VLAN"),
        ({"INTERFACE": {"Ethernet8": {}}}, "dangling", "INTERFACE.Ethernet8", "no port"),
        ({"INTERFACE": {"Ethernet4|10.0.0/31": {}}}, "out-of-range", "INTERFACE.Ethernet4|10.0.0/31", "address"),
        ({"INTERFACE": {"Ethernet4": {"vrf_name": "VrfX"}}}, "dangling", "INTERFACE.Ethernet4.vrf_name", "VrfX"),
        ({"VXLAN_TUNNEL_MAP": {"v|m": {"vlan": "Vlan101", "vni": "5"}}}, "dangling", "VXLAN_TUNNEL_MAP.v|m", "'v'"),
        ({"VXLAN_TUNNEL_MAP": {"vtep|m": {"vlan": "Vlan9", "vni": "5"}}}, "dangling", "VXLAN_TUNNEL_MAP.vtep|m.vlan",
         "Vlan9"),
        ({"VXLAN_TUNNEL_MAP": {"vtep|m": {"vlan": "x", "vni": "5"}}}, "out-of-range", "VXLAN_TUNNEL_MAP.vtep|m.vlan",
         "no VLAN"),
        ({"VXLAN_EVPN_NVO": {"nvo": {"source_vtep": "x"}}}, "dangling", "VXLAN_EVPN_NVO.nvo.source_vtep", "'x'"),
        ({"VRF": {"VrfB": {"vni": "99999999"}}}, "out-of-range", "VRF.VrfB.vni", "16,777,215"),
        ({"STATIC_ROUTE": {"VrfX|10.0.0.0/8": {"nexthop": "10.0.0.1"}}}, "dangling", "STATIC_ROUTE.VrfX|10.0.0.0/8",
         "VrfX"),
        ({"BGP_NEIGHBOR": {"10.0.0.3": {"asn": "4294967296"}}}, "out-of-range", "BGP_NEIGHBOR.10.0.0.3.asn", "number"),
        ({"ACL_RULE": {"X|r": {"PRIORITY": "1"}}}, "dangling", "ACL_RULE.X|r", "ACL_TABLE"),
        ({"ACL_RULE": {"EDGE|r": {}}}, "out-of-range", "ACL_RULE.EDGE|r.PRIORITY", "PRIORITY"),
        ({"ACL_TABLE": {"T": {"type": "L3", "ports": ["Ethernet8"]}}}, "dangling", "ACL_TABLE.T.ports", "Ethernet8"),
        ({"DEVICE_METADATA": {"localhost": {"hostname": "leaf-003", "buffer_model": "new"}}}, "out-of-range",
         "DEVICE_METADATA.localhost.buffer_model", "dynamic"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_a_problem_of_the_device(change: dict[str, Any], code: str, path: str, words: str) -> None:
    device = read(changed(**change))
    found = [
        p for p in device.problems if p.code == f"artifact.{code}" and p.where is not None and p.where.path == path
    ]
    assert found, [(p.code, p.where and p.where.path, p.message) for p in device.problems]
    assert words in found[0].message
    assert found[0].severity in {"error", "warning"}
    assert found[0].where is not None
    assert found[0].where.line is not None
    assert device.ports
    assert device.covers >= {"classes", "buffers"}


def test_a_value_out_of_range_is_kept() -> None:
    device = read(changed(DSCP_TO_TC_MAP={"ROCE": {"64": "3", "26": "9"}}, PORT={"Ethernet4": {"mtu": "99999"}}))
    assert value(port(device).class_of_dscp) == {64: 3, 26: 9}
    assert value(port(device, "Ethernet4").mtu) == 99999


def test_what_a_file_does_not_say_is_none() -> None:
    device = read(changed(PORT={"Ethernet0": {}}, CABLE_LENGTH=None, PORT_QOS_MAP=None, BUFFER_PG=None, PFC_WD=None))
    bare = port(device)
    assert [bare.rate_gbps, bare.mtu, bare.fec, bare.is_up, bare.length_m, bare.peer, bare.is_asymmetric] == [None] * 7
    assert [bare.class_of_dscp, bare.trust, bare.pauses, bare.watched, bare.number] == [None] * 5
    assert bare.groups == ()
    assert "pauses" in device.covers


def test_a_part_of_a_configuration_says_what_it_cannot_say() -> None:
    parts = {table: LEAF[table] for table in ("PORT_QOS_MAP", "QUEUE")}
    device = read(parts, "leaf-009.qos.json")
    assert device.name == "leaf-009"
    assert device.covers == {"pauses", "marks", "schedule"}
    assert {problem.severity for problem in device.problems} == {"note"}
    assert {problem.code for problem in device.problems} == {"artifact.dangling"}
    assert {found.name for found in device.ports} == {"Ethernet0", "Ethernet4"}


def test_parts_in_the_folder_of_a_switch_are_of_it() -> None:
    rest = {table: rows for table, rows in LEAF.items() if not table.startswith("BUFFER")}
    parts = {table: rows for table, rows in LEAF.items() if table.startswith("BUFFER")}
    (device,) = configure([(FILE, json.dumps(rest).encode()), ("leaf-003/buffers.json", json.dumps(parts).encode())])
    assert device.problems == ()
    assert device.files == (FILE, "leaf-003/buffers.json")
    group = port(device).groups[0]
    assert group.where.file == "leaf-003/buffers.json"


def test_two_files_that_contradict_each_other_are_named() -> None:
    part = {"SCHEDULER": {"roce": {"type": "DWRR", "weight": "7"}}}
    (device,) = configure([(FILE, json.dumps(LEAF).encode()), ("leaf-003/qos.json", json.dumps(part).encode())])
    assert [(p.code, p.severity) for p in device.problems] == [("artifact.said-twice", "warning")]
    weight = port(device).queues[3].weight
    assert weight is not None
    assert (weight.value, weight.where.file) == (7, "leaf-003/qos.json")


def test_switches_are_told_apart_though_they_give_one_name() -> None:
    tables = changed(DEVICE_METADATA={"localhost": {"hostname": "sonic"}})
    files = [(f"{name}/config_db.json", json.dumps(tables).encode()) for name in ("a", "b")]
    assert [device.name for device in configure(files)] == ["a", "b"]
    same = [(f"{name}/config_db.json", json.dumps(LEAF).encode()) for name in ("a", "b")]
    assert [device.name for device in configure(same)] == ["a", "b"]
    one = [("x/config_db.json", json.dumps(LEAF).encode()), ("y/x/config_db.json", json.dumps(LEAF).encode())]
    assert [device.name for device in configure(one)] == ["x/config_db.json", "y/x/config_db.json"]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("config_db.json", "config_db"),
        ("leaf-7/config_db.json", "leaf-7"),
        ("leaf-7/etc/sonic/config_db.json", "leaf-7"),
        ("leaf-7/dump/CONFIG_DB.json", "leaf-7"),
        ("dumps/leaf-7.json", "leaf-7"),
        ("leaf-7_config_db.json", "leaf-7"),
        ("leaf-7.running-config.json", "leaf-7"),
        ("leaf-7\\config_db.json", "leaf-7"),
    ],
)
def test_a_switch_without_a_name_is_called_as_its_file(file: str, name: str) -> None:
    tables = changed(DEVICE_METADATA={"localhost": {}})
    assert read(tables, file).name == name


def test_chips_of_one_switch_are_devices() -> None:
    whole = {"localhost": {"DEVICE_METADATA": LEAF["DEVICE_METADATA"]}, "asic0": LEAF, "asic1": LEAF}
    devices = configure([(FILE, json.dumps(whole).encode())])
    assert [device.name for device in devices] == ["leaf-003", "leaf-003.asic0", "leaf-003.asic1"]
    assert [len(device.ports) for device in devices] == [0, 5, 5]


def test_queues_of_other_cards_are_counted() -> None:
    rows = {"leaf-003|asic0|Ethernet0|4": {"scheduler": "roce"}, "leaf-004|asic0|Ethernet0|4": {"scheduler": "roce"}}
    device = read(changed(QUEUE=rows))
    assert device.problems == ()
    assert dict(device.unread)["queues of other cards"] == 1
    assert 4 in [queue.key for queue in port(device).queues]


def test_a_file_that_is_no_configuration_is_a_device_that_nobody_knows() -> None:
    for content in (b"", b'{"PORT": ', b'{"COUNTERS:oid:0x1": {}}', b"\x00\x01"):
        (device,) = configure([(FILE, content)])
        assert (device.name, device.role, device.covers) == ("leaf-003", "unknown", frozenset())
        assert [problem.is_error for problem in device.problems] == [True]


@pytest.mark.parametrize(
    ("name", "head", "form"),
    [
        ("x/config_db.json", b"", "config_db"),
        ("config_db0.json", b"", "config_db"),
        ("a.json", json.dumps(LEAF).encode(), "config_db"),
        ("a.json", b'{"PORT|Ethernet0": {"mtu": "9100"', "config_db"),
        ("a.json", b'[{"QUEUE": {}}]', "config_db"),
        ("a.json", b'{"COUNTERS:oid:0x1": {}}', "COUNTERS_DB"),
        ("a.json", b'{"PORT_TABLE:Ethernet0": {}}', "config_db"),
        ("a.json", b'{"hosts": {}}', None),
        ("a.json", b'{"UNKNOWN_TABLE": {}}', None),
        ("a.conf", b"router bgp 65001\n", None),
        ("a.txt", b"PORT: x", None),
        ("a.bin", b"\x00\xff", None),
    ],
)
def test_files_are_recognised(name: str, head: bytes, form: str | None) -> None:
    assert recognise(name, head) == form
