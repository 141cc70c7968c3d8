"""The declaration of RoCE's own: classes, marks, watchdog, buffers, platform, hashing and tenancy."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weftline.model.section import AUTO, Auto, Flag, Line, Name, RelativePath, Section

Dscp = Annotated[int, Field(strict=True, ge=0, le=63)]
Number = Annotated[int, Field(strict=True, ge=0, le=7)]
"""A traffic class, priority, priority group or queue; a port has eight of each. IEEE 802.1Q, 8.6.6 and 36."""
Bytes = Annotated[int, Field(strict=True, ge=0, le=2**40)]
Percent = Annotated[int, Field(strict=True, ge=1, le=100)]
Vni = Annotated[int, Field(strict=True, ge=1, le=0xFFFFFF)]
Seed = Annotated[int, Field(strict=True, ge=0, le=0xFFFFFFFF)]
HashField = Literal[
    "source-address", "target-address", "protocol", "source-port", "target-port", "queue-pair", "ingress-port",
    "inner-source-address", "inner-target-address", "inner-protocol", "inner-source-port", "inner-target-port",
]  # fmt: skip


class MarksSection(Section):
    """When a queue marks packets, so that senders slow down before anything pauses."""

    enabled: Flag = Field(default=True, description="Whether lossless classes mark (ECN).")
    min_bytes: Bytes | Auto = Field(
        default=AUTO, description="Queue below which nothing is marked; auto: 150,000, less where the buffer asks it."
    )
    max_bytes: Bytes | Auto = Field(
        default=AUTO, description="Queue from which everything is marked; auto: ten times the least."
    )
    percent: Percent | Auto = Field(
        default=AUTO, description="Chance of a mark just below that, in percent; auto: 100."
    )


class ClassSection(Section):
    """One class of traffic: what belongs to it, and what every table of switch and host makes of it."""

    name: Name = Field(description="Name of the class, unlike any other.")
    dscps: tuple[Dscp, ...] = Field(min_length=1, max_length=64, description="DSCPs of its packets.")
    lossless: Flag = Field(default=False, description="Whether it pauses instead of losing packets.")
    priority: Number | Auto = Field(
        default=AUTO,
        description="Number of the class, in pause frames too; auto: a free one, 3 for the first that is lossless.",
    )
    traffic_class: Number | Auto = Field(default=AUTO, description="Traffic class of a switch; auto: the priority.")
    group: Number | Auto = Field(
        default=AUTO,
        description="Ingress priority group of a switch; auto: the priority where it is lossless, else the common one.",
    )
    queue: Number | Auto = Field(default=AUTO, description="Egress queue of a switch; auto: the traffic class.")
    schedule: Literal["weighted", "strict"] = Field(
        default="weighted", description="strict: goes before every weighted class."
    )
    weight: Percent | Auto = Field(
        default=AUTO, description="Share of the bandwidth in percent; auto: an equal part of what is left of 100."
    )
    ecn: MarksSection | Auto = Field(
        default=AUTO, description="Marks of this class; auto: roce.ecn where it is lossless."
    )


class NotificationSection(Section):
    """The class of congestion notifications, which goes before all others and is never paused."""

    dscp: Dscp | Auto = Field(default=AUTO, description="DSCP of the notifications; auto: lossless.cnp_dscp.")
    priority: Number | Auto = Field(default=AUTO, description="Number of the class; auto: lossless.cnp_priority.")
    traffic_class: Number | Auto = Field(default=AUTO, description="Traffic class of a switch; auto: the priority.")
    queue: Number | Auto = Field(default=AUTO, description="Egress queue of a switch; auto: the traffic class.")


class WatchdogSection(Section):
    """What ends a pause that never ends."""

    enabled: Flag = Field(default=True, description="Whether queues of lossless classes are watched.")
    action: Literal["drop", "forward", "alert"] = Field(
        default="drop", description="What happens to packets of a queue that is stuck."
    )
    detect_ms: Annotated[int, Field(strict=True, ge=100, le=5000)] | Auto = Field(
        default=AUTO, description="Milliseconds of pause that count as endless; auto: 200, longer than any honest one."
    )
    restore_ms: Annotated[int, Field(strict=True, ge=100, le=60_000)] | Auto = Field(
        default=AUTO, description="Milliseconds without pause after which all is as before; auto: twice detect_ms."
    )
    poll_ms: Annotated[int, Field(strict=True, ge=100, le=1000)] | Auto = Field(
        default=AUTO, description="Milliseconds between two looks; auto: detect_ms, at most 1000."
    )


class BuffersSection(Section):
    """How the packet buffer of a switch is divided."""

    model: Literal["dynamic", "traditional"] | Auto = Field(
        default=AUTO,
        description="traditional: the files say every byte; dynamic: the switch computes headroom and pools; auto: "
        "traditional where the buffer and the figures of the chip (or a headroom_table) are known.",
    )
    total_bytes: Annotated[int, Field(strict=True, ge=1, le=2**40)] | Auto = Field(
        default=AUTO, description="Packet buffer that pools may take; auto: that of the switch part."
    )
    shared_headroom: Flag = Field(
        default=False, description="Whether headroom is one pool for all ports, in the hope that not all pause at once."
    )
    over_subscribe_ratio: Annotated[int, Field(strict=True, ge=1, le=255)] = Field(
        default=2, description="How many times the shared headroom is promised; only with shared_headroom."
    )
    small_packet_percent: Annotated[int, Field(strict=True, ge=0, le=100)] = Field(
        default=50, description="Packets of 64 bytes among lossless ones, which headroom is sized for."
    )
    lossless_mtu: Annotated[int, Field(strict=True, ge=64, le=9216)] | Auto = Field(
        default=AUTO, description="Largest lossless packet that headroom is sized for; auto: the MTU of hosts."
    )
    dynamic_th: Annotated[int, Field(strict=True, ge=-8, le=7)] = Field(
        default=0, description="Share of the free pool that a lossless group may take, as a power of two."
    )


class PlatformSection(Section):
    """The operating system of the switches."""

    system: Literal["sonic", "nvue", "eos"] = Field(
        default="sonic", description="Whose configuration is written: SONiC, Cumulus Linux (NVUE) or Arista EOS."
    )
    release: Line | Auto = Field(default=AUTO, description="Its release; auto: the one that the docs name.")


class HashingSection(Section):
    """How switches choose among equal paths; each tier has a seed of its own, else all choose alike."""

    fields: tuple[HashField, ...] | Auto = Field(
        default=AUTO,
        max_length=12,
        description="What is hashed; auto: both addresses, the protocol and both ports, the inner ones too with EVPN.",
    )
    leaf_seed: Seed | Auto = Field(default=AUTO, description="Seed of the leaves; auto: 0.")
    spine_seed: Seed | Auto = Field(default=AUTO, description="Seed of the spines; auto: 10.")
    core_seed: Seed | Auto = Field(default=AUTO, description="Seed of the cores; auto: 25.")


class TenancySection(Section):
    """How tenants are kept apart on the switches."""

    kind: Literal["evpn", "vrf-lite", "none"] | Auto = Field(
        default=AUTO,
        description="evpn: a VRF each, over VXLAN between leaves; vrf-lite: a VRF each, for tenants that share no "
        "link; none: nothing keeps them apart; auto: evpn where there are tenants.",
    )
    first_vni: Vni = Field(default=10_001, description="Network number (VNI) of the first tenant.")
    first_vlan: Annotated[int, Field(strict=True, ge=2, le=4094)] = Field(
        default=1001, description="VLAN by which a leaf joins the first tenant's VRF to its network number."
    )
    source_checks: Flag = Field(
        default=True,
        description="Whether leaves drop what hosts send from addresses that are not theirs, or to tunnels.",
    )


class RoceSection(Section):
    """What only RoCE has."""

    classes: tuple[ClassSection, ...] = Field(
        default=(), max_length=64, description="Classes of traffic; empty: one lossless class, as lossless says."
    )
    cnp: NotificationSection = Field(default=NotificationSection(), description="Congestion notifications.")
    ecn: MarksSection = Field(default=MarksSection(), description="Marks of lossless classes.")
    watchdog: WatchdogSection = Field(default=WatchdogSection(), description="What ends a pause that never ends.")
    buffers: BuffersSection = Field(default=BuffersSection(), description="How the packet buffer is divided.")
    platform: PlatformSection = Field(default=PlatformSection(), description="The operating system of the switches.")
    headroom_table: RelativePath | None = Field(
        default=None,
        description="Path of the pg_profile_lookup.ini of your platform, relative to the declaration: its bytes count.",
    )
    hashing: HashingSection = Field(default=HashingSection(), description="How equal paths are chosen.")
    adaptive_routing: Flag = Field(
        default=False,
        description="Whether switches send each packet on the least loaded path; hosts must take packets in any order.",
    )
    queue_pairs: Annotated[int, Field(strict=True, ge=1, le=128)] = Field(
        default=1,
        description="Queue pairs per connection of the collective library, each with a UDP source port of its own.",
    )
    split_data: bool = Field(
        default=False,
        strict=True,
        description="Whether each message is split over all queue pairs of its connection; else they take turns.",
    )
    tenancy: TenancySection = Field(default=TenancySection(), description="How tenants are kept apart.")
