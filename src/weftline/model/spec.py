"""The declaration: what a person writes down about a fabric, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from weftline.model.risk import RehearsalSection, RiskSpec
from weftline.model.roce import RoceSection
from weftline.model.section import (
    AUTO,
    Auto,
    Count,
    Expected,
    Flag,
    HostRanges,
    Line,
    Name,
    PartName,
    RelativePath,
    Section,
)
from weftline.model.subnet import InfinibandSection
from weftline.model.topology import TopologySection

MAX_OWN_PARTS: Final = 200
"""Parts of one kind that a declaration may bring along."""
Claim = Literal["reach", "deadlock", "balance", "isolate", "lossless", "deadlock-in-failures", "converge"]
PartKind = Literal["switches", "nics", "hosts", "cables"]
PartitionNumber = Annotated[int, Field(strict=True, ge=0, le=0xFFFF)]
Membership = Literal["full", "limited", "both"]
OwnParts = Annotated[dict[PartName, dict[str, object]], Field(max_length=MAX_OWN_PARTS)]


class FabricSection(Section):
    """What the fabric is called."""

    name: Name = Field(description="Name of the fabric: letters, digits, dots, dashes and underscores.")


class SiteSection(Section):
    """Where the fabric stands and from where it is managed."""

    facility: Line = Field(default="", description="The building or hall where every device stands.")
    jurisdiction: Line = Field(default="", description="The country or legal area whose law applies, as DE or EU.")
    management: tuple[Line, ...] = Field(
        default=(), max_length=1000, description="Address prefixes of the management network, as 10.0.0.0/16."
    )


class ExtraEndpoint(Section):
    """An endpoint that is no host: a management server, storage, a gateway."""

    name: Name = Field(description="Name of the endpoint, unlike any other node.")
    ports: Annotated[int, Field(strict=True, ge=1, le=1024)] = Field(description="Ports of it on this fabric.")
    where: Name = Field(
        default=AUTO,
        description="auto (free host ports of the last unit), leaf, spine, core, or one switch, as leaf-008.",
    )


class HostsSection(Section):
    """The servers: how many, of which part, in units of how many."""

    count: Count = Field(description="Number of hosts.")
    part: PartName = Field(default=AUTO, description="Host part; auto: the first of the catalogue that has the rate.")
    nic: PartName = Field(default=AUTO, description="NIC part; auto: the NIC of the host part.")
    gpus: Annotated[int, Field(strict=True, ge=1, le=64)] | Auto = Field(
        default=AUTO, description="GPUs per host; auto: from the host part."
    )
    rails: Annotated[int, Field(strict=True, ge=1, le=64)] | Auto = Field(
        default=AUTO, description="NICs of the compute fabric per host; auto: from the host part."
    )
    rate_gbps: Annotated[float, Field(strict=True, gt=0, le=10_000)] | Auto = Field(
        default=AUTO,
        description="Rate of one NIC port in Gb/s; a NIC has one port per plane. auto: the fastest of the NIC.",
    )
    unit_size: Count | Auto = Field(
        default=AUTO,
        description="Hosts of one scalable unit (rail-optimised, rail-only) or of one leaf (fat-tree); "
        "auto: as many as a leaf holds at the declared oversubscription.",
    )
    extra_endpoints: tuple[ExtraEndpoint, ...] = Field(
        default=(), max_length=1000, description="Endpoints that are no hosts, as management servers."
    )


class CableRun(Section):
    """The cables between two tiers."""

    part: PartName = Field(
        default=AUTO, description="Cable part; auto: the first of the catalogue that reaches the length."
    )
    length_m: Annotated[float, Field(strict=True, gt=0, le=100_000)] | Auto = Field(
        default=AUTO, description="Length in metres; auto: the default that the catalogue states for this run."
    )


class CablesSection(Section):
    """Cable parts and lengths per pair of tiers."""

    host_leaf: CableRun = Field(default=CableRun(), description="Cables from NICs to leaves.")
    leaf_spine: CableRun = Field(default=CableRun(), description="Cables from leaves to spines.")
    spine_core: CableRun = Field(default=CableRun(), description="Cables from spines to cores.")
    leaf_leaf: CableRun = Field(
        default=CableRun(), description="Cables inside a group of a dragonfly, or between neighbours of a torus."
    )
    between_groups: CableRun = Field(default=CableRun(), description="Cables between groups.")


class RoutingSection(Section):
    """How packets find their way."""

    engine: Literal[
        "auto",
        "fat-tree",
        "updown",
        "ecmp",
        "weighted-ecmp",
        "layered",
        "dragonfly",
        "dragonfly-adaptive",
        "dragonfly-plus",
        "dragonfly-plus-adaptive",
        "torus",
    ] = Field(
        default=AUTO,
        description="Routing engine; auto: that of the shape, else of the technology, on as few lanes as it can.",
    )
    lanes: Annotated[int, Field(strict=True, ge=1, le=15)] | Auto = Field(
        default=AUTO, description="Data lanes that engine layered may use at most; auto: 8, as most devices have."
    )
    lmc: Annotated[int, Field(strict=True, ge=0, le=7)] = Field(
        default=0, description="LID mask control: each endpoint answers to 2**lmc addresses; 0 where there are no LIDs."
    )
    roots: tuple[Name, ...] = Field(
        default=(), max_length=10_000, description="Switches that are roots for updown; empty: the top tier."
    )


class LosslessSection(Section):
    """The traffic class that must not lose a packet, and the class that carries congestion notifications."""

    priority: Annotated[int, Field(strict=True, ge=0, le=7)] = Field(default=3, description="Priority of RDMA traffic.")
    dscp: Annotated[int, Field(strict=True, ge=0, le=63)] = Field(default=26, description="DSCP of RDMA traffic.")
    cnp_priority: Annotated[int, Field(strict=True, ge=0, le=7)] = Field(
        default=6, description="Priority of congestion notification packets."
    )
    cnp_dscp: Annotated[int, Field(strict=True, ge=0, le=63)] = Field(
        default=48, description="DSCP of congestion notification packets."
    )
    mtu: Annotated[int, Field(strict=True, ge=256, le=65_535)] | Auto = Field(
        default=AUTO, description="MTU in bytes; auto: the technology's default."
    )


class TenantSpec(Section):
    """One tenant and the hosts that are its own."""

    name: Name = Field(description="Name of the tenant, unlike any other.")
    hosts: HostRanges = Field(description="Hosts of the tenant, counted from 1, as 1-32 or 1-8,17.")
    partition: PartitionNumber | Auto = Field(
        default=AUTO, description="Number of its partition, without the membership bit; auto: the next free one."
    )
    membership: Membership = Field(
        default="full",
        description="full: hosts reach each other; limited: they reach full members only; both: they have both keys.",
    )


class SharedSpec(Section):
    """A service that tenants share, as storage: each tenant reaches it, and none reaches another through it."""

    name: Name = Field(description="Name of the service, unlike any tenant or other service.")
    endpoints: tuple[Name, ...] = Field(
        min_length=1, max_length=1000, description="Extra endpoints that give the service, by name."
    )
    tenants: tuple[Name, ...] | Literal["all"] = Field(
        default="all", max_length=10_000, description="Names of the tenants that use it; all: every tenant."
    )
    partition: PartitionNumber | Auto = Field(
        default=AUTO, description="Number of its partition, without the membership bit; auto: the next free one."
    )


class JobSpec(Section):
    """One training job: the model, how it is split, and what a GPU-hour costs."""

    name: Name = Field(description="Name of the job, unlike any other.")
    hosts: HostRanges = Field(default="all", description="Hosts that the job runs on, counted from 1, as 1-32; or all.")
    parameters: Annotated[float, Field(strict=True, gt=0, le=1e15)] = Field(
        description="Parameters of the model, as 70e9."
    )
    tensor_parallel: Annotated[int, Field(strict=True, ge=1, le=4096)] = Field(
        default=8, description="GPUs that share each layer."
    )
    pipeline_parallel: Annotated[int, Field(strict=True, ge=1, le=4096)] = Field(
        default=1, description="Groups of layers, one after the other."
    )
    data_parallel: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | Auto = Field(
        default=AUTO, description="Copies of the model; auto: the GPUs of the job over the other two degrees."
    )
    precision: Literal["bf16", "fp16", "fp8", "fp32"] = Field(
        default="bf16", description="Number format of the arithmetic."
    )
    global_batch: Count = Field(description="Sequences per step over the whole job.")
    sequence_length: Count = Field(description="Tokens per sequence.")
    utilisation: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        description="Achieved share of the peak arithmetic rate while computing, as 0.4."
    )
    gpu_hour_price: Annotated[float, Field(strict=True, ge=0, le=10_000)] = Field(
        description="Price of one GPU for one hour, in the currency below."
    )
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = Field(
        default="USD", description="Currency of the price, as three capital letters."
    )


class ClaimsSection(Section):
    """What must be proved before anything is rendered."""

    required: tuple[Claim, ...] = Field(
        default=("reach", "deadlock", "balance"), max_length=16, description="Claims that must be proved."
    )
    balance_threshold: Annotated[float, Field(strict=True, ge=1, le=1_000_000)] | Auto = Field(
        default=AUTO,
        description="Worst load of a directed link, in flows at NIC rate; auto: the oversubscription rounded up, twice "
        "that where the last unit is not full or pods differ in size; without a tree what the worst shift puts on the "
        "links of a pair of groups, or of a leaf, or half round a torus.",
    )
    max_hops: Annotated[int, Field(strict=True, ge=1, le=64)] | Auto = Field(
        default=AUTO, description="Most switches on a path; auto: twice the tiers less one."
    )


class PolicySection(Section):
    """Choices that are the operator's own."""

    latency_us: Annotated[float, Field(strict=True, ge=0, le=1_000_000)] | Auto = Field(
        default=AUTO, description="End-to-end latency of a message in microseconds; auto: the technology's default."
    )
    inside_host_gbytes_per_s: Annotated[float, Field(strict=True, gt=0, le=100_000)] | Auto = Field(
        default=AUTO,
        description="Rate of one GPU on the network inside the host, one way, in GB/s; auto: from the host part.",
    )
    render_unproved: Flag = Field(
        default=False,
        description="Write device files even though a required claim is not proved; recorded in the manifest.",
    )


