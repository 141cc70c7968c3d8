"""SONiC's maps, schedulers, marking profiles and pause watchdog, from the classes of an intent."""

from __future__ import annotations

from weftline.formats.config_db import Row, Tables
from weftline.model.intent import ClassIntent, PortIntent, QueueIntent

MAP = "FABRIC"
"""Name of every map: one intent, one map of each kind."""
COUNT = 8
"""Traffic classes, priorities, groups and queues of a port."""


def make_queues(queues: QueueIntent, ports: list[tuple[str, PortIntent]], *, takes_groups: bool) -> Tables:
    """Make the tables; ``takes_groups`` where the chip takes the group of a paused priority from a map of its own."""
    return _maps(queues, takes_groups=takes_groups) | _queues(queues, ports, takes_groups=takes_groups)


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
