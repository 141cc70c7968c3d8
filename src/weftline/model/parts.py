"""Parts: switches, NICs, hosts and cables, each figure with its source and date."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from weftline.model.spec import Section

TechnologyName = Literal["infiniband", "roce"]
Positive = Annotated[float, Field(gt=0)]


class Source(Section):
    """Where a figure was read, and when."""

    figures: tuple[str, ...]
    """Keys of the part that this source stands behind."""
    text: str
    date: date


class PortSet(Section):
    """A number of ports at one rate."""

    rate_gbps: Positive
    count: Annotated[int, Field(ge=1, le=4096)]
    per_cage: Annotated[int, Field(ge=1, le=8)] = 1
    """Ports that share one cage (connector)."""


class Part(Section):
    """What every part has."""

    title: str
    technologies: tuple[TechnologyName, ...]
    sources: tuple[Source, ...]


class SwitchPart(Part):
    """A switch; ``ports`` lists the alternative ways to run it, by rate."""

    ports: tuple[PortSet, ...]
    latency_ns: Positive | None = None
    buffer_bytes: Positive | None = None
    power_w: Positive | None = None
    linear_fdb_cap: Annotated[int, Field(ge=1)] | None = None
    asic: str | None = None
    sonic_hwsku: str | None = None


class NicPart(Part):
    """A network adapter of one GPU."""

    ports: tuple[PortSet, ...]


class HostPart(Part):
    """A server."""

    gpus: Annotated[int, Field(ge=1, le=64)]
    rails: Annotated[int, Field(ge=1, le=64)]
    nic: str
    inside_host_gbytes_per_s: Positive | None = None
    """Rate of one GPU on the network inside the host, one way."""
    gpu_peak_tflops: dict[Literal["bf16", "fp16", "fp8", "fp32"], Positive] = {}
    """Dense arithmetic peak of one GPU by precision."""


class CablePart(Part):
    """A cable; one cable may carry several links."""

    rate_gbps: Positive
    """Rate of each link."""
    links: Annotated[int, Field(ge=1, le=8)] = 1
    medium: Literal["copper", "multimode", "singlemode", "active-optical"]
    max_length_m: Positive | None = None
    power_w: Positive | None = None


class Catalog(Section):
    """All parts by name."""

    switches: dict[str, SwitchPart]
    nics: dict[str, NicPart]
    hosts: dict[str, HostPart]
    cables: dict[str, CablePart]
