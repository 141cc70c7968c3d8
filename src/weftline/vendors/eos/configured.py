"""Running configurations that anybody wrote, as observed devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weftline.errors import Place
from weftline.formats import eos
from weftline.formats.config_text import ConfigLine, ConfigText
from weftline.formats.eos import expand_numbers
from weftline.formats.route_map import read_route_maps
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import Numbers, ObservedMarks, ObservedPort, ObservedWatchdog, Trust
from weftline.model.said import Said
from weftline.vendors.eos.file import NAME, EosFile
from weftline.vendors.eos.filters import read_filters, read_mirrors
from weftline.vendors.eos.interfaces import number_ports, read_interfaces
from weftline.vendors.eos.routing import read_tenancy
from weftline.vendors.eos.traffic import Traffic, read_watchdog

COVERS = frozenset({
    "ports", "classes", "pauses", "marks", "schedule", "watchdog", "mtu", "tenancy", "routing", "filters", "mirrors",
})  # fmt: skip
"""Buffers are in no public sample of this platform's lines, so nothing is said of them."""
_BUFFERS = (("platform",), ("hardware", "buffer"), ("mmu",), ("buffer",))
_SILENT = frozenset({
    "hostname", "service", "transceiver", "spanning-tree", "aaa", "username", "ntp", "logging", "management",
    "snmp-server", "daemon", "alias", "banner", "clock", "dns", "lldp", "queue-monitor", "tacacs-server",
    "radius-server", "enable", "no", "default", "ip", "ipv6", "mac", "vlan", "interface", "vrf", "router", "qos",
    "monitor", "sflow", "route-map", "peer-filter", "class-map", "policy-map", "arp", "event-handler", "errdisable",
    "end", "terminal", "load-interval", "prompt", "agent", "mlag", "link", "switchport", "priority-flow-control",
    "boot", "schedule", "dhcp", "match-list", "tap", "bfd", "system",
})  # fmt: skip
"""First words of lines outside blocks that are read elsewhere, or decide nothing of what is judged."""


def recognise(name: str, head: bytes) -> str | None:
    """Name the form of a file, by its first bytes."""
    del name
    return NAME if eos.looks_like(head) else None


def configure(files: Sequence[tuple[str, bytes]]) -> tuple[ObservedDevice, ...]:
    """Read files of any number of devices; a second file of one name is a device of its own."""
    return tuple(_read_device(name, data) for name, data in files)


def _read_device(name: str, data: bytes) -> ObservedDevice:
    text = eos.read_eos(data, name)
    head = eos.find_device(data)
    file = EosFile(name, list(text.problems))
    profiles = {line.words[2]: line for line in text.find("qos", "profile") if len(line.words) > 2}
    heads = [line for line in text.find("interface") if len(line.words) > 1]
    read = read_interfaces(file, heads, profiles)
    maps = _read_maps(file, text)
    plain = {key: port for key, (port, _) in read.items()}
    tenancy = read_tenancy(file, text.lines, plain)
    everyone = Traffic()
    for line in text.find("priority-flow-control", "pause", "watchdog"):
        read_watchdog(file, everyone, list(line.words[3:]), line)
    joined = {key: _join(port, traffic, maps, everyone.watchdog) for key, (port, traffic) in read.items()}
    ports = number_ports([_follow(port, joined) for port in joined.values()])
    for line in text.lines:
        _count(file, line)
    hostname = next((line.words[1] for line in text.find("hostname") if len(line.words) > 1), None)
    where = Place(name, head.line) if head is not None else None
    filters = read_filters(file, text.lines, ports)
    return ObservedDevice(
        name=hostname or (head.name if head is not None else _stem(name)),
        role="switch",
        vendor=NAME,
        files=(name,),
        platform=None if head is None or where is None else Said(head.model, where),
        release=None if head is None or where is None else Said(head.release, where),
        ports=tuple(ports),
        watchdog=everyone.watchdog,
        vrfs=tuple(tenancy.vrfs.values()),
        routers=tuple(tenancy.routers),
        tunnel=tenancy.tunnel,
        filters=filters,
        route_maps=read_route_maps(name, text.lines),
        mirrors=read_mirrors(file, text.lines),
        tables=(("filters", "ip access-list"),),
        unread=tuple(sorted(file.unread.items())),
        covers=COVERS,
        problems=tuple(file.problems),
    )


def _stem(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2].partition(".")[0]


def _count(file: EosFile, line: ConfigLine) -> None:
    """Count what decides about buffers, and what nobody here knows."""
    if any(line.body[: len(words)] == words for words in _BUFFERS):
        file.pass_over(f"{' '.join(line.body[:3])} (buffers)")
    elif line.words[0] not in _SILENT:
        file.pass_over(" ".join(line.body[:2]))


