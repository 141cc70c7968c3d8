"""A complete ``config_db.json`` for one switch, every table from its intent."""

from __future__ import annotations

from collections.abc import Mapping

from weftline.formats.config_db import (
    Row,
    Tables,
    WrittenRow,
    WrittenTables,
    alias_name,
    interface_name,
    write_tables,
)
from weftline.model.artifact import Artifact
from weftline.model.intent import DeviceIntent, PortIntent
from weftline.vendors.sonic.patching import CONFIG, make_change
from weftline.vendors.sonic.write_buffers import make_buffers
from weftline.vendors.sonic.write_hash import SEEDS, make_hash
from weftline.vendors.sonic.write_queues import make_queues
from weftline.vendors.sonic.write_tenancy import make_tenancy

NAME = "sonic"
ROLES = {"leaf": "ToRRouter", "spine": "LeafRouter", "core": "SpineRouter"}
PAUSE_GROUP_ASICS = ("spectrum", "tofino")
"""ASICs that take the group of a paused priority from a map of its own. qos_config.j2 of sonic-buildimage."""


def render(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
    """Write the tables of each switch, and the patch that makes them out of nothing."""
    files = [
        Artifact(
            path=f"switches/{intent.device}/{CONFIG}",
            content=write_tables(make_tables(intent)),
            device=intent.device,
            vendor=NAME,
        )
        for intent in intents
        if intent.role == "switch"
    ]
    return tuple(one for file in files for one in (file, make_change(file)))


def make_tables(intent: DeviceIntent) -> WrittenTables:
    """Make the tables of one switch."""
    cage = 1 if intent.platform is None else intent.platform.ports_per_cage
    ports = [(interface_name(port.key, cage), port) for port in intent.ports]
    lengths = {name: f"{port.length_m}m" for name, port in ports if port.length_m is not None}
    tables: dict[str, Mapping[str, WrittenRow]] = {
        "DEVICE_METADATA": {"localhost": _device(intent)},
        "PORT": {name: _port(port, cage) for name, port in ports},
        "CABLE_LENGTH": {"AZURE": lengths} if lengths else {},
    }
    tables.update(_interfaces(intent, ports))
    if intent.queues is not None:
        takes_groups = _asic(intent).startswith(PAUSE_GROUP_ASICS)
        tables.update(make_queues(intent.queues, ports, takes_groups=takes_groups))
    tables.update(make_buffers(intent, ports))
    tables.update(make_hash(intent))
    tables.update(make_tenancy(intent, ports))
    return tables


def _device(intent: DeviceIntent) -> Row:
    row: Row = {"hostname": intent.device, "type": ROLES.get(intent.tier, "LeafRouter")}
    if intent.platform is not None and intent.platform.hwsku is not None:
        row["hwsku"] = intent.platform.hwsku
    row["docker_routing_config_mode"] = "split-unified"
    if intent.forwarding is not None and intent.forwarding.exchange is not None:
        row["bgp_asn"] = str(intent.forwarding.exchange.number)
    if intent.buffers is not None:
        row["buffer_model"] = intent.buffers.model
    if intent.hashing is not None and intent.hashing.seed != SEEDS[row["type"]]:
        # Read by newer releases only; else the type decides.
        row["ecmp_hash_seed"] = str(intent.hashing.seed)
    return row


def _asic(intent: DeviceIntent) -> str:
    return "" if intent.platform is None else (intent.platform.asic or "").lower()


def _port(port: PortIntent, cage: int) -> Row:
    row: Row = {"alias": alias_name(port.key, cage), "index": str((port.key - 1) // cage + 1)}
    if cage > 1:
        row["subport"] = str((port.key - 1) % cage + 1)
    if port.lanes is not None:
        row["lanes"] = ",".join(str(lane) for lane in port.lanes)
    row["speed"] = str(round(port.rate_gbps * 1000))
    row["admin_status"] = "up" if port.is_up else "down"
    if port.mtu is not None:
        row["mtu"] = str(port.mtu)
    if port.fec is not None:
        row["fec"] = port.fec
    row["pfc_asym"] = "off"
    if port.peer:
        row["description"] = port.peer
    return row


def _interfaces(intent: DeviceIntent, ports: list[tuple[str, PortIntent]]) -> Tables:
    interfaces: dict[str, Row] = {}
    for name, port in ports:
        if port.address is not None:
            interfaces[name] = {} if port.vrf is None else {"vrf_name": port.vrf}
            interfaces[f"{name}|{port.address}"] = {}
        elif port.neighbour_number is not None:
            interfaces[name] = {"ipv6_use_link_local_only": "enable"}
    tables: Tables = {}
    if intent.forwarding is not None and intent.forwarding.exchange is not None:
        address = intent.forwarding.exchange.router_address
        tables["LOOPBACK_INTERFACE"] = {"Loopback0": {}, f"Loopback0|{address}": {}}
    tables["INTERFACE"] = interfaces
    return tables