class ExpectSection(Section):
    """Counts from a plan or a bill of materials that the declaration must reproduce; each difference is a problem."""

    hosts: Expected | None = Field(default=None, description="Hosts that the plan counts.")
    gpus: Expected | None = Field(default=None, description="GPUs that the plan counts.")
    units: Expected | None = Field(default=None, description="Scalable units that the plan counts.")
    leaf: Expected | None = Field(default=None, description="Leaf switches that the plan counts.")
    spine: Expected | None = Field(default=None, description="Spine switches that the plan counts.")
    core: Expected | None = Field(default=None, description="Core switches that the plan counts.")
    host_leaf: Expected | None = Field(default=None, description="Cables from hosts to leaves that the plan counts.")
    leaf_spine: Expected | None = Field(default=None, description="Cables from leaves to spines that the plan counts.")
    spine_core: Expected | None = Field(default=None, description="Cables from spines to cores that the plan counts.")
    endpoints: Expected | None = Field(default=None, description="NIC ports of hosts that the plan counts.")
    extra_endpoints: Expected | None = Field(default=None, description="Ports of other endpoints that the plan counts.")
    groups: Expected | None = Field(default=None, description="Groups that the plan counts.")
    leaf_leaf: Expected | None = Field(default=None, description="Cables between leaves that the plan counts.")
    between_groups: Expected | None = Field(default=None, description="Cables between groups that the plan counts.")


