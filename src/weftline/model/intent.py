"""Intent: what one device should do, by function and never by technology."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from weftline.kernels.column import I64, U8, U64, freeze
from weftline.model.buffers import BufferIntent, GroupBufferIntent
from weftline.model.export import ExportIntent
from weftline.model.levels import ServiceIntent
from weftline.model.seats import ManagerIntent
from weftline.model.tenancy import TenancyIntent

NO_PORT = 255
"""Entry of a forwarding table that forwards nowhere."""

UNSAID_FIELD: Mapping[str, bool] = {"is_said": False}
"""Marks a field that is for people; no file says it."""

Role = Literal["manager", "switch", "host"]
Schedule = Literal["strict", "weighted"]
Membership = Literal["full", "limited"]


@dataclass(frozen=True, eq=False)
class ForwardingTable:
    """One port per (switch, address) of one subnet, as S rows and A columns.

    Two tables are equal when they forward the same: an address that no switch forwards does not count.
    """

    switch_id: U64
    switch_name: tuple[str, ...]
    switch_address: I64
    address: I64
    """Ascending."""
    port: U8
    """``[S, A]``: the number printed on the switch; 0 delivers to the switch itself, NO_PORT forwards nowhere."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.switch_id, self.switch_address, self.address, self.port)

    @property
    def entries(self) -> int:
        """Count the entries that forward or deliver."""
        return int(np.count_nonzero(self.port != NO_PORT))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over what is forwarded, independent of the order of switches and of empty columns."""
        rows: list[bytes] = []
        used = np.flatnonzero((self.port != NO_PORT).any(axis=0)) if self.port.size else np.zeros(0, dtype=np.int64)
        address = np.ascontiguousarray(self.address[used], dtype="<i8").tobytes()
        for row in np.argsort(self.switch_id, kind="stable"):
            head = f"{int(self.switch_id[row]):#x}:{int(self.switch_address[row])}:{self.switch_name[row]};"
            rows.append(head.encode() + np.ascontiguousarray(self.port[row, used]).tobytes())
        return hashlib.sha256(b"%d:%d;" % (len(rows), len(used)) + address + b"".join(rows)).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Compare what is forwarded."""
        return isinstance(other, ForwardingTable) and self.digest == other.digest

    def __hash__(self) -> int:
        """Hash what is forwarded."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Name the size, not the entries."""
        return f"ForwardingTable({len(self.switch_name)} switches, {len(self.address)} addresses, {self.digest[:12]})"


@dataclass(frozen=True, slots=True)
class PortIntent:
    """One port: its number, what it leads to, and how it runs."""

    key: int
    """The number printed on the device."""
    peer: str
    """Name of the port at the other end; empty when dark."""
    rate_gbps: float
    is_up: bool
    mtu: int | None = None
    length_m: int | None = None
    """Length of the cable in whole metres, rounded up; on a switch, up to a length that it has headroom for."""
    address: str | None = None
    """Network address with its prefix length, where the port has one of its own."""
    neighbour_number: int | None = None
    """Number of the routing device at the other end, where routes are exchanged."""
    told_units: int | None = None
    """Units of rate that its own networks are told with over this port; others weigh equal paths by what they hear."""
    pause_priorities: tuple[int, ...] | None = None
    """Priorities that pause instead of losing; None where the device has no such setting."""
    watched_priorities: tuple[int, ...] | None = None
    """Priorities under a watchdog that ends pauses that never end."""
    lanes: tuple[int, ...] | None = None
    """Lanes of the chip, where it is known how the platform numbers them."""
    fec: str | None = None
    """Error correction: ``rs``, ``fc`` or ``none``."""
    groups: tuple[GroupBufferIntent, ...] = ()
    """Buffers of its ingress priority groups."""
    vrf: str | None = None
    """The routing table that it belongs to; None is the one of the fabric itself."""


