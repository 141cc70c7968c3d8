"""Records of a host's tools put into what is known of the host, form by form."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from weftline.errors import Place
from weftline.formats.dcb import DcbRecord
from weftline.formats.ethtool import EthtoolRecord
from weftline.formats.ibv_devinfo import RdmaPort
from weftline.formats.ip_json import IpRecord
from weftline.formats.mlnx_qos import QosRecord
from weftline.formats.mlxconfig import FirmwareSetting
from weftline.formats.nccl_conf import Variable
from weftline.formats.rdma_devices import DefaultMark, DeviceLink
from weftline.formats.show_gids import GidEntry
from weftline.formats.sysctl import KernelSetting
from weftline.formats.tcpdump import RocePacket
from weftline.formats.transcript import Told
from weftline.model.observed import Evidence
from weftline.model.observed_port import ObservedGid, ObservedQueue, Ways
from weftline.model.said import Said
from weftline.vendors.host.counters import read_counter
from weftline.vendors.host.draft import NIC, HostDraft, PortDraft

WAYS: dict[tuple[bool, bool], Ways] = {
    (False, False): "off",
    (True, False): "rx",
    (False, True): "tx",
    (True, True): "both",
}
TRUSTS = frozenset({"dscp", "pcp", "both", "port"})


class At:
    """The file being read, and the name of the interface in its file name."""

    def __init__(self, file: str, named: str) -> None:
        """Keep both."""
        self.file = file
        self.named = named

    def place(self, line: int, path: str = "") -> Place:
        """Name a line of the file."""
        return Place(self.file, line, 1, path)

    def said(self, told: Told[Any]) -> Said[Any]:
        """Give a value its place."""
        return Said(told.value, self.place(told.line))


def _put(host: HostDraft, port: PortDraft, at: At, name: str, told: Told[Any] | None) -> None:
    if told is not None:
        host.put(port, name, at.said(told))


def gather_qos(record: QosRecord, at: At, host: HostDraft) -> None:
    """Take the output of mlnx_qos."""
    port = host.port(record.interface or at.named, at.place(record.line))
    host.covers |= {"nics", "classes", "pauses", "buffers", "schedule"}
    if record.dcbx is not None:
        willing = not record.dcbx.value.lower().startswith("os")
        host.put(port, NIC + "is_willing", Said(willing, at.place(record.dcbx.line)))
    if record.trust is not None and record.trust.value in TRUSTS:
        host.put(port, "trust", at.said(record.trust))
    if record.dscps:
        mapped = {entry.dscp: entry.priority for entry in record.dscps}
        for entry in record.dscps:
            if mapped[entry.dscp] != entry.priority:
                message = f"{port.name}: DSCP {entry.dscp} has priority {entry.priority} and {mapped[entry.dscp]}"
                host.disagree(message, at.place(entry.line))
        host.put(port, "class_of_dscp", Said(mapped, at.place(record.dscps[0].line)))
    _put(host, port, at, "default_class", record.default_priority)
    _put(host, port, at, "pauses", record.pause)
    _put(host, port, at, NIC + "buffers", record.buffer_bytes)
    if record.cable_m is not None:
        host.put(port, NIC + "cable_m", Said(float(record.cable_m.value), at.place(record.cable_m.line)))
    if record.buffers is not None:
        _put_buffers(host, port, Said(dict(enumerate(record.buffers.value)), at.place(record.buffers.line)))
    if record.overseen is not None:
        host.set("lldpad", "running", at.place(record.overseen.line))
    _gather_classes(record, at, host, port)


def _put_buffers(host: HostDraft, port: PortDraft, mapped: Said[dict[int, int]]) -> None:
    host.put(port, NIC + "buffer_of_priority", mapped)
    host.put(port, "group_of_class", mapped)


def _gather_classes(record: QosRecord, at: At, host: HostDraft, port: PortDraft) -> None:
    if not record.classes:
        return
    members = {priority: entry.number for entry in record.classes for priority in entry.priorities}
    if members:
        host.put(port, "queue_of_class", Said(members, at.place(record.classes[0].line)))
    for entry in record.classes:
        where = at.place(entry.line)
        # ``vendor`` is the NIC's own order, which no source describes: how it serves then is unknown.
        schedule = {"ets": "weighted", "strict": "strict"}.get(entry.algorithm)
        port.queues[entry.number] = ObservedQueue(
            entry.number,
            where,
            schedule=None if schedule is None else Said(cast("Any", schedule), where),
            weight=None if entry.percent is None else Said(entry.percent, where),
        )


def gather_ethtool(record: EthtoolRecord, at: At, host: HostDraft) -> None:
    """Take an output of ethtool."""
    if not record.kind:
        host.unread["ethtool"] = host.unread.get("ethtool", 0) + 1
        return
    port = host.port(record.interface or at.named, at.place(record.line))
    readers = {"pause": _gather_pause, "link": _gather_link, "driver": _gather_driver}
    if record.kind in readers:
        readers[record.kind](record, at, host, port)
    for counter in record.counters:
        found = read_counter(counter.name)
        if found:
            where = at.place(counter.line, counter.name)
            host.count(Evidence(found[0], port.name, found[1], counter.value, where))


def _gather_pause(record: EthtoolRecord, at: At, host: HostDraft, port: PortDraft) -> None:
    host.covers |= {"nics", "pauses"}
    receive, send = record.value("RX"), record.value("TX")
    if receive and send and {receive.value, send.value} <= {"on", "off"}:
        ways = WAYS[(receive.value == "on", send.value == "on")]
        host.put(port, "link_pause", Said(ways, at.place(receive.line)))


def _gather_link(record: EthtoolRecord, at: At, host: HostDraft, port: PortDraft) -> None:
    speed, state = record.value("Speed"), record.value("Link detected")
    rate = re.match(r"(\d{1,8})Mb/s", speed.value) if speed else None
    if speed and rate:
        host.put(port, "rate_gbps", Said(int(rate[1]) / 1000, at.place(speed.line)))
    if state:
        host.put(port, "is_up", Said(state.value == "yes", at.place(state.line)))


def _gather_driver(record: EthtoolRecord, at: At, host: HostDraft, port: PortDraft) -> None:
    for name in ("driver", "firmware-version", "bus-info"):
        field = record.value(name)
        if field and field.value:
            host.set(f"{name}.{port.name}", field.value, at.place(field.line))


def gather_gids(entries: tuple[GidEntry, ...], at: At, host: HostDraft) -> None:
    """Take the table of GIDs."""
    host.covers |= {"nics"}
    for entry in entries:
        where = at.place(entry.line)
        if entry.interface and entry.device not in host.links:
            host.link(entry.device, entry.interface, where)
        _add_gid(host.device_port(entry.device, where), entry, where)


def _add_gid(port: PortDraft, entry: GidEntry, where: Place) -> None:
    version = entry.version[:2]
    port.gids[entry.index] = ObservedGid(
        entry.index, entry.address, cast("Any", version if version in {"v1", "v2"} else ""), where
    )


def gather_devinfo(ports: tuple[RdmaPort, ...], at: At, host: HostDraft) -> None:
    """Take the ports of RDMA devices."""
    host.covers |= {"nics", "mtu"}
    for record in ports:
        port = host.device_port(record.device, at.place(record.line))
        _put(host, port, at, NIC + "rdma_mtu", record.number_of("active_mtu"))
        state = record.fields.get("state")
        if state:
            host.put(port, "is_up", Said(state.value.startswith("PORT_ACTIVE"), at.place(state.line)))
        for entry in record.gids:
            _add_gid(port, entry, at.place(entry.line))


def gather_links(links: tuple[DeviceLink, ...], at: At, host: HostDraft) -> None:
    """Take which interface a device has."""
    for link in links:
        where = at.place(link.line)
        host.link(link.device, link.interface, where)
        if link.state in {"Up", "Down"}:
            host.put(host.ports[link.interface], "is_up", Said(link.state == "Up", where))


def gather_mark(mark: DefaultMark, at: At, host: HostDraft) -> None:
    """Take the default marking of RDMA connections."""
    told = mark.tos or mark.mode
    if told is None:
        return
    host.covers |= {"nics"}
    port = host.device_port(mark.device or at.named, at.place(told.line))
    if mark.tos is not None:
        host.put(port, NIC + "traffic_class", at.said(mark.tos))
    if mark.mode is not None:
        host.set(f"cma_roce_mode.{port.name}", mark.mode.value, at.place(mark.mode.line))


def gather_firmware(settings: tuple[FirmwareSetting, ...], at: At, host: HostDraft) -> None:
    """Take settings of the firmware; of those after the next boot."""
    for setting in settings:
        owner = setting.device or at.named or "unknown"
        host.set(f"firmware.{owner}.{setting.name}", setting.next_boot, at.place(setting.line))


def gather_dcb(record: DcbRecord, at: At, host: HostDraft) -> None:
    """Take an output of iproute2's dcb."""
    port = host.port(record.interface or at.named, at.place(record.line))
    host.covers |= {"nics"}
    if "prio-pfc" in record.maps:
        host.covers |= {"pauses"}
        rows = record.numbers("prio-pfc")
        first = min((line for _, line in rows.values()), default=record.line)
        paused = tuple(sorted(key for key, (is_on, _) in rows.items() if is_on))
        host.put(port, "pauses", Said(paused, at.place(first)))
    delay = record.scalars.get("delay")
    if delay and delay.value.isdigit():
        host.put(port, NIC + "cable_m", Said(float(delay.value), at.place(delay.line)))
    for name, path in (
        ("dscp-prio", "class_of_dscp"),
        ("prio-tc", "queue_of_class"),
        ("prio-buffer", "group_of_class"),
    ):
        rows = record.numbers(name)
        if rows:
            mapped = {key: value for key, (value, _) in rows.items()}
            host.covers |= {"classes"}
            host.put(port, path, Said(mapped, at.place(min(line for _, line in rows.values()))))
    if record.numbers("dscp-prio"):
        # The kernel sorts by DSCP as soon as one entry for a DSCP exists. Linux, mlx5/core/en_dcbnl.c.
        where = at.place(min(line for _, line in record.numbers("dscp-prio").values()))
        host.put(port, "trust", Said("dscp", where))
    if record.flags:
        words = {flag.value for flag in record.flags}
        host.put(port, NIC + "is_willing", Said("host" not in words, at.place(record.flags[0].line)))


