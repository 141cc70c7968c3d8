"""Rules on frame sizes: what a host sends must fit every link, with the outer headers of a tunnel too."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Place
from weftline.headroom.sorting import find_priorities
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used, show_place
from weftline.model.observed_port import ObservedPort

VXLAN_BYTES = 50
"""Outer Ethernet, IPv4, UDP and VXLAN headers. RFC 7348, 5."""
RDMA_HEADERS = 104
"""Most that RoCEv2 adds inside the MTU: IPv4 20, UDP 8, BTH 12, the longest extended headers 60, ICRC 4."""
LEAST = 4200
"""Carries the largest RDMA MTU, 4096, with room for headers; NVIDIA's recommendation for hosts."""


def _judge_ends(source: LintSource) -> Iterator[Hit]:
    """The smaller end of a link drops what the larger one sends; a larger switch under a smaller host is right."""
    for link in source.links:
        for (device, port), (other_device, other) in link.ways:
            if port.mtu is None or other.mtu is None or other.mtu.value >= port.mtu.value:
                continue
            if device.role == "switch" and other_device.role == "host":
                continue  # hosts send no larger frames than they take, and the path MTU is theirs to agree on
            words = (
                f"frames of up to {port.mtu.value:,} B leave here, and {other_device.name}/{other.name} takes "
                f"{other.mtu.value:,} B ({show_place(other.mtu.where)})"
            )
            right = f"MTU {port.mtu.value:,} at the other end"
            yield Hit(device.name, words, port.mtu.where, right, (port.name,))


def _judge_hosts(source: LintSource) -> Iterator[Hit]:
    """RDMA needs one path MTU at both ends, and every switch must carry it."""
    sizes: dict[int, list[tuple[str, ObservedPort]]] = {}
    for host in source.hosts:
        for port in host.ports:
            if port.mtu is not None and is_used(port) and port.nic is not None:
                sizes.setdefault(port.mtu.value, []).append((host.name, port))
    if not sizes:
        return
    top = max(sizes, key=lambda size: (len(sizes[size]), size))  # the few that differ from most are wrong
    need = top + (VXLAN_BYTES if any(device.tunnel is not None for device in source.switches) else 0)
    name, biggest = sizes[top][0]
    for host in source.hosts:
        found = [
            (port, f"MTU {port.mtu.value:,}, and {name}/{biggest.name} has {top:,}", port.mtu.where, f"MTU {top:,}")
            for port in host.ports
            if port.mtu is not None and port.nic is not None and is_used(port) and port.mtu.value != top
        ]
        yield from gather(found, host.name)
    for device in source.switches:
        found = [
            (
                port,
                f"it carries {port.mtu.value:,} B, and {name}/{biggest.name} sends {need:,} B with all headers",
                port.mtu.where,
                f"MTU {need:,} at least",
            )
            for port in device.ports
            if port.mtu is not None and is_used(port) and port.mtu.value < need
        ]
        yield from gather(found, device.name)


def _judge_small(source: LintSource) -> Iterator[Hit]:
    """With a small MTU RDMA falls back to 1,024 bytes per packet."""
    for device in source.devices:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            if port.mtu is not None and is_used(port) and find_priorities(port) and port.mtu.value < LEAST:
                words = f"MTU {port.mtu.value:,}: RDMA packets cannot carry 4,096 B"
                found.append((port, words, port.mtu.where, f"at least {LEAST:,} (switches 9,216)"))
        yield from gather(found, device.name)


def _judge_rdma(source: LintSource) -> Iterator[Hit]:
    """A path MTU that does not fit into the frames of its own port fails when the first full packet leaves."""
    for device in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            size = None if port.nic is None else port.nic.rdma_mtu
            if size is None or port.mtu is None or size.value + RDMA_HEADERS <= port.mtu.value:
                continue
            words = f"RDMA MTU {size.value:,} and headers need more than the port's MTU {port.mtu.value:,}"
            found.append((port, words, size.where, f"MTU {size.value + RDMA_HEADERS:,} at least"))
        yield from gather(found, device.name)


def _judge_tunnel(source: LintSource) -> Iterator[Hit]:
    """Inside a tunnel the outer header decides how a packet is sorted."""
    for device in source.switches:
        tunnel = device.tunnel
        if tunnel is None:
            continue
        for said, way in ((tunnel.dscp_out, "into"), (tunnel.dscp_in, "out of")):
            if said is not None and said.value == "pipe":
                words = f"packets lose their DSCP on the way {way} the tunnel: lossless traffic becomes lossy there"
                yield Hit(device.name, words, said.where, "copy the DSCP of the inner packet, and preserve it")


def _judge_unsaid_tunnel(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        tunnel = device.tunnel
        if tunnel is not None and tunnel.dscp_out is None and any(find_priorities(port) for port in device.ports):
            words = "nothing says whether the tunnel carries the DSCP; some chips and Linux send 0"
            yield Hit(device.name, words, tunnel.where, "uniform DSCP, checked on the chip")


RULES = (
    Rule("mtu.ends-differ", "critical", _judge_ends, "NVIDIA/nccl pull request 2135; dgx-spark-playbooks issue 103"),
    Rule("mtu.path", "critical", _judge_hosts, "tensorflow pull request 9432; NVIDIA/nccl pull request 2135"),
    Rule("mtu.small", "warning", _judge_small, "tensorflow pull request 9432: path MTU 4096 over 1500"),
    Rule("mtu.rdma", "critical", _judge_rdma, "IBV_WC_LOC_LEN_ERR; dgx-spark-playbooks issue 103"),
    Rule("tunnel.loses-dscp", "critical", _judge_tunnel, "sonic-buildimage issues 8525, 8835 and 7216; our lab"),
    Rule("tunnel.dscp-unsaid", "note", _judge_unsaid_tunnel, "Linux sends DSCP 0 in the outer header; our lab"),
)
