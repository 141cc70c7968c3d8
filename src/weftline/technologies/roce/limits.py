"""What the address plan of a RoCE fabric can hold, and which classes it can tell apart."""

from __future__ import annotations

import ipaddress

from weftline.errors import Problem
from weftline.model.design import ResolvedSpec
from weftline.technologies.roce.mtu import LEAST_MTU, RDMA_HEADERS, SWITCH_MTU, host_mtu
from weftline.technologies.roce.refusals import list_refusals
from weftline.technologies.roce.refusals_buffers import list_buffer_refusals
from weftline.technologies.roce.refusals_tenancy import list_tenancy_refusals

LOOPBACKS = ipaddress.IPv4Network("10.0.0.0/12")
"""One address per switch, from the second on."""
LINKS = ipaddress.IPv4Network("10.128.0.0/9")
"""A block per switch with endpoints, of two addresses per endpoint (RFC 3021), a power of two."""
FIRST_NUMBER = 4_200_000_000
LAST_NUMBER = 4_294_967_294
"""Private numbers of four bytes. RFC 6996, 5."""


def count_problems(design: ResolvedSpec, endpoints: int, switches: int) -> tuple[Problem, ...]:
    """Judge the size against the address plan, and the classes against each other."""
    return (
        *_size_problems(design, endpoints, switches),
        *_class_problems(design),
        *_overlap_problems(design),
        *_foreign_problems(design),
        *list_refusals(design),
        *list_buffer_refusals(design),
        *list_tenancy_refusals(design),
    )


def _foreign_problems(design: ResolvedSpec) -> list[Problem]:
    """Name what is declared and means nothing here, or is not rendered yet."""
    problems: list[Problem] = []
    if "infiniband" in design.places:
        message = "the section infiniband is given, and the technology is roce"
        hint = "remove the section, or write technology: infiniband"
        problems.append(Problem("spec.other-technology", message, hint, design.places["infiniband"]))
    if design.has_split_ports:
        message = "ports of a leaf are split for slower NICs, and its file has no layout of interfaces for that yet"
        where = design.places.get("topology.trunk_gbps")
        hint = "leave trunk_gbps out, or choose NICs of the rate between switches"
        problems.append(Problem("capability.split-ports", message, hint, where))
    if "inventory" in design.places:
        message = "inventory is not used for RoCE yet: its devices are addressed by the plan alone"
        where = design.places["inventory"]
        problems.append(Problem("capability.not-rendered", message, "leave it out", where, severity="warning"))
    return problems


def _size_problems(design: ResolvedSpec, endpoints: int, switches: int) -> list[Problem]:
    problems: list[Problem] = []
    links = LINKS.num_addresses // 2
    if endpoints > links:
        problems.append(
            Problem(
                "capability.too-many-addresses",
                f"{LINKS} holds {LINKS.num_addresses:,} / 2 = {links:,} host links, and there are {endpoints:,} "
                "endpoints",
                "declare several fabrics",
                design.places.get("hosts.count"),
            )
        )
    numbers = min(LOOPBACKS.num_addresses - 1, LAST_NUMBER - FIRST_NUMBER + 1)
    if switches > numbers:
        problems.append(
            Problem(
                "capability.too-many-addresses",
                f"{LOOPBACKS} holds {numbers:,} switches, and there are {switches:,}",
                "declare several fabrics",
                design.places.get("hosts.count"),
            )
        )
    return problems


def _class_problems(design: ResolvedSpec) -> list[Problem]:
    lossless = design.spec.lossless
    problems: list[Problem] = []
    clashes = lossless.priority == lossless.cnp_priority or lossless.dscp == lossless.cnp_dscp
    if clashes and not design.spec.roce.classes:
        problems.append(
            Problem(
                "capability.class-clash",
                f"data has priority {lossless.priority} and DSCP {lossless.dscp}, congestion notifications have "
                f"priority {lossless.cnp_priority} and DSCP {lossless.cnp_dscp}: they must differ in both",
                "a paused notification cannot end the congestion; change lossless.cnp_priority or lossless.cnp_dscp",
                design.places.get("lossless"),
            )
        )
    if host_mtu(design) > SWITCH_MTU:
        problems.append(
            Problem(
                "capability.mtu",
                f"lossless.mtu is {host_mtu(design):,}, and switch ports carry at most {SWITCH_MTU:,} bytes",
                "a host MTU of 4200 carries the largest RDMA MTU, 4096",
                design.places.get("lossless.mtu"),
            )
        )
    if host_mtu(design) < LEAST_MTU:
        problems.append(
            Problem(
                "capability.mtu",
                f"lossless.mtu is {host_mtu(design):,}, and RDMA needs at least {LEAST_MTU}: 256 bytes of payload and "
                f"{RDMA_HEADERS} of headers",
                "a host MTU of 4200 carries the largest RDMA MTU, 4096",
                design.places.get("lossless.mtu"),
            )
        )
    return problems


def _overlap_problems(design: ResolvedSpec) -> list[Problem]:
    problems: list[Problem] = []
    for prefix in design.spec.site.management:
        try:
            network = ipaddress.ip_network(prefix, strict=False)
        except ValueError:
            continue  # declare reports prefixes that are none
        problems.extend(
            Problem(
                "capability.address-overlap",
                f"site.management has {prefix}, which overlaps {ours}, where the fabric takes its addresses",
                "manage the switches from another prefix",
                design.places.get("site.management"),
            )
            for ours in (LOOPBACKS, LINKS)
            if isinstance(network, ipaddress.IPv4Network) and network.overlaps(ours)
        )
    return problems
