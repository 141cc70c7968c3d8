"""No file makes the reader of SONiC raise, and whatever it reads names files, lines and paths."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.formats.test_sonic_show import BUFFERS, COUNTERS, HEADROOM, HISTORY
from tests.unit.vendors.test_sonic_configured import FILE, LEAF
from tests.unit.vendors.test_sonic_shown import QUEUES, STATUS, STORMS, WATCHDOG
from weftline.model.observed import ObservedDevice
from weftline.vendors.sonic.configured import configure, recognise

OUTPUTS = (BUFFERS, COUNTERS, HEADROOM, HISTORY, QUEUES, STATUS, STORMS, WATCHDOG)
ODD: list[Any] = [
    None, True, 3, -1, 1.5, 10**40, "", " ", "64", "-1", "NULL", "\u0663", "Ethernet0", "|", ",", "[BUFFER_PROFILE|",
    "0-99999", "9" * 50, [], {}, ["x"], [1], {"x": "y"}, {"x": {"y": {}}}, "x" * 5000, "3,3", "\x00", "10.0.0.1/33",
]  # fmt: skip
NAMES = [
    "global", "GLOBAL", "Ethernet0", "Ethernet0|3", "Ethernet0|3-4", "Ethernet999|3", "a|b|Ethernet0|3", "ROCE",
    "localhost", "", "|", "||", "Vlan101", "Vlan0", "PortChannel1|Ethernet0", "64", "NULL", "ports@",
]  # fmt: skip


def list_places(tables: dict[str, Any]) -> list[tuple[str, ...]]:
    """List the paths of tables, rows and fields."""
    found: list[tuple[str, ...]] = []
    for table, rows in tables.items():
        found.append((table,))
        for key, row in rows.items():
            found.append((table, key))
            found += [(table, key, name) for name in row]
    return found


PLACES = list_places(LEAF)


@st.composite
def bent(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a configuration in which some tables, rows and fields are another thing, another name, or gone."""
    tables: Any = copy.deepcopy(LEAF)
    for _ in range(draw(st.integers(1, 12))):
        *path, last = draw(st.sampled_from(PLACES))
        inner: Any = tables
        for name in path:
            inner = cast("dict[str, Any]", inner).get(name) if isinstance(inner, dict) else None
        if not isinstance(inner, dict):
            continue
        inner = cast("dict[str, Any]", inner)
        if last not in inner:
            continue
        kind = draw(st.sampled_from(["value", "name", "gone", "flat"]))
        if kind == "value":
            inner[last] = draw(st.sampled_from(ODD))
        elif kind == "name":
            inner[draw(st.sampled_from(NAMES))] = inner.pop(last)
        elif kind == "gone":
            del inner[last]
        elif len(path) == 1:
            tables[f"{path[0]}|{last}"] = inner.pop(last)
    return tables


def check(device: ObservedDevice, files: set[str]) -> None:
    """Hold what every reader promises."""
    assert set(device.files) <= files
    for where in [*list_wheres(device), *(problem.where for problem in device.problems)]:
        assert where is not None
        assert where.file in files
        assert where.line is None or where.line > 0
    names = [port.name for port in device.ports]
    assert len(names) == len(set(names))


def list_wheres(device: ObservedDevice) -> Iterator[Any]:
    for port in device.ports:
        yield port.where
        for group in port.groups:
            yield group.where
        for queue in port.queues:
            yield queue.where
    for item in (*device.pools, *device.vrfs, *device.routers, *device.filters, *device.mirrors, *device.evidence):
        yield item.where


@given(bent(), st.booleans())
@settings(max_examples=300)
def test_a_bent_configuration_is_read(tables: dict[str, Any], is_wrapped: bool) -> None:
    content = json.dumps({"asic0": tables} if is_wrapped else tables, indent=1).encode()
    for device in configure([(FILE, content)]):
        check(device, {FILE})


@given(st.data())
@settings(max_examples=200)
def test_broken_bytes_are_read(data: st.DataObject) -> None:
    files = {FILE: bytearray(json.dumps(LEAF, indent=1).encode()), "leaf-003/a.txt": bytearray(b"".join(OUTPUTS))}
    for content in files.values():
        for _ in range(data.draw(st.integers(0, 4))):
            at = data.draw(st.integers(0, len(content)))
            piece = data.draw(st.binary(max_size=4) | st.sampled_from([b"{", b'"', b"\n", b"  ", b"----", b"[", b"|"]))
            content[at : at + data.draw(st.integers(0, 60))] = piece
        if data.draw(st.booleans()):
            del content[data.draw(st.integers(0, len(content))) :]
    for device in configure([(name, bytes(content)) for name, content in files.items()]):
        check(device, set(files))


@given(
    st.binary(max_size=300), st.sampled_from(["a.json", "config_db.json", "x/config_db.json", "a.txt", "", "/", "a/"])
)
def test_any_bytes_under_any_name_are_read(content: bytes, name: str) -> None:
    recognise(name, content)
    for device in configure([(name, content)]):
        assert device.problems
        assert device.role == "unknown"


def test_huge_and_deep_files_end_in_one_problem() -> None:
    for content in (
        b'{"PORT": {' + b" " * 100_000_000,
        b"[" * 1_000_000,
        b'{"PORT":' * 1_000_000,
        b'{"PORT": {"Ethernet0": {"mtu": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}}",
        b"\x00" * 1_000_000,
    ):
        (device,) = configure([(FILE, content)])
        assert [problem.code for problem in device.problems] == ["artifact.not-json"]
        assert device.role == "unknown"


def test_many_ports_and_many_problems_stay_bounded() -> None:
    ports = {f"Ethernet{number}": {"speed": "x", "mtu": "x"} for number in range(20_000)}
    queues = {f"Ethernet{number}|0-7": {"scheduler": "x"} for number in range(20_000)}
    (device,) = configure([(FILE, json.dumps({**LEAF, "PORT": ports, "QUEUE": queues}).encode())])
    assert len(device.ports) == 20_003
    assert len(device.problems) < 1_000
