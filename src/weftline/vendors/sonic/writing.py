"""A complete ``config_db.json`` for one switch, every table from its intent."""

from __future__ import annotations

from weftline.formats.config_db import LANES_PER_CAGE, Row, Tables, alias_name, interface_name, write_tables
from weftline.model.artifact import Artifact
from weftline.model.intent import ClassIntent, DeviceIntent, PortIntent, QueueIntent

NAME = "sonic"
MAP = "FABRIC"
"""Name of every map: one intent, one map of each kind."""
ROLES = {"leaf": "ToRRouter", "spine": "LeafRouter", "core": "SpineRouter"}
SEQUENTIAL_LANES = ("spectrum-3", "spectrum-4")
"""ASICs whose platforms number lanes as they number interfaces; on others the lanes are the platform's to say."""
PAUSE_GROUP_ASICS = ("spectrum", "tofino")
"""ASICs that take the group of a paused priority from a map of its own. qos_config.j2 of sonic-buildimage."""
RS_FEC_GBPS = 200.0
"""From this rate on a port runs RS-FEC always. IEEE 802.3 clause 119."""
COUNT = 8
"""Traffic classes, priorities, groups and queues of a port."""


def render(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
    """Write the tables of each switch."""
    return tuple(
        Artifact(
            path=f"switches/{intent.device}/config_db.json",
            content=write_tables(make_tables(intent)),
            device=intent.device,
            vendor=NAME,
        )
        for intent in intents
        if intent.role == "switch"
    )


def make_tables(intent: DeviceIntent) -> Tables:
    """Make the tables of one switch."""
    cage = 1 if intent.platform is None else intent.platform.ports_per_cage
    ports = [(interface_name(port.key, cage), port) for port in intent.ports]
    tables: Tables = {"DEVICE_METADATA": {"localhost": _device(intent)}}
    tables["PORT"] = {name: _port(intent, name, port, cage) for name, port in ports}
    lengths = {name: f"{port.length_m}m" for name, port in ports if port.length_m is not None}
    tables["CABLE_LENGTH"] = {"AZURE": lengths} if lengths else {}
    tables.update(_interfaces(intent, ports))
    if intent.queues is not None:
        takes_groups = _asic(intent).startswith(PAUSE_GROUP_ASICS)
        tables.update(_maps(intent.queues, takes_groups=takes_groups))
        tables.update(_queues(intent.queues, ports, takes_groups=takes_groups))
    return tables


def _device(intent: DeviceIntent) -> Row:
    row: Row = {"hostname": intent.device, "type": ROLES.get(intent.tier, "LeafRouter")}
    if intent.platform is not None and intent.platform.hwsku is not None:
        row["hwsku"] = intent.platform.hwsku
    row["docker_routing_config_mode"] = "split-unified"
    if intent.forwarding is not None and intent.forwarding.exchange is not None:
        row["bgp_asn"] = str(intent.forwarding.exchange.number)
    return row


def _asic(intent: DeviceIntent) -> str:
    return "" if intent.platform is None else (intent.platform.asic or "").lower()


def _port(intent: DeviceIntent, name: str, port: PortIntent, cage: int) -> Row:
    row: Row = {"alias": alias_name(port.key, cage), "index": str((port.key - 1) // cage + 1)}
    if cage > 1:
        row["subport"] = str((port.key - 1) % cage + 1)
    if _asic(intent) in SEQUENTIAL_LANES:
        first = int(name.removeprefix("Ethernet"))
        row["lanes"] = ",".join(str(lane) for lane in range(first, first + LANES_PER_CAGE // cage))
    row["speed"] = str(round(port.rate_gbps * 1000))
    row["admin_status"] = "up" if port.is_up else "down"
    if port.mtu is not None:
        row["mtu"] = str(port.mtu)
    if port.rate_gbps >= RS_FEC_GBPS:
        row["fec"] = "rs"
    row["pfc_asym"] = "off"
    if port.peer:
        row["description"] = port.peer
    return row


def _interfaces(intent: DeviceIntent, ports: list[tuple[str, PortIntent]]) -> Tables:
    interfaces: dict[str, Row] = {}
    for name, port in ports:
        if port.address is not None:
            interfaces[name] = {}
            interfaces[f"{name}|{port.address}"] = {}
        elif port.neighbour_number is not None:
            interfaces[name] = {"ipv6_use_link_local_only": "enable"}
    tables: Tables = {}
    if intent.forwarding is not None and intent.forwarding.exchange is not None:
        address = intent.forwarding.exchange.router_address
        tables["LOOPBACK_INTERFACE"] = {"Loopback0": {}, f"Loopback0|{address}": {}}
    tables["INTERFACE"] = interfaces
    return tables


def _maps(queues: QueueIntent, *, takes_groups: bool) -> Tables:
    identity = {str(value): str(value) for value in range(COUNT)}
    return {
        "DSCP_TO_TC_MAP": {
            MAP: {
                str(dscp): str(tc) for dscp, tc in sorted((d, item.key) for item in queues.classes for d in item.dscps)
            }
        },
        "TC_TO_QUEUE_MAP": {MAP: identity | {str(item.key): str(item.queue) for item in queues.classes}},
        "TC_TO_PRIORITY_GROUP_MAP": {
            MAP: {str(value): "0" for value in range(COUNT)}
            | {str(item.key): str(item.group) for item in queues.classes}
        },
        "MAP_PFC_PRIORITY_TO_QUEUE": {
            MAP: identity
            | {str(item.priority): str(item.queue) for item in queues.classes if item.priority is not None}
        },
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {
            MAP: {str(item.priority): str(item.group) for item in queues.classes if item.priority is not None}
        }
        if takes_groups
        else {},
    }


def _queues(queues: QueueIntent, ports: list[tuple[str, PortIntent]], *, takes_groups: bool) -> Tables:
    tables: Tables = {
        "SCHEDULER": {f"class.{item.key}": _scheduler(item) for item in queues.classes},
        "WRED_PROFILE": {
            f"class.{item.key}": _marks(item) for item in queues.classes if item.mark_max_bytes is not None
        },
        "PORT_QOS_MAP": {
            "global": {"dscp_to_tc_map": MAP},
            **{name: _port_maps(port, takes_groups=takes_groups) for name, port in ports},
        },
        "QUEUE": {f"{name}|{item.queue}": _queue(item) for name, _ in ports for item in queues.classes},
    }
    watchdog = queues.watchdog
    if watchdog is not None:
        row = {
            "action": watchdog.action,
            "detection_time": str(watchdog.detect_ms),
            "restoration_time": str(watchdog.restore_ms),
        }
        watched = {name: dict(row) for name, port in ports if port.watched_priorities}
        tables["PFC_WD"] = {"GLOBAL": {"POLL_INTERVAL": str(watchdog.poll_ms)}, **watched}
    return tables


def _scheduler(item: ClassIntent) -> Row:
    if item.schedule == "strict":
        return {"type": "STRICT"}
    return {"type": "DWRR", "weight": str(item.weight)}


def _marks(item: ClassIntent) -> Row:
    row: Row = {"ecn": "ecn_all"}
    for colour in ("green", "yellow", "red"):
        row[f"wred_{colour}_enable"] = "true"
        row[f"{colour}_min_threshold"] = str(item.mark_min_bytes)
        row[f"{colour}_max_threshold"] = str(item.mark_max_bytes)
        row[f"{colour}_drop_probability"] = str(item.mark_percent)
    return row


def _port_maps(port: PortIntent, *, takes_groups: bool) -> Row:
    row: Row = {"dscp_to_tc_map": MAP, "tc_to_queue_map": MAP, "tc_to_pg_map": MAP, "pfc_to_queue_map": MAP}
    if takes_groups:
        row["pfc_to_pg_map"] = MAP
    if port.pause_priorities:
        row["pfc_enable"] = ",".join(str(priority) for priority in port.pause_priorities)
    if port.watched_priorities:
        row["pfcwd_sw_enable"] = ",".join(str(priority) for priority in port.watched_priorities)
    return row


def _queue(item: ClassIntent) -> Row:
    row: Row = {"scheduler": f"class.{item.key}"}
    if item.mark_max_bytes is not None:
        row["wred_profile"] = f"class.{item.key}"
    return row
