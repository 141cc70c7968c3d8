"""Small designs and fabrics for tests, made directly from generic parts, without YAML or the parts catalogue."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from weftline.compile import build_fabric
from weftline.kernels.column import I32, NIL
from weftline.model.design import ResolvedSpec, RunPart, TierPart
from weftline.model.fabric import Fabric, NodeKind, Tier
from weftline.model.parts import CablePart, HostPart, NicPart, PortSet, Source, SwitchPart
from weftline.model.spec import (
    ExpectSection,
    ExtraEndpoint,
    FabricSection,
    FabricSpec,
    HostsSection,
    TenantSpec,
    TopologySection,
)

_BOTH = ("infiniband", "roce")
_SOURCES = (Source(figures=("ports",), text="made up for tests", date=date(2026, 1, 1)),)


def parse_hosts(text: str) -> tuple[int, ...]:
    """Read ``1-8,17`` as host indices from 0."""
    found: list[int] = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        found.extend(range(int(first) - 1, int(last or first)))
    return tuple(found)


def make_design(
    kind: str = "fat-tree",
    *,
    hosts: int = 16,
    rails: int = 1,
    ports: int = 8,
    unit_size: int | None = None,
    planes: int = 1,
    tiers: int | str = "auto",
    oversubscription: float = 1.0,
    rate_gbps: float = 400.0,
    technology: str = "infiniband",
    tenants: Sequence[tuple[str, str] | TenantSpec] = (),
    extras: Sequence[tuple[str, int, str]] = (),
    expect: Mapping[str, int] | None = None,
    cable_links: int | tuple[int, int, int] = 1,
    leaf_ports: int | None = None,
    spine_ports: int | None = None,
    core_ports: int | None = None,
    uplink_gbps: float | None = None,
    name: str = "test",
    **sections: Any,
) -> ResolvedSpec:
    """Make a design from generic switches of ``ports`` ports.

    ``unit_size`` defaults to what fills half of a leaf. ``tenants`` are (name, host ranges); ``extras`` are (name,
    ports, where); ``expect`` are declared counts; ``cable_links`` the links per cable, for all or per pair of tiers;
    further sections of the declaration (``claims``, ``routing``, ``jobs``, ...) go by keyword.
    """
    half = (leaf_ports or ports) // 2
    size = unit_size or max(1, half // rails if kind == "fat-tree" else half)
    owners = tuple(one if isinstance(one, TenantSpec) else TenantSpec(name=one[0], hosts=one[1]) for one in tenants)
    spec = FabricSpec(
        fabric=FabricSection(name=name),
        technology=technology,  # type: ignore[arg-type]
        hosts=HostsSection(
            count=hosts,
            gpus=rails,
            rails=rails,
            rate_gbps=rate_gbps,
            unit_size=size,
            extra_endpoints=tuple(ExtraEndpoint(name=n, ports=p, where=w) for n, p, w in extras),
        ),
        topology=TopologySection(
            kind=kind,  # type: ignore[arg-type]
            planes=planes,
            tiers=tiers,  # type: ignore[arg-type]
            oversubscription=oversubscription,
            cabling="cabling.csv" if kind == "cabling" else None,
        ),
        tenants=owners,
        expect=ExpectSection(**(expect or {})),
        **sections,
    )
    uplink = uplink_gbps or rate_gbps
    runs = cable_links if isinstance(cable_links, tuple) else (cable_links,) * 3
    port_set = PortSet(rate_gbps=rate_gbps, count=planes, per_cage=planes)
    return ResolvedSpec(
        spec=spec,
        digest=hashlib.sha256(f"{spec.model_dump_json()}{ports}{runs}".encode()).hexdigest(),
        host_name="generic-host",
        host=HostPart(
            title="host", technologies=_BOTH, sources=_SOURCES, gpus=rails, rails=rails, nic="generic-nic",
            inside_host_gbytes_per_s=450.0, gpu_peak_tflops={"bf16": 989.0},
        ),
        nic=NicPart(title="nic", technologies=_BOTH, sources=_SOURCES, ports=(port_set,)),
        gpus=rails,
        rails=rails,
        rate_gbps=rate_gbps,
        unit_size=size,
        leaf=_tier("generic-leaf", leaf_ports or ports, uplink),
        spine=_tier("generic-spine", spine_ports or ports, uplink),
        core=_tier("generic-core", core_ports or ports, uplink),
        host_leaf=_run("host-cable", runs[0], rate_gbps, 3.0),
        leaf_spine=_run("spine-cable", runs[1], uplink, 30.0),
        spine_core=_run("core-cable", runs[2], uplink, 100.0),
        tenant_hosts=tuple(parse_hosts(owner.hosts) for owner in owners),
        job_hosts=tuple(
            tuple(range(hosts)) if job.hosts == "all" else parse_hosts(job.hosts) for job in spec.jobs
        ),
        cabling_path=spec.topology.cabling,
    )  # fmt: skip


def make_fabric(kind: str = "fat-tree", **options: Any) -> Fabric:
    """Build the fabric of ``make_design`` with the same arguments; a refusal fails the test with its messages."""
    built = build_fabric(make_design(kind, **options))
    assert isinstance(built, Fabric), "\n".join(problem.message for problem in built)
    return built


def from_links(
    switches: int | Sequence[str],
    hosts: int | Mapping[str, str],
    links: Sequence[tuple[int | str, int | str]],
    *,
    tiers: Mapping[str, Tier] | None = None,
    rate_gbps: float = 400.0,
    shape: str = "irregular",
) -> Fabric:
    """Build any graph: rings, tori, irregular.

    ``switches`` are names, or a number of switches ``leaf-001``, ...; ``hosts`` is a number of hosts per switch, or
    host name to switch; ``links`` are pairs of switches by name or index from 0, repeated for parallel links. On each
    switch the ports of its hosts come first, then those of its links in the order given; no port is dark. All
    switches are leaves unless ``tiers`` says otherwise; all is one component.
    """
    names = [f"leaf-{i + 1:03d}" for i in range(switches)] if isinstance(switches, int) else list(switches)
    if isinstance(hosts, int):
        homes = {f"host-{i + 1:04d}": names[i // hosts] for i in range(len(names) * hosts)}
    else:
        homes = dict(hosts)
    everyone = [*homes, *names]
    index = {name: i for i, name in enumerate(everyone)}
    pairs = [(index[host], index[home]) for host, home in homes.items()]
    ends = [tuple(len(homes) + end if isinstance(end, int) else index[end] for end in link) for link in links]
    pairs += [(end[0], end[1]) for end in ends]
    degree = np.bincount(np.array(pairs, dtype=np.int64).ravel(), minlength=len(everyone))
    ptr = np.concatenate(([0], np.cumsum(degree))).astype(np.int32)
    peer: I32 = np.full(int(ptr[-1]), NIL, dtype=np.int32)
    cable: I32 = np.full(int(ptr[-1]), NIL, dtype=np.int32)
    used = ptr[:-1].copy()
    for number, (a, b) in enumerate(pairs):
        port_a, port_b = int(used[a]), int(used[b]) + (1 if a == b else 0)
        used[a] += 1
        used[b] += 1
        peer[port_a], peer[port_b] = port_b, port_a
        cable[[port_a, port_b]] = number
    nodes, ports = len(everyone), int(ptr[-1])
    is_host = np.arange(nodes) < len(homes)
    tier = [Tier.HOST] * len(homes) + [(tiers or {}).get(name, Tier.LEAF) for name in names]
    port_is_host = np.repeat(is_host, degree)
    nil_nodes: I32 = np.full(nodes, NIL, dtype=np.int32)
    zero: I32 = np.zeros(nodes, dtype=np.int32)
    return Fabric(
        name="graph",
        shape=shape,
        source_digest=hashlib.sha256(repr((everyone, pairs)).encode()).hexdigest(),
        node_name=tuple(everyone),
        node_kind=np.where(is_host, NodeKind.HOST, NodeKind.SWITCH).astype(np.int8),
        node_tier=np.array(tier, dtype=np.int8),
        node_plane=zero.copy(),
        node_rail=nil_nodes.copy(),
        node_unit=nil_nodes.copy(),
        node_group=nil_nodes.copy(),
        node_component=zero.copy(),
        node_tenant=nil_nodes.copy(),
        node_part=nil_nodes.copy(),
        part_name=(),
        tenant_name=(),
        port_ptr=ptr,
        port_number=(np.arange(ports) - np.repeat(ptr[:-1], degree) + 1).astype(np.int32),
        port_peer=peer,
        port_rate_gbps=np.full(ports, rate_gbps),
        port_rail=np.where(port_is_host, 0, NIL).astype(np.int32),
        port_plane=np.zeros(ports, dtype=np.int32),
        port_component=np.zeros(ports, dtype=np.int32),
        port_cable=cable,
        cable_part=("",) * len(pairs),
        cable_length_m=np.full(len(pairs), math.nan),
    )


def _tier(name: str, ports: int, rate_gbps: float) -> TierPart:
    port_set = PortSet(rate_gbps=rate_gbps, count=ports)
    return TierPart(
        name=name,
        part=SwitchPart(title=name, technologies=_BOTH, sources=_SOURCES, ports=(port_set,)),
        ports=ports,
        rate_gbps=rate_gbps,
        per_cage=1,
    )


def _run(name: str, links: int, rate_gbps: float, length_m: float) -> RunPart:
    part = CablePart(
        title=name, technologies=_BOTH, sources=_SOURCES, rate_gbps=rate_gbps, links=links, medium="multimode"
    )
    return RunPart(name=name, part=part, links=links, length_m=length_m)
