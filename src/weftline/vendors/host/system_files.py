"""Files below ``/sys``: which file says what of a port."""

from __future__ import annotations

import re
from typing import Any

from weftline.formats.show_gids import read_gid
from weftline.formats.sysfs import SysfsFact
from weftline.model.observed import Evidence
from weftline.model.observed_port import ObservedGid
from weftline.model.said import Said
from weftline.vendors.host.counters import read_counter
from weftline.vendors.host.draft import NIC, HostDraft, PortDraft
from weftline.vendors.host.gathering import At

_NET = re.compile(r"^/sys/class/net/([^/]{1,64})/(.{1,120})$")
_RDMA = re.compile(r"^/sys/class/infiniband/([^/]{1,64})/(.{1,120})$")
_ENABLE = re.compile(r"^ecn/(roce_np|roce_rp)/enable/([0-7])$")
_GID = re.compile(r"^ports/1/(gids|gid_attrs/types|gid_attrs/ndevs)/(\d{1,4})$")
_COUNTER = re.compile(r"^ports/1/(?:hw_)?counters/(\w{1,80})$")
_VERSIONS = {"RoCE v2": "v2", "IB/RoCE v1": "v1", "RoCE v1": "v1"}


def gather_files(facts: tuple[SysfsFact, ...], at: At, host: HostDraft) -> None:
    """Take files below /sys; those that nobody here reads are counted by their kind."""
    enabled: dict[tuple[str, str], dict[int, SysfsFact]] = {}
    gids: dict[tuple[str, int], dict[str, SysfsFact]] = {}
    for fact in facts:
        net, rdma = _NET.match(fact.path), _RDMA.match(fact.path)
        if net and (match := _ENABLE.match(net[2])):
            enabled.setdefault((net[1], match[1]), {})[int(match[2])] = fact
        elif net:
            _gather_net(net[1], net[2], fact, at, host)
        elif rdma and (match := _GID.match(rdma[2])):
            gids.setdefault((rdma[1], int(match[2])), {})[match[1].rpartition("/")[2]] = fact
        elif rdma:
            _gather_rdma(rdma[1], rdma[2], fact, at, host)
        else:
            _count_unread(fact, host)
    for (interface, point), rows in enabled.items():
        where = at.place(min(fact.line for fact in rows.values()))
        found = tuple(sorted(priority for priority, fact in rows.items() if fact.value == "1"))
        name = "marking_priorities" if point == "roce_np" else "reacting_priorities"
        host.covers |= {"nics"}
        host.put(host.port(interface, where), NIC + name, Said(found, where))
    for (device, index), rows in gids.items():
        _gather_gid(device, index, rows, at, host)


def _count_unread(fact: SysfsFact, host: HostDraft) -> None:
    kind = re.sub(r"\d+", "N", fact.path)[:120]
    host.unread[kind] = host.unread.get(kind, 0) + 1


def _number(fact: SysfsFact, at: At, host: HostDraft, port: PortDraft, name: str) -> None:
    match = re.search(r"(?:^|=)\s*(\d{1,9})\s*$", fact.value)
    if match:
        host.put(port, name, Said(int(match[1]), at.place(fact.line, fact.path)))
    else:
        _count_unread(fact, host)


_NET_FILES = {
    "mtu": "mtu",
    "ecn/roce_np/cnp_dscp": NIC + "notify_dscp",
    "ecn/roce_np/cnp_802p_prio": NIC + "notify_priority",
}


def _gather_net(interface: str, rest: str, fact: SysfsFact, at: At, host: HostDraft) -> None:
    name = _NET_FILES.get(rest)
    port = host.port(interface, at.place(fact.line))
    if name:
        host.covers |= {"mtu"} if rest == "mtu" else {"nics"}
        _number(fact, at, host, port, name)
    elif rest == "qos/trust" and fact.value in {"dscp", "pcp", "both"}:
        host.put(port, "trust", Said(fact.value, at.place(fact.line, fact.path)))
    elif rest.startswith("device/physfn"):
        host.put(port, NIC + "is_virtual", Said(value=True, where=at.place(fact.line, fact.path)))
    elif rest in {"operstate", "carrier"}:
        host.put(port, "is_up", Said(fact.value in {"up", "1"}, at.place(fact.line, fact.path)))
    elif rest == "speed" and fact.value.isdigit():
        host.put(port, "rate_gbps", Said(int(fact.value[:9]) / 1000, at.place(fact.line, fact.path)))
    else:
        _count_unread(fact, host)


def _gather_rdma(device: str, rest: str, fact: SysfsFact, at: At, host: HostDraft) -> None:
    where = at.place(fact.line, fact.path)
    counter = _COUNTER.match(rest)
    if rest == "tc/1/traffic_class":
        host.covers |= {"nics"}
        _number(fact, at, host, host.device_port(device, where), NIC + "traffic_class")
    elif rest.startswith("device/net/"):
        host.link(device, rest.split("/")[2], where)
    elif counter and (found := read_counter(counter[1])) and fact.value.isdigit() and len(fact.value) <= 20:
        port = host.device_port(device, where)
        host.count(Evidence(found[0], port.name, found[1], int(fact.value), where))
    elif not counter:
        _count_unread(fact, host)


def _gather_gid(device: str, index: int, rows: dict[str, SysfsFact], at: At, host: HostDraft) -> None:
    gid = rows.get("gids")
    address = read_gid(gid.value) if gid else None
    if gid is None or address is None or address == "::":
        return
    where = at.place(gid.line, gid.path)
    interface = rows.get("ndevs")
    if interface and interface.value and device not in host.links:
        host.link(device, interface.value, where)
    kind = rows.get("types")
    version: Any = _VERSIONS.get(kind.value, "") if kind else ""
    port = host.device_port(device, where)
    port.gids[index] = ObservedGid(index, address, version, where)
