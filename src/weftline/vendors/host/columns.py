"""The columns of a host's NIC list: one line per NIC port, read by people, by a shell and by Weftline."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from weftline.formats.lines import read_number, read_numbers
from weftline.model.intent import FactValue, NicIntent, PortIntent

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: the fact that it says, and how it is written and read."""

    name: str
    path: str
    """Where the fact stands below the port's number; it starts with ``ports`` or ``host.nics``."""
    write: Callable[[PortIntent, NicIntent], object]
    read: Callable[[str], FactValue | None]


def write_cell(value: object) -> str:
    """Write a value as one word; nothing is ``-``."""
    if value is None or value in ("", ()):
        return NOTHING
    if isinstance(value, bool):
        return "up" if value else "down"
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)  # type: ignore[reportUnknownVariableType]
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _word(text: str) -> str | None:
    allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-"
    return text if len(text) <= 80 and all(char in allowed for char in text) else None


def _number(low: int, high: int) -> Callable[[str], int | None]:
    return lambda text: read_number(text, low, high)


def _rate(text: str) -> float | None:
    try:
        value = float(text) if len(text) < 20 else -1.0
    except ValueError:
        return None
    return value if 0 < value < 1e6 else None


def _state(text: str) -> bool | None:
    return {"up": True, "down": False}.get(text)


def _one_of(**meanings: bool) -> Callable[[str], bool | None]:
    return meanings.get


def _priorities(text: str) -> tuple[int, ...] | None:
    return read_numbers(text, 0, 7)


def _word_of(value: object, yes: str, no: str) -> str | None:
    return None if value is None else yes if value else no


COLUMNS: tuple[Column, ...] = (
    Column("device", "host.nics.{}.device", lambda _, nic: nic.device, _word),
    Column("state", "ports.{}.is_up", lambda port, _: port.is_up, _state),
    Column("gbps", "ports.{}.rate_gbps", lambda port, _: port.rate_gbps, _rate),
    Column("mtu", "ports.{}.mtu", lambda port, _: port.mtu, _number(68, 65_535)),
    Column("metres", "ports.{}.length_m", lambda port, _: port.length_m, _number(1, 999_999)),
    Column("address", "ports.{}.address", lambda port, _: port.address, _word),
    Column("gateway", "host.nics.{}.gateway", lambda _, nic: nic.gateway, _word),
    Column("table", "host.nics.{}.route_table", lambda _, nic: nic.route_table, _number(1, 2**31)),
    Column("trust", "host.nics.{}.trust", lambda _, nic: nic.trust, _word),
    Column("tclass", "host.nics.{}.traffic_class", lambda _, nic: nic.traffic_class, _number(0, 255)),
    Column("pause", "ports.{}.pause_priorities", lambda port, _: port.pause_priorities, _priorities),
    Column("mark", "host.nics.{}.mark_priorities", lambda _, nic: nic.mark_priorities, _priorities),
    Column("cnp_dscp", "host.nics.{}.notify_dscp", lambda _, nic: nic.notify_dscp, _number(0, 63)),
    Column("cnp_priority", "host.nics.{}.notify_priority", lambda _, nic: nic.notify_priority, _number(0, 7)),
    Column("headroom", "host.nics.{}.buffer_bytes", lambda _, nic: nic.buffer_bytes, _number(1, 2**31)),
    Column(
        "dcbx",
        "host.nics.{}.is_willing",
        lambda _, nic: _word_of(nic.is_willing, "fw", "os"),
        _one_of(fw=True, os=False),
    ),
    Column(
        "link_pause",
        "host.nics.{}.pauses_link",
        lambda _, nic: _word_of(nic.pauses_link, "on", "off"),
        _one_of(on=True, off=False),
    ),
    Column("id", "host.nics.{}.port_id", lambda _, nic: nic.port_id, _word),
    Column("peer", "ports.{}.peer", lambda port, _: port.peer, _word),
)

LIST_HEAD = re.compile(rb"^nic +device +state +gbps ", re.MULTILINE)
"""The line that begins a list of NICs."""
