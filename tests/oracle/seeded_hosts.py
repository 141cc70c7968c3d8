"""Faults of hosts and of routing: what a NIC sends and takes, and which ways a switch uses."""

from __future__ import annotations

from tests.oracle.seeding import NICS, ROUTING, Change, Fault, cell, swap

HOST = "host-0003"
SPINE_1 = "neighbor Ethernet32 interface remote-as 4200000004"


def nic(name: str, column: str, value: str, rule: str, *, severity: str = "error") -> Fault:
    """Make a fault in the list of NICs of a host."""
    return Fault(name, HOST, NICS, cell(column, value), rule, column, severity)


def nccl(name: str, change: Change, rule: str, names: str, severity: str = "error") -> Fault:
    """Make a fault in the settings of the collective library."""
    return Fault(name, HOST, "nccl.conf", change, rule, names, severity)


def frr(name: str, change: Change, rule: str, names: str, *, device: str = "leaf-001", severity: str = "warning",
        why: str = "") -> Fault:  # fmt: skip
    """Make a fault in the routing of a switch."""
    return Fault(name, device, ROUTING, change, rule, names, severity, why)


HOSTS = (
    nic("trust by port", "trust", "pcp", "nic.trust"),
    nic("traffic class 0", "tclass", "0", "nic.sends-lossy"),
    nic("traffic class 98", "tclass", "98", "nic.sends-lossy"),
    nic("no pause", "pause", "-", "nic.no-pause"),
    nic("pause 4", "pause", "4", "pauses.ends-differ"),
    nic("marks on 0", "mark", "0", "nic.congestion-control", severity="warning"),
    nic("notifications with DSCP 26", "cnp_dscp", "26", "nic.notifications", severity="warning"),
    nic("notifications with DSCP 0", "cnp_dscp", "0", "nic.notifications", severity="warning"),
    nic("MTU 1500", "mtu", "1500", "mtu.path"),
    nic("MTU 9216", "mtu", "9216", "mtu.path"),
    nic("cable of 1 m", "metres", "1", "link.length-differs", severity="warning"),
    nic("200 Gb/s", "gbps", "200", "link.ends-differ"),
    nic("port down", "state", "down", "link.one-end-shut", severity="warning"),
    nic("another switch", "peer", "leaf-003/1", "link.claims-differ", severity="warning"),
    nic("DCBX by the peer", "dcbx", "fw", "nic.willing", severity="warning"),
    nic("pauses of the link", "link_pause", "on", "pauses.whole-link"),
    nic("address of another subnet", "address", "10.129.0.1/31", "link.other-subnet"),
    nccl("NCCL_IB_TC 0", swap("NCCL_IB_TC=106", "NCCL_IB_TC=0"), "nic.byte-lossy", "NCCL_IB_TC"),
    nccl("NCCL_IB_TC 26", swap("NCCL_IB_TC=106", "NCCL_IB_TC=26"), "nic.byte-lossy", "NCCL_IB_TC"),
    nccl("NCCL_IB_TC 1060", swap("NCCL_IB_TC=106", "NCCL_IB_TC=1060"), "nic.byte-lossy", "NCCL_IB_TC"),
    nccl("GID index 0", swap("NCCL_IB_GID_INDEX=3", "NCCL_IB_GID_INDEX=0"), "nic.gid", "NCCL_IB_GID_INDEX", "warning"),
    nccl("NIC that is not there", swap("mlx5_1:1", "mlx5_9:1"), "nic.unknown-device", "NCCL_IB_HCA", "warning"),
    Fault("sysctl", HOST, "sysctl.conf", swap("arp_ignore = 1", "arp_ignore = 0"), "drift.settings", "arp_ignore",
          "warning"),
    Fault("strict source check", HOST, "sysctl.conf", swap("rp_filter = 2", "rp_filter = 1"), "drift.settings",
          "rp_filter", "warning"),
)  # fmt: skip

ROUTES = (
    frr("kernel groups", swap("no zebra nexthop kernel enable\n", ""), "routing.kernel-groups", "next-hop groups"),
    frr("kernel groups on", swap("no zebra nexthop kernel enable", "zebra nexthop kernel enable"),
        "routing.kernel-groups", "next-hop groups"),
    frr("one way", swap("maximum-paths 4", "maximum-paths 1"), "routing.one-way", "neighbours"),
    frr("two ways of four", swap("maximum-paths 4", "maximum-paths 2"), "routing.one-way", "neighbours"),
    frr("own number", swap("neighbor FABRIC activate", "neighbor FABRIC activate\n  neighbor FABRIC allowas-in 1"),
        "routing.valley", "number", device="spine-01"),
    frr("neighbour gone", swap(f" {SPINE_1}\n neighbor Ethernet32 peer-group FABRIC\n", ""),
        "routing.no-neighbour", "Ethernet32"),
    frr("neighbour of another number", swap(SPINE_1, SPINE_1.replace("004", "009")), "routing.wrong-number",
        "Ethernet32", severity="error"),
    frr("number of another leaf", swap("router bgp 4200000000", "router bgp 4200000001"), "routing.wrong-number",
        "4200000001", severity="error"),
    frr("router id of another leaf", swap("bgp router-id 10.0.0.1", "bgp router-id 10.0.0.2"), "routing.same-id",
        "10.0.0.2"),
    frr("group dangles", swap("neighbor Ethernet32 peer-group FABRIC", "neighbor Ethernet32 peer-group FABRICS"),
        "files.faulty", "FABRICS"),
    frr("hosts not announced", swap("  redistribute connected route-map OWN\n", ""), "routing.announces-nothing",
        "redistribute"),
)  # fmt: skip
