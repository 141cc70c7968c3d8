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
from weftline.model.observed import Evidence, ObservedDevice, ObservedPool, ObservedSetting
from weftline.model.observed_port import ObservedWatchdog
from weftline.model.observed_routing import ObservedNeighbour, ObservedRouter, ObservedTunnel

Fabric = tuple[ObservedDevice, ...]
LOSSY = {**CLASSES, 26: 1}
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


FAULTS: dict[str, Callable[[], Fabric]] = {
    "classes.not-sorted": lambda: change("leaf-1", 0, trust=said("pcp")),
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
    "queue.not-marked": lambda: change_queue("leaf-1", 1, 3, marks=None),
    "queue.thresholds": lambda: mark(max_bytes=said(100_000)),
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
