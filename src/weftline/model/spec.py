"""The declaration: what a person writes down about a fabric, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

AUTO = "auto"
Auto = Literal["auto"]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Name = Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
PartName = Annotated[str, Field(min_length=1, max_length=63)]
Claim = Literal["reach", "deadlock", "balance"]


class Section(BaseModel):
    """A section of the declaration: frozen, and no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, allow_inf_nan=False)


class FabricSection(Section):
    """What the fabric is called."""

    name: Name


class SiteSection(Section):
    """Where the fabric stands and from where it is managed."""

    facility: str = ""
    jurisdiction: str = ""
    management: tuple[str, ...] = ()


class ExtraEndpoint(Section):
    """An endpoint that is no host: a management server, storage, a gateway."""

    name: Name
    ports: Annotated[int, Field(ge=1, le=1024)]
    where: str = AUTO
    """``auto`` (free host ports of the last unit), ``leaf``, ``spine``, ``core``, or one switch, as ``leaf-008``."""


class HostsSection(Section):
    """The servers: how many, of which part, in units of how many."""

    count: Count
    part: PartName = AUTO
    gpus: Annotated[int, Field(ge=1, le=64)] | Auto = AUTO
    rails: Annotated[int, Field(ge=1, le=64)] | Auto = AUTO
    """NICs of the compute fabric per host."""
    rate_gbps: Annotated[float, Field(gt=0, le=10_000)] | Auto = AUTO
    """Rate of one NIC port. A NIC has one port per plane."""
    unit_size: Count | Auto = AUTO
    """Hosts of one scalable unit (rail-optimised, rail-only) or of one leaf (fat-tree)."""
    extra_endpoints: tuple[ExtraEndpoint, ...] = ()


class TopologySection(Section):
    """The shape of the fabric and the switches of each tier."""

    kind: Literal["rail-optimised", "fat-tree", "rail-only", "cabling"] = "rail-optimised"
    planes: Annotated[int, Field(ge=1, le=8)] = 1
    tiers: Annotated[int, Field(ge=1, le=3)] | Auto = AUTO
    leaf: PartName = AUTO
    spine: PartName = AUTO
    core: PartName = AUTO
    oversubscription: Annotated[float, Field(ge=1, le=64)] = 1.0
    """Host bandwidth over uplink bandwidth at the leaf."""
    cabling: str | None = None
    """Path of a cabling list, relative to the declaration; only with ``kind: cabling``."""


class CableRun(Section):
    """The cables between two tiers."""

    part: PartName = AUTO
    length_m: Annotated[float, Field(gt=0, le=100_000)] | Auto = AUTO


class CablesSection(Section):
    """Cable parts and lengths per pair of tiers."""

    host_leaf: CableRun = CableRun()
    leaf_spine: CableRun = CableRun()
    spine_core: CableRun = CableRun()


class RoutingSection(Section):
    """How packets find their way."""

    engine: Literal["auto", "fat-tree", "updown", "ecmp"] = AUTO
    lmc: Annotated[int, Field(ge=0, le=7)] = 0
    """LID mask control: each endpoint answers to 2**lmc addresses."""
    roots: tuple[str, ...] = ()
    """Switches that are roots for ``updown``; empty: the top tier."""


class LosslessSection(Section):
    """The traffic class that must not lose a packet, and the class that carries congestion notifications."""

    priority: Annotated[int, Field(ge=0, le=7)] = 3
    dscp: Annotated[int, Field(ge=0, le=63)] = 26
    cnp_priority: Annotated[int, Field(ge=0, le=7)] = 6
    cnp_dscp: Annotated[int, Field(ge=0, le=63)] = 48
    mtu: Annotated[int, Field(ge=256, le=65_535)] | Auto = AUTO


class TenantSpec(Section):
    """One tenant and the hosts that are its own, as ``1-32`` or ``1-8,17``."""

    name: Name
    hosts: str


class JobSpec(Section):
    """One training job: the model, how it is split, and what a GPU-hour costs."""

    name: Name
    hosts: str = "all"
    parameters: Annotated[float, Field(gt=0, le=1e15)]
    tensor_parallel: Annotated[int, Field(ge=1, le=4096)] = 8
    pipeline_parallel: Annotated[int, Field(ge=1, le=4096)] = 1
    data_parallel: Annotated[int, Field(ge=1, le=1_000_000)] | Auto = AUTO
    precision: Literal["bf16", "fp16", "fp8", "fp32"] = "bf16"
    global_batch: Count
    """Sequences per step over the whole job."""
    sequence_length: Count
    utilisation: Annotated[float, Field(gt=0, le=1)]
    """Achieved share of peak arithmetic rate while computing."""
    gpu_hour_price: Annotated[float, Field(ge=0, le=10_000)]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"


class ClaimsSection(Section):
    """What must be proved before anything is rendered."""

    required: tuple[Claim, ...] = ("reach", "deadlock", "balance")
    balance_threshold: Annotated[float, Field(ge=1, le=1_000_000)] | Auto = AUTO
    """Worst load of a directed link, in flows at NIC rate; ``auto``: the declared oversubscription."""
    max_hops: Annotated[int, Field(ge=1, le=64)] | Auto = AUTO
    """Most switches on a path; ``auto``: twice the tiers less one."""


class PolicySection(Section):
    """Choices that are the operator's own."""

    latency_us: Annotated[float, Field(ge=0, le=1_000_000)] | Auto = AUTO
    """End-to-end latency of a message; ``auto``: the technology's default, printed with its source."""
    inside_host_gbytes_per_s: Annotated[float, Field(gt=0, le=100_000)] | Auto = AUTO
    """Rate of one GPU on the network inside the host; ``auto``: from the host part."""
    render_unproved: bool = False
    """Write device files even though a required claim is not proved; recorded in the manifest."""


class ExpectSection(Section):
    """Counts from a plan or a bill of materials that the declaration must reproduce; each difference is a problem."""

    hosts: int | None = None
    gpus: int | None = None
    units: int | None = None
    leaf: int | None = None
    spine: int | None = None
    core: int | None = None
    host_leaf: int | None = None
    leaf_spine: int | None = None
    spine_core: int | None = None


class FabricSpec(Section):
    """The whole declaration."""

    fabric: FabricSection
    technology: Literal["infiniband", "roce"]
    site: SiteSection = SiteSection()
    hosts: HostsSection
    topology: TopologySection = TopologySection()
    cables: CablesSection = CablesSection()
    routing: RoutingSection = RoutingSection()
    lossless: LosslessSection = LosslessSection()
    tenants: tuple[TenantSpec, ...] = ()
    jobs: tuple[JobSpec, ...] = ()
    claims: ClaimsSection = ClaimsSection()
    policy: PolicySection = PolicySection()
    expect: ExpectSection = ExpectSection()
    parts: dict[Literal["switches", "nics", "hosts", "cables"], dict[str, dict[str, object]]] = {}
    """Parts of the user's own, in the form of the catalogue; they win over catalogue parts of the same name."""
