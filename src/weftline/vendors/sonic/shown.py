"""What a running switch showed: counters and watermarks as evidence, and settings to hold against the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from weftline.errors import Place
from weftline.formats.config_db_keys import read_number, read_references
from weftline.formats.sonic_show import ShownBlock, ShownTable, ShownText, read_count
from weftline.kernels.column import NIL
from weftline.model.observed import Evidence
from weftline.model.observed_port import ObservedGroup, ObservedPort
from weftline.model.said import Said
from weftline.vendors.sonic.held import SHOWN, Switch

Cells = Mapping[str, str]
_NUMBERED = re.compile(r"(?:PFC|PG|UC|ALL)([0-9]{1,2})")
_QUEUE = re.compile(r"(.+):([0-9]{1,2})")
_PAIR = re.compile(r"([0-9,]{1,24})/([0-9,]{1,24})")
_WATERMARKS = (
    ("Ingress headroom per PG", "headroom-watermark"),
    ("Ingress shared pool occupancy per PG", "group-watermark"),
    ("Egress shared pool occupancy per", "queue-watermark"),
    ("Ingress PG dropped packets", "group-drops"),
)
_POOLS = (
    ("Shared pool maximum occupancy", "pool-watermark"),
    ("Headroom pool maximum occupancy", "headroom-pool-watermark"),
)
_SPEED = re.compile(r"([0-9]{1,4}(?:\.[0-9])?)([GM])")


@dataclass
class Shown:
    """What the outputs of one switch say, while they are read."""

    switch: Switch
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Port by its alias, since outputs can be set to print those."""
    evidence: list[Evidence] = field(default_factory=list[Evidence])
    pools: dict[str, dict[str, Said[int]]] = field(default_factory=dict[str, dict[str, Said[int]]])
    """Numbers of the pools that the running switch has; one that it sizes itself has them only here."""
    profiles: dict[str, dict[str, Said[int]]] = field(default_factory=dict[str, dict[str, Said[int]]])
    """Numbers of the buffer profiles that the running switch has, those among them that it computed."""
    unread: dict[str, int] = field(default_factory=dict[str, int])

    def read(self, text: ShownText, hosts: frozenset[str]) -> None:
        """Read the tables and blocks of one file that stand after a prompt of these hosts; an empty one is none."""
        for table in text.tables:
            if table.host in hosts:
                self._read_table(text.file, table)
        for block in text.blocks:
            if block.host in hosts:
                self._read_block(text.file, block)
        for poll in text.polls:
            if poll.host in hosts:
                where = Place(text.file, poll.line)
                self.compare_row("PFC_WD", "GLOBAL", "POLL_INTERVAL", str(poll.milliseconds), where)

    def _read_table(self, file: str, table: ShownTable) -> None:
        for test, read in _READERS:
            if test(table):
                for row in table.rows:
                    read(self, table, dict(zip(table.columns, row.cells, strict=True)), Place(file, row.line))
                return
        name = table.title or " ".join(table.columns[:3])
        self.unread[name[:SHOWN]] = self.unread.get(name[:SHOWN], 0) + len(table.rows)

    def port(self, name: str) -> str:
        """Return the name of a port, also where its alias is printed."""
        return name if name in self.switch.rows("PORT") else self.aliases.get(name, name)

    def count(self, kind: str, port: str, key: int, text: str, where: Place, factor: int = 1) -> None:
        """Keep a number; what is none is blamed, ``N/A`` says nothing."""
        value = read_count(text)
        if value is not None:
            self.evidence.append(Evidence(kind, port, key, value * factor, where))
        elif text not in {"N/A", "-", ""}:
            self.switch.blame("artifact.out-of-range", f"{text[:SHOWN]!r} is no count", where, severity="warning")

    def _compare(self, name: str, running: str, configured: str | None, where: Place) -> None:
        """Say that the running switch does something else than its file says."""
        if configured is None or running in {"N/A", ""}:
            return
        plain = configured.strip()
        numbers = read_number(running.replace(",", "")), read_number(plain)
        if running != plain and (None in numbers or numbers[0] != numbers[1]):
            message = f"{name} is {running[:SHOWN]!r} on the running switch and {plain[:SHOWN]!r} in its file"
            hint = "save the running configuration, or load the file"
            self.switch.blame("artifact.said-twice", message, where, hint, "warning")

    def compare_row(self, table: str, key: str, name: str, running: str, where: Place) -> None:
        """Hold a value against the field of a row, where the files have that row."""
        row = self.switch.row(table, key)
        if row is not None:
            self._compare(f"{name} of {key[:SHOWN]}", running, row.text(name), where)

    def _read_block(self, file: str, block: ShownBlock) -> None:
        tables = ("BUFFER_POOL",) if block.kind == "Pool" else ("BUFFER_PROFILE", "WRED_PROFILE")
        for name, (value, line) in block.fields.items():
            where = Place(file, line)
            if block.kind == "Pool" and (size := read_count(value)) is not None:
                self.pools.setdefault(block.name, {})[name] = Said(size, where)
            if block.kind == "Profile" and (number := read_number(value)) is not None:
                self.profiles.setdefault(block.name, {})[name] = Said(number, where)
            for table in tables if block.name else ():
                row = self.switch.row(table, block.name)
                configured = None if row is None else row.text(name)
                if configured is not None and name == "pool":
                    plain = [", ".join(said.name for said in read_references(text)) for text in (value, configured)]
                    self._compare(f"pool of {block.name[:SHOWN]}", plain[0], plain[1], where)
                else:
                    self._compare(f"{name} of {block.name[:SHOWN]}", value, configured, where)

    def fill(self, port: ObservedPort) -> ObservedPort:
        """Give groups whose headroom the switch computes what it computed, by the name that it gives their profile.

        The name is ``pg_lossless_SPEED_CABLE_profile``, with the MTU in it where that is not the usual one (doc/qos/
        dynamically-headroom-calculation.md of sonic-net/SONiC).
        """
        if port.rate_gbps is None or port.length_m is None or not any(_is_computed(group) for group in port.groups):
            return port
        base = f"pg_lossless_{round(port.rate_gbps.value * 1000)}_{port.length_m.value:g}m_"
        mtu = "" if port.mtu is None else f"mtu{port.mtu.value}_"
        found = self.profiles.get(f"{base}{mtu}profile") or self.profiles.get(f"{base}profile")
        if found is None:
            return port
        groups = tuple(_fill_group(group, found) if _is_computed(group) else group for group in port.groups)
        return replace(port, groups=groups)


