"""``ip -j addr|link|route|rule``: interfaces, addresses, routes and rules of a host."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output

MAX_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface."""

    name: str
    mtu: int | None
    master: str
    """The bond or bridge that it belongs to; empty for none."""
    is_up: bool | None
    """Whether an administrator switched it on."""
    addresses: tuple[str, ...]
    """With prefix length, those of the link itself left out."""
    path: str
    """Where it stands in the file, as ``[3]``."""


@dataclass(frozen=True, slots=True)
class Route:
    """One route."""

    network: str
    gateway: str
    interface: str
    table: str
    path: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that chooses a table."""

    priority: int
    source: str
    table: str
    path: str


@dataclass(frozen=True, slots=True)
class IpRecord:
    """What one output says; only one of the three is filled."""

    line: int
    interfaces: tuple[Interface, ...] = ()
    routes: tuple[Route, ...] = ()
    rules: tuple[Rule, ...] = ()


def looks_like(head: bytes) -> bool:
    """Tell the output by the first key of the first object."""
    text = head.lstrip()
    return text.startswith(b"[{") and any(
        key in text[:200] for key in (b'"ifindex"', b'"dst"', b'"priority"', b'"ifname"')
    )


def parse(output: Output, log: ProblemLog) -> IpRecord:
    """Read one output; objects of another kind are named with their place in the file."""
    text = "\n".join(output.lines)
    try:
        data = json.loads(text) if len(text) <= MAX_BYTES else None
    except (ValueError, RecursionError) as error:
        line = output.first + (error.lineno - 1 if isinstance(error, json.JSONDecodeError) else 0)
        log.add("artifact.not-json", f"the output is no JSON: {str(error)[:120]}", "give the whole output", line)
        return IpRecord(output.first)
    if not isinstance(data, list):
        log.add("artifact.host-value", "the output is no list of objects", "", output.first, 1, "warning")
        return IpRecord(output.first)
    interfaces: list[Interface] = []
    routes: list[Route] = []
    rules: list[Rule] = []
    for place, item in _objects(cast("list[object]", data), output.first, log):
        path = f"[{place}]"
        if "ifname" in item:
            interfaces.append(_read_interface(item, path))
        elif "dst" in item and "table" in item and "priority" in item:
            rules.append(_read_rule(item, path))
        elif "dst" in item:
            gateway, interface = _word(item, "gateway"), _word(item, "dev")
            routes.append(Route(_word(item, "dst"), gateway, interface, _word(item, "table"), path))
        elif "priority" in item:
            rules.append(_read_rule(item, path))
        elif item:
            message = f"object {path} is neither interface, route nor rule"
            log.add("artifact.host-value", message, "", output.first, 1, "warning")
    return IpRecord(output.first, tuple(interfaces), tuple(routes), tuple(rules))


def _objects(data: list[object], line: int, log: ProblemLog) -> Iterator[tuple[int, dict[str, object]]]:
    for place, item in enumerate(data):
        if isinstance(item, dict):
            yield place, cast("dict[str, object]", item)
        else:
            log.add("artifact.host-value", f"item [{place}] is no object", "", line, 1, "warning")


def _read_interface(item: dict[str, object], path: str) -> Interface:
    mtu = item.get("mtu")
    flags = item.get("flags")
    addresses: list[str] = []
    entries = item.get("addr_info")
    for entry in cast("list[object]", entries) if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            info = cast("dict[str, object]", entry)
            if info.get("scope") != "link" and isinstance(info.get("local"), str):
                addresses.append(f"{_word(info, 'local')}/{info.get('prefixlen', '')}")
    return Interface(
        _word(item, "ifname"),
        mtu if type(mtu) is int else None,
        _word(item, "master"),
        "UP" in cast("list[object]", flags) if isinstance(flags, list) else None,
        tuple(addresses[:1000]),
        path,
    )


def _read_rule(item: dict[str, object], path: str) -> Rule:
    priority = item.get("priority")
    source = _word(item, "src")
    length = item.get("srclen")
    if source and type(length) is int:
        source = f"{source}/{length}"
    return Rule(priority if type(priority) is int else -1, source, _word(item, "table"), path)


def _word(item: dict[str, object], key: str) -> str:
    value = item.get(key)
    return str(value)[:100] if isinstance(value, str | int) else ""
