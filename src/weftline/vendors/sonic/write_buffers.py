"""SONiC's buffer tables in both of its models: pools, profiles, and what groups and queues of ports have."""

from __future__ import annotations

from weftline.formats.config_db import Row, Tables
from weftline.model.buffers import BufferIntent, GroupBufferIntent, PoolIntent, ShareIntent
from weftline.model.intent import DeviceIntent, PortIntent

COMPUTED = "NULL"
"""Profile of a group whose headroom the switch computes (doc/qos/dynamically-headroom-calculation.md)."""
DEFAULTS = "AZURE"
"""Key under which the programs of SONiC look for what holds for all ports."""


def make_buffers(intent: DeviceIntent, ports: list[tuple[str, PortIntent]]) -> Tables:
    """Make the buffer tables of one switch; none where its intent says nothing of buffers."""
    profiles = _Profiles()
    groups = {
        f"{name}|{group.key}": {"profile": profiles.name(port, group)} for name, port in ports for group in port.groups
    }
    classes = () if intent.queues is None else intent.queues.classes
    queues = {
        f"{name}|{one.queue}": {"profile": one.share} for name, _ in ports for one in classes if one.share is not None
    }
    buffers = intent.buffers
    tables = {} if buffers is None else _make_device_tables(buffers)
    shares = {} if buffers is None else {share.key: _make_share(share) for share in buffers.shares}
    return tables | {"BUFFER_PROFILE": shares | profiles.rows, "BUFFER_PG": groups, "BUFFER_QUEUE": queues}


def _make_device_tables(buffers: BufferIntent) -> Tables:
    tables: Tables = {"BUFFER_POOL": {pool.key: _make_pool(pool) for pool in buffers.pools}}
    parameter = {"default_dynamic_th": buffers.dynamic_th, "over_subscribe_ratio": buffers.over_subscribe_ratio}
    pattern = {"mtu": buffers.lossless_mtu, "small_packet_percentage": buffers.small_packet_percent}
    for table, row in (("DEFAULT_LOSSLESS_BUFFER_PARAMETER", parameter), ("LOSSLESS_TRAFFIC_PATTERN", pattern)):
        said = _say(row)
        if said:
            tables[table] = {DEFAULTS: said}
    return tables


def _make_pool(pool: PoolIntent) -> Row:
    return {"type": pool.direction, "mode": pool.mode} | _say({"size": pool.size_bytes, "xoff": pool.headroom_bytes})


def _make_share(share: ShareIntent) -> Row:
    row: Row = {"pool": share.pool, "size": str(share.size_bytes)}
    return row | _say({"dynamic_th": share.dynamic_th, "static_th": share.static_bytes})


def _say(values: dict[str, int | None]) -> Row:
    return {key: str(value) for key, value in values.items() if value is not None}


class _Profiles:
    """The headroom profiles of a switch: one for each speed and cable, as SONiC itself would call them."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def name(self, port: PortIntent, group: GroupBufferIntent) -> str:
        """Name the profile of a group, and keep it."""
        if group.is_computed:
            return COMPUTED
        if group.share is not None:
            return group.share
        row = {"pool": group.pool or ""} | _say(
            {
                "size": group.size_bytes,
                "xon": group.xon_bytes,
                "xoff": group.xoff_bytes,
                "xon_offset": group.xon_offset_bytes,
                "dynamic_th": group.dynamic_th,
            }
        )
        base = f"pg_lossless_{round(port.rate_gbps * 1000)}_{port.length_m or 0}m"
        name, again = f"{base}_profile", 1
        while self.rows.setdefault(name, row) != row:
            again += 1
            name = f"{base}_{again}_profile"
        return name