DSCP_DEFAULTS = {dscp: (1, 0, 2, 3, 4, 5, 6, 7)[dscp // 8] for dscp in range(64)}
"""Traffic classes of a switch whose map was not changed. Arista EOS manual, 'Quality of Service', default maps."""

REWRITE_DEFAULTS = {0: 8, 1: 0, 2: 16, 3: 24, 4: 32, 5: 40, 6: 48, 7: 56}
"""DSCPs of traffic classes where they are rewritten and no line says another. The same."""


class _Maps:
    """Maps of the whole switch; ports share the very objects."""

    def __init__(self) -> None:
        self.class_of_dscp: dict[int, int] = {}
        self.class_of_pcp: dict[int, int] = {}
        self.queue_of_class: dict[int, int] = {}
        self.dscp_of_class: dict[int, int] = {}
        self.where: dict[str, Place] = {}
        self.rewrites: Place | None = None
        self.written: Numbers = REWRITE_DEFAULTS
        self.spares_unmarked: Said[bool] | None = None
        self.all_off: Said[bool] | None = None

    def sort(self, trust: Said[Trust] | None) -> Said[Numbers] | None:
        """Say the whole map of DSCPs: what lines say over the switch's own, which a port with trust in DSCP has too."""
        where = self.where.get("class_of_dscp")
        if where is None and (trust is None or trust.value != "dscp"):
            return None
        if len(self.class_of_dscp) < len(DSCP_DEFAULTS):
            self.class_of_dscp = DSCP_DEFAULTS | self.class_of_dscp
        place = where if where is not None else trust.where if trust is not None else None
        return None if place is None else Said(self.class_of_dscp, place)

    def said(self, kind: str) -> Said[Numbers] | None:
        """Say a map, or nothing where no line makes it."""
        values: dict[int, int] = getattr(self, kind)
        return Said(values, self.where[kind]) if kind in self.where else None


def _read_maps(file: EosFile, text: ConfigText) -> _Maps:
    maps = _Maps()
    for line in text.find("qos", "map"):
        _read_map(file, maps, line)
    maps.written = REWRITE_DEFAULTS | maps.dscp_of_class
    for line in text.lines:
        if line.words == ("qos", "rewrite", "dscp"):
            maps.rewrites = file.place(line)
        elif line.starts("qos", "random-detect", "ecn", "allow", "non-ect"):
            maps.spares_unmarked = file.said(value=False, line=line)
        elif line.starts("priority-flow-control", "all", "off"):
            maps.all_off = file.said(value=False, line=line)
    return maps


def _read_map(file: EosFile, maps: _Maps, line: ConfigLine) -> None:
    words = list(line.words[2:])
    if "to" not in words:
        return
    at = words.index("to")
    source, target = words[0], words[at + 1 : at + 3]
    kinds = {
        ("dscp", "traffic-class"): ("class_of_dscp", 63, 7),
        ("cos", "traffic-class"): ("class_of_pcp", 7, 7),
        ("traffic-class", "tx-queue"): ("queue_of_class", 7, 7),
        ("traffic-class", "uc-tx-queue"): ("queue_of_class", 7, 7),
        ("traffic-class", "dscp"): ("dscp_of_class", 7, 63),
    }
    kind = kinds.get((source, target[0] if target else ""))
    if kind is None or len(target) < 2:
        if source not in {"exp", "traffic-class"}:
            file.pass_over(f"qos map {source}")
        return
    field, high, top = kind
    value = file.number(target[1], 0, top, line)
    for text in words[1:at]:
        keys = expand_numbers(text)
        if keys is None or any(key > high for key in keys):
            file.blame("artifact.out-of-range", f"{text[:40]!r} is no {source} from 0 to {high}", line)
        elif value is not None:
            maps.where.setdefault(field, file.place(line))
            getattr(maps, field).update(dict.fromkeys(keys, value.value))
            if field == "queue_of_class":  # classes that no line names keep the queue of their number
                maps.queue_of_class = {key: key for key in range(8)} | maps.queue_of_class


def _watch(own: ObservedWatchdog | None, common: ObservedWatchdog | None) -> ObservedWatchdog | None:
    """Lay the timers of a port over those of all ports."""
    if own is None or common is None:
        return own if common is None or common.detect_ms is None else common
    return ObservedWatchdog(
        own.where,
        own.detect_ms or common.detect_ms,
        own.restore_ms or common.restore_ms,
        own.poll_ms or common.poll_ms,
        own.action or common.action,
    )


def _join(port: ObservedPort, traffic: Traffic, maps: _Maps, common: ObservedWatchdog | None) -> ObservedPort:
    """Put what the profile and the maps of the switch say onto one port."""
    if not port.name.startswith(("Ethernet", "Port-Channel")):
        return port
    rewritten = None
    if maps.rewrites is not None:
        rewritten = Said(maps.written, maps.rewrites)
    pauses = traffic.pauses
    if maps.all_off is not None:
        pauses = Said((), maps.all_off.where)
    queues = [traffic.queues[key] for key in sorted(traffic.queues)]
    if maps.spares_unmarked is not None:
        queues = [replace(queue, marks=_spare(queue.marks, maps.spares_unmarked)) for queue in queues]
    return replace(
        port,
        trust=traffic.trust,
        class_of_dscp=maps.sort(traffic.trust),
        class_of_pcp=maps.said("class_of_pcp"),
        queue_of_class=maps.said("queue_of_class"),
        dscp_of_class=rewritten,
        pauses=pauses,
        watched=traffic.watched,
        watchdog=_watch(traffic.watchdog, common if traffic.watched is not None else None),
        queues=tuple(queues),
    )


def _follow(port: ObservedPort, ports: dict[str, ObservedPort]) -> ObservedPort:
    """Give a member of a LAG what the LAG says of traffic: its own lines do not count there."""
    whole = ports.get(port.bundle.value) if port.bundle is not None else None
    if whole is None:
        return port
    names = ("trust", "pauses", "watched", "watchdog", "queues", "mtu", "vrf", "vlans")
    return replace(port, **{name: getattr(whole, name) or getattr(port, name) for name in names})


def _spare(marks: ObservedMarks | None, said: Said[bool]) -> ObservedMarks | None:
    return None if marks is None else replace(marks, drops_unmarked=marks.drops_unmarked or said)
