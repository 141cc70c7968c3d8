"""Faults of tenancy: VRFs, network numbers, routes between tenants, sessions that watch, and filters at the edge."""

from __future__ import annotations

from tests.oracle.seeding import CONFIG, ROUTING, Change, Fault, add, drop, put, swap

LEAF = "leaf-001"
RED, BLUE = "Vrfred", "Vrfblue"
MAPPED, JOINED = "vtep|map_10001_Vlan1001", "vtep|map_10002_Vlan1002"
TUNNEL, OWN, THIRD, REST = "EDGE|TUNNEL_4789", "EDGE|EDGE_1_1", "EDGE|EDGE_3_1", "EDGE|REST"
WATCH = {"src_port": "Ethernet0", "dst_ip": "192.0.2.1", "src_ip": "10.0.0.1"}
WITHIN = "a tenant's hosts can then send as each other or as others, and lint knows no tenants"


def at(name: str, change: Change, rule: str, names: str, *, severity: str = "warning", why: str = "") -> Fault:
    """Make a fault in the tables of a leaf."""
    return Fault(name, LEAF, CONFIG, change, rule, names, severity, why)


def routed(name: str, change: Change, rule: str, names: str) -> Fault:
    """Make a fault in the routing of a leaf."""
    return Fault(name, LEAF, ROUTING, change, rule, names, "warning")


NETWORKS = (
    at("VRFs share a VNI", put("VRF", BLUE, "vni", "10001"), "tenancy.shared-vni", "VRF", severity="error"),
    at("VLANs share a VNI", put("VXLAN_TUNNEL_MAP", JOINED, "vni", "10001"), "tenancy.shared-vni", "VXLAN_TUNNEL_MAP",
       severity="error"),
    at("VRF with another VNI than FRR has", put("VRF", RED, "vni", "10009"), "tenancy.vni-differs", "VRF"),
    at("VLAN of a VRF with another VNI", put("VXLAN_TUNNEL_MAP", MAPPED, "vni", "10009"), "tenancy.vni-differs",
       "VXLAN_TUNNEL_MAP"),
    at("VLAN of red in the VRF of blue", put("VLAN_INTERFACE", "Vlan1001", "vrf_name", BLUE), "tenancy.vni-differs",
       "VLAN_INTERFACE"),
    at("no VRF on a host's port", put("INTERFACE", "Ethernet0", "vrf_name", None), "tenancy.port-in-no-vrf",
       "INTERFACE"),
    at("a VRF that is nowhere", put("INTERFACE", "Ethernet0", "vrf_name", "Vrfgone"), "files.faulty", "VRF"),
    at("a map of no tunnel", drop("VXLAN_TUNNEL"), "files.faulty", "VXLAN_TUNNEL"),
    at("the tunnel's end in a VRF", put("LOOPBACK_INTERFACE", "Loopback0", "vrf_name", RED), "tenancy.tunnel-in-vrf",
       "LOOPBACK_INTERFACE", severity="error"),
)  # fmt: skip
FAMILY = f"vrf {RED}\n bgp router-id 10.0.0.1\n !\n address-family ipv4 unicast\n"
ROUTED = (
    routed("red imports blue's target", swap("route-target import 64512:10001", "route-target import 64512:10002"),
           "tenancy.foreign-target", f"VRF {RED} imports"),
    routed("red exports blue's target", swap("route-target export 64512:10001", "route-target export 64512:10002"),
           "tenancy.foreign-target", f"VRF {BLUE} imports"),
    routed("red imports blue's target too",
           swap("  route-target import 64512:10001", "  route-target import 64512:10001 64512:10002"),
           "tenancy.foreign-target", f"VRF {RED} imports"),
    routed("red takes over blue's VRF", swap(FAMILY, f"{FAMILY}  import vrf {BLUE}\n"), "tenancy.leak", f"VRF {RED}"),
    routed("red takes over the default VRF", swap(FAMILY, f"{FAMILY}  import vrf default\n"), "tenancy.leak",
           f"VRF {RED}"),
    routed("a static route of red into blue",
           swap(" vni 10001\n", f" vni 10001\n ip route 10.128.0.4/31 Ethernet16 nexthop-vrf {BLUE}\n"),
           "tenancy.leak", f"VRF {RED}"),
    routed("a static route of red to tunnel ends",
           swap(" vni 10001\n", " vni 10001\n ip route 10.0.0.0/12 Ethernet32 nexthop-vrf default\n"),
           "tenancy.leak", f"VRF {RED}"),
    routed("a default route of red", swap(" vni 10001\n", " vni 10001\n ip route 0.0.0.0/0 10.128.0.1\n"),
           "tenancy.default-route", f"VRF {RED}"),
    routed("red announces a default route", swap(FAMILY, f"{FAMILY}  network 0.0.0.0/0\n"), "tenancy.default-route",
           f"VRF {RED}"),
    at("a static route of red into blue", add("STATIC_ROUTE", f"{RED}|10.128.0.4/31", nexthop="10.128.0.5",
       ifname="Ethernet16", **{"nexthop-vrf": BLUE}), "tenancy.leak", "STATIC_ROUTE"),
    at("a default route of red", add("STATIC_ROUTE", f"{RED}|0.0.0.0/0", nexthop="10.128.0.1"),
       "tenancy.default-route", "STATIC_ROUTE"),
)  # fmt: skip
WATCHED = (
    at("a remote mirror", add("MIRROR_SESSION", "spy", type="ERSPAN", **WATCH), "tenancy.mirror", "MIRROR_SESSION"),
    at("a mirror to a port", add("MIRROR_SESSION", "spy", type="SPAN", src_port="Ethernet0", dst_port="Ethernet24"),
       "tenancy.mirror", "MIRROR_SESSION"),
    at("samples of all ports", add("SFLOW", "global", admin_state="up"), "tenancy.mirror", "SFLOW"),
)  # fmt: skip


