"""Traffic classes out of SONiC's maps, schedulers and marking profiles: from many tables back to one intent."""

from __future__ import annotations

from weftline.formats.config_db import Row
from weftline.model.intent import FactValue
from weftline.vendors.sonic.file import SwitchFile
from weftline.vendors.sonic.read_buffers import read_queue_shares

_MAPS = {
    "dscp_to_tc_map": ("DSCP_TO_TC_MAP", 63),
    "tc_to_queue_map": ("TC_TO_QUEUE_MAP", 7),
    "tc_to_pg_map": ("TC_TO_PRIORITY_GROUP_MAP", 7),
    "pfc_to_queue_map": ("MAP_PFC_PRIORITY_TO_QUEUE", 7),
    "pfc_to_pg_map": ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", 7),
}
_SCHEDULES = {"STRICT": "strict", "DWRR": "weighted"}
_COLOURS = ("green", "yellow", "red")


def read_classes(file: SwitchFile) -> None:
    """Read each class that a DSCP leads to; what ports say differently is said several times."""
    maps = {field: _read_map(file, field) for field in _MAPS}
    dscps: dict[int, list[int]] = {}
    for dscp, tc in sorted(maps["dscp_to_tc_map"].items()):
        dscps.setdefault(tc, []).append(dscp)
    table = _MAPS["dscp_to_tc_map"][0]
    class_of: dict[int, int] = {}
    for tc, members in sorted(dscps.items()):
        file.say(f"queues.classes.{tc}.dscps", tuple(members), table)
        for field, name in (("tc_to_pg_map", "group"), ("tc_to_queue_map", "queue")):
            if tc in maps[field]:
                file.say(f"queues.classes.{tc}.{name}", maps[field][tc], f"{_MAPS[field][0]}")
        queue = maps["tc_to_queue_map"].get(tc)
        if queue is not None:
            class_of[queue] = tc
    _read_priorities(file, maps["pfc_to_queue_map"], class_of)
    _check_groups(file, maps, class_of)
    _read_queues(file, class_of)
    read_queue_shares(file, class_of)


def _read_map(file: SwitchFile, field: str) -> dict[int, int]:
    """Read the map of one kind that ports refer to; ports that refer to different maps are a problem."""
    table, top = _MAPS[field]
    used = {row[field]: name for name, row in file.rows("PORT_QOS_MAP").items() if field in row}
    found: dict[int, int] = {}
    for name, port in used.items():
        if name not in file.rows(table):
            file.blame("artifact.dangling", f"there is no {table} {name[:40]!r}", f"PORT_QOS_MAP.{port}.{field}")
            continue
        for key, text in file.rows(table)[name].items():
            where = f"{table}.{name}.{key}"
            index = file.read_int(key, 0, top, where)
            value = file.read_int(text, 0, 7, where)
            if index is None or value is None:
                continue
            if found.setdefault(index, value) != value:
                file.blame("artifact.said-twice", f"ports use several maps, and {key} is {found[index]} too", where)
    return found


def _read_priorities(file: SwitchFile, queue_of: dict[int, int], class_of: dict[int, int]) -> None:
    said: dict[int, int] = {}
    paused = {p for fact in file.facts if fact.path.endswith(".pause_priorities") for p in _numbers(fact.value)}
    for priority in sorted(paused):
        tc = class_of.get(queue_of.get(priority, -1))
        where = f"MAP_PFC_PRIORITY_TO_QUEUE: {priority}"
        if tc is None:
            file.blame("artifact.dangling", f"priority {priority} pauses, and no class belongs to it", where)
        elif said.setdefault(tc, priority) != priority:
            file.blame("artifact.said-twice", f"priorities {said[tc]} and {priority} pause for class {tc}", where)
        else:
            file.say(f"queues.classes.{tc}.priority", priority, where)


def _check_groups(file: SwitchFile, maps: dict[str, dict[int, int]], class_of: dict[int, int]) -> None:
    """Hold the group that a pause counts for against the group that its packets wait in."""
    for priority, group in sorted(maps["pfc_to_pg_map"].items()):
        tc = class_of.get(maps["pfc_to_queue_map"].get(priority, -1))
        meant = None if tc is None else maps["tc_to_pg_map"].get(tc)
        if group != meant:
            where = f"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP: {priority}"
            file.blame("artifact.unexpected", f"priority {priority} pauses for group {group}, not {meant}", where)


def _numbers(value: FactValue) -> list[int]:
    return [item for item in value if isinstance(item, int)] if isinstance(value, tuple) else []


def _read_queues(file: SwitchFile, class_of: dict[int, int]) -> None:
    seen: set[tuple[int, str | None, str | None]] = set()
    said: set[tuple[str, FactValue]] = set()
    for key, row in file.rows("QUEUE").items():
        where = f"QUEUE.{key}"
        port, _, text = key.partition("|")
        queue = file.read_int(text, 0, 7, where)
        if port not in file.number:
            file.blame("artifact.dangling", f"there is no port {port[:40]!r}", where)
        if queue is None or queue not in class_of:
            continue
        kind = (queue, row.get("scheduler"), row.get("wred_profile"))
        if kind in seen:
            continue  # it names what an earlier row named, and nothing was wrong with that
        problems = len(file.reading.problems)
        found = _read_scheduler(file, row, where) | _read_marks(file, row, where)
        if len(file.reading.problems) == problems:
            seen.add(kind)
        for name, value in found.items():
            if (f"{queue}.{name}", value) not in said:
                said.add((f"{queue}.{name}", value))
                file.say(f"queues.classes.{class_of[queue]}.{name}", value, where)


def _read_scheduler(file: SwitchFile, row: Row, where: str) -> dict[str, FactValue]:
    name = row.get("scheduler", "")
    scheduler = file.rows("SCHEDULER").get(name)
    if scheduler is None:
        file.blame("artifact.dangling", f"there is no SCHEDULER {name[:40]!r}", f"{where}.scheduler")
        return {}
    schedule = _SCHEDULES.get(scheduler.get("type", ""))
    if schedule is None:
        file.blame("artifact.out-of-range", f"type is {scheduler.get('type')!r}", f"SCHEDULER.{name}.type")
        return {}
    found: dict[str, FactValue] = {"schedule": schedule}
    weight = file.read_int(scheduler.get("weight"), 1, 100, f"SCHEDULER.{name}.weight")
    if weight is not None:
        found["weight"] = weight
    return found


def _read_marks(file: SwitchFile, row: Row, where: str) -> dict[str, FactValue]:
    name = row.get("wred_profile")
    if name is None:
        return {}
    profile = file.rows("WRED_PROFILE").get(name)
    if profile is None:
        file.blame("artifact.dangling", f"there is no WRED_PROFILE {name[:40]!r}", f"{where}.wred_profile")
        return {}
    base = f"WRED_PROFILE.{name}"
    if profile.get("ecn") != "ecn_all":
        file.blame("artifact.unexpected", "marking is not on for every colour", f"{base}.ecn")
    found: dict[str, FactValue] = {}
    for field, key, high in (
        ("mark_min_bytes", "min_threshold", 2**40),
        ("mark_max_bytes", "max_threshold", 2**40),
        ("mark_percent", "drop_probability", 100),
    ):
        values = {file.read_int(profile.get(f"{c}_{key}"), 0, high, f"{base}.{c}_{key}") for c in _COLOURS}
        value = values.pop() if len(values) == 1 else None
        if value is None:
            file.blame("artifact.unexpected", f"colours differ in {key}", base)
        else:
            found[field] = value
    return found
