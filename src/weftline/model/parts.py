"""Parts: switches, NICs, hosts and cables, each figure with its source and date."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Final, Literal

from pydantic import Field

from weftline.model.spec import Line, PartName, Section

TechnologyName = Literal["infiniband", "roce"]
Precision = Literal["bf16", "fp16", "fp8", "fp32"]
Positive = Annotated[float, Field(strict=True, gt=0, le=1e18)]
TableSize = Annotated[int, Field(strict=True, ge=1, le=65_535)]
LaneCount = Annotated[int, Field(strict=True, ge=1, le=15)]
SmallCount = Annotated[int, Field(strict=True, ge=1, le=65_535)]
LaneBytes = Annotated[int, Field(strict=True, ge=64, le=2**40)]
"""At least a block of 64 bytes, the unit of credits. IBTA vol 1, 7.9.4."""
Wait = Annotated[float, Field(strict=True, ge=0, le=1e9)]
Priority = Annotated[int, Field(strict=True, ge=0, le=7)]
HashField = Literal[
    "in-port", "src-mac", "dst-mac", "ethertype", "vlan", "protocol", "src-ip", "dst-ip", "src-port", "dst-port",
    "flow-label", "inner-protocol", "inner-src-ip", "inner-dst-ip", "inner-src-port", "inner-dst-port",
    "inner-flow-label", "gtp-teid", "rdma-opcode", "rdma-queue-pair",
]  # fmt: skip
PACKET_FIGURES: Final = (
    "lane_buffer_bytes", "credit_window_bytes", "credit_response_ns", "pause_response_ns", "is_cut_through",
    "send_latency_ns", "receive_latency_ns",
)  # fmt: skip
"""Figures of parts that only packets meet."""
REDUCTION_FIGURES: Final = (
    "reduces", "reduction_trees", "reduction_trees_per_port", "reduction_trees_in_fabric", "reduction_children",
    "reduction_latency_ns", "reduction_window_bytes",
)  # fmt: skip
"""Figures of switches that only all-reduces in the network meet."""
RunName = Literal["host_leaf", "leaf_spine", "spine_core", "leaf_leaf", "between_groups"]


class Source(Section):
    """Where a figure was read, and when."""

    figures: tuple[Line, ...] = Field(description="Keys of the part that this source stands behind.")
    text: Line = Field(description="The document, well enough to find it again.")
    date: dt.date = Field(description="The day of the document, or the day it was read.")


class PortSet(Section):
    """A number of ports at one rate."""

    rate_gbps: Positive = Field(description="Rate of each port in Gb/s.")
    count: Annotated[int, Field(strict=True, ge=1, le=4096)] = Field(description="Number of ports at this rate.")
    per_cage: Annotated[int, Field(strict=True, ge=1, le=8)] = Field(
        default=1, description="Ports that share one cage (connector)."
    )
    technologies: tuple[TechnologyName, ...] | None = Field(
        default=None, description="Technologies that can use these ports; absent: those of the part."
    )
    sonic_hwsku: Line | None = Field(
        default=None, description="Hardware SKU that SONiC knows a switch by when it runs like this."
    )
    headroom_lengths_m: tuple[Annotated[int, Field(strict=True, ge=1, le=200_000)], ...] = Field(
        default=(),
        max_length=32,
        description="Cable lengths that a switch's platform has headroom for, ascending; absent: any length.",
    )


class Part(Section):
    """What every part has."""

    title: Line = Field(description="What a person calls the part.")
    technologies: tuple[TechnologyName, ...] = Field(min_length=1, description="Technologies that can use the part.")
    sources: tuple[Source, ...] = Field(description="Where the figures were read.")


class PacketPart(Part):
    """What packets meet at a port of a part; who publishes none of it has none of it here, and defaults are told."""

    lane_buffer_bytes: LaneBytes | None = Field(
        default=None, description="Input buffer of one lane (VL) of a port that credits promise, in bytes."
    )
    credit_window_bytes: LaneBytes | None = Field(
        default=None, description="What credits of one lane can promise at most at one time, in bytes."
    )
    credit_response_ns: Wait | None = Field(
        default=None, description="Time in nanoseconds from a buffer that is free again to the credit for it."
    )
    pause_response_ns: Wait | None = Field(
        default=None, description="Time in nanoseconds from a pause frame that arrives to its effect."
    )


class SwitchPart(PacketPart):
    """A switch; ``ports`` lists the alternative ways to run it, by rate."""

    ports: tuple[PortSet, ...] = Field(min_length=1, max_length=32, description="Alternative ways to run it, by rate.")
    latency_ns: Positive | None = Field(default=None, description="Time from port to port in nanoseconds.")
    is_cut_through: bool | None = Field(
        default=None, strict=True, description="Whether it sends a packet on before it has all of it."
    )
    buffer_bytes: Positive | None = Field(default=None, description="Shared packet buffer in bytes.")
    power_w: Positive | None = Field(default=None, description="Typical power without active optics, in watts.")
    linear_fdb_cap: Annotated[int, Field(strict=True, ge=1, le=65_536)] | None = Field(
        default=None, description="Entries of the linear forwarding table."
    )
    partition_cap: TableSize | None = Field(
        default=None, description="Partition keys that the table of a port holds (PartitionEnforcementCap)."
    )
    data_lanes: LaneCount | None = Field(default=None, description="Data lanes (VLs) of a port (VLCap).")
    asic: Line | None = Field(default=None, description="The switching chip.")
    sonic_hwsku: Line | None = Field(default=None, description="Hardware SKU that SONiC knows it by, however it runs.")
    reduces: bool | None = Field(
        default=None, strict=True, description="Whether it adds up what its ports bring; absent counts as no."
    )
    reduction_trees: SmallCount | None = Field(
        default=None, description="Aggregation trees that it takes part in at one time."
    )
    reduction_trees_per_port: SmallCount | None = Field(
        default=None, description="Aggregation trees that one of its ports takes part in at one time."
    )
    reduction_trees_in_fabric: SmallCount | None = Field(
        default=None, description="Aggregation trees that a fabric of such switches has at most."
    )
    reduction_children: SmallCount | None = Field(
        default=None, description="Ports that one aggregation tree gathers from at a switch."
    )
    reduction_latency_ns: Wait | None = Field(
        default=None, description="Time in nanoseconds that adding up takes besides the way through the switch."
    )
    reduction_window_bytes: LaneBytes | None = Field(
        default=None, description="What one aggregation tree has under way at one time, in bytes."
    )
    cage_lanes: tuple[Annotated[int, Field(strict=True, ge=0, le=4096)], ...] = Field(
        default=(),
        max_length=1024,
        description="First lane of each cage, in the order of the cages; absent where the chip says it or nobody does.",
    )


class PauseQuanta(Section):
    """How long a peer takes to obey a pause, at one speed."""

    speed_mbps: Annotated[int, Field(strict=True, ge=1, le=10_000_000)]
    quanta: Annotated[int, Field(strict=True, ge=1, le=65_535)] = Field(description="In times of 512 bits.")


class AsicPart(Section):
    """A switching chip, as far as lossless classes depend on it; what no public source says is absent."""

    title: Line = Field(description="What a person calls the chip.")
    sources: tuple[Source, ...] = Field(description="Where the figures were read.")
    cell_bytes: SmallCount | None = Field(default=None, description="Bytes of a buffer cell.")
    pipeline_kib: Positive | None = Field(default=None, description="What its pipeline holds, in KiB.")
    mac_phy_kib: Positive | None = Field(default=None, description="What MAC and PHY hold, in KiB.")
    is_tiled: bool | None = Field(default=None, description="Whether ports sit on tiles, whose delay counts too.")
    pause_quanta: tuple[PauseQuanta, ...] = Field(
        default=(), max_length=32, description="Response times that its tables take in place of the script's."
    )
    buffer_models: tuple[Literal["traditional", "dynamic"], ...] = Field(
        default=(), description="SONiC's buffer models that it has; absent: unknown."
    )
    needs_pause_groups: bool | None = Field(
        default=None, description="Whether a paused priority needs a map of its own to its priority group."
    )
    holds_headroom_apart: bool | None = Field(
        default=None, description="Whether the shared headroom pool is no part of the ingress lossless pool's size."
    )
    has_sequential_lanes: bool | None = Field(
        default=None, description="Whether lanes are numbered as interfaces are: EthernetN starts with lane N."
    )
    port_headroom_kib: Positive | None = Field(
        default=None, description="Headroom that a port with lossless groups has beside the shared pool, in KiB."
    )
    management_kib: Positive | None = Field(default=None, description="Pool of the management traffic, in KiB.")
    mirror_kib: Positive | None = Field(default=None, description="Reserved for mirrors per port, in KiB.")
    descriptors_kib: Positive | None = Field(default=None, description="Pool of descriptors, in KiB.")
    adaptive_gbps: tuple[Positive, ...] = Field(default=(), description="Rates at which it routes adaptively.")
    sonic_platforms: tuple[Line, ...] = Field(default=(), max_length=64, description="Platforms of SONiC that have it.")


class WatchdogRange(Section):
    """Times that a platform takes for its watchdog, in milliseconds."""

    least: Annotated[int, Field(strict=True, ge=0, le=10_000_000)]
    most: Annotated[int, Field(strict=True, ge=0, le=10_000_000)]


class PlatformPart(Section):
    """What the software of a switch can carry; what no public source says is absent and counts as unknown."""

    title: Line = Field(description="What a person calls the platform.")
    sources: tuple[Source, ...] = Field(description="Where that was read.")
    has_routing: bool | None = Field(default=None, description="BGP with equal paths.")
    has_pauses: bool | None = Field(default=None, description="Priority flow control.")
    pause_priorities: tuple[Priority, ...] | None = Field(default=None, description="Priorities that can pause.")
    groups: SmallCount | None = Field(default=None, description="Priority groups of a port.")
    has_marks: bool | None = Field(default=None, description="ECN marking with thresholds per queue.")
    has_dscp_map: bool | None = Field(default=None, description="A map of its own from DSCP to class.")
    schedules: tuple[Literal["strict", "weighted"], ...] | None = Field(default=None, description="Of queues.")
    headroom: tuple[Literal["table", "formula", "bytes", "cable"], ...] | None = Field(
        default=None, description="How headroom is given: by a table, a formula, in bytes, or by the cable's length."
    )
    has_shared_headroom: bool | None = Field(default=None, description="A shared headroom pool.")
    watchdog_actions: tuple[Literal["drop", "forward", "alert"], ...] | None = Field(
        default=None, description="What its watchdog can do; empty: it has none."
    )
    watchdog_detect_ms: WatchdogRange | None = None
    watchdog_restore_ms: WatchdogRange | None = None
    watchdog_poll_ms: WatchdogRange | None = None
    has_vrfs: bool | None = Field(default=None, description="Tenants as VRFs.")
    has_vxlan: bool | None = Field(default=None, description="Tenants over VXLAN with EVPN.")
    has_filters: bool | None = Field(default=None, description="Filters of packets on the way in, port by port.")
    copies_dscp: bool | None = Field(default=None, description="Whether VXLAN can carry the inner DSCP outside.")
    hash_fields: tuple[HashField, ...] | None = Field(default=None, description="What equal paths can be chosen by.")
    has_hash_seed: bool | None = Field(default=None, description="A seed of its own for the choice of paths.")
    has_adaptive_routing: bool | None = Field(default=None, description="Paths chosen per packet by load.")
    has_adaptive_vrfs: bool | None = Field(default=None, description="The same inside the VRF of a tenant.")
    mtu_max: Annotated[int, Field(strict=True, ge=68, le=65_535)] | None = None


class NicPart(PacketPart):
    """A network adapter of one GPU."""

    ports: tuple[PortSet, ...] = Field(min_length=1, max_length=32, description="Alternative ways to run it, by rate.")
    send_latency_ns: Wait | None = Field(
        default=None, description="Time in nanoseconds from the memory of a host to the wire."
    )
    receive_latency_ns: Wait | None = Field(
        default=None, description="Time in nanoseconds from the wire to the memory of a host."
    )
    partition_cap: TableSize | None = Field(
        default=None, description="Partition keys that the table of a port holds (PartitionCap)."
    )
    data_lanes: LaneCount | None = Field(default=None, description="Data lanes (VLs) of a port (VLCap).")


class HostPart(Part):
    """A server."""

    gpus: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(description="GPUs per host.")
    rails: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(description="NICs of the compute fabric per host.")
    nic: PartName = Field(description="NIC part that each rail has.")
    inside_host_gbytes_per_s: Positive | None = Field(
        default=None, description="Rate of one GPU on the network inside the host, one way, in GB/s."
    )
    gpu_peak_tflops: dict[Precision, Positive] = Field(
        default={}, description="Dense arithmetic peak of one GPU by precision, in TFLOPS."
    )


class CablePart(Part):
    """A cable; one cable may carry several links."""

    rate_gbps: Positive = Field(description="Rate of each link in Gb/s.")
    links: Annotated[int, Field(strict=True, ge=1, le=8)] = Field(
        default=1, description="Links that one cable carries."
    )
    medium: Literal["copper", "multimode", "singlemode", "active-optical"] = Field(
        description="What carries the signal."
    )
    max_length_m: Positive | None = Field(default=None, description="Longest length in metres.")
    power_w: Positive | None = Field(default=None, description="Power of the module at one end, in watts.")


class Preference(Section):
    """Which parts ``auto`` tries, in order, for one rate."""

    technologies: tuple[TechnologyName, ...]
    rate_gbps: Positive
    parts: tuple[PartName, ...]


class CablePreference(Section):
    """Which cables ``auto`` tries, in order, for one rate and number of links."""

    rate_gbps: Positive
    links: Annotated[int, Field(strict=True, ge=1, le=8)]
    parts: tuple[PartName, ...]


class TechnologyData(Section):
    """What a declaration may ask of a technology."""

    max_lmc: Annotated[int, Field(strict=True, ge=0, le=7)]
    mtus: tuple[int, ...] = ()
    """MTUs that links can have; empty: any."""
    sources: tuple[Source, ...] = ()


class Defaults(Section):
    """What ``auto`` means, as data."""

    hosts: tuple[Preference, ...]
    switches: tuple[Preference, ...]
    cables: tuple[CablePreference, ...]
    lengths_m: dict[RunName, Positive]
    technologies: dict[TechnologyName, TechnologyData]


class Catalog(Section):
    """All parts by name, and what ``auto`` picks of them."""

    switches: dict[str, SwitchPart]
    nics: dict[str, NicPart]
    hosts: dict[str, HostPart]
    cables: dict[str, CablePart]
    defaults: Defaults
    asics: dict[str, AsicPart] = Field(default={})
    platforms: dict[str, PlatformPart] = Field(default={})