def holes(name: str, change: Change) -> Fault:
    """Make a fault by which a host can write tunnel packets."""
    return at(name, change, "tenancy.tunnels-unfiltered", "ACL_RULE")


def sources(name: str, change: Change) -> Fault:
    """Make a fault by which a host can send as others."""
    return at(name, change, "tenancy.sources-unchecked", "ACL_RULE", severity="notice", why=WITHIN)


EDGES = (
    holes("no drop of tunnels", drop("ACL_RULE", TUNNEL)),
    holes("a drop of another port", put("ACL_RULE", TUNNEL, "L4_DST_PORT", "8472")),
    holes("a drop of TCP", put("ACL_RULE", TUNNEL, "IP_PROTOCOL", "6")),
    holes("a drop behind what comes in", put("ACL_RULE", TUNNEL, "PRIORITY", "2")),
    holes("a drop at one port", put("ACL_RULE", TUNNEL, "IN_PORTS", "Ethernet8")),
    holes("a drop that forwards", put("ACL_RULE", TUNNEL, "PACKET_ACTION", "FORWARD")),
    holes("a drop of one source", put("ACL_RULE", TUNNEL, "SRC_IP", "10.128.0.1/32")),
    holes("the filter not at one port", put("ACL_TABLE", "EDGE", "ports", "Ethernet8,Ethernet16,Ethernet24")),
    holes("the filter nowhere", put("ACL_TABLE", "EDGE", "ports", "")),
    holes("the filter on the way out", put("ACL_TABLE", "EDGE", "stage", "egress")),
    holes("no filter at all", lambda text: drop("ACL_RULE")(drop("ACL_TABLE")(text))),
    at("a type without the target port", put("ACL_TABLE_TYPE", "EDGE", "MATCHES", "ETHER_TYPE,IN_PORTS,SRC_IP"),
       "files.faulty", "ACL_RULE"),
    sources("every source", put("ACL_RULE", OWN, "SRC_IP", "0.0.0.0/0")),
    sources("the source of another", put("ACL_RULE", OWN, "SRC_IP", "10.128.0.5/32")),
    sources("the rule of another's port", put("ACL_RULE", THIRD, "IN_PORTS", "Ethernet0")),
    sources("the rest is let in", drop("ACL_RULE", REST)),
    sources("no filter at one port", put("ACL_TABLE", "EDGE", "ports", "Ethernet8,Ethernet16,Ethernet24")),
)  # fmt: skip
TENANTS = (*NETWORKS, *ROUTED, *WATCHED, *EDGES)
