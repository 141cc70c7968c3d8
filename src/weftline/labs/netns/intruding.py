"""Packets that hosts must not get in: from addresses of others, and for the ends of tunnels; held against the lab."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weftline.formats.ipv4 import format_ipv4
from weftline.labs.netns.expecting import Pairs
from weftline.labs.netns.layout import End, Layout
from weftline.labs.netns.sieving import TABLE, name_counter
from weftline.model.driver import StateDifference
from weftline.model.lab import LabDesign

MOST = 64
"""Endpoints that are tried; of a larger fabric evenly spread ones are."""
TUNNEL_PORT = 4789


@dataclass(frozen=True, slots=True)
class Intrusion:
    """One endpoint that tries: as itself to a peer, then as another, then to ends of tunnels."""

    source: int
    """Place in the list of endpoints."""
    peer: int
    foreign: str
    """Address that is another's."""
    near: End
    """The port of the switch that it is cabled to."""
    ends: tuple[int, ...]
    """Places in the list of tunnel ends."""


@dataclass(frozen=True, slots=True)
class TunnelEnd:
    """Where a switch unpacks tunnels."""

    namespace: str
    address: str


def choose_intrusions(
    design: LabDesign, layout: Layout, pairs: Pairs
) -> tuple[tuple[Intrusion, ...], tuple[TunnelEnd, ...]]:
    """Choose who tries what: endpoints at ports with a filter, to their own switch's tunnel end and another one's."""
    ends = tuple(
        TunnelEnd(space.name, space.tunnel_source)
        for space in layout.namespaces.values()
        if space.is_switch and space.tunnel_source
    )
    peers = dict(reversed(pairs.together))
    apart = dict(reversed(pairs.apart))
    devices = {space.name: space.device for space in layout.namespaces.values()}
    chosen: list[Intrusion] = []
    for place, port in enumerate(pairs.ports):
        near = layout.ends[int(design.fabric.port_peer[port])]
        other = apart.get(place, next((n for n in range(len(pairs.ports)) if n not in {place, peers.get(place)}), None))
        space = layout.spaces[near.namespace]
        if place not in peers or other is None or f'device "{near.interface}"' not in space.filters:
            continue
        own = [n for n, end in enumerate(ends) if devices[end.namespace] == space.device]
        far = [n for n in range(len(ends)) if n not in own][:1]
        foreign = format_ipv4(int(design.addresses.port_address[pairs.ports[other]]))
        chosen.append(Intrusion(place, peers[place], foreign, near, (*own, *far)))
    step = max(1, -(-len(chosen) // MOST))
    return tuple(chosen[::step]), ends


def write_order(intrusions: Sequence[Intrusion], ends: Sequence[TunnelEnd], layout: Layout, pairs: Pairs) -> Any:
    """Tell what sends packets who tries what."""
    return {
        "port": TUNNEL_PORT,
        "table": TABLE,
        "ends": [{"namespace": end.namespace, "address": end.address} for end in ends],
        "tries": [
            {
                "source": one.source,
                "peer": one.peer,
                "foreign": one.foreign,
                "ends": one.ends,
                "interface": layout.ends[pairs.ports[one.source]].interface,
                "gateway": one.near.mac,
                "switch": one.near.namespace,
                "counter": name_counter(one.near.interface),
            }
            for one in intrusions
        ],
    }


def compare_intrusions(
    intrusions: Sequence[Intrusion],
    ends: Sequence[TunnelEnd],
    answer: Sequence[Mapping[str, Any]],
    names: Sequence[str],
) -> Iterator[StateDifference]:
    """Say which of them got in, or were not seen to be dropped; what nobody can send proves nothing."""
    for one, seen in zip(intrusions, answer, strict=True):
        name, at = names[one.source], f"{one.near.namespace}/{one.near.interface}"
        if not seen["itself"]:
            yield StateDifference("edge", f"{name} as itself", f"reached {names[one.peer]}", "not reached")
        if seen["foreign"]:
            yield StateDifference("edge", f"{name} as {one.foreign}", f"dropped at {at}", f"reached {names[one.peer]}")
        for end in (ends[int(place)] for place in seen["ends"]):
            subject = f"{name} to UDP {TUNNEL_PORT} of {end.address}"
            yield StateDifference("edge", subject, f"dropped at {at}", f"reached {end.namespace}")
        sent = 1 + len(one.ends)
        if seen["dropped"] < sent:
            many = f"{sent} packets dropped at {at}"
            yield StateDifference("edge", f"{name} as another or to tunnels", many, f"{seen['dropped']} dropped")