def _is_computed(group: ObservedGroup) -> bool:
    return group.is_computed is not None and group.is_computed.value


def _fill_group(group: ObservedGroup, found: Mapping[str, Said[int]]) -> ObservedGroup:
    return replace(
        group,
        size_bytes=found.get("size"),
        xoff_bytes=found.get("xoff"),
        xon_bytes=found.get("xon"),
        xon_offset_bytes=found.get("xon_offset"),
        dynamic_th=found.get("dynamic_th"),
    )


def _read_numbered(kind: str) -> Callable[[Shown, ShownTable, Cells, Place], None]:
    """Make a reader of one count per priority, group or queue."""

    def read(shown: Shown, table: ShownTable, cells: Cells, where: Place) -> None:
        port = shown.port(cells[table.columns[0]])
        for name, text in cells.items():
            if match := _NUMBERED.fullmatch(name):
                shown.count(kind, port, int(match[1]), text, where)

    return read


def _read_pool(kind: str) -> Callable[[Shown, ShownTable, Cells, Place], None]:
    def read(shown: Shown, table: ShownTable, cells: Cells, where: Place) -> None:
        shown.count(kind, cells[table.columns[0]], NIL, cells[table.columns[1]], where)

    return read


def _read_history(shown: Shown, _: ShownTable, cells: Cells, where: Place) -> None:
    match = _NUMBERED.fullmatch(cells.get("Priority", ""))
    if match is None:
        return
    for name, text in cells.items():
        if name.startswith("Total RX Pause Time"):
            factor = 1000 if name.endswith("MS") else 1
            shown.count("pause-received-time", shown.port(cells["Port"]), int(match[1]), text, where, factor)


