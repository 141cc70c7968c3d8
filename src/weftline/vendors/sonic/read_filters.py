"""Filters at the edge out of SONiC's tables, read back strictly."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field

from weftline.formats.config_db import Row
from weftline.vendors.sonic.file import SwitchFile
from weftline.vendors.sonic.write_filters import DROP, IPV4, TABLE, TYPE, UDP

MAX_PORT = 65_535
_OWN = re.compile(r"^(.{1,60})_[1-9][0-9]{0,4}$")
_FORWARD = frozenset({"PRIORITY", "ETHER_TYPE", "IN_PORTS", "SRC_IP", "PACKET_ACTION"})
_TUNNEL = frozenset({"PRIORITY", "ETHER_TYPE", "IP_PROTOCOL", "L4_DST_PORT", "PACKET_ACTION"})


def read_filters(file: SwitchFile) -> None:
    """Read the one table of filters, and what each port lets in."""
    for name, row in file.rows("ACL_TABLE").items():
        where = f"ACL_TABLE.{name}"
        if name != TABLE or row.get("stage") != "ingress" or row.get("type") != TABLE:
            file.blame("artifact.unexpected", f"filter is not {TABLE} on the way in", where)
        elif file.rows("ACL_TABLE_TYPE").get(TABLE) != {key: ",".join(value) for key, value in TYPE.items()}:
            file.blame("artifact.unexpected", "type does not have what the rules match", f"ACL_TABLE_TYPE.{TABLE}")
        else:
            _read_rules(file, _read_ports(file, row.get("ports", ""), f"{where}.ports"), where)


def _read_ports(file: SwitchFile, text: str, where: str) -> tuple[int, ...]:
    bound = [port for port in text.split(",") if port]
    unknown = [port for port in bound if port not in file.number]
    if unknown:
        file.blame("artifact.dangling", f"there is no port {unknown[0][:40]!r}", where)
    return tuple(file.number[port] for port in bound if port in file.number)


@dataclass
class _Rules:
    """What the rules of the table say, while they are read."""

    bound: frozenset[int]
    tunnels: list[tuple[int, tuple[int, ...] | None]] = field(default_factory=list[tuple[int, tuple[int, ...] | None]])
    ports: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    sources: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def _read_rules(file: SwitchFile, bound: tuple[int, ...], where: str) -> None:
    rows = [(key.partition("|")[2], row) for key, row in file.rows("ACL_RULE").items() if key.startswith(f"{TABLE}|")]
    *ordered, last = sorted(rows, key=lambda rule: -_rank(rule[1])) or [("", Row())]
    if last[1] != DROP:
        file.blame("artifact.unexpected", "the last rule does not drop the rest", where)
    rules = _Rules(frozenset(bound))
    for name, row in ordered:
        _read_rule(file, rules, name, row)
    for key, found in rules.sources.items():
        base, place = f"tenancy.filters.{key}", f"ACL_RULE.{TABLE}|{key}_1"
        file.say(f"{base}.ports", rules.ports[key], f"{place}.IN_PORTS")
        file.say(f"{base}.sources", tuple(found), place)
        for port, at in rules.tunnels:
            if at is None or set(rules.ports[key]) <= set(at):
                file.say(f"{base}.tunnel_port", port, f"ACL_RULE.{TABLE}|TUNNEL_{port}")
    if {port for found in rules.ports.values() for port in found} != set(rules.bound):
        file.blame("artifact.unexpected", "a port of the table has no rule of its own", f"{where}.ports")


def _read_rule(file: SwitchFile, rules: _Rules, name: str, row: Row) -> None:
    """Read one rule: a drop for tunnels, which stands before all sources, or a source that may come in."""
    place = f"ACL_RULE.{TABLE}|{name}"
    match = _OWN.fullmatch(name)
    at = _read_ports(file, row["IN_PORTS"], f"{place}.IN_PORTS") if "IN_PORTS" in row else None
    if row.get("ETHER_TYPE") != IPV4 or match is None or not rules.bound.issuperset(at or ()):
        file.blame("artifact.unexpected", "a rule is none of the ports of its table", place)
    elif frozenset(row) - {"IN_PORTS"} == _TUNNEL and (row["PACKET_ACTION"], row["IP_PROTOCOL"]) == ("DROP", UDP):
        port = file.read_int(row["L4_DST_PORT"], 1, MAX_PORT, f"{place}.L4_DST_PORT")
        if rules.sources:
            file.blame("artifact.unexpected", "tunnels are dropped behind a source that may come in", place)
        elif port is not None:
            rules.tunnels.append((port, at))
    elif frozenset(row) == _FORWARD and row["PACKET_ACTION"] == "FORWARD" and _is_network(row["SRC_IP"]):
        rules.ports.setdefault(match[1], at or ())
        rules.sources.setdefault(match[1], []).append(row["SRC_IP"])
    else:
        file.blame("artifact.unexpected", "a rule is neither a source that may come in nor a tunnel", place)


def _rank(row: Row) -> int:
    text = row.get("PRIORITY", "")
    return int(text) if text.isdecimal() else 0


def _is_network(text: str) -> bool:
    try:
        ipaddress.IPv4Network(text)
    except ValueError:
        return False
    return True
