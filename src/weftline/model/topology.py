"""The section `topology` of a declaration: the shape of the fabric and the switches of each tier or group."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from weftline.model.section import AUTO, Auto, Name, PartName, RelativePath, Section

TopologyKind = Literal["rail-optimised", "fat-tree", "rail-only", "cabling", "dragonfly", "dragonfly-plus", "torus"]
GROUPED: Final = ("dragonfly", "dragonfly-plus")
DIRECT: Final = (*GROUPED, "torus")
"""Kinds whose switches do not stand in the tiers of a tree."""
MAX_GROUPS: Final = 2048
Some = Annotated[int, Field(strict=True, ge=1, le=4096)]
SomeOrNone = Annotated[int, Field(strict=True, ge=0, le=4096)]


class GroupSpec(Section):
    """Groups of one kind: how many of them, and what each is made of."""

    name: Name = Field(default="group", description="Name of this kind of group, as booster; unlike any other kind.")
    count: Annotated[int, Field(strict=True, ge=1, le=MAX_GROUPS)] = Field(description="Groups of this kind.")
    leaf: Some = Field(description="Switches with endpoints in each group; all switches of a dragonfly.")
    spine: SomeOrNone = Field(default=0, description="Switches above them in each group; only in a dragonfly-plus.")
    endpoints: SomeOrNone | Auto = Field(
        default=AUTO, description="Endpoint ports of each leaf; auto: as many as the hosts of the group need."
    )
    hosts: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] | Auto = Field(
        default=AUTO,
        description="Hosts of each group; auto: as many as its endpoint ports hold, or with one kind of group and no "
        "endpoints declared, all hosts shared out.",
    )
    others: Annotated[int, Field(strict=True, ge=0, le=100_000)] = Field(
        default=0,
        description="Endpoints in each group that are none of the hosts, of one port on each plane, named after the "
        "kind: other nodes, storage, gateways.",
    )
    global_links: SomeOrNone | Auto = Field(
        default=AUTO,
        description="Links to every other group, at most: two groups have the smaller number of both; auto: that of "
        "the topology.",
    )


class TopologySection(Section):
    """The shape of the fabric and the switches of each tier."""

    kind: TopologyKind = Field(
        default="rail-optimised", description="How switches join; cabling: as a list of cables says."
    )
    planes: Annotated[int, Field(strict=True, ge=1, le=8)] = Field(
        default=1, description="Separate fabrics side by side; each NIC has one port on each."
    )
    tiers: Annotated[int, Field(strict=True, ge=1, le=3)] | Auto = Field(
        default=AUTO, description="Levels of switches; auto: as few as reach every leaf."
    )
    leaf: PartName = Field(
        default=AUTO, description="Switch part of the leaves; auto: by technology, rate and unit size."
    )
    spine: PartName = Field(default=AUTO, description="Switch part of the spines; auto: as the leaves.")
    core: PartName = Field(default=AUTO, description="Switch part of the cores; auto: as the spines.")
    oversubscription: Annotated[float, Field(strict=True, ge=1, le=64)] = Field(
        default=1.0, description="Host bandwidth over uplink bandwidth at the leaf; 1 is non-blocking."
    )
    cabling: RelativePath | None = Field(
        default=None, description="Path of a cabling list (CSV), relative to the declaration; only with kind: cabling."
    )
    groups: tuple[GroupSpec, ...] = Field(
        default=(), max_length=64, description="Kinds of groups of a dragonfly or dragonfly-plus, in order."
    )
    local_links: Some | Auto = Field(
        default=AUTO,
        description="Links between two joined switches of a group; auto: 1 in a dragonfly, what the leaf's ports hold "
        "in a dragonfly-plus.",
    )
    global_links: SomeOrNone | Auto = Field(
        default=AUTO, description="Links between every two groups; auto: as many as the ports of all groups hold."
    )
    arrangement: Literal["palmtree", "absolute"] = Field(
        default="palmtree", description="In which order the switches of a group take the links to the other groups."
    )
    trunk_gbps: Annotated[float, Field(strict=True, gt=0, le=10_000)] | Auto = Field(
        default=AUTO,
        description="Rate of links between switches in Gb/s, where ports for hosts are split; auto: that of the NIC.",
    )
    sizes: tuple[Some, ...] = Field(
        default=(), max_length=8, description="Switches in each dimension of a torus, as [4, 4, 8]."
    )
    dimension_links: tuple[Some, ...] = Field(
        default=(), max_length=8, description="Links between neighbours in each dimension of a torus; empty: one each."
    )
    endpoints: Some | Auto = Field(
        default=AUTO, description="Endpoint ports of each switch of a torus; auto: as many as the hosts need."
    )