def _read_storms(shown: Shown, _: ShownTable, cells: Cells, where: Place) -> None:
    match = _QUEUE.fullmatch(cells["QUEUE"])
    if match is None:
        message = f"{cells['QUEUE'][:SHOWN]!r} is no port with its queue, as Ethernet0:3"
        shown.switch.blame("artifact.out-of-range", message, where, severity="warning")
        return
    port, key = shown.port(match[1]), int(match[2])
    storms = _PAIR.fullmatch(cells["STORM DETECTED/RESTORED"])
    if storms is not None:
        shown.count("storms-detected", port, key, storms[1], where)
        shown.count("storms-restored", port, key, storms[2], where)
    pairs = [_PAIR.fullmatch(cells.get(name, "")) for name in ("TX OK/DROP", "RX OK/DROP")]
    lost = [read_count(pair[2]) or 0 for pair in pairs if pair is not None]
    if lost:
        shown.count("storm-drops", port, key, str(sum(lost)), where)


def _read_watchdog(shown: Shown, _: ShownTable, cells: Cells, where: Place) -> None:
    port = shown.port(cells["PORT"])
    names = {"ACTION": "action", "DETECTION TIME": "detection_time", "RESTORATION TIME": "restoration_time"}
    for shown_name, name in names.items():
        shown.compare_row("PFC_WD", port, name, cells.get(shown_name, "N/A"), where)


def _read_asymmetric(shown: Shown, _: ShownTable, cells: Cells, where: Place) -> None:
    shown.compare_row("PORT", shown.port(cells["Interface"]), "pfc_asym", cells["Asymmetric"], where)


def _read_status(shown: Shown, _: ShownTable, cells: Cells, where: Place) -> None:
    port = shown.port(cells["Interface"])
    match = _SPEED.fullmatch(cells.get("Speed", ""))
    if match is not None:
        speed = round(float(match[1]) * (1000 if match[2] == "G" else 1))
        shown.compare_row("PORT", port, "speed", str(speed), where)
    for shown_name, name in (("MTU", "mtu"), ("FEC", "fec"), ("Admin", "admin_status"), ("Asym PFC", "pfc_asym")):
        shown.compare_row("PORT", port, name, cells.get(shown_name, "N/A"), where)


def _read_queues(shown: Shown, table: ShownTable, cells: Cells, where: Place) -> None:
    match = _NUMBERED.fullmatch(cells[table.columns[1]])
    if match is None:
        return
    port = shown.port(cells["Port"])
    for name, kind in (("Drop/pkts", "queue-drops"), ("EcnMarked/pkts", "marked")):
        if name in cells:
            shown.count(kind, port, int(match[1]), cells[name], where)


def _read_counters(shown: Shown, _: ShownTable, cells: Cells, where: Place) -> None:
    shown.count("port-drops", shown.port(cells["IFACE"]), NIL, cells["RX_DRP"], where)


def _has(*columns: str) -> Callable[[ShownTable], bool]:
    return lambda table: set(columns) <= set(table.columns)


def _titled(title: str) -> Callable[[ShownTable], bool]:
    return lambda table: table.title.startswith(title) and len(table.columns) > 1


_READERS: tuple[tuple[Callable[[ShownTable], bool], Callable[[Shown, ShownTable, Cells, Place], None]], ...] = (
    (_has("Port Rx"), _read_numbered("pause-received")),
    (_has("Port Tx"), _read_numbered("pause-sent")),
    (_has("Port", "Priority", "RX Pause Transitions"), _read_history),
    *((_titled(title), _read_numbered(kind)) for title, kind in _WATERMARKS),
    *((_titled(title), _read_pool(kind)) for title, kind in _POOLS),
    (_has("QUEUE", "STORM DETECTED/RESTORED"), _read_storms),
    (_has("PORT", "DETECTION TIME"), _read_watchdog),
    (_has("Interface", "Asymmetric"), _read_asymmetric),
    (_has("Interface", "Oper", "Admin"), _read_status),
    (_has("Port", "TxQ", "Drop/pkts"), _read_queues),
    (_has("IFACE", "RX_DRP"), _read_counters),
)
