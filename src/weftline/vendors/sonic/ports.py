"""A port of a switch while many tables add to it, and the port that comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.errors import Place
from weftline.model.observed_port import (
    Numbers,
    ObservedGroup,
    ObservedPort,
    ObservedQueue,
    ObservedWatchdog,
    Trust,
)
from weftline.model.said import Said


@dataclass
class PortDraft:
    """What the tables said of one port so far; fields are those of ``ObservedPort`` that SONiC has."""

    name: str
    where: Place
    number: Said[int] | None = None
    is_up: Said[bool] | None = None
    peer: Said[str] | None = None
    rate_gbps: Said[float] | None = None
    lanes: Said[tuple[int, ...]] | None = None
    fec: Said[str] | None = None
    is_negotiating: Said[bool] | None = None
    mtu: Said[int] | None = None
    length_m: Said[float] | None = None
    addresses: tuple[Said[str], ...] = ()
    vrf: Said[str] | None = None
    bundle: Said[str] | None = None
    vlans: tuple[Said[int], ...] = ()
    routes_vlan: Said[int] | None = None
    sorted_at: Place | None = None
    trust: Said[Trust] | None = None
    class_of_dscp: Said[Numbers] | None = None
    class_of_pcp: Said[Numbers] | None = None
    group_of_class: Said[Numbers] | None = None
    queue_of_class: Said[Numbers] | None = None
    queue_of_priority: Said[Numbers] | None = None
    group_of_priority: Said[Numbers] | None = None
    dscp_of_class: Said[Numbers] | None = None
    pauses: Said[tuple[int, ...]] | None = None
    is_asymmetric: Said[bool] | None = None
    watched: Said[tuple[int, ...]] | None = None
    watchdog: ObservedWatchdog | None = None
    groups: tuple[ObservedGroup, ...] = ()
    queues: tuple[ObservedQueue, ...] = ()
    filters_in: tuple[Said[str], ...] = ()
    filters_out: tuple[Said[str], ...] = ()

    def finish(self) -> ObservedPort:
        """Make the port."""
        return ObservedPort(**vars(self))


Ports = dict[str, PortDraft]
"""Ports and interfaces by name."""
MapField = Literal[
    "class_of_dscp", "class_of_pcp", "queue_of_class", "group_of_class", "queue_of_priority", "group_of_priority",
    "dscp_of_class",
]  # fmt: skip