class FabricSpec(Section):
    """The declaration of one fabric."""

    fabric: FabricSection = Field(description="What the fabric is called.")
    technology: Literal["infiniband", "roce"] = Field(description="How RDMA is carried.")
    site: SiteSection = Field(
        default=SiteSection(), description="Where the fabric stands and from where it is managed."
    )
    hosts: HostsSection = Field(description="The servers: how many, of which part, in units of how many.")
    topology: TopologySection = Field(default=TopologySection(), description="The shape and the switches of each tier.")
    cables: CablesSection = Field(default=CablesSection(), description="Cable parts and lengths per pair of tiers.")
    routing: RoutingSection = Field(default=RoutingSection(), description="How packets find their way.")
    lossless: LosslessSection = Field(default=LosslessSection(), description="Traffic classes and their marks.")
    tenants: tuple[TenantSpec, ...] = Field(default=(), max_length=10_000, description="Who owns which hosts.")
    shared: tuple[SharedSpec, ...] = Field(
        default=(), max_length=1000, description="Services that tenants share without reaching each other."
    )
    infiniband: InfinibandSection = Field(
        default=InfinibandSection(), description="Subnet managers, keys, service levels and partitions of InfiniBand."
    )
    roce: RoceSection = Field(
        default=RoceSection(), description="Classes, marks, buffers, platform, hashing and tenancy of RoCE."
    )
    inventory: RelativePath | None = Field(
        default=None, description="Path of a list (CSV) of the real ids of devices, relative to the declaration."
    )
    jobs: tuple[JobSpec, ...] = Field(default=(), max_length=64, description="Training jobs to predict and simulate.")
    claims: ClaimsSection = Field(
        default=ClaimsSection(), description="What must be proved before anything is rendered."
    )
    risks: tuple[RiskSpec, ...] = Field(
        default=(), max_length=10_000, description="Groups of links and switches that one accident takes away together."
    )
    rehearsal: RehearsalSection = Field(
        default=RehearsalSection(), description="What a rehearsed failure may cost before the answer is no."
    )
    policy: PolicySection = Field(default=PolicySection(), description="Choices that are the operator's own.")
    expect: ExpectSection = Field(default=ExpectSection(), description="Counts of a plan that must be reproduced.")
    parts: dict[PartKind, OwnParts] = Field(
        default={},
        description="Parts of your own, in the form of the catalogue. A part of a known name, or with base: NAME, "
        "keeps the figures that are not given here.",
    )
