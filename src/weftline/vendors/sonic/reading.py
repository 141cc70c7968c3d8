"""What a ``config_db.json`` says of one switch, read back strictly, each fact with its path in the file."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

from weftline.formats.config_db import read_tables
from weftline.formats.lines import Reading, read_numbers
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import FactValue
from weftline.model.observed import ObservedConfig
from weftline.vendors.sonic.classes import read_classes
from weftline.vendors.sonic.file import SwitchFile
from weftline.vendors.sonic.patching import FILE as PATCH
from weftline.vendors.sonic.patching import judge_change
from weftline.vendors.sonic.read_buffers import read_buffers
from weftline.vendors.sonic.read_hash import read_hash
from weftline.vendors.sonic.read_tenancy import read_tenancy
from weftline.vendors.sonic.writing import NAME

_ALIAS = re.compile(r"^etp([1-9][0-9]{0,3})([a-h]?)$")
_LENGTH = re.compile(r"^([1-9][0-9]{0,5})m$")
MAX_MBPS = 10_000_000
MAX_LANE = 4096
MAX_NUMBER = 4_294_967_295


def observe(artifacts: ArtifactSet) -> tuple[ObservedConfig, ...]:
    """Read the file of each switch, and hold the patch beside it against it."""
    own = [artifact for artifact in artifacts.artifacts if artifact.vendor == NAME]
    patches = {artifact.path: artifact for artifact in own if artifact.path.endswith(f"/{PATCH}")}
    files = [artifact for artifact in own if artifact.path not in patches]
    beside = {f"{file.path.rpartition('/')[0]}/{PATCH}": file for file in files}
    found = [_observe_switch(file, patches.get(patch)) for patch, file in beside.items()]
    return (*found, *(_observe_alone(patch) for path, patch in patches.items() if path not in beside))


def _observe_alone(patch: Artifact) -> ObservedConfig:
    reading = Reading(patch.path)
    judge_change(patch, None, reading)
    return ObservedConfig(patch.device, NAME, (patch.path,), (), tuple(reading.problems))


def _observe_switch(artifact: Artifact, patch: Artifact | None) -> ObservedConfig:
    reading = Reading(artifact.path)
    file = SwitchFile(read_tables(artifact.content, reading), reading)
    for read in _STEPS:
        read(file)
    problems, paths = reading.problems, (artifact.path,)
    if patch is not None:
        change = Reading(patch.path)
        judge_change(patch, artifact, change)
        problems, paths = [*problems, *change.problems], (artifact.path, patch.path)
    return ObservedConfig(artifact.device, NAME, paths, tuple(file.facts), tuple(problems))


def _read_device(file: SwitchFile) -> None:
    row = file.rows("DEVICE_METADATA").get("localhost", {})
    where = "DEVICE_METADATA.localhost.bgp_asn"
    number = file.read_int(row.get("bgp_asn"), 1, MAX_NUMBER, where)
    if number is not None:
        file.say("forwarding.exchange.number", number, where)


def _read_ports(file: SwitchFile) -> None:
    aliases = {name: _ALIAS.fullmatch(row.get("alias", "")) for name, row in file.rows("PORT").items()}
    per_cage = max((_place(match) for match in aliases.values() if match is not None), default=0) + 1
    taken: set[int] = set()
    for name, row in file.rows("PORT").items():
        where = f"PORT.{name}"
        match = aliases[name]
        number = 0 if match is None else (int(match[1]) - 1) * per_cage + _place(match) + 1
        if match is None or number in taken or bool(match[2]) != (per_cage > 1):
            file.blame("artifact.unreadable-line", "alias does not say which port it is", f"{where}.alias")
            continue
        taken.add(number)
        file.number[name] = number
        file.say(f"ports.{number}.peer", row.get("description", ""), f"{where}.description")
        file.say(f"ports.{number}.is_up", row.get("admin_status") == "up", f"{where}.admin_status")
        speed = file.read_int(row.get("speed", ""), 1, MAX_MBPS, f"{where}.speed")
        if speed is not None:
            file.say(f"ports.{number}.rate_gbps", speed / 1000, f"{where}.speed")
        mtu = file.read_int(row.get("mtu"), 68, 9216, f"{where}.mtu")
        if mtu is not None:
            file.say(f"ports.{number}.mtu", mtu, f"{where}.mtu")
        if "fec" in row:
            file.say(f"ports.{number}.fec", row["fec"], f"{where}.fec")
        if "lanes" in row:
            _read_lanes(file, number, row["lanes"], f"{where}.lanes")
        if row.get("pfc_asym", "off") != "off":
            file.blame("artifact.unexpected", "asymmetric pause is on", f"{where}.pfc_asym")


def _read_lanes(file: SwitchFile, number: int, text: str, where: str) -> None:
    lanes = read_numbers(text, 0, MAX_LANE)
    if lanes is None:
        file.blame("artifact.out-of-range", f"{text[:40]!r} is no list of lanes", where)
    else:
        file.say(f"ports.{number}.lanes", lanes, where)


def _place(match: re.Match[str]) -> int:
    """Place of a port in its cage, from 0."""
    return ord(match[2]) - ord("a") if match[2] else 0


def _read_cables(file: SwitchFile) -> None:
    for name, row in file.rows("CABLE_LENGTH").items():
        for port, text in row.items():
            where = f"CABLE_LENGTH.{name}.{port}"
            match = _LENGTH.fullmatch(text)
            if match is None:
                file.blame("artifact.out-of-range", f"{text[:40]!r} is no length in metres", where)
            elif _knows_port(file, port, where):
                file.say(f"ports.{file.number[port]}.length_m", int(match[1]), where)


def _knows_port(file: SwitchFile, port: str, where: str) -> bool:
    if port in file.number:
        return True
    file.blame("artifact.dangling", f"there is no port {port[:40]!r}", where)
    return False


def _read_interfaces(file: SwitchFile) -> None:
    for key in file.rows("INTERFACE"):
        name, _, address = key.partition("|")
        where = f"INTERFACE.{key}"
        if _knows_port(file, name, where) and address and _is_address(file, address, where):
            file.say(f"ports.{file.number[name]}.address", address, where)
    for key in file.rows("LOOPBACK_INTERFACE"):
        address = key.partition("|")[2]
        where = f"LOOPBACK_INTERFACE.{key}"
        if address and _is_address(file, address, where):
            file.say("forwarding.exchange.router_address", address, where)


def _is_address(file: SwitchFile, text: str, where: str) -> bool:
    try:
        ipaddress.IPv4Interface(text)
    except ValueError:
        file.blame("artifact.out-of-range", f"{text[:40]!r} is no IPv4 address with its prefix length", where)
        return False
    return True


def _read_pauses(file: SwitchFile) -> None:
    for name, row in file.rows("PORT_QOS_MAP").items():
        if name == "global" or not _knows_port(file, name, f"PORT_QOS_MAP.{name}"):
            continue
        for key, path in (("pfc_enable", "pause_priorities"), ("pfcwd_sw_enable", "watched_priorities")):
            if key in row:
                where = f"PORT_QOS_MAP.{name}.{key}"
                values = read_numbers(row[key], 0, 7)
                if values is None:
                    file.blame("artifact.out-of-range", f"{row[key][:40]!r} is no list of priorities 0 to 7", where)
                else:
                    file.say(f"ports.{file.number[name]}.{path}", values, where)


def _read_watchdog(file: SwitchFile) -> None:
    seen: set[tuple[str, FactValue]] = set()
    for name, row in file.rows("PFC_WD").items():
        base = f"PFC_WD.{name}"
        if name == "GLOBAL":
            value = file.read_int(row.get("POLL_INTERVAL"), 100, 1000, f"{base}.POLL_INTERVAL")
            if value is not None:
                file.say("queues.watchdog.poll_ms", value, f"{base}.POLL_INTERVAL")
            continue
        if not _knows_port(file, name, base):
            continue
        found: dict[str, FactValue | None] = {
            "detect_ms": file.read_int(row.get("detection_time"), 100, 5000, f"{base}.detection_time"),
            "restore_ms": file.read_int(row.get("restoration_time"), 100, 60000, f"{base}.restoration_time"),
            "action": row.get("action"),
        }
        for key, value in found.items():
            if value is not None and (key, value) not in seen:
                seen.add((key, value))
                file.say(f"queues.watchdog.{key}", value, base)


_STEPS: tuple[Callable[[SwitchFile], None], ...] = (
    _read_device, _read_ports, _read_cables, _read_interfaces, _read_pauses, read_classes, _read_watchdog, read_buffers,
    read_hash, read_tenancy,
)  # fmt: skip
