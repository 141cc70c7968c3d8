"""What a host's files say, read back word by word."""

from __future__ import annotations

import re

from weftline.errors import Place
from weftline.formats.lines import Reading, read_number
from weftline.model.artifact import ArtifactSet
from weftline.model.observed import Fact, ObservedConfig
from weftline.render.observe import Reader, observe_files
from weftline.vendors.host.classes import read_classes
from weftline.vendors.host.columns import COLUMNS, NOTHING
from weftline.vendors.host.script import SHARED
from weftline.vendors.host.writing import NAME

_DEVICE = re.compile(r"^[A-Za-z0-9_.-]{1,40}:1$")
_SETTING = re.compile(r"^([a-z0-9_.-]{1,80}) = (\S{1,80})$")
_NUMBERS = {
    "NCCL_IB_GID_INDEX": ("host.gid_index", 255),
    "NCCL_IB_TC": ("host.traffic_class", 255),
    "NCCL_IB_SL": ("host.service_level", 15),
    "NCCL_IB_PKEY": ("host.partition_index", 65_535),
    "NCCL_IB_QPS_PER_CONNECTION": ("host.queue_pairs", 128),
}
_VARIABLES = {
    f"{library}_IB_{name}": path
    for library in ("UCX", "NVSHMEM")
    for name, path in (("TRAFFIC_CLASS", "host.traffic_class"), ("GID_INDEX", "host.gid_index"))
}
_SWITCHES = {
    "NCCL_CROSS_NIC": ("host.keeps_rail", {"0": True, "1": False}),
    "NCCL_IB_SPLIT_DATA_ON_QPS": ("host.splits_data", {"0": False, "1": True}),
}


def observe(artifacts: ArtifactSet) -> tuple[ObservedConfig, ...]:
    """Read the files of each host; the script that they share must be ours, byte for byte."""
    return observe_files(artifacts, NAME, _READERS)


def read_nics(content: bytes, reading: Reading) -> list[Fact]:
    """Read the list of NICs."""
    facts: list[Fact] = []
    seen: set[int] = set()
    for line, text in reading.lines(content):
        words = text.split()
        if words == ["nic", *(column.name for column in COLUMNS)]:
            continue
        where = reading.place(line)
        number = read_number(words[0], 1, 4096)
        if number is None or len(words) != len(COLUMNS) + 1:
            reading.report("artifact.unreadable-line", f"line is no NIC with {len(COLUMNS)} columns", where)
            continue
        if number in seen:
            reading.report("artifact.said-twice", f"NIC {number} stands twice", where)
        seen.add(number)
        for column, word in zip(COLUMNS, words[1:], strict=True):
            path = column.path.format(number)
            value = ("" if column.name == "peer" else None) if word == NOTHING else column.read(word)
            if value is not None:
                facts.append(Fact(path, value, reading.place(line, column.name)))
            elif word != NOTHING:
                message = f"{column.name} is {word[:40]!r}, which it cannot be"
                reading.report("artifact.out-of-range", message, reading.place(line, column.name))
    return facts


def _read_nccl(content: bytes, reading: Reading) -> list[Fact]:
    facts: list[Fact] = []
    seen: set[str] = set()
    for line, text in reading.lines(content):
        name, _, value = text.partition("=")
        where = reading.place(line, name)
        if name in seen:
            reading.report("artifact.said-twice", f"{name} stands twice", where)
        seen.add(name)
        if name == "NCCL_IB_HCA":
            # Without '=' a name stands for all that begin with it.
            facts.extend(_read_devices(value[1:] if value[:1] == "=" else "", where, reading))
        elif name in _NUMBERS:
            path, high = _NUMBERS[name]
            number = read_number(value, 0, high)
            if number is None:
                reading.report("artifact.out-of-range", f"{value[:40]!r} is no number from 0 to {high}", where)
            else:
                facts.append(Fact(path, number, where))
        elif name in _SWITCHES:
            path, meanings = _SWITCHES[name]
            if value in meanings:
                facts.append(Fact(path, meanings[value], where))
            else:
                reading.report("artifact.out-of-range", f"{value[:40]!r} is neither 0 nor 1", where)
        else:
            reading.report("artifact.unreadable-line", f"{name[:40]!r} is not known here", where)
    return facts


def _read_variables(content: bytes, reading: Reading) -> list[Fact]:
    facts: list[Fact] = []
    for line, text in reading.lines(content):
        name, _, value = text.partition("=")
        where = reading.place(line, name)
        if name in {"UCX_NET_DEVICES", "NVSHMEM_HCA_LIST"}:
            facts.extend(_read_devices(value, where, reading))
            continue
        number = read_number(value, 0, 255)
        if name not in _VARIABLES:
            reading.report("artifact.unreadable-line", f"{name[:40]!r} is not known here", where)
        elif number is None:
            reading.report("artifact.out-of-range", f"{value[:40]!r} is no number from 0 to 255", where)
        else:
            facts.append(Fact(_VARIABLES[name], number, where))
    return facts


def _read_devices(text: str, where: Place, reading: Reading) -> list[Fact]:
    devices = text.split(",")
    if all(_DEVICE.fullmatch(device) for device in devices):
        return [Fact("host.devices", tuple(device.partition(":")[0] for device in devices), where)]
    reading.report("artifact.out-of-range", f"{text[:60]!r} is no exact list of devices", where)
    return []


def _read_settings(content: bytes, reading: Reading) -> list[Fact]:
    facts: list[Fact] = []
    for line, text in reading.lines(content):
        match = _SETTING.fullmatch(text)
        if match is None:
            reading.report("artifact.unreadable-line", "line is no setting", reading.place(line))
        else:
            facts.append(Fact(f"host.settings.{match[1]}.value", match[2], reading.place(line, match[1])))
    return facts


def _read_shared(text: str) -> Reader:
    def read(content: bytes, reading: Reading) -> list[Fact]:
        if content != text.encode():
            reading.report("artifact.unexpected", "the file is not the one that Weftline writes", reading.place())
        return []

    return read


_READERS: dict[str, Reader] = {
    "nics.conf": read_nics,
    "classes.conf": read_classes,
    "collectives.env": _read_variables,
    "nccl.conf": _read_nccl,
    "sysctl.conf": _read_settings,
    **{path.rpartition("/")[-1]: _read_shared(text) for path, text in SHARED.items()},
}
