"""OpenSM's options file: written whole, and read back strictly; keys are only ever named in it."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Final

from weftline.errors import Place
from weftline.formats.lines import Reading, read_number
from weftline.model.intent import DeviceIntent, FactValue
from weftline.model.observed import Fact
from weftline.model.seats import ManagerIntent
from weftline.vendors.opensm import lanes
from weftline.vendors.opensm.lanes import INSTALL, Options

FILE: Final = "opensm.conf"
UNFILLED: Final = "opensm.conf.in"
"""Name of the file while keys are only named in it: OpenSM would take a key that it cannot read for none."""
ENGINE: Final = "file,no_fallback"
SECRETS: Final = ("m_key", "sa_key", "sm_key")
MAX_SECONDS: Final = 65_535
MAX_PROTECTION: Final = 3
FIXED = MappingProxyType(
    {
        "routing_engine": ENGINE,
        "lfts_file": f"{INSTALL}/lfts.conf",
        "root_guid_file": f"{INSTALL}/root-guids.conf",
        "node_name_map_name": f"{INSTALL}/node-name-map",
        # A manager that takes over keeps the LIDs of the file, and no sweep hands out others.
        "honor_guid2lid_file": "TRUE",
        "reassign_lids": "FALSE",
        "max_wire_smps": "50",
        "sweep_on_trap": "TRUE",
        "use_ucast_cache": "FALSE",
        "log_flags": "0x03",
        "force_log_flush": "TRUE",
    }
)
"""Options that are the same for every subnet."""
STANDBY = MappingProxyType(
    # Priority of the master; others have theirs on the command line. A standby asks for it every second and takes over
    # after four times without an answer, long before a lease ends.
    {"sm_priority": "15", "sminfo_polling_timeout": "1000", "polling_retry_number": "4"}
)
Said = list[tuple[str, FactValue]]


def name_file(intent: DeviceIntent) -> str:
    """Name the options file of a subnet."""
    return UNFILLED if intent.manager is not None and intent.manager.secrets else FILE


def placeholder(secret: str) -> str:
    """Write what stands for a key until its file is filled in."""
    return f"@{secret}@"


def write_options(intent: DeviceIntent) -> str:
    """Write one option to a line, in the order of their names."""
    return "".join(f"{name} {value}\n" for name, value in sorted(list_options(intent).items()))


def list_options(intent: DeviceIntent) -> dict[str, str]:
    """List the options by name."""
    options = {**FIXED, "qos": "FALSE"}
    if intent.manager is not None:
        options.update(_list_manager(intent.manager))
    if intent.keys is not None:
        options["lmc"] = str(intent.keys.multipath_bits)
    if intent.isolation is not None:
        options["partition_config_file"] = f"{INSTALL}/partitions.conf"
        options["part_enforce"] = intent.isolation.enforcement
        options["allow_both_pkeys"] = "TRUE" if intent.isolation.allows_both else "FALSE"
    if intent.service is not None:
        options.update(lanes.list_options(intent.service))
    return options


def _list_manager(manager: ManagerIntent) -> dict[str, str]:
    options = {**STANDBY, "sweep_interval": str(manager.sweep_interval_s)}
    options.update({secret: placeholder(secret) for secret in manager.secrets})
    if manager.lease_s is not None:
        options["m_key_lease_period"] = str(manager.lease_s)
    if manager.protection is not None:
        options["m_key_protection_level"] = str(manager.protection)
    return options


def read_options(content: bytes, reading: Reading) -> list[Fact]:
    """Read the options that say what the subnet does; those that are always the same must be so."""
    options: Options = {}
    for number, text in reading.lines(content):
        name, _, value = text.partition(" ")
        where = reading.place(number, name)
        if name in options:
            reading.report("artifact.said-twice", f"option {name} stands twice", where)
        if not value:
            reading.report("artifact.unreadable-line", f"option {name} has no value", where)
        options.setdefault(name, (value, where))
    facts: list[Fact] = []
    for name, (value, where) in options.items():
        reader = _READERS.get(name)
        if reader is not None:
            facts.extend(Fact(path, said, where) for path, said in reader(value, reading, where))
    facts.extend(_read_secrets(options, reading))
    facts.extend(lanes.read_service(options, reading))
    _check_fixed(options, reading)
    return facts


def _check_fixed(options: Options, reading: Reading) -> None:
    for name, wanted in {**FIXED, **(STANDBY if "sweep_interval" in options else {})}.items():
        value, where = options.get(name, ("", reading.place()))
        if value != wanted:
            message = f"{name} is {value[:80]!r}, and Weftline writes {wanted}"
            if name == "routing_engine":
                message += ": our tables are not loaded"
            reading.report("artifact.unexpected", message, where)


def _read_secrets(options: Options, reading: Reading) -> list[Fact]:
    """Read which keys are set; a value in their place is a problem, and is never repeated."""
    found: list[str] = []
    for secret in SECRETS:
        if secret not in options:
            continue
        value, where = options[secret]
        if value == placeholder(secret):
            found.append(secret)
        else:
            message = f"{secret} has a value, and rendered files only name keys"
            reading.report("artifact.secret", message, where, "the value is filled in where OpenSM runs")
    return [Fact("manager.secrets", tuple(found), options[found[0]][1])] if found else []


def _read_bounded(path: str, name: str, low: int, high: int) -> Callable[[str, Reading, Place], Said]:
    def read(value: str, reading: Reading, where: Place) -> Said:
        number = read_number(value, low, high)
        if number is None:
            message = f"{name} is {value[:80]!r}, and lies between {low} and {high:,}"
            reading.report("artifact.out-of-range", message, where)
            return []
        return [(path, number)]

    return read


def _read_enforcement(value: str, reading: Reading, where: Place) -> Said:
    if value not in {"both", "in", "out", "off"}:
        reading.report("artifact.out-of-range", f"part_enforce is {value[:80]!r}", where)
    return [("isolation.enforcement", value)]


def _read_both(value: str, reading: Reading, where: Place) -> Said:
    if value not in {"TRUE", "FALSE"}:
        reading.report("artifact.out-of-range", f"allow_both_pkeys is {value[:80]!r}", where)
    return [("isolation.allows_both", value == "TRUE")]


_READERS: dict[str, Callable[[str, Reading, Place], Said]] = {
    "lmc": _read_bounded("keys.multipath_bits", "lmc", 0, 7),
    "sweep_interval": _read_bounded("manager.sweep_interval_s", "sweep_interval", 1, MAX_SECONDS),
    "m_key_lease_period": _read_bounded("manager.lease_s", "m_key_lease_period", 0, MAX_SECONDS),
    "m_key_protection_level": _read_bounded("manager.protection", "m_key_protection_level", 0, MAX_PROTECTION),
    "part_enforce": _read_enforcement,
    "allow_both_pkeys": _read_both,
}
