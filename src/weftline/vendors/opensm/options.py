"""OpenSM's options file: written whole, and read back strictly."""

from __future__ import annotations

from collections.abc import Callable

from weftline.errors import Place
from weftline.formats.lines import Reading, read_number
from weftline.model.intent import DeviceIntent, FactValue
from weftline.model.observed import Fact
from weftline.vendors.opensm import lanes
from weftline.vendors.opensm.lanes import INSTALL, Options

FILE = "opensm.conf"
ENGINE = "file,no_fallback"
Said = list[tuple[str, FactValue]]


def write_options(intent: DeviceIntent) -> str:
    """Write one option to a line, in the order of their names."""
    options = {
        "routing_engine": ENGINE,
        "lfts_file": f"{INSTALL}/lfts.conf",
        "root_guid_file": f"{INSTALL}/root-guids.conf",
        "node_name_map_name": f"{INSTALL}/node-name-map",
        "honor_guid2lid_file": "TRUE",
        "max_wire_smps": "50",
        "sweep_interval": "10",
        "qos": "FALSE",
    }
    if intent.keys is not None:
        options["lmc"] = str(intent.keys.multipath_bits)
    if intent.isolation is not None:
        options["partition_config_file"] = f"{INSTALL}/partitions.conf"
        options["part_enforce"] = intent.isolation.enforcement
    if intent.service is not None:
        options.update(lanes.list_options(intent.service))
    return "".join(f"{name} {value}\n" for name, value in sorted(options.items()))


def read_options(content: bytes, reading: Reading) -> list[Fact]:
    """Read the options that say what the subnet does; others must only have a value."""
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
    facts.extend(lanes.read_service(options, reading))
    return facts


def _read_engine(value: str, reading: Reading, where: Place) -> Said:
    if value != ENGINE:
        reading.report("artifact.unexpected", f"routing_engine is {value!r}: our tables are not loaded", where)
    return []


def _read_lmc(value: str, reading: Reading, where: Place) -> Said:
    bits = read_number(value, 0, 7)
    if bits is None:
        reading.report("artifact.out-of-range", f"lmc is {value!r}, and lies between 0 and 7", where)
        return []
    return [("keys.multipath_bits", bits)]


def _read_enforcement(value: str, reading: Reading, where: Place) -> Said:
    if value not in {"both", "in", "out", "off"}:
        reading.report("artifact.out-of-range", f"part_enforce is {value!r}", where)
    return [("isolation.enforcement", value)]


_READERS: dict[str, Callable[[str, Reading, Place], Said]] = {
    "routing_engine": _read_engine,
    "lmc": _read_lmc,
    "part_enforce": _read_enforcement,
}
