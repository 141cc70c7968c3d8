"""Both ends of a link, found by what each says of its neighbour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort

End: TypeAlias = tuple[ObservedDevice, ObservedPort]


@dataclass(frozen=True, slots=True)
class Link:
    """Two ports that are cabled to each other."""

    a: End
    b: End

    @property
    def ways(self) -> tuple[tuple[End, End], tuple[End, End]]:
        """Both directions: who sends, who receives."""
        return (self.a, self.b), (self.b, self.a)


def pair_ports(devices: Sequence[ObservedDevice]) -> tuple[Link, ...]:
    """Pair ports of which one at least names the other as ``device/port``; what contradicts itself is left out.

    A port is meant by its name, by the number printed on the device, or by the name of its RDMA device.
    """
    by_name = {name: end for end in _list_ends(devices) for name in _list_names(*end)}
    partner: dict[int, End] = {}
    refused: set[int] = set()
    for device, port in _list_ends(devices):
        met = None if port.peer is None else by_name.get(port.peer.value)
        if met is None or met[1] is port:
            continue
        for mine, other in ((port, met), (met[1], (device, port))):
            known = partner.setdefault(id(mine), other)
            if known[1] is not other[1]:
                refused |= {id(mine), id(other[1]), id(known[1])}
    found: list[Link] = []
    seen = set(refused)
    for end in _list_ends(devices):
        other = partner.get(id(end[1]))
        if other is not None and not {id(end[1]), id(other[1])} & seen:
            seen |= {id(end[1]), id(other[1])}
            found.append(Link(end, other))
    return tuple(found)


def find_claims(devices: Sequence[ObservedDevice]) -> Iterator[tuple[End, End, End]]:
    """List (end, end that it names, end that belongs to that one) where the third is not the first.

    The third is whom the named end names itself, else who named it first.
    """
    by_name = {name: end for end in _list_ends(devices) for name in _list_names(*end)}
    named = [(end, met) for end in _list_ends(devices) if (met := _find_named(end, by_name)) is not None]
    first: dict[int, End] = {}
    for end, met in named:
        first.setdefault(id(met[1]), end)
    for end, met in named:
        back = _find_named(met, by_name) or first[id(met[1])]
        if back[1] is not end[1]:
            yield end, met, back


def _find_named(end: End, by_name: Mapping[str, End]) -> End | None:
    met = None if end[1].peer is None else by_name.get(end[1].peer.value)
    return None if met is None or met[1] is end[1] else met


def _list_ends(devices: Sequence[ObservedDevice]) -> Iterator[End]:
    return ((device, port) for device in devices for port in device.ports)


def _list_names(device: ObservedDevice, port: ObservedPort) -> list[str]:
    names = [port.name]
    if port.number is not None:
        names.append(str(port.number.value))
        if port.nic is not None:
            names.append(f"nic{port.number.value}")
    if port.nic is not None and port.nic.device is not None:
        names.append(port.nic.device.value)
    return [f"{device.name}/{name}" for name in names]
