"""What files say of one port: its link, its classes, its pauses and its buffers, in terms that no vendor owns.

A **class** is what a packet is sorted into when it arrives (SONiC's and EOS's traffic class, NVUE's switch priority,
a NIC's priority); a **group** is the ingress buffer that it waits in (priority group); a **queue** is where it waits to
leave (EOS's tx-queue, NVUE's and a NIC's traffic class); a **priority** is the number in a pause frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weftline.errors import Place
from weftline.model.said import Said

Numbers: TypeAlias = Mapping[int, int]
"""A map of small numbers, as DSCP to class; ports that share a map share the very object. Do not change it."""
Trust = Literal["dscp", "pcp", "both", "port"]
"""What sorts a packet; ``port``: the port alone, whatever the packet carries."""
Ways = Literal["off", "rx", "tx", "both"]


@dataclass(frozen=True, slots=True)
class ObservedMarks:
    """How a queue marks: a profile that several queues share."""

    name: str
    where: Place
    is_marking: Said[bool] | None = None
    """Whether ECN-capable packets are marked."""
    drops_unmarked: Said[bool] | None = None
    """Whether packets that are not ECN-capable are dropped by the same thresholds."""
    min_bytes: Said[int] | None = None
    max_bytes: Said[int] | None = None
    percent: Said[int] | None = None
    """Chance of a mark at ``max_bytes``."""


@dataclass(frozen=True, slots=True)
class ObservedQueue:
    """One queue of a port."""

    key: int
    where: Place
    schedule: Said[Literal["strict", "weighted"]] | None = None
    weight: Said[int] | None = None
    """Its share, in the unit of the device: weight or percent."""
    is_guaranteed: Said[bool] | None = None
    """Whether it has a rate of its own; EOS's watchdog watches no queue without one."""
    marks: ObservedMarks | None = None
    profile: Said[str] | None = None
    pool: Said[str] | None = None
    reserved_bytes: Said[int] | None = None
    dynamic_th: Said[int] | None = None
    """Share of the free pool that it may take, as a power of two (SONiC's ``dynamic_th``)."""
    static_bytes: Said[int] | None = None


@dataclass(frozen=True, slots=True)
class ObservedGroup:
    """One ingress priority group of a port and its buffer."""

    key: int
    where: Place
    profile: Said[str] | None = None
    is_computed: Said[bool] | None = None
    """Whether the device computes its buffer by itself (SONiC's profile ``NULL``)."""
    size_bytes: Said[int] | None = None
    """Reserved for it alone; with a shared headroom pool without the headroom."""
    xoff_bytes: Said[int] | None = None
    """Headroom: what it can take after it asked for a pause."""
    xon_bytes: Said[int] | None = None
    xon_offset_bytes: Said[int] | None = None
    pool: Said[str] | None = None
    dynamic_th: Said[int] | None = None
    static_bytes: Said[int] | None = None


@dataclass(frozen=True, slots=True)
class ObservedWatchdog:
    """When a pause counts as endless, and what is done then."""

    where: Place
    detect_ms: Said[int] | None = None
    restore_ms: Said[int] | None = None
    poll_ms: Said[int] | None = None
    action: Said[str] | None = None


@dataclass(frozen=True, slots=True)
class ObservedGid:
    """One entry of a NIC's table of addresses."""

    index: int
    gid: str
    version: Literal["v1", "v2", ""]
    where: Place


@dataclass(frozen=True, slots=True)
class ObservedNic:
    """What only a NIC has."""

    device: Said[str] | None = None
    """RDMA device, as ``mlx5_0``."""
    rdma_mtu: Said[int] | None = None
    gids: tuple[ObservedGid, ...] = ()
    traffic_class: Said[int] | None = None
    """The byte (DSCP * 4 + ECN bits) that RDMA packets carry where the application does not say."""
    marking_priorities: Said[tuple[int, ...]] | None = None
    """Priorities whose marks the receiver answers (notification point)."""
    reacting_priorities: Said[tuple[int, ...]] | None = None
    """Priorities whose rate the sender lowers (reaction point)."""
    notify_dscp: Said[int] | None = None
    notify_priority: Said[int] | None = None
    is_willing: Said[bool] | None = None
    """Whether the peer may change its settings by DCBX."""
    is_virtual: Said[bool] | None = None
    """Whether it is a virtual function."""
    buffers: Said[tuple[int, ...]] | None = None
    """Bytes of each receive buffer."""
    buffer_of_priority: Said[Numbers] | None = None
    cable_m: Said[float] | None = None
    """Length that the NIC reckons its headroom with."""
    source_port: Said[str] | None = None
    """``fixed`` or ``varying``: UDP source ports of its connections."""


@dataclass(frozen=True, slots=True)
class ObservedPort:
    """One port of a switch, or one port of a host's NIC; None is what no file says."""

    name: str
    """As the device calls it: ``Ethernet0``, ``swp1``, ``Ethernet1/1``, ``eth2``."""
    where: Place
    number: Said[int] | None = None
    """The number printed on the device, where the files tell it."""
    is_up: Said[bool] | None = None
    peer: Said[str] | None = None
    """The port at the other end as ``device/port``, or whatever a description says."""
    rate_gbps: Said[float] | None = None
    lanes: Said[tuple[int, ...]] | None = None
    fec: Said[str] | None = None
    is_negotiating: Said[bool] | None = None
    mtu: Said[int] | None = None
    length_m: Said[float] | None = None
    addresses: tuple[Said[str], ...] = ()
    """With their prefix length."""
    vrf: Said[str] | None = None
    bundle: Said[str] | None = None
    """The LAG that it is a member of."""
    vlans: tuple[Said[int], ...] = ()
    routes_vlan: Said[int] | None = None
    """Of an interface that is no plug: the VLAN whose gateway it is (``Vlan101``)."""
    checks_source: Said[Literal["strict", "loose", "off"]] | None = None
    """Whether packets are dropped whose source address has no route back, by this port (strict) or by any."""
    sorted_at: Place | None = None
    """Where its maps and pauses stand, where that is another place than the port's own."""
    trust: Said[Trust] | None = None
    default_class: Said[int] | None = None
    class_of_dscp: Said[Numbers] | None = None
    class_of_pcp: Said[Numbers] | None = None
    group_of_class: Said[Numbers] | None = None
    queue_of_class: Said[Numbers] | None = None
    queue_of_priority: Said[Numbers] | None = None
    group_of_priority: Said[Numbers] | None = None
    priority_of_class: Said[Numbers] | None = None
    """Where the number in a pause frame is mapped; else it is the class itself."""
    dscp_of_class: Said[Numbers] | None = None
    """Remarking on the way out; None where packets keep their DSCP."""
    pauses: Said[tuple[int, ...]] | None = None
    """Priorities that pause."""
    pause_ways: Said[Ways] | None = None
    """Directions in which those pauses act, where they can be told apart."""
    link_pause: Said[Ways] | None = None
    """Pauses of the whole link (802.3x)."""
    is_asymmetric: Said[bool] | None = None
    """SONiC's asymmetric PFC: all priorities are obeyed, only the lossless ones are sent."""
    watched: Said[tuple[int, ...]] | None = None
    watchdog: ObservedWatchdog | None = None
    groups: tuple[ObservedGroup, ...] = ()
    queues: tuple[ObservedQueue, ...] = ()
    filters_in: tuple[Said[str], ...] = ()
    filters_out: tuple[Said[str], ...] = ()
    nic: ObservedNic | None = None
