"""Stanzas of ``/etc/network/interfaces`` on a switch that runs FRR, as observed ports and VRFs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from weftline.errors import Place
from weftline.formats.config_text import ConfigLine
from weftline.formats.lines import read_number
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import ObservedVrf
from weftline.model.said import Said

MAX_MTU = 65_535


def read_stanzas(
    file: str, stanzas: Iterable[ConfigLine], ports: dict[str, ObservedPort], vrfs: dict[str, ObservedVrf]
) -> None:
    """Read the stanzas of interfaces and VRFs; others name files or only start what is described elsewhere."""
    for head in stanzas:
        if head.words[0] not in {"iface", "interface"} or len(head.words) < 2:
            continue
        name, where = head.words[1], Place(file, head.number, head.column)
        if any(line.starts("vrf-table") for line in head.children):
            vrfs.setdefault(name, ObservedVrf(name, where))
            continue
        port = ports.get(name) or ObservedPort(name, where)
        for line in head.children:
            words = line.words[1:] if line.starts("ip") else line.words
            if len(words) > 1:
                port = _read_line(port, words, Place(file, line.number, line.column))
        ports[name] = port


def _read_line(port: ObservedPort, words: tuple[str, ...], where: Place) -> ObservedPort:
    if words[0] == "address":
        return replace(port, addresses=(*port.addresses, Said(words[1], where)))
    if words[0] == "vrf":
        return replace(port, vrf=Said(words[1], where))
    if words[0] == "alias":
        return replace(port, peer=Said(" ".join(words[1:]), where))
    mtu = read_number(words[1], 68, MAX_MTU) if words[0] == "mtu" else None
    return port if mtu is None else replace(port, mtu=Said(mtu, where))
