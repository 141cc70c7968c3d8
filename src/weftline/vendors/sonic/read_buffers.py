"""Buffers out of SONiC's tables: from pools and profiles back to what groups and queues have."""

from __future__ import annotations

from weftline.formats.config_db import Row
from weftline.model.intent import FactValue
from weftline.vendors.sonic.file import SwitchFile
from weftline.vendors.sonic.write_buffers import COMPUTED, DEFAULTS

MAX_BYTES = 2**40
_GROUP_FIELDS = {"size": "size_bytes", "xon": "xon_bytes", "xoff": "xoff_bytes", "xon_offset": "xon_offset_bytes"}
_DEVICE_FIELDS = (
    ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "over_subscribe_ratio", "buffers.over_subscribe_ratio", 255),
    ("LOSSLESS_TRAFFIC_PATTERN", "mtu", "buffers.lossless_mtu", 9216),
    ("LOSSLESS_TRAFFIC_PATTERN", "small_packet_percentage", "buffers.small_packet_percent", 100),
)


def read_buffers(file: SwitchFile) -> None:
    """Read pools, profiles, and what each group has."""
    model = file.rows("DEVICE_METADATA").get("localhost", {}).get("buffer_model")
    if model is not None:
        file.say("buffers.model", model, "DEVICE_METADATA.localhost.buffer_model")
    for name, row in file.rows("BUFFER_POOL").items():
        _read_pool(file, name, row)
    for name, row in file.rows("BUFFER_PROFILE").items():
        if "xoff" not in row:
            _read_share(file, name, row)
    for table, field, path, high in _DEVICE_FIELDS:
        where = f"{table}.{DEFAULTS}.{field}"
        _say_number(file, path, file.rows(table).get(DEFAULTS, {}).get(field), high, where)
    where = f"DEFAULT_LOSSLESS_BUFFER_PARAMETER.{DEFAULTS}.default_dynamic_th"
    text = file.rows("DEFAULT_LOSSLESS_BUFFER_PARAMETER").get(DEFAULTS, {}).get("default_dynamic_th")
    _say_threshold(file, "buffers.dynamic_th", text, where)
    for key, row in file.rows("BUFFER_PG").items():
        _read_group(file, key, row)


def read_queue_shares(file: SwitchFile, class_of: dict[int, int]) -> None:
    """Read which share the queue of each class has."""
    seen: set[tuple[int, str]] = set()
    for key, row in file.rows("BUFFER_QUEUE").items():
        where = f"BUFFER_QUEUE.{key}"
        port, _, text = key.partition("|")
        queue = file.read_int(text, 0, 7, where)
        if port not in file.number:
            file.blame("artifact.dangling", f"there is no port {port[:40]!r}", where)
            continue
        profile = _find_profile(file, row, where)
        if queue is None or queue not in class_of or profile is None or (queue, profile) in seen:
            continue
        seen.add((queue, profile))
        file.say(f"queues.classes.{class_of[queue]}.share", profile, where)


def _read_pool(file: SwitchFile, name: str, row: Row) -> None:
    base, path = f"BUFFER_POOL.{name}", f"buffers.pools.{name}"
    for field, key, known in (("type", "direction", ("ingress", "egress")), ("mode", "mode", ("dynamic", "static"))):
        if row.get(field) in known:
            file.say(f"{path}.{key}", row[field], f"{base}.{field}")
        else:
            file.blame("artifact.out-of-range", f"{field} is {row.get(field)!r}", f"{base}.{field}")
    _say_number(file, f"{path}.size_bytes", row.get("size"), MAX_BYTES, f"{base}.size")
    _say_number(file, f"{path}.headroom_bytes", row.get("xoff"), MAX_BYTES, f"{base}.xoff")


def _read_share(file: SwitchFile, name: str, row: Row) -> None:
    base, path = f"BUFFER_PROFILE.{name}", f"buffers.shares.{name}"
    _say_pool(file, f"{path}.pool", row, base)
    _say_number(file, f"{path}.size_bytes", row.get("size"), MAX_BYTES, f"{base}.size")
    _say_number(file, f"{path}.static_bytes", row.get("static_th"), MAX_BYTES, f"{base}.static_th")
    _say_threshold(file, f"{path}.dynamic_th", row.get("dynamic_th"), f"{base}.dynamic_th")


def _read_group(file: SwitchFile, key: str, row: Row) -> None:
    where = f"BUFFER_PG.{key}"
    port, _, text = key.partition("|")
    number = file.read_int(text, 0, 7, where)
    if port not in file.number:
        file.blame("artifact.dangling", f"there is no port {port[:40]!r}", where)
        return
    path = f"ports.{file.number[port]}.groups.{number}"
    if row.get("profile") == COMPUTED:
        file.say(f"{path}.is_computed", value=True, where=f"{where}.profile")
        return
    name = _find_profile(file, row, where)
    if name is None or number is None:
        return
    profile = file.rows("BUFFER_PROFILE")[name]
    if "xoff" not in profile:
        file.say(f"{path}.share", name, f"{where}.profile")
        return
    base = f"BUFFER_PROFILE.{name}"
    _say_pool(file, f"{path}.pool", profile, base)
    for field, said in _GROUP_FIELDS.items():
        _say_number(file, f"{path}.{said}", profile.get(field), MAX_BYTES, f"{base}.{field}")
    _say_threshold(file, f"{path}.dynamic_th", profile.get("dynamic_th"), f"{base}.dynamic_th")


def _find_profile(file: SwitchFile, row: Row, where: str) -> str | None:
    name = row.get("profile", "")
    if name in file.rows("BUFFER_PROFILE"):
        return name
    file.blame("artifact.dangling", f"there is no BUFFER_PROFILE {name[:40]!r}", f"{where}.profile")
    return None


def _say_pool(file: SwitchFile, path: str, row: Row, base: str) -> None:
    pool = row.get("pool", "")
    if pool not in file.rows("BUFFER_POOL"):
        file.blame("artifact.dangling", f"there is no BUFFER_POOL {pool[:40]!r}", f"{base}.pool")
    else:
        file.say(path, pool, f"{base}.pool")


def _say_number(file: SwitchFile, path: str, text: str | None, high: int, where: str) -> None:
    value: FactValue | None = file.read_int(text, 0, high, where)
    if value is not None:
        file.say(path, value, where)


def _say_threshold(file: SwitchFile, path: str, text: str | None, where: str) -> None:
    """Read a power of two from -8 to 7."""
    if text is None:
        return
    value = file.read_int(text.removeprefix("-"), 0, 8, where)
    if value is not None:
        file.say(path, -value if text.startswith("-") else value, where)
