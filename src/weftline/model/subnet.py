"""The declaration of InfiniBand's own: subnet managers, their keys, service levels and partitions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weftline.model.section import EndpointName, Flag, Name, RelativePath, Section

Seconds = Annotated[int, Field(strict=True, ge=1, le=65_535)]


class KeysSection(Section):
    """Files that hold the management keys; their values stand in no output."""

    m_key_file: RelativePath | None = Field(
        default=None, description="File of mode 0600 with the M_Key, without which a device takes no orders."
    )
    sm_key_file: RelativePath | None = Field(
        default=None, description="File of mode 0600 with the SM_Key, by which subnet managers trust each other."
    )
    sa_key_file: RelativePath | None = Field(
        default=None, description="File of mode 0600 with the SA_Key, by which the manager trusts who asks."
    )
    vs_key_file: RelativePath | None = Field(
        default=None, description="File of mode 0600 with the key of vendor-specific orders; for the vendor's manager."
    )
    cc_key_file: RelativePath | None = Field(
        default=None, description="File of mode 0600 with the key of congestion control; for the vendor's manager."
    )
    am_key_file: RelativePath | None = Field(
        default=None, description="File of mode 0600 with the key of aggregation; for the vendor's manager."
    )
    lease_s: Seconds = Field(default=60, description="Seconds after which a device lets go of the M_Key by itself.")
    protection: Annotated[int, Field(strict=True, ge=0, le=3)] = Field(
        default=2, description="Who may read without the M_Key; 0 and 1: anybody, 2 and 3: nobody."
    )


class ServiceClass(Section):
    """Traffic that gets a service level and a lane of its own."""

    name: Name = Field(description="Name of the class, unlike any other.")
    sl: Annotated[int, Field(strict=True, ge=0, le=255)] = Field(description="Service level, 0 to 15.")
    vl: Annotated[int, Field(strict=True, ge=0, le=255)] = Field(description="Lane (VL) that carries it, 0 to 14.")
    weight: Annotated[int, Field(strict=True, ge=1, le=255)] = Field(
        default=32, description="Share of the lane among those of the same priority, in units of 64 bytes."
    )
    high: Flag = Field(default=False, description="Whether the lane goes before those of low priority.")
    tenants: tuple[Name, ...] = Field(
        default=(), max_length=10_000, description="Tenants whose traffic among their own hosts it is for."
    )
    ports: tuple[Name, ...] = Field(
        default=(), max_length=10_000, description="Hosts or extra endpoints to and from which all traffic it is for."
    )


class QosSection(Section):
    """Service levels and lanes; without classes every device keeps its own."""

    classes: tuple[ServiceClass, ...] = Field(default=(), max_length=16, description="Classes of traffic.")
    high_limit: Annotated[int, Field(strict=True, ge=0, le=255)] = Field(
        default=4,
        description="Data of high priority that may go before one packet of low priority, in 4 KiB; 255 is no limit.",
    )


class InfinibandSection(Section):
    """What only InfiniBand has."""

    managers: tuple[EndpointName, ...] = Field(
        default=(),
        max_length=16,
        description="Ports at which subnet managers run, the master first, as mgmt-1/1; empty: the first extra "
        "endpoint of each subnet, or its first host.",
    )
    sweep_interval_s: Seconds = Field(default=10, description="Seconds between two looks at the subnet.")
    keys: KeysSection = Field(default=KeysSection(), description="Management keys, by the files that hold them.")
    qos: QosSection = Field(default=QosSection(), description="Service levels and lanes.")
    enforcement: Literal["both", "in", "out", "off"] = Field(
        default="both", description="On which directions of switch ports partitions are enforced."
    )
    default_partition: Literal["limited", "full"] = Field(
        default="limited", description="Membership of every endpoint in the default partition; full joins everybody."
    )
    allow_both: Flag = Field(default=False, description="Whether an endpoint may be a full and a limited member.")
    partition_first_key: Annotated[int, Field(strict=True, ge=0, le=0xFFFF)] = Field(
        default=1, description="Number of the first partition that is given automatically."
    )
