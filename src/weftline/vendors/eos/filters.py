"""Access lists and what watches traffic in a running configuration."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from weftline.formats.config_text import ConfigLine
from weftline.formats.lines import read_number
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import ObservedFilter, ObservedMirror, ObservedRule
from weftline.model.said import Said
from weftline.vendors.eos.file import MAX_NUMBER, EosFile

_PORT_WORDS = frozenset({"eq", "gt", "lt", "neq", "range"})
_HEADS = {("ip", "access-list"), ("ipv6", "access-list"), ("mac", "access-list")}
_NEUTRAL = frozenset({"log", "count"})


def read_filters(
    file: EosFile, lines: Iterable[ConfigLine], ports: Iterable[ObservedPort]
) -> tuple[ObservedFilter, ...]:
    """Read the lists and where they are bound; a name that is bound and not written is a problem."""
    found: dict[str, ObservedFilter] = {}
    for line in lines:
        if line.words[:2] in _HEADS and len(line.words) > 2:
            name = line.words[-1]
            where = file.place(line)
            rules = tuple(_read_rules(file, line))
            # What no rule matches is dropped, in every list of EOS.
            found[name] = ObservedFilter(name, where, rules=rules, otherwise=Said("deny", where))
        elif line.words[:2] == ("ip", "prefix-list") and len(line.words) > 2:
            _read_prefixes(file, found, line)
    for port in ports:
        _bind(file, found, port, "in", port.filters_in)
        _bind(file, found, port, "out", port.filters_out)
    return tuple(found.values())


def _bind(
    file: EosFile, found: dict[str, ObservedFilter], port: ObservedPort, stage: Literal["in", "out"],
    names: Iterable[Said[str]],
) -> None:  # fmt: skip
    for said in names:
        one = found.get(said.value)
        if one is None:
            line = ConfigLine(said.where.line or 1, said.where.column or 1, ("",))
            file.blame("artifact.dangling", f"there is no access list {said.value[:60]}", line)
            continue
        if one.stage is not None and one.stage.value != stage:
            name = f"{said.value} {stage}"
            one = found.get(name) or replace(one, name=name, ports=())
        bound = (*one.ports, Said(port.name, said.where))
        found[one.name] = replace(one, stage=Said(stage, said.where), ports=bound)


def _read_rules(file: EosFile, head: ConfigLine) -> Iterable[ObservedRule]:
    order = 0
    for line in head.children:
        words = list(line.words)
        number = read_number(words[0], 0, MAX_NUMBER)
        order = order + 10 if number is None else number
        words = words if number is None else words[1:]
        if len(words) < 2 or words[0] not in {"permit", "deny"}:
            continue
        action: Literal["permit", "deny"] = "permit" if words[0] == "permit" else "deny"
        if words[1] in {"vlan", "response"}:
            yield ObservedRule(file.place(line), order, action, unread=tuple(words[1:]))
            continue
        if head.words[1:3] == ("access-list", "standard"):
            words.insert(1, "ip")
        source, rest = _read_address(words[2:])
        source_port, rest = _read_ports(rest)
        target, rest = _read_address(rest)
        target_port, rest = _read_ports(rest)
        unread = tuple(word for word in (source_port, *rest) if word and word not in _NEUTRAL)
        protocol = "" if words[1] in {"ip", "ipv6"} else words[1]
        yield ObservedRule(file.place(line), order, action, source, target, protocol, target_port, unread)


def _read_address(words: list[str]) -> tuple[str, list[str]]:
    """Read ``any``, ``host A``, ``A/n`` or ``A WILDCARD``; what follows comes back beside it."""
    if not words or words[0] == "any":
        return "", words[1:]
    if words[0] == "host" and len(words) > 1:
        return f"{words[1]}/32" if ":" not in words[1] else f"{words[1]}/128", words[2:]
    if "/" in words[0] or len(words) < 2:
        return words[0], words[1:]
    try:
        return str(ipaddress.IPv4Network(f"{words[0]}/{words[1]}", strict=False)), words[2:]
    except ValueError:
        return words[0], words[1:]


def _read_ports(words: list[str]) -> tuple[str, list[str]]:
    if not words or words[0] not in _PORT_WORDS:
        return "", words
    count = 3 if words[0] == "range" else 2
    return " ".join(words[1:count] if words[0] == "eq" else words[:count]), words[count:]


def _read_prefixes(file: EosFile, found: dict[str, ObservedFilter], head: ConfigLine) -> None:
    """Keep a list of prefixes as a filter that is bound to no port: it sifts routes, not packets."""
    name, where = f"prefix-list {head.words[2]}", file.place(head)
    old = found.get(name) or ObservedFilter(name, where, otherwise=Said("deny", where))
    rules = list(old.rules)
    for line, words in [(head, head.words[3:]), *((child, child.words) for child in head.children)]:
        rest = list(words)
        order = len(rules) + 1
        if rest[:1] == ["seq"] and len(rest) > 1:
            order, rest = read_number(rest[1], 0, MAX_NUMBER) or order, rest[2:]
        if len(rest) > 1 and rest[0] in {"permit", "deny"}:
            action: Literal["permit", "deny"] = "permit" if rest[0] == "permit" else "deny"
            rules.append(ObservedRule(file.place(line), order, action, source=" ".join(rest[1:])))
    found[name] = replace(old, rules=tuple(rules))


def read_mirrors(file: EosFile, lines: Iterable[ConfigLine]) -> tuple[ObservedMirror, ...]:
    """Read sessions that copy traffic, and sFlow where it runs."""
    sessions: dict[str, ObservedMirror] = {}
    runs: ConfigLine | None = None
    target: Said[str] | None = None
    sampled: list[Said[str]] = []
    for line in lines:
        words = list(line.words)
        if words[:2] == ["monitor", "session"] and len(words) > 4:
            sessions[words[2]] = _read_session(file, sessions.get(words[2]), line, words)
        elif words == ["sflow", "run"]:
            runs = line
        elif words[:2] == ["sflow", "destination"] and len(words) > 2:
            target = target or file.said(words[2], line)
        elif words[:2] == ["sflow", "vrf"] and "destination" in words[:-1]:
            target = target or file.said(words[words.index("destination") + 1], line)
        elif words[0] == "interface":
            is_sampled = any(child.words[:1] == ("sflow",) and child.words[-1] == "enable" for child in line.children)
            sampled += [file.said("".join(words[1:]), line)] if is_sampled else []
    found = list(sessions.values())
    if runs is not None:
        found.append(ObservedMirror("sflow", file.place(runs), file.said("sflow", runs), target, tuple(sampled)))
    return tuple(found)


def _read_session(file: EosFile, old: ObservedMirror | None, line: ConfigLine, words: list[str]) -> ObservedMirror:
    session = old or ObservedMirror(words[2], file.place(line), file.said("span", line))
    if words[3] == "source":
        ports = tuple(file.said(name, line) for name in file.expand(words[4], line))
        return replace(session, ports=(*session.ports, *ports))
    if words[3] == "destination" and words[4] == "tunnel":
        at = words.index("destination", 4) + 1 if "destination" in words[4:] else len(words) - 1
        return replace(session, kind=file.said("erspan", line), target=file.said(words[min(at, len(words) - 1)], line))
    return replace(session, target=file.said(words[4], line)) if words[3] == "destination" else session
