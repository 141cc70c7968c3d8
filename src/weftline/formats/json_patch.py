"""JSON patches (RFC 6902) of a CONFIG_DB: operations in an order that a switch can take."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from weftline.formats.config_db import WrittenTables

Operation: TypeAlias = dict[str, Any]
ORDER = (
    "DEVICE_METADATA", "PORT", "CABLE_LENGTH", "VRF", "VLAN", "VXLAN_TUNNEL", "VXLAN_EVPN_NVO", "LOOPBACK_INTERFACE",
    "VLAN_INTERFACE", "INTERFACE", "VXLAN_TUNNEL_MAP", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "SCHEDULER", "WRED_PROFILE",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "LOSSLESS_TRAFFIC_PATTERN", "BUFFER_POOL", "BUFFER_PROFILE", "PORT_QOS_MAP",
    "BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "ACL_TABLE_TYPE", "ACL_TABLE", "ACL_RULE", "SWITCH_HASH", "PFC_WD",
)  # fmt: skip
"""What others refer to comes first. PFC_WD comes last: it starts on the queues that PORT_QOS_MAP names then
(sonic-net/sonic-buildimage issue 24577)."""
OF_PORTS = frozenset({"PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PFC_WD"})
"""Tables whose rows are all of ports: a row for a port of ours that is not wanted would contradict those that are."""
KEEPS_FIELDS = frozenset({"DEVICE_METADATA", "PORT", "CABLE_LENGTH", "LOOPBACK_INTERFACE", "INTERFACE"})
"""Tables in whose rows the platform and people have fields of their own."""


def make_patch(running: WrittenTables, wanted: WrittenTables) -> list[Operation]:
    """Make the operations from what runs to what is wanted; what is equal is left alone.

    First goes what contradicts, those that refer before those that are referred to; then comes what is new or differs,
    in the opposite order. Tables and named rows that nothing here asks for stay.
    """
    tables = sorted((table for table, rows in wanted.items() if rows), key=_place)
    removals: list[Operation] = []
    changes: list[Operation] = []
    for table in tables:
        old, new = running.get(table, {}), wanted[table]
        if not old:
            changes.append(_operate("add", (table,), {key: dict(row) for key, row in new.items()}))
            continue
        ports = {key.partition("|")[0] for key in wanted.get("PORT", {})}
        gone = [key for key in old if key not in new and table in OF_PORTS and key.partition("|")[0] in ports]
        removals = [*(_operate("remove", (table, key)) for key in gone), *removals]
        for key, row in new.items():
            changes += _change_row(table, key, old.get(key), row)
    return [*removals, *changes]


def _place(table: str) -> int:
    return ORDER.index(table) if table in ORDER else len(ORDER) - 1


def _change_row(
    table: str, key: str, old: Mapping[str, str | Sequence[str]] | None, new: Mapping[str, str | Sequence[str]]
) -> list[Operation]:
    if old is None:
        return [_operate("add", (table, key), dict(new))]
    found: list[Operation] = []
    for field, value in new.items():
        if field not in old:
            found.append(_operate("add", (table, key, field), value))
        elif _plain(old[field]) != _plain(value):
            found.append(_operate("replace", (table, key, field), value))
    if table not in KEEPS_FIELDS:
        found += [_operate("remove", (table, key, field)) for field in old if field not in new]
    return found


def _plain(value: str | Sequence[str]) -> str:
    """Write a list of texts as redis holds it."""
    return value if isinstance(value, str) else ",".join(value)


def _operate(verb: str, steps: tuple[str, ...], value: object = None) -> Operation:
    # RFC 6901, 3
    path = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
    return {"op": verb, "path": path} | ({} if verb == "remove" else {"value": value})


def write_patch(operations: list[Operation]) -> bytes:
    """Write a patch, an operation a line."""
    lines = ",\n".join(json.dumps(operation) for operation in operations)
    return f"[\n{lines}\n]\n".encode() if operations else b"[]\n"
