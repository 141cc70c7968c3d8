"""What a declaration asks of tenants that the switches cannot keep apart: refused with the arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Problem
from weftline.model.design import ResolvedSpec
from weftline.model.spec import AUTO
from weftline.technologies.roce.mtu import SWITCH_MTU, host_mtu

MAX_VLAN = 4094
MAX_VNI = 0xFFFFFF
TUNNEL_BYTES = 50
"""What VXLAN adds to a frame: Ethernet, IPv4, UDP and its own header. RFC 7348, 5."""


def list_tenancy_refusals(design: ResolvedSpec) -> tuple[Problem, ...]:
    """List what stands against the tenants of a declaration."""
    section = design.spec.roce.tenancy
    owners = len(design.spec.tenants) + len(design.spec.shared) + 1
    if section.kind == "none" or (section.kind == AUTO and owners < 3 and not design.spec.hosts.extra_endpoints):
        return ()
    return (
        *_judge_kind(design),
        *_judge_numbers(design, owners),
        *_judge_mtu(design),
        *_judge_shared(design),
    )


def _judge_kind(design: ResolvedSpec) -> Iterator[Problem]:
    if design.spec.roce.tenancy.kind == "vrf-lite":
        message = "roce.tenancy.kind is vrf-lite, and links between switches would be shared by all tenants"
        hint = "write evpn: only network numbers keep tenants apart on links that they share"
        yield Problem("capability.not-rendered", message, hint, design.places.get("roce.tenancy.kind"))


def _judge_numbers(design: ResolvedSpec, owners: int) -> Iterator[Problem]:
    section = design.spec.roce.tenancy
    sums = f"{len(design.spec.tenants)} tenants + {len(design.spec.shared)} services + 1 (all else) = {owners}"
    for key, first, most in (("first_vlan", section.first_vlan, MAX_VLAN), ("first_vni", section.first_vni, MAX_VNI)):
        if first + owners - 1 > most:
            last = first + owners - 1
            message = f"{sums} owners from roce.tenancy.{key} {first:,} on end at {last:,}; {most:,} is the last"
            where = design.places.get(f"roce.tenancy.{key}") or design.places.get("tenants")
            yield Problem("capability.too-many-tenants", message, "begin lower, or declare fewer tenants", where)


def _judge_mtu(design: ResolvedSpec) -> Iterator[Problem]:
    frame = host_mtu(design) + TUNNEL_BYTES
    if host_mtu(design) <= SWITCH_MTU < frame:
        message = (
            f"lossless.mtu is {host_mtu(design):,}, and with {TUNNEL_BYTES} bytes of VXLAN a frame has {frame:,}; "
            f"switch ports carry at most {SWITCH_MTU:,}"
        )
        hint = "a host MTU of 4200 carries the largest RDMA MTU, 4096"
        yield Problem("capability.mtu", message, hint, design.places.get("lossless.mtu"))


def _judge_shared(design: ResolvedSpec) -> Iterator[Problem]:
    """Warn of services that several leaves share: their routes carry the network number of the service."""
    if design.spec.shared:
        message = (
            "shared services are hub and spoke by route targets: a leaf sends to a service by the network number that "
            "the route carries, which a release must have (downstream VNI)"
        )
        hint = "try it on the release that runs, before tenants do"
        yield Problem("capability.downstream-vni", message, hint, design.places.get("shared"), severity="warning")