@dataclass(frozen=True, slots=True)
class RoutingIntent:
    """A device that exchanges routes: its number, its own address, and how many equal paths it uses."""

    number: int
    router_address: str
    width: int
    """Most equal paths to one destination."""
    announced: tuple[str, ...] = ()
    """Networks that are its own, ascending; single links inside them are not told to others."""
    carries_tenants: bool | None = None
    """Whether routes of tenants pass it (EVPN)."""


@dataclass(frozen=True, slots=True)
class ForwardingIntent:
    """How a device forwards: by tables that it is given, or by routes that it exchanges."""

    table: ForwardingTable | None = None
    exchange: RoutingIntent | None = None


@dataclass(frozen=True, slots=True)
class ClassIntent:
    """One traffic class: what belongs to it and what it gets."""

    key: int
    """Number of the traffic class."""
    dscps: tuple[int, ...]
    group: int
    """Ingress priority group."""
    queue: int
    schedule: Schedule
    priority: int | None = None
    """Priority that pauses for this class; None for a class that may lose packets."""
    weight: int | None = None
    mark_min_bytes: int | None = None
    mark_max_bytes: int | None = None
    mark_percent: int | None = None
    share: str | None = None
    """The share of an egress pool that its queue has."""
    name: str = field(default="", metadata=UNSAID_FIELD)
    """What people call it."""


@dataclass(frozen=True, slots=True)
class WatchdogIntent:
    """When a pause counts as endless, and what is done then."""

    detect_ms: int
    restore_ms: int
    poll_ms: int
    action: Literal["drop", "forward", "alert"]


@dataclass(frozen=True, slots=True)
class QueueIntent:
    """The classes of a device; each DSCP belongs to exactly one."""

    classes: tuple[ClassIntent, ...]
    watchdog: WatchdogIntent | None = None


@dataclass(frozen=True, slots=True)
class HashIntent:
    """How a device chooses among equal paths."""

    fields: tuple[str, ...]
    """Words of ``roce.hashing.fields``."""
    seed: int
    is_adaptive: bool | None = None
    """Whether each packet takes the least loaded path."""


@dataclass(frozen=True, slots=True)
class PartitionIntent:
    """One set of endpoints that may talk to each other."""

    key: int
    """Number of the partition, without its membership bit."""
    name: str
    is_first: bool
    """Whether it takes the first place in the table of its full members, and of those that are both."""
    full: tuple[str, ...]
    """Port ids of full members in hex, ascending."""
    limited: tuple[str, ...] = ()
    both: tuple[str, ...] = ()
    """Port ids of those that hold the key of a full and of a limited member."""
    is_first_of_limited: bool = False
    """Whether it takes the first place in the table of its limited members."""


@dataclass(frozen=True, slots=True)
class IsolationIntent:
    """Who may talk to whom; an endpoint in no partition talks to the manager only."""

    default_key: int
    default_membership: Membership
    enforcement: Literal["both", "out", "in", "off"]
    """On which directions of switch ports partitions are enforced."""
    partitions: tuple[PartitionIntent, ...]
    default_full: tuple[str, ...] = ()
    """Port ids of full members of the default partition in hex, ascending: the managers."""
    allows_both: bool = False
    """Whether an endpoint may hold both keys of a partition."""


@dataclass(frozen=True, slots=True)
class EndpointKey:
    """The identity and the address of one endpoint or switch of a subnet."""

    key: str
    """Port id in hex."""
    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class KeyIntent:
    """Identities and addresses that the manager hands out."""

    multipath_bits: int
    roots: tuple[str, ...]
    """Node ids of the top switches in hex."""
    endpoints: tuple[EndpointKey, ...]


@dataclass(frozen=True, slots=True)
class NicIntent:
    """One port of a NIC as its host sees it."""

    key: int
    """The number of the port on the host."""
    device: str
    port_id: str | None = None
    gateway: str | None = None
    route_table: int | None = None
    trust: Literal["dscp"] | None = None
    traffic_class: int | None = None
    """The byte that carries DSCP and ECN bits in every packet."""
    mark_priorities: tuple[int, ...] | None = None
    """Priorities with congestion control at sender and receiver."""
    notify_dscp: int | None = None
    """DSCP of congestion notifications."""
    notify_priority: int | None = None
    buffer_bytes: int | None = None
    """Least size of the receive buffer of each priority that pauses."""
    is_willing: bool | None = None
    """Whether the switch may change its classes and pauses (DCBX)."""
    pauses_link: bool | None = None
    """Whether it pauses the whole link (802.3x), which excludes pauses by priority."""