def gather_ip(record: IpRecord, at: At, host: HostDraft) -> None:
    """Take interfaces, routes and rules."""
    host.covers |= {"mtu"} if record.interfaces else set()
    for interface in record.interfaces:
        where = at.place(record.line, interface.path)
        if interface.name == "lo" or not interface.name:
            continue
        port = host.port(interface.name, where)
        if interface.mtu is not None:
            host.put(port, "mtu", Said(interface.mtu, where))
        if interface.is_up is not None and "is_up" not in port.values:
            host.put(port, "is_up", Said(interface.is_up, where))
        if interface.master:
            host.put(port, "bundle", Said(interface.master, where))
        port.addresses.extend(Said(address, where) for address in interface.addresses)
    for route in record.routes:
        name = f"route.{route.network}.{route.table or 'main'}.{route.interface}"
        host.set(name, route.gateway or "direct", at.place(record.line, route.path))
    for rule in record.rules:
        host.set(f"rule.{rule.priority}.{rule.source}", rule.table, at.place(record.line, rule.path))


def gather_variables(variables: tuple[Variable, ...], at: At, host: HostDraft) -> None:
    """Take what collective libraries are told."""
    host.covers |= {"host"}
    for variable in variables:
        host.set(variable.name, variable.value, at.place(variable.line, variable.name))


