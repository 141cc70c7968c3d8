"""How packets are sorted, paused and watched: the maps that each port refers to, and what it says itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from weftline.formats.config_db_keys import read_number, read_numbers
from weftline.model.observed_port import Numbers, ObservedWatchdog
from weftline.model.said import Said
from weftline.vendors.sonic.held import SHOWN, Held, Switch, once
from weftline.vendors.sonic.links import find_port
from weftline.vendors.sonic.ports import MapField, PortDraft, Ports

MAX_CLASS = 15
"""sonic-types.yang: a traffic class is 0 to 15."""
USUAL_CLASS = 8
"""The highest class that shipped maps use: Spectrum sorts bounced packets into 8; a chip with fewer refuses the map."""
MAX_QUEUE = 19
MAX_GROUP = 15
GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class MapKind:
    """One kind of map: the field that refers to it, its table, and the bounds of both sides."""

    field: str
    table: str
    target: MapField
    """The field of a port that it fills."""
    top: int
    high: int


KINDS = (
    MapKind("dscp_to_tc_map", "DSCP_TO_TC_MAP", "class_of_dscp", 63, MAX_CLASS),
    MapKind("dot1p_to_tc_map", "DOT1P_TO_TC_MAP", "class_of_pcp", 7, MAX_CLASS),
    MapKind("tc_to_queue_map", "TC_TO_QUEUE_MAP", "queue_of_class", MAX_CLASS, MAX_QUEUE),
    MapKind("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "group_of_class", MAX_CLASS, MAX_GROUP),
    MapKind("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", "queue_of_priority", 7, MAX_QUEUE),
    MapKind("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "group_of_priority", 7, MAX_GROUP),
    MapKind("tc_to_dscp_map", "TC_TO_DSCP_MAP", "dscp_of_class", MAX_CLASS, 63),
)


@dataclass
class _Maps:
    """The maps of a switch, each read once."""

    switch: Switch
    read: dict[str, Numbers] = field(default_factory=dict[str, Numbers])
    said: dict[str, Said[Numbers]] = field(default_factory=dict[str, Said[Numbers]])

    def follow(self, row: Held, kind: MapKind) -> Said[Numbers] | None:
        """Read the map that a row refers to; its place is that of the map, which is what must be mended most often."""
        target = self.switch.target(row, kind.field, kind.table)
        if target is None:
            return None
        return once(self.said, f"{kind.field}|{target.key}", lambda: Said(self.numbers(target, kind), target.place()))

    def numbers(self, target: Held, kind: MapKind) -> Numbers:
        return once(self.read, f"{kind.table}|{target.key}", lambda: self._read(target, kind))

    def _read(self, target: Held, kind: MapKind) -> Numbers:
        found: dict[int, int] = {}
        for name in target.fields:
            text = target.text(name) or ""
            key, value = read_number(name), read_number(text)
            self._check(target, name, key, kind.top)
            self._check(target, name, value, kind.high, text)
            if key is not None and value is not None:
                found[key] = value
        return found

    def _check(self, target: Held, name: str, value: int | None, high: int, text: str | None = None) -> None:
        shown = (name if text is None else text)[:SHOWN]
        if value is None or not 0 <= value <= high:
            self.switch.blame("artifact.out-of-range", f"{shown!r} is no number from 0 to {high}", target.place(name))
        elif high == MAX_CLASS and value > USUAL_CLASS and not target.table.endswith("PRIORITY_GROUP_MAP"):
            message = f"traffic class {value} is above {USUAL_CLASS}: most chips have eight, 0 to 7"
            hint = "a chip that lacks the class refuses the whole map"
            self.switch.blame("artifact.out-of-range", message, target.place(name), hint, "warning")


def sort_ports(switch: Switch, ports: Ports) -> None:
    """Give each port its maps, pauses and watchdog.

    Only ``dscp_to_tc_map`` of the row ``global`` holds for ports that name none themselves; SONiC ignores its other
    fields (sonic-swss orchagent/qosorch.cpp, handleGlobalQosMap).
    """
    maps = _Maps(switch)
    for key, row in switch.rows("PORT_QOS_MAP").items():
        for name in (piece.strip() for piece in key.split(",")):
            port = None if key == GLOBAL else find_port(switch, ports, name, row.place())
            if port is not None:
                _sort_port(switch, maps, port, row)
    for_all = switch.row("PORT_QOS_MAP", GLOBAL)
    if for_all is not None:
        _sort_others(switch, maps, ports, for_all)
    for kind in KINDS:
        for target in switch.rows(kind.table).values():
            maps.numbers(target, kind)


def _sort_others(switch: Switch, maps: _Maps, ports: Ports, row: Held) -> None:
    """Give the map of the row ``global`` to ports that name none, and blame what it cannot say."""
    for name in row.fields:
        if name != KINDS[0].field:
            message = f"SONiC takes only {KINDS[0].field} for all ports, and ignores {name}"
            hint = "name it in the row of each port"
            switch.blame("artifact.unexpected", message, row.place(name), hint, "warning")
    found = maps.follow(row, KINDS[0])
    for name in [*(switch.rows("PORT") or ports)] if found is not None else []:
        port = ports[name]
        if port.class_of_dscp is None and found is not None:
            port.class_of_dscp = found
            port.trust = Said("dscp" if port.class_of_pcp is None else "both", found.where)


def _sort_port(switch: Switch, maps: _Maps, port: PortDraft, row: Held) -> None:
    for kind in KINDS:
        found = maps.follow(row, kind)
        if found is not None:
            setattr(port, kind.target, found)
    port.pauses = _read_priorities(switch, row, "pfc_enable") or port.pauses
    port.watched = _read_priorities(switch, row, "pfcwd_sw_enable") or port.watched
    port.sorted_at = row.place()
    by_dscp, by_pcp = port.class_of_dscp, port.class_of_pcp
    if by_dscp is not None:
        port.trust = Said("dscp" if by_pcp is None else "both", by_dscp.where)
    elif by_pcp is not None:
        port.trust = Said("pcp", by_pcp.where)


def _read_priorities(switch: Switch, row: Held, name: str) -> Said[tuple[int, ...]] | None:
    text = row.text(name)
    if text is None:
        return None
    where = row.place(name)
    values = read_numbers(text)
    if values is None or any(not 0 <= value <= 7 for value in values):
        switch.blame("artifact.out-of-range", f"{text[:SHOWN]!r} is no list of priorities 0 to 7", where)
    if values is not None and len(set(values)) != len(values):
        switch.blame("artifact.said-twice", f"a priority stands twice in {text[:SHOWN]!r}", where, "", "warning")
    return None if values is None else Said(tuple(sorted(set(values))), where)


def watch_ports(switch: Switch, ports: Ports) -> ObservedWatchdog | None:
    """Give each port its watchdog; return what holds for all of them."""
    for_all = None
    for key, row in switch.rows("PFC_WD").items():
        if key == "GLOBAL":
            for_all = ObservedWatchdog(row.place(), poll_ms=switch.number(row, "POLL_INTERVAL", 100, 1000))
            continue
        for name in (piece.strip() for piece in key.split(",")):
            port = find_port(switch, ports, name, row.place())
            if port is not None:
                port.watchdog = _read_watchdog(switch, row)
    return for_all


def _read_watchdog(switch: Switch, row: Held) -> ObservedWatchdog:
    actions = {action: action for action in ("drop", "forward", "alert")}
    return ObservedWatchdog(
        row.place(),
        detect_ms=switch.number(row, "detection_time", 100, 5000),
        restore_ms=switch.number(row, "restoration_time", 100, 60000),
        action=switch.choice(row, "action", actions),
    )
