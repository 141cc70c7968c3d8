"""Files of a leaf and a host in the very forms that people have, right in all that the documented cases got wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from tests.designs import render_design
from weftline.model.roce import RoceSection

Files = dict[str, str]
Edit = Callable[[Files], None]
LEAF = "leaf-001/config_db.json"
ROUTING = "leaf-001/frr.conf"
HOST = "host-1/outputs.txt"
LIBRARY = "host-1/nccl.conf"
PATCH = "leaf-001/patch.json"
CAPTURE = "host-1/capture.txt"
SYSTEM = "host-1/sysfs.txt"
EDGE = "leaf-001/startup.yaml"
EIGHT = {str(number): str(number) for number in range(8)}

TABLES: dict[str, Any] = {
    "DEVICE_METADATA": {
        "localhost": {
            "hostname": "leaf-001", "hwsku": "Mellanox-SN5600-O128", "type": "ToRRouter", "bgp_asn": "65001",
            "buffer_model": "traditional", "docker_routing_config_mode": "split-unified",
        }
    },
    "PORT": {
        "Ethernet0": {
            "alias": "etp1a", "lanes": "0,1,2,3", "speed": "400000", "mtu": "9216", "admin_status": "up", "fec": "rs",
            "pfc_asym": "off", "description": "host-1/eth2",
        }
    },
    "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.0.0.1/32": {}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
    "DSCP_TO_TC_MAP": {"ROCE": {**{str(d): "0" for d in range(64)}, "26": "3", "48": "6"}},
    "TC_TO_QUEUE_MAP": {"ROCE": EIGHT},
    "TC_TO_PRIORITY_GROUP_MAP": {"ROCE": {**dict.fromkeys(EIGHT, "0"), "3": "3"}},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"ROCE": EIGHT},
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"ROCE": {"3": "3"}},
    "PORT_QOS_MAP": {
        "Ethernet0": {
            "dscp_to_tc_map": "ROCE", "tc_to_queue_map": "ROCE", "tc_to_pg_map": "ROCE", "pfc_to_queue_map": "ROCE",
            "pfc_to_pg_map": "ROCE", "pfc_enable": "3", "pfcwd_sw_enable": "3",
        }
    },
    "SCHEDULER": {
        "roce": {"type": "DWRR", "weight": "50"}, "be": {"type": "DWRR", "weight": "50"}, "cnp": {"type": "STRICT"},
    },
    "WRED_PROFILE": {
        "ROCE": {
            "ecn": "ecn_all",
            **{f"wred_{c}_enable": "true" for c in ("green", "yellow", "red")},
            **{f"{c}_min_threshold": "150000" for c in ("green", "yellow", "red")},
            **{f"{c}_max_threshold": "1500000" for c in ("green", "yellow", "red")},
            **{f"{c}_drop_probability": "20" for c in ("green", "yellow", "red")},
        }
    },
    "QUEUE": {
        "Ethernet0|0": {"scheduler": "be"},
        "Ethernet0|3": {"scheduler": "roce", "wred_profile": "ROCE"},
        "Ethernet0|6": {"scheduler": "cnp"},
    },
    "BUFFER_POOL": {
        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "150000000"},
        "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": "158000000"},
        "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "150000000"},
    },
    "BUFFER_PROFILE": {
        "pg_lossless_400000_40m_profile": {
            "pool": "ingress_lossless_pool", "size": "123904", "xon": "19456", "xoff": "104448", "dynamic_th": "0",
        },
        "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"},
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"},
        "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3"},
    },
    "BUFFER_PG": {
        "Ethernet0|0": {"profile": "ingress_lossy_profile"},
        "Ethernet0|3": {"profile": "pg_lossless_400000_40m_profile"},
    },
    "BUFFER_QUEUE": {
        "Ethernet0|0": {"profile": "egress_lossy_profile"},
        "Ethernet0|3": {"profile": "egress_lossless_profile"},
        "Ethernet0|6": {"profile": "egress_lossy_profile"},
    },
    "PFC_WD": {
        "GLOBAL": {"POLL_INTERVAL": "200"},
        "Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "400"},
    },
}  # fmt: skip

OUTPUTS = """\
root@host-1:~# ibdev2netdev
mlx5_0 port 1 ==> eth2 (Up)
root@host-1:~# mlnx_qos -i eth2
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
\tprio:0 dscp:07,06,05,04,03,02,01,00,
\tprio:3 dscp:31,30,29,28,27,26,25,24,
\tprio:6 dscp:55,54,53,52,51,50,49,48,
Receive buffer size (bytes): 19872,243072,0,0,0,0,0,0,max_buffer_size=2069280
Cable len: 40
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   0   0
\tbuffer      0   0   0   1   0   0   0   0
root@host-1:~# ethtool -a eth2
Pause parameters for eth2:
Autonegotiate:  off
RX:             off
TX:             off

