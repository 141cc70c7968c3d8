"""Observed configuration: what files say that one device does, fact by fact, each with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.errors import Place, Problem
from weftline.model.intent import FactValue
from weftline.model.observed_port import ObservedPort, ObservedWatchdog
from weftline.model.observed_routing import (
    ObservedFilter,
    ObservedMirror,
    ObservedRouteMap,
    ObservedRouter,
    ObservedTunnel,
    ObservedVrf,
)
from weftline.model.said import Said


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a file says; ``path`` is that of ``intent.list_facts``, as ``ports.17.mtu``."""

    path: str
    value: FactValue
    where: Place


@dataclass(frozen=True, slots=True)
class ObservedConfig:
    """What the files of one vendor say of one device: partial, possibly invalid or contradictory."""

    device: str
    vendor: str
    files: tuple[str, ...]
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...] = ()
    """What could not be read, or contradicts itself, each with file and place."""

    @property
    def values(self) -> dict[str, FactValue]:
        """The last value said for each path."""
        return {fact.path: fact.value for fact in self.facts}


@dataclass(frozen=True, slots=True)
class ObservedPool:
    """One pool of packet buffers that ports share."""

    name: str
    where: Place
    direction: Said[Literal["ingress", "egress", "both"]] | None = None
    """``both``: one pool for what arrives and what leaves (chips with virtual output queues)."""
    mode: Said[Literal["dynamic", "static"]] | None = None
    size_bytes: Said[int] | None = None
    """None where the device computes it."""
    headroom_bytes: Said[int] | None = None
    """Shared headroom (SONiC's ``xoff`` of a pool); None or 0 where each group has its own."""


@dataclass(frozen=True, slots=True)
class ObservedSetting:
    """One setting of a host: of the kernel, of a collective library, or of the environment."""

    name: str
    value: Said[str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that a running device counted or measured."""

    kind: str
    """``headroom-watermark``, ``group-watermark``, ``queue-watermark``, ``pool-watermark``, ``headroom-pool-watermark``
    (bytes); ``pause-received``, ``pause-sent`` (frames); ``pause-received-time``, ``pause-sent-time`` (microseconds);
    ``storms-detected``, ``storms-restored``, ``storm-drops``, ``queue-drops``, ``group-drops``, ``port-drops``,
    ``marked``, ``notifications-sent``, ``notifications-handled``, ``out-of-buffer``, ``retries`` (counts);
    ``bytes-received``, ``bytes-sent`` (of a priority, so that it shows which priority carries the traffic)."""
    port: str
    """As the device calls it; the pool's name for pools."""
    key: int
    """Group, queue or priority; NIL where it is of the whole port."""
    value: int
    where: Place


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """One row that a change sets, which is to be applied operation by operation."""

    table: str
    """As the device calls it."""
    row: str
    """Empty where the whole table is set."""
    needs: tuple[tuple[str, str], ...]
    """(table, row) of what must be there when it is set."""
    where: Place


@dataclass(frozen=True, slots=True)
class ObservedDevice:
    """What all files of one device say, in terms that no vendor owns; lint and proofs read this.

    It may hold what no intent could have made: every field has its place, and what cannot be is in ``problems`` too.
    """

    name: str
    role: Literal["switch", "host", "unknown"]
    vendor: str
    files: tuple[str, ...]
    platform: Said[str] | None = None
    """What the device calls its hardware: SONiC's hwsku, a model name."""
    asic: Said[str] | None = None
    release: Said[str] | None = None
    """Of its operating system."""
    buffer_model: Said[Literal["dynamic", "traditional"]] | None = None
    ports: tuple[ObservedPort, ...] = ()
    pools: tuple[ObservedPool, ...] = ()
    watchdog: ObservedWatchdog | None = None
    """What holds for all ports."""
    over_subscribe_ratio: Said[int] | None = None
    lossless_mtu: Said[int] | None = None
    small_packet_percent: Said[int] | None = None
    """With what the device computes its headroom."""
    discards_incomplete: Said[bool] | None = None
    """Whether lossless packets without a resolved neighbour are dropped, not flooded."""
    hash_fields: Said[tuple[str, ...]] | None = None
    hash_seed: Said[int] | None = None
    adaptive_routing: Said[bool] | None = None
    vrfs: tuple[ObservedVrf, ...] = ()
    routers: tuple[ObservedRouter, ...] = ()
    tunnel: ObservedTunnel | None = None
    filters: tuple[ObservedFilter, ...] = ()
    route_maps: tuple[ObservedRouteMap, ...] = ()
    mirrors: tuple[ObservedMirror, ...] = ()
    tables: tuple[tuple[str, str], ...] = ()
    """What the device calls the table of ``groups``, ``queues``, ``queue-buffers``, ``watchdog``, ``pauses``,
    ``lengths`` and ``filters``, so that a row that is missing can be named."""
    uses_kernel_groups: Said[bool] | None = None
    """Whether routes go into the kernel by next-hop groups (FRR's default)."""
    settings: tuple[ObservedSetting, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    steps: tuple[ObservedStep, ...] = ()
    """What a change beside the files sets, in the order of its operations."""
    unread: tuple[tuple[str, int], ...] = ()
    """Tables or kinds of lines that nobody here reads, and how often each occurs."""
    covers: frozenset[str] = frozenset()
    """What these files can say at all: of ``ports, classes, pauses, buffers, marks, schedule, watchdog, mtu, tenancy,
    routing, kernel-groups, filters, mirrors, host, nics, hash``; what is not in it is unknown, not absent."""
    problems: tuple[Problem, ...] = ()
    """What could not be read, dangles, or is out of range."""