@dataclass(frozen=True, slots=True)
class SettingIntent:
    """One setting of the host's kernel."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class HostIntent:
    """What a host should do beside its ports: NICs, collective library, kernel."""

    nics: tuple[NicIntent, ...]
    devices: tuple[str, ...]
    """NICs that the collective library uses, in rail order."""
    gid_index: int | None = None
    traffic_class: int | None = None
    service_level: int | None = None
    partition_index: int | None = None
    queue_pairs: int | None = None
    """Queue pairs of one connection; each has a UDP source port of its own, so that switches spread them."""
    splits_data: bool | None = None
    """Whether each message is split over all queue pairs; else they take turns."""
    keeps_rail: bool | None = None
    """Whether a ring must leave and enter hosts by NICs of one rail; None where NICs of all rails reach each other."""
    settings: tuple[SettingIntent, ...] = ()


@dataclass(frozen=True, slots=True)
class PlatformIntent:
    """What is known of the device that shall do it."""

    part: str
    ports_per_cage: int
    hwsku: str | None = None
    asic: str | None = None
    release: str | None = None
    """Of its operating system, where the files depend on it; None is the newest that is known."""


@dataclass(frozen=True, slots=True)
class DeviceIntent:
    """What one device should do; valid by construction."""

    device: str
    role: Role
    plane: int
    """Plane of a switch or manager, counted from 0; NIL for a host."""
    tier: str
    fabric: str
    ports: tuple[PortIntent, ...] = ()
    platform: PlatformIntent | None = None
    forwarding: ForwardingIntent | None = None
    queues: QueueIntent | None = None
    buffers: BufferIntent | None = None
    hashing: HashIntent | None = None
    tenancy: TenancyIntent | None = None
    service: ServiceIntent | None = None
    manager: ManagerIntent | None = None
    isolation: IsolationIntent | None = None
    keys: KeyIntent | None = None
    host: HostIntent | None = None
    export: ExportIntent | None = None
    """For managers that route by themselves; no file of the device itself says it."""
    notes: tuple[str, ...] = ()
    """What a person who deploys the files must know; written into them and into the manifest."""
    risks: tuple[str, ...] = ()
    """What neither proofs nor files guarantee; written into the manifest and the report."""


FactValue: TypeAlias = str | int | float | tuple[str, ...] | tuple[int, ...] | ForwardingTable

UNSAID = frozenset({"device", "role", "plane", "tier", "fabric", "platform", "export", "notes", "risks"})
"""Fields that name the device or say what is known of it, not what it should do."""


def list_facts(intent: DeviceIntent) -> dict[str, FactValue]:
    """Spread an intent into facts by path, as ``ports.17.mtu``; what is None or empty says nothing."""
    facts: dict[str, FactValue] = {}
    for one in fields(intent):
        if one.name not in UNSAID:
            _spread(facts, one.name, getattr(intent, one.name))
    return facts


def _spread(facts: dict[str, FactValue], path: str, value: object) -> None:
    if value is None or value == ():
        return
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        first: object = items[0]
        if _list_fields(type(first)) is None:
            facts[path] = items
            return
        for record in items:
            _spread(facts, f"{path}.{record.key}", record)
        return
    names = _list_fields(type(value))
    if names is None:
        facts[path] = cast("FactValue", value)
        return
    for name in names:
        inner = getattr(value, name)
        if inner is not None:
            _spread(facts, f"{path}.{name}", inner)


@cache
def _list_fields(kind: type) -> tuple[str, ...] | None:
    """List the fields of a kind of record that say something; None where values of a kind are said whole."""
    if not is_dataclass(kind) or kind is ForwardingTable:
        return None
    return tuple(one.name for one in fields(kind) if one.name != "key" and one.metadata.get("is_said", True))