def gather_settings(settings: tuple[KernelSetting, ...], at: At, host: HostDraft) -> None:
    """Take settings of the kernel."""
    host.covers |= {"host"}
    for setting in settings:
        host.set(setting.key, setting.value, at.place(setting.line, setting.key))


def gather_packets(packets: tuple[RocePacket, ...], at: At, host: HostDraft) -> None:
    """Take packets on the wire: whether one host sends to several others from one UDP port, or from many.

    One port to one destination may be one queue pair, which says nothing.
    """
    sent: dict[str, list[RocePacket]] = {}
    for packet in packets:
        sent.setdefault(packet.source, []).append(packet)
    owners = {address.value.partition("/")[0]: port for port in host.ports.values() for address in port.addresses}
    for source, own in sent.items():
        ports, peers = {packet.source_port for packet in own}, {packet.destination for packet in own}
        if source not in owners and len(sent) > 1:
            continue
        if len(ports) > 1 or len(peers) > 1:
            where = at.place(own[0].line)
            port = owners.get(source) or host.port(at.named, where)
            host.covers |= {"nics"}
            host.put(port, NIC + "source_port", Said("varying" if len(ports) > 1 else "fixed", where))


GATHERERS: dict[str, Callable[[Any, At, HostDraft], None]] = {
    "mlnx_qos": gather_qos,
    "ethtool": gather_ethtool,
    "show_gids": gather_gids,
    "ibv_devinfo": gather_devinfo,
    "ibdev2netdev": gather_links,
    "cma_roce": gather_mark,
    "mlxconfig": gather_firmware,
    "dcb": gather_dcb,
    "ip": gather_ip,
    "tcpdump": gather_packets,
    "nccl": gather_variables,
    "sysctl": gather_settings,
}
