"""Cumulus Linux before NVUE: ``/etc/network/interfaces``, ``ports.conf`` and ``frr.conf`` of a switch in one file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.errors import Problem
from weftline.formats.config_text import ConfigLine, ConfigText, TreeBuilder, split_lines
from weftline.formats.frr_conf import read_frr
from weftline.formats.text import ProblemLog

_INTERFACES = b"# This file describes the network interfaces"
_PORTS = b"# ports.conf --"
_FRR = re.compile(rb"^frr version\b", re.MULTILINE)
_HEADS = frozenset({"auto", "allow-hotplug", "iface", "interface", "source", "source-directory", "vlan", "mapping"})
"""Words that open a stanza, indented or not. interfaces(5); ``interface`` occurs in files that people wrote."""
_IFACE = re.compile(rb"^[ \t]*iface[ \t]+\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CumulusFile:
    """The parts of one file; a part that is not there is empty."""

    file: str
    hostname: str | None
    interfaces: tuple[ConfigLine, ...]
    ports: tuple[ConfigLine, ...]
    routing: ConfigText
    problems: tuple[Problem, ...]


def looks_like(head: bytes) -> bool:
    """Say whether the first bytes of a file are those of a concatenated file, or of ``interfaces`` alone."""
    return _INTERFACES in head or _PORTS in head or _IFACE.search(head) is not None


def read_cumulus(data: bytes, file: str) -> CumulusFile:
    """Read the parts in the order in which they stand; never raises."""
    log = ProblemLog(file)
    frr = _FRR.search(data)
    end = frr.start() if frr is not None else len(data)
    line = data.count(b"\n", 0, end) + 1
    routing = read_frr(data[end:], file, line)
    hostname: str | None = None
    part = "name"
    parts = {"interfaces": TreeBuilder(), "ports": TreeBuilder()}
    if not (_INTERFACES in data or _PORTS in data):
        part = "interfaces"
    for number, raw in split_lines(data[:end], log):
        body = raw.strip()
        if body.startswith("#"):
            mark = body.encode()
            part = "interfaces" if mark.startswith(_INTERFACES) else "ports" if mark.startswith(_PORTS) else part
            continue
        if not body:
            continue
        words = tuple(body.split())
        if part == "name":
            hostname = hostname or words[0]
            continue
        _take(parts[part], number, len(raw) - len(raw.lstrip()) + 1, words)
    made = {name: builder.finish() for name, builder in parts.items()}
    return CumulusFile(file, hostname, made["interfaces"], made["ports"], routing, (*log.close(), *routing.problems))


def _take(builder: TreeBuilder, number: int, column: int, words: tuple[str, ...]) -> None:
    """Put a line under the stanza that is open, or open one."""
    if words[0] in _HEADS:
        builder.close()
        builder.open(number, column, words)
        return
    builder.close(1)
    builder.open(number, column, words)
    builder.close(min(builder.depth - 1, 1))