root@host-1:~# cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class
Global tclass=106
root@host-1:~# show_gids
DEV     PORT    INDEX   GID                                     IPv4            VER     DEV
---     ----    -----   ---                                     ------------    ---     ---
mlx5_0  1       0       fe80:0000:0000:0000:0a00:00ff:fe00:0001                 v1      eth2
mlx5_0  1       1       fe80:0000:0000:0000:0a00:00ff:fe00:0001                 v2      eth2
mlx5_0  1       2       0000:0000:0000:0000:0000:ffff:0a80:0001 10.128.0.1      v1      eth2
mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a80:0001 10.128.0.1      v2      eth2
n_gids_found=4
root@host-1:~# ip -j addr show dev eth2
[{"ifname":"eth2","mtu":4200,"operstate":"UP","addr_info":[{"family":"inet","local":"10.128.0.1","prefixlen":31}]}]
"""
NCCL = "NCCL_IB_HCA==mlx5_0:1\nNCCL_IB_GID_INDEX=3\nNCCL_IB_TC=106\n"
FRR = """\
frr version 8.4.4
hostname leaf-001
no zebra nexthop kernel enable
router bgp 65001
 bgp router-id 10.0.0.1
 neighbor Ethernet8 interface remote-as 65000
 neighbor Ethernet16 interface remote-as 65000
 address-family ipv4 unicast
  maximum-paths 2
 exit-address-family
exit
"""


PACKETS = """\
root@host-1:~# tcpdump -nnv -i eth2 udp port 4791
19:30:27.775074 IP (tos 0x6a,ECT(0), ttl 64, id 64520, offset 0, flags [DF], proto UDP (17), length 128)
    10.128.0.1.49152 > 10.128.0.9.4791: UDP, length 100
19:30:27.775276 IP (tos 0x6a,ECT(0), ttl 64, id 59384, offset 0, flags [DF], proto UDP (17), length 128)
    10.128.0.1.60001 > 10.128.0.13.4791: UDP, length 100
"""
"""Two connections of a host, each with a source port of its own."""
VALUES = """\
root@host-1:~# grep . /sys/class/net/eth2/mtu
/sys/class/net/eth2/mtu:4200
"""
PHYSICAL = "/sys/class/net/eth2/device/physfn/vendor:0x15b3\n"
"""What only a virtual function has."""


def make_patch() -> str:
    """Make the change that sets the watchdog of a port once its map is there."""
    names = ("DSCP_TO_TC_MAP", "PORT_QOS_MAP", "PFC_WD")
    return json.dumps([{"op": "add", "path": f"/{name}", "value": TABLES[name]} for name in names], indent=2)


def make_files() -> Files:
    """Make the good files."""
    return {
        LEAF: json.dumps(TABLES, indent=2), ROUTING: FRR, HOST: OUTPUTS, LIBRARY: NCCL, PATCH: make_patch(),
        CAPTURE: PACKETS, SYSTEM: VALUES,
    }  # fmt: skip


def make_tunnelled() -> Files:
    """Make the files of switches that carry two tenants over tunnels."""
    section = RoceSection.model_validate({"platform": {"system": "nvue"}})
    tenants = (("red", "1-2"), ("blue", "3-4"))
    made = render_design("roce", hosts=4, rails=2, tenants=tenants, roce=section)
    files = {one.path.removeprefix("switches/"): one.content.decode() for one in made.artifacts.artifacts}
    return {name: text for name, text in files.items() if name.endswith(EDGE.rpartition("/")[2])}


def turn_patch(files: Files) -> None:
    """Set the watchdog first."""
    files[PATCH] = json.dumps(json.loads(files[PATCH])[::-1], indent=2)


def in_tables(change: Callable[[dict[str, Any]], None]) -> Edit:
    """Change the tables of the switch."""

    def edit(files: Files) -> None:
        tables = copy.deepcopy(TABLES)
        change(tables)
        assert tables != TABLES
        files[LEAF] = json.dumps(tables, indent=2)

    return edit


def put(table: str, key: str, field: str, value: str | None) -> Edit:
    """Set one field of one row, or take it away."""

    def change(tables: dict[str, Any]) -> None:
        if value is None:
            del tables[table][key][field]
        else:
            tables[table][key][field] = value

    return in_tables(change)


def drop(*tables_: str) -> Edit:
    """Take tables away."""

    def change(tables: dict[str, Any]) -> None:
        for name in tables_:
            del tables[name]

    return in_tables(change)


def swap(file: str, old: str, new: str) -> Edit:
    """Write something else in a file."""

    def edit(files: Files) -> None:
        assert old in files[file], old
        files[file] = files[file].replace(old, new)

    return edit


def both(*edits: Edit) -> Edit:
    """Make several edits of different files."""

    def edit(files: Files) -> None:
        for one in edits:
            one(files)

    return edit
