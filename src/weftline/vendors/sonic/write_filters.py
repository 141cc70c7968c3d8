"""SONiC's tables of filters at the edge: one for all ports, whose rules name the port that each is for.

A table for each port would not fit: chips hold few (``crm show resources acl group`` counts them).
"""

from __future__ import annotations

from collections.abc import Iterator

from weftline.formats.config_db import WrittenRow
from weftline.model.tenancy import FilterIntent

TABLE = "EDGE"
FIRST_PRIORITY = 9999
IPV4 = "2048"
"""0x0800. Other types of frames, as ARP, match no rule and pass."""
UDP = "17"
TYPE = {
    "MATCHES": ["ETHER_TYPE", "IN_PORTS", "SRC_IP", "IP_PROTOCOL", "L4_DST_PORT"],
    "ACTIONS": ["PACKET_ACTION", "COUNTER"],
    "BIND_POINTS": ["PORT"],
}
"""The built-in L3 type cannot match the port that a packet came in by. sonic-acl.yang, ACL_TABLE_TYPE; the patch
tests of sonic-mgmt have a type with IN_PORTS."""
DROP = {"PRIORITY": "1", "ETHER_TYPE": IPV4, "PACKET_ACTION": "DROP"}
"""Every other IPv4 packet; without a rule the chip forwards it."""


def make_filters(filters: tuple[FilterIntent, ...], names: dict[int, str]) -> dict[str, dict[str, WrittenRow]]:
    """Make the tables of the filters of one switch."""
    if not filters:
        return {}
    ports = dict.fromkeys(names[port] for one in filters for port in one.ports)
    bound: WrittenRow = {"type": TABLE, "policy_desc": TABLE, "stage": "ingress", "ports": list(ports)}
    rules: dict[str, WrittenRow] = {}
    for place, (name, row) in enumerate(_list_rules(filters, names)):
        rules[f"{TABLE}|{name}"] = {"PRIORITY": str(FIRST_PRIORITY - place), "ETHER_TYPE": IPV4, **row}
    rules[f"{TABLE}|REST"] = dict(DROP)
    return {"ACL_TABLE_TYPE": {TABLE: dict(TYPE)}, "ACL_TABLE": {TABLE: bound}, "ACL_RULE": rules}


def _list_rules(filters: tuple[FilterIntent, ...], names: dict[int, str]) -> Iterator[tuple[str, WrittenRow]]:
    """List what is dropped, which comes first, and then what each port lets in."""
    for port in sorted({one.tunnel_port for one in filters if one.tunnel_port is not None}):
        mine = [one for one in filters if one.tunnel_port == port]
        where = {} if len(mine) == len(filters) else {"IN_PORTS": _name_ports(mine, names)}
        yield f"TUNNEL_{port}", {**where, "IP_PROTOCOL": UDP, "L4_DST_PORT": str(port), "PACKET_ACTION": "DROP"}
    for one in filters:
        for place, source in enumerate(one.sources):
            row = {"IN_PORTS": _name_ports([one], names), "SRC_IP": source, "PACKET_ACTION": "FORWARD"}
            yield f"{one.key}_{place + 1}", row


def _name_ports(filters: list[FilterIntent], names: dict[int, str]) -> str:
    return ",".join(dict.fromkeys(names[port] for one in filters for port in one.ports))
