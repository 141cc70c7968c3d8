"""What Weftline's own files for a host say, in the terms of a device that anybody could have configured."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

from weftline.errors import Place
from weftline.formats.lines import Reading
from weftline.model.observed import Fact
from weftline.model.observed_port import ObservedQueue
from weftline.model.said import Said
from weftline.vendors.host.classes import CLASSES_HEAD, LAST_DSCP, read_classes
from weftline.vendors.host.columns import LIST_HEAD
from weftline.vendors.host.draft import NIC, HostDraft, PortDraft
from weftline.vendors.host.reading import read_nics

_PATH = re.compile(r"^(?:ports|host\.nics)\.(\d+)\.(\w+)$")
_CLASS = re.compile(r"^queues\.classes\.(\d+)\.(\w+)$")
PORT_FIELDS = {
    "is_up": "is_up",
    "rate_gbps": "rate_gbps",
    "mtu": "mtu",
    "length_m": "length_m",
    "peer": "peer",
    "pause_priorities": "pauses",
    "trust": "trust",
    "traffic_class": NIC + "traffic_class",
    "notify_dscp": NIC + "notify_dscp",
    "notify_priority": NIC + "notify_priority",
    "is_willing": NIC + "is_willing",
}
"""Field of the intent -> field of the observed port."""


def is_list(content: bytes) -> bool:
    """Tell a list of NICs or of classes by the line that begins it."""
    head = content[:65_536]
    return LIST_HEAD.search(head) is not None or CLASSES_HEAD.search(head) is not None


def gather_list(content: bytes, file: str, host: HostDraft) -> None:
    """Take a list of NICs, or one of classes; what the classes say holds for every NIC."""
    reading = Reading(file)
    if LIST_HEAD.search(content[:65_536]):
        host.covers |= {"ports", "nics", "pauses", "mtu"}
        _gather_nics(read_nics(content, reading), host)
    else:
        host.covers |= {"classes", "schedule"}
        host.classes.extend(read_classes(content, reading))
    host.problems.extend(reading.problems)


def _gather_nics(facts: list[Fact], host: HostDraft) -> None:
    by_number: dict[int, dict[str, Fact]] = {}
    for fact in facts:
        match = _PATH.match(fact.path)
        if match:
            by_number.setdefault(int(match[1]), {})[match[2]] = fact
    for number, fields in by_number.items():
        device = fields.get("device")
        first = next(iter(fields.values())).where
        name = str(device.value) if device else f"nic{number}"
        port = host.device_port(name, device.where if device else first)
        host.put(port, "number", Said(number, first))
        for field, fact in fields.items():
            _put_field(port, field, fact, host)
        if "pause_priorities" not in fields:
            # The script that applies the list switches PFC off where the cell is empty.
            host.put(port, "pauses", Said((), replace(first, path="pause")))


def _put_field(port: PortDraft, field: str, fact: Fact, host: HostDraft) -> None:
    where = fact.where
    if field in PORT_FIELDS:
        host.put(port, PORT_FIELDS[field], Said(fact.value, where))
    elif field == "address":
        port.addresses.append(Said(str(fact.value), where))
    elif field == "mark_priorities":
        host.put(port, NIC + "marking_priorities", Said(fact.value, where))
        host.put(port, NIC + "reacting_priorities", Said(fact.value, where))
    elif field == "pauses_link":
        host.put(port, "link_pause", Said("both" if fact.value else "off", where))
    elif field == "buffer_bytes":
        port.headroom = Said(cast("int", fact.value), where)


def spread_classes(host: HostDraft) -> None:
    """Give what the classes say to every NIC of the host, and what the list says of DSCPs to those without any."""
    if not host.classes:
        for port in host.ports.values():
            _sort_as_listed(port)
        return
    fields: dict[str, dict[int, Fact]] = {}
    for fact in host.classes:
        match = _CLASS.match(fact.path)
        if match:
            fields.setdefault(match[2], {})[int(match[1])] = fact
    maps: dict[str, Said[Any]] = {}
    dscps = fields.get("dscps", {})
    if dscps:
        mapped = {dscp: key for key, fact in dscps.items() for dscp in cast("tuple[int, ...]", fact.value)}
        maps["class_of_dscp"] = Said(mapped, _first(dscps))
    for field, names in (("group", ("group_of_class", NIC + "buffer_of_priority")), ("queue", ("queue_of_class",))):
        rows = fields.get(field, {})
        if rows:
            said = Said({key: cast("int", fact.value) for key, fact in rows.items()}, _first(rows))
            maps.update(dict.fromkeys(names, said))
    queues = _list_queues(fields)
    for port in host.ports.values():
        for name, said in maps.items():
            host.put(port, name, said)
        port.queues.update(queues)
        _size_buffers(port, fields)


def _sort_as_listed(port: PortDraft) -> None:
    """Sort as the script that applies the list does: mlx5's own map, data to the pause, notifications as said."""
    values = {name.removeprefix(NIC): said.value for name, said in port.values.items()}
    byte, pauses = port.values.get(NIC + "traffic_class"), values.get("pauses")
    if "number" not in values or "class_of_dscp" in values or byte is None or values.get("trust") != "dscp":
        return
    mapped = {dscp: dscp >> 3 for dscp in range(LAST_DSCP + 1)}  # mlx5's map when it begins to trust the DSCP
    if pauses:
        mapped[byte.value >> 2] = pauses[0]
    if "notify_dscp" in values and "notify_priority" in values:
        mapped[values["notify_dscp"]] = values["notify_priority"]
    port.values["class_of_dscp"] = Said(mapped, byte.where)


def _first(rows: dict[int, Fact]) -> Place:
    return next(iter(rows.values())).where


def _list_queues(fields: dict[str, dict[int, Fact]]) -> dict[int, ObservedQueue]:
    queues: dict[int, ObservedQueue] = {}
    for key, queue in fields.get("queue", {}).items():
        schedule, weight = fields.get("schedule", {}).get(key), fields.get("weight", {}).get(key)
        number = cast("int", queue.value)
        queues[number] = ObservedQueue(
            number,
            queue.where,
            schedule=None if schedule is None else Said(cast("Any", schedule.value), schedule.where),
            weight=None if weight is None else Said(cast("int", weight.value), weight.where),
        )
    return queues


def _size_buffers(port: PortDraft, fields: dict[str, dict[int, Fact]]) -> None:
    """Say the size of each lossless buffer; what is left for the others is the NIC's own, so they are not said."""
    if port.headroom is None:
        return
    groups = fields.get("group", {})
    lossless = {cast("int", groups[key].value) for key in fields.get("priority", {}) if key in groups}
    for group in sorted(lossless):
        port.sizes[group] = port.headroom
