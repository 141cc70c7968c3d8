"""What several files of several vendors say of one device, put together: a switch's tables and its routing daemon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort

_OWN = frozenset({"name", "role", "vendor", "files", "ports", "covers"})


def merge_devices(devices: Sequence[ObservedDevice]) -> tuple[ObservedDevice, ...]:
    """Put together what has one name, in the order in which it came; of two values the first one stays.

    Lists are joined. O(ports).
    """
    groups: dict[str, list[ObservedDevice]] = {}
    for device in devices:
        groups.setdefault(device.name, []).append(device)
    return tuple(parts[0] if len(parts) == 1 else _merge(parts) for parts in groups.values())


def _merge(parts: list[ObservedDevice]) -> ObservedDevice:
    first = parts[0]
    roles = [part.role for part in parts if part.role != "unknown"]
    changes: dict[str, Any] = {
        "role": roles[0] if roles else first.role,
        "vendor": "+".join(dict.fromkeys(part.vendor for part in parts)),
        "files": tuple(dict.fromkeys(file for part in parts for file in part.files)),
        "covers": frozenset[str]().union(*(part.covers for part in parts)),
        "ports": _merge_ports(parts),
    }
    return replace(first, **changes, **_join(parts, _OWN))


def _merge_ports(parts: list[ObservedDevice]) -> tuple[ObservedPort, ...]:
    by_name: dict[str, list[ObservedPort]] = {}
    for part in parts:
        for port in part.ports:
            by_name.setdefault(port.name, []).append(port)
    return tuple(
        ports[0] if len(ports) == 1 else replace(ports[0], **_join(ports, frozenset({"name", "where"})))
        for ports in by_name.values()
    )


def _join(parts: Sequence[Any], left_out: frozenset[str]) -> dict[str, Any]:
    """Join the fields of dataclasses of one kind: tuples one after the other, else the first that is said.

    Only what changes the first one is returned.
    """
    joined: dict[str, Any] = {}
    first, others = parts[0], parts[1:]
    for field in fields(first):
        if field.name in left_out:
            continue
        own: Any = getattr(first, field.name)
        said = [value for part in others if (value := getattr(part, field.name)) not in (None, ())]
        if not said:
            continue
        if isinstance(own, tuple):
            values: list[Any] = [own, *said]
            joined[field.name] = tuple(dict.fromkeys(item for value in values for item in value))
        elif own is None:
            joined[field.name] = said[0]
    return joined
