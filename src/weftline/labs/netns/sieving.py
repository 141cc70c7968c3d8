"""Filters of a switch's ports as its tables have them, written for the kernel, which knows no ``ACL_RULE``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weftline.errors import CapabilityError
from weftline.formats.config_db import Row, Tables

TABLE = "edge"
IPV4 = frozenset({"2048", "0x0800", "0x800"})
IPV4_TYPES = frozenset({"IP", "IPV4", "IPV4ANY"})
ACTIONS = {"FORWARD": "accept", "ACCEPT": "accept", "DROP": "counter name %s drop"}
_ODD = re.compile(r"[^A-Za-z0-9]")
_SILENT = frozenset({"PRIORITY", "PACKET_ACTION", "IN_PORTS"})


def write_filters(tables: Tables, interfaces: Collection[str]) -> str:
    """Write the filters on the way in at some interfaces, as a script of ``nft``; empty where there are none.

    They stand where packets enter the namespace, so that they hold for what is forwarded and for what is taken in:
    nft(8), netdev family, ingress hook. Dropped packets are counted by interface.

    Raises:
        CapabilityError: ``capability.lab-files`` for a rule that the kernel is not told here.
    """
    lines: list[str] = []
    for interface in interfaces:
        rules = [rule for name in _list_tables(tables, interface) for rule in _list_rules(tables, name, interface)]
        if rules:
            lines += [f"counter {name_counter(interface)} {{ }}", f"chain in_{name_counter(interface)} {{"]
            lines += [f'type filter hook ingress device "{interface}" priority 0; policy accept;', *rules, "}"]
    return "\n".join([f"table netdev {TABLE} {{", *lines, "}", ""]) if lines else ""


def name_counter(interface: str) -> str:
    """Name what counts the packets that are dropped at an interface, in letters that nft takes for a name."""
    return f"{TABLE}_{_ODD.sub('_', interface)}"


def _list_tables(tables: Tables, interface: str) -> Iterator[str]:
    for name, row in tables.get("ACL_TABLE", {}).items():
        bound = row.get("ports", "").split(",")
        if interface in bound and row.get("stage", "ingress").lower() == "ingress" and row.get("type") != "CTRLPLANE":
            yield name


def _list_rules(tables: Tables, name: str, interface: str) -> Iterator[str]:
    rows = {key: row for key, row in tables.get("ACL_RULE", {}).items() if key.startswith(f"{name}|")}
    for key, row in sorted(rows.items(), key=lambda item: -int(item[1].get("PRIORITY", "0"))):
        if "IN_PORTS" not in row or interface in row["IN_PORTS"].split(","):
            yield _write_rule(key, row, interface)


def _write_rule(key: str, row: Row, interface: str) -> str:
    action = ACTIONS.get(row.get("PACKET_ACTION", ""))
    words = [_write_match(field, value) for field, value in row.items() if field not in _SILENT]
    if action is None or "" in words:
        message = f"ACL_RULE {key} has what the lab does not know: {', '.join(f'{k} {v}' for k, v in row.items())}"
        raise CapabilityError("capability.lab-files", message, "the lab runs what render writes")
    return " ".join([*words, action.replace("%s", name_counter(interface))])


def _write_match(field: str, value: str) -> str:
    """Write one match; empty for one that is not known."""
    if (field == "ETHER_TYPE" and value.lower() in IPV4) or (field == "IP_TYPE" and value.upper() in IPV4_TYPES):
        return "meta protocol ip"
    forms = {"SRC_IP": "ip saddr", "DST_IP": "ip daddr", "IP_PROTOCOL": "meta l4proto", "L4_DST_PORT": "th dport"}
    return f"{forms[field]} {value}" if field in forms else ""
