"""One fault for each rule: what a person could have done wrong in the good fabric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.unit.lint.good import (
    CLASSES,
    GROUP,
    GROUPS,
    IDENTITY,
    MARKS,
    NIC,
    QUEUES,
    at,
    change,
    change_all,
    change_group,
    change_nic,
    change_queue,
    make_fabric,
    said,
)
from weftline.errors import Place, Problem
from weftline.model.observed import Evidence, ObservedDevice, ObservedPool, ObservedSetting, ObservedStep
from weftline.model.observed_port import ObservedWatchdog
from weftline.model.observed_routing import ObservedNeighbour, ObservedRouter, ObservedTunnel

Fabric = tuple[ObservedDevice, ...]
LOSSY = {**CLASSES, 26: 1}
SECOND = replace(NIC, device=said("mlx5_1"))
VALLEY = (ObservedNeighbour("e2", at(), allows_own_number=said(True)),)


def set_variable(host: str, name: str, value: str) -> Fabric:
    """Let a host set one variable otherwise."""
    return change(host, settings=(ObservedSetting(name, said(value)),))


def count(kind: str, key: int, value: int) -> Fabric:
    """Let a leaf have counted something."""
    return change("leaf-1", evidence=(Evidence(kind, "e1", key, value, at("show.txt")),))


def route(**fields: Any) -> Fabric:
    """Let a leaf route by two neighbours."""
    ways = tuple(ObservedNeighbour(f"e{n}", at(), families=(said("ipv4"),)) for n in (1, 2))
    return change("leaf-1", routers=(replace(ObservedRouter("default", at(), neighbours=ways), **fields),))


def mark(**fields: Any) -> Fabric:
    """Change the marks of one queue."""
    return change_queue("leaf-1", 1, 3, marks=replace(MARKS, **fields))


def bundle() -> Fabric:
    """Let one of two members of a bundle not pause."""
    leaf = make_fabric()[0]
    ports = tuple(replace(p, bundle=said("po1"), pauses=said((3,) if p.name == "e1" else ())) for p in leaf.ports)
    return change("leaf-1", ports=ports)


def tunnel(**fields: Any) -> Fabric:
    """Give a leaf a tunnel."""
    return change("leaf-1", tunnel=ObservedTunnel(at(), **fields))


def shut(**fields: Any) -> Fabric:
    """Change the port of a leaf that leads to its spine."""
    return change("leaf-1", 1, **fields)


def speak(number: int, **fields: Any) -> Fabric:
    """Let two leaves and their spine speak BGP; change what the first leaf says."""
    leaf, other, spine, *hosts = make_fabric()

    def add(device: ObservedDevice, own: int, *ways: ObservedNeighbour, **more: Any) -> ObservedDevice:
        kept: dict[str, Any] = {"number": said(own), "router_id": said(f"10.0.0.{own}"), "neighbours": ways} | more
        router = ObservedRouter("default", at(), redistributed=(said("connected"),))
        return replace(device, routers=(replace(router, **kept),))

    up = ObservedNeighbour("e2", at(), number=said(number))
    down = (ObservedNeighbour("e1", at(), number=said(1)), ObservedNeighbour("e2", at(), number=said(2)))
    leaves = add(leaf, 1, up, **fields), add(other, 2, replace(up, number=said(3)))
    return (*leaves, add(spine, 3, *down), *hosts)


def more_ports(**fields: Any) -> Fabric:
    """Give a leaf five ports alike; change the last one."""
    leaf = make_fabric()[0]
    ports = [replace(leaf.ports[0], name=f"e{n}", number=said(n), peer=None) for n in range(1, 5)]
    return change("leaf-1", ports=(*ports, replace(ports[0], name="e5", number=said(5), **fields)))


def pool_sizes(*sizes: int) -> Fabric:
    """Give each switch an ingress pool of a size."""
    pools = [ObservedPool("ingress_lossless_pool", at(), size_bytes=said(size)) for size in sizes]
    switches = [replace(device, pools=(pool,)) for device, pool in zip(make_fabric(), pools, strict=False)]
    return (*switches, *make_fabric()[3:])


def four_hosts(value: str) -> Fabric:
    """Let one of four hosts set another value."""
    settings = [ObservedSetting("NCCL_IB_TC", said(text)) for text in ("106", "106", "106", value)]
    return tuple(
        replace(make_fabric()[3], name=f"host-{n}", ports=(), settings=(setting,))
        for n, setting in enumerate(settings, start=1)
    )


def two_subnets() -> Fabric:
    """Give both ends of the link of a host addresses of two subnets."""
    leaf, other, spine, host, second = make_fabric()
    ports = (replace(leaf.ports[0], addresses=(said("10.0.0.0/31"),)), leaf.ports[1])
    nic = (replace(host.ports[0], addresses=(said("10.0.0.3/31"),)),)
    return replace(leaf, ports=ports), other, spine, replace(host, ports=nic), second


INGRESS = ObservedPool("ingress_lossless_pool", at(), said("egress"), size_bytes=said(60_000_000))
EGRESS = ObservedPool("egress_lossless_pool", at(), said("egress"), size_bytes=said(50_000_000))


FAULTS: dict[str, Callable[[], Fabric]] = {
    "classes.not-sorted": lambda: change("leaf-1", 0, trust=said("pcp")),
    "change.order": lambda: change(
        "leaf-1",
        steps=(ObservedStep("WATCH", "e1", (("QOS", "e1"),), at()), ObservedStep("QOS", "e1", (), at())),
        covers=frozenset(),
    ),
    "classes.dscp-lossy": lambda: change("spine-1", 1, class_of_dscp=said(LOSSY)),
    "classes.usual-dscp-lossy": lambda: change_all(class_of_dscp=said({**LOSSY, 3: 3}))[:3],
    "classes.pauses-no-class": lambda: change("leaf-1", 1, queue_of_class=said({**IDENTITY, 3: 4})),
    "classes.group-not-paused": lambda: change("leaf-1", 1, group_of_class=said({**GROUPS, 3: 4})),
    "classes.mixed": lambda: change("leaf-1", 1, group_of_class=said({**GROUPS, 0: 3})),
    "classes.remarked": lambda: change("spine-1", 0, dscp_of_class=said({3: 24})),
    "classes.differ": lambda: change("spine-1", 0, class_of_dscp=said({**CLASSES, 24: 3, 26: 0})),
    "pauses.ends-differ": lambda: change("spine-1", 0, pauses=said((3, 4))),
    "pauses.missing": lambda: change("leaf-2", 0, pauses=said(())),
    "pauses.bundle-differs": bundle,
    "pauses.whole-link": lambda: change("host-1", 0, link_pause=said("rx")),
    "pauses.one-way": lambda: change("leaf-1", 0, is_asymmetric=said(True)),
    "pauses.notifications": lambda: change("leaf-1", 0, class_of_dscp=said({**CLASSES, 48: 3})),
    "pauses.many": lambda: change("leaf-1", 0, pauses=said((2, 3, 4))),
    "watchdog.other-queues": lambda: change("leaf-1", 0, watched=said((4,))),
    "watchdog.none": lambda: change("leaf-1", 0, watchdog=None),
    "watchdog.times": lambda: change("leaf-1", 0, watchdog=ObservedWatchdog(at(), said(10), said(20))),
    "buffers.no-headroom": lambda: change("leaf-1", 0, groups=()),
    "buffers.below-floor": lambda: change_group("leaf-1", 1, xoff_bytes=said(20_480)),
    "buffers.no-length": lambda: change(
        "leaf-1", 1, length_m=None, groups=(replace(GROUP, xoff_bytes=None, size_bytes=None, is_computed=said(True)),)
    ),
    "buffers.stale-profile": lambda: change("leaf-1", 1, length_m=said(5.0)),
    "buffers.lossy-pool": lambda: change_group("leaf-1", 1, pool=said("ingress_lossy_pool")),
    "buffers.size-below-headroom": lambda: change("leaf-1", pools=()),
    "buffers.shared-headroom": lambda: change(
        "leaf-1", pools=(ObservedPool("ingress_lossless_pool", at(), headroom_bytes=said(150_000)),)
    ),
    "buffers.falls-with-length": lambda: change(
        "leaf-1", 1, length_m=said(20.0), groups=(replace(GROUP, profile=None, xoff_bytes=said(200_000)),)
    ),
    "buffers.wrong-pool": lambda: change("leaf-1", pools=(INGRESS,)),
    "buffers.egress-smaller": lambda: change("leaf-1", pools=(replace(INGRESS, direction=said("ingress")), EGRESS)),
    "buffers.no-queue": lambda: change(
        "leaf-1", 1, queues=tuple(replace(q, profile=None if q.key == 3 else said("lossy")) for q in QUEUES)
    ),
    "buffers.queue-drops": lambda: change_queue("leaf-1", 1, 3, dynamic_th=said(-6)),
    "queue.not-marked": lambda: change_queue("leaf-1", 1, 3, marks=None),
    "queue.thresholds": lambda: mark(max_bytes=said(50_000)),
    "queue.drops-unmarked": lambda: mark(drops_unmarked=said(True)),
    "queue.marks-late": lambda: mark(min_bytes=said(50_000_000), max_bytes=said(60_000_000)),
    "queue.starves": lambda: change_queue("leaf-1", 1, 3, schedule=said("strict")),
    "queue.notifications": lambda: change_queue("leaf-1", 1, 6, schedule=said("weighted")),
    "queue.marks-differ": lambda: mark(min_bytes=said(90_000)),
    "mtu.ends-differ": lambda: change("spine-1", 0, mtu=said(9000)),
    "mtu.path": lambda: change("host-2", 0, mtu=said(9000)),
    "mtu.small": lambda: change("spine-1", 0, mtu=said(1500)),
    "mtu.rdma": lambda: change("host-1", 0, mtu=said(1500)),
    "tunnel.loses-dscp": lambda: tunnel(dscp_out=said("pipe"), dscp_in=said("preserve")),
    "tunnel.dscp-unsaid": tunnel,
    "link.ends-differ": lambda: shut(fec=said("none")),
    "link.one-end-shut": lambda: shut(is_up=said(False)),
    "link.length-differs": lambda: shut(length_m=said(30.0)),
    "link.claims-differ": lambda: shut(peer=said("spine-1/e2")),
    "link.other-subnet": two_subnets,
    "link.lanes-twice": lambda: shut(lanes=said((6, 7))),
    "link.address-twice": lambda: change(
        "leaf-1", ports=tuple(replace(p, addresses=(said("10.0.0.0/31"),)) for p in make_fabric()[0].ports)
    ),
    "nic.sends-lossy": lambda: change_nic("host-1", traffic_class=said(2)),
    "nic.notifications": lambda: change_nic("host-1", notify_dscp=said(26)),
    "nic.unknown-device": lambda: change(
        "host-1",
        ports=(*make_fabric()[3].ports, replace(make_fabric()[3].ports[0], name="eth3", nic=SECOND)),
        settings=(ObservedSetting("NCCL_IB_HCA", said("=mlx5_0:1,mlx5_9:1")),),
    ),
    "nic.byte-lossy": lambda: set_variable("host-1", "NCCL_IB_TC", "2"),
    "nic.default-lossy": lambda: change_nic("host-1", traffic_class=said(2)),
    "nic.not-ecn-capable": lambda: change_nic("host-1", traffic_class=said(104), reacting_priorities=None),
    "nic.gid": lambda: set_variable("host-1", "NCCL_IB_GID_INDEX", "1"),
    "nic.trust": lambda: change("host-1", 0, trust=said("pcp")),
    "nic.no-pause": lambda: change("host-1", 0, pauses=said(())),
    "nic.willing": lambda: change_nic("host-1", is_willing=said(True)),
    "nic.one-source-port": lambda: change_nic("host-1", source_port=said("fixed")),
    "nic.congestion-control": lambda: change_nic("host-1", reacting_priorities=said(())),
    "nic.notifications-pause": lambda: change_nic("host-1", notify_priority=said(3)),
    "nic.small-buffer": lambda: change_nic("host-1", buffers=said((19_872, 40_000, 0, 0, 0, 0, 0, 0))),
    "nic.cable-length": lambda: change_nic("host-1", cable_m=said(7.0)),
    "nic.virtual-function": lambda: change_nic("host-1", is_virtual=said(True), traffic_class=None),
    "routing.kernel-groups": lambda: change("leaf-1", uses_kernel_groups=said(True)),
    "routing.valley": lambda: route(neighbours=VALLEY),
    "routing.one-way": lambda: route(width=said(1)),
    "routing.same-seed": lambda: change("leaf-1", hash_seed=said(2)),
    "routing.narrow-hash": lambda: change("leaf-1", hash_fields=said(("source-address", "target-address"))),
    "routing.no-neighbour": lambda: speak(3, neighbours=()),
    "routing.wrong-number": lambda: speak(4),
    "routing.same-id": lambda: speak(3, router_id=said("10.0.0.2")),
    "routing.announces-nothing": lambda: speak(3, redistributed=()),
    "drift.map-missing": lambda: more_ports(group_of_class=None),
    "drift.headroom": lambda: more_ports(groups=(replace(GROUP, xoff_bytes=said(60_000)),)),
    "drift.pools": lambda: pool_sizes(60_000_000, 6_000_000, 60_000_000),
    "drift.shares": lambda: more_ports(queues=(QUEUES[0], replace(QUEUES[1], weight=said(5)), QUEUES[2])),
    "drift.settings": lambda: four_hosts("104"),
    "routing.floods": lambda: change("leaf-1", discards_incomplete=said(False)),
    "evidence.headroom": lambda: count("headroom-watermark", 3, 104_448),
    "evidence.drops": lambda: count("group-drops", 3, 12),
    "evidence.storms": lambda: count("storms-detected", 3, 1),
    "evidence.stray-pauses": lambda: count("pause-received", 4, 1000),
    "files.faulty": lambda: change(
        "leaf-1", problems=(Problem("artifact.dangling", "there is no X", "make X", Place("f", 3)),)
    ),
    "files.not-judged": lambda: change("leaf-1", unread=(("FANCY_TABLE", 3),)),
}
