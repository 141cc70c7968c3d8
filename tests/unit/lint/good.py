"""A small fabric in which nothing is wrong: three switches and two hosts as their files say them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from weftline.errors import Place
from weftline.lint import RULES, LintSource, lint_devices
from weftline.model.finding import Finding
from weftline.model.observed import ObservedDevice, ObservedPool, ObservedSetting
from weftline.model.observed_port import (
    ObservedGid,
    ObservedGroup,
    ObservedMarks,
    ObservedNic,
    ObservedPort,
    ObservedQueue,
    ObservedWatchdog,
)
from weftline.model.said import Said

T = TypeVar("T")
CLASSES = {**dict.fromkeys(range(64), 0), 26: 3, 48: 6}
IDENTITY = {number: number for number in range(8)}
GROUPS = {**dict.fromkeys(range(8), 0), 3: 3}
COVERS = frozenset(
    ("ports", "classes", "pauses", "buffers", "marks", "schedule", "watchdog", "mtu", "tenancy", "routing", "hash")
)


def at(file: str = "x", path: str = "") -> Place:
    """Make a place."""
    return Place(file, None, None, path)


def said(value: T, path: str = "") -> Said[T]:
    """Say a value."""
    return Said(value, at(path=path))


MARKS = ObservedMarks("ecn", at(), said(True), said(False), said(100_000), said(400_000), said(20))
QUEUES = (
    ObservedQueue(0, at(), said("weighted"), said(50), pool=said("egress_lossy_pool")),
    ObservedQueue(3, at(), said("weighted"), said(50), marks=MARKS, pool=said("egress_lossless_pool")),
    ObservedQueue(6, at(), said("strict"), pool=said("egress_lossy_pool")),
)
GROUP = ObservedGroup(
    3, at(), said("pg_lossless_400000_40m_profile"), size_bytes=said(19_456), xoff_bytes=said(104_448),
    xon_bytes=said(19_456), pool=said("ingress_lossless_pool"), dynamic_th=said(0),
)  # fmt: skip
POOL = ObservedPool("ingress_lossless_pool", at(), said("ingress"), said("dynamic"), said(60_000_000), said(4_000_000))


def make_port(name: str, peer: str, number: int) -> ObservedPort:
    """Make a good port of a switch: 400 Gb/s, 40 m of cable."""
    return ObservedPort(
        name=name, where=at(path=f"PORT.{name}"), number=said(number), is_up=said(True), peer=said(peer),
        rate_gbps=said(400.0), lanes=said(tuple(range(4 * number, 4 * number + 4))), fec=said("rs"), mtu=said(9216),
        length_m=said(40.0),
        trust=said("dscp"), class_of_dscp=said(CLASSES), group_of_class=said(GROUPS), queue_of_class=said(IDENTITY),
        queue_of_priority=said(IDENTITY), group_of_priority=said({3: 3}), pauses=said((3,)), pause_ways=said("both"),
        link_pause=said("off"), is_asymmetric=said(False), watched=said((3,)),
        watchdog=ObservedWatchdog(at(), said(200), said(400), action=said("drop")), groups=(GROUP,), queues=QUEUES,
    )  # fmt: skip


def make_switch(name: str, peers: tuple[str, ...], seed: int) -> ObservedDevice:
    """Make a good switch."""
    return ObservedDevice(
        name=name, role="switch", vendor="v", files=(f"{name}.json",), buffer_model=said("traditional"),
        ports=tuple(make_port(f"e{n}", peer, n) for n, peer in enumerate(peers, start=1)), pools=(POOL,),
        watchdog=ObservedWatchdog(at(), poll_ms=said(200)), discards_incomplete=said(True), hash_seed=said(seed),
        uses_kernel_groups=said(False), covers=COVERS,
    )  # fmt: skip


NIC = ObservedNic(
    device=said("mlx5_0"), rdma_mtu=said(4096), traffic_class=said(106),
    gids=(
        ObservedGid(0, "fe80::1", "v1", at()), ObservedGid(1, "fe80::1", "v2", at()),
        ObservedGid(2, "::ffff:10.1.0.1", "v1", at()), ObservedGid(3, "::ffff:10.1.0.1", "v2", at()),
    ),
    marking_priorities=said((3,)), reacting_priorities=said((3,)), notify_dscp=said(48), notify_priority=said(6),
    is_willing=said(False), is_virtual=said(False), buffers=said((19_872, 243_072, 0, 0, 0, 0, 0, 0)),
    buffer_of_priority=said({**dict.fromkeys(range(8), 0), 3: 1}), cable_m=said(40.0), source_port=said("varying"),
)  # fmt: skip


def make_host(name: str, peer: str) -> ObservedDevice:
    """Make a good host."""
    port = ObservedPort(
        name="eth2", where=at(), number=said(1), is_up=said(True),
        peer=said(peer), rate_gbps=said(400.0), mtu=said(4200),
        length_m=said(40.0), trust=said("dscp"), class_of_dscp=said(CLASSES), pauses=said((3,)),
        link_pause=said("off"), nic=NIC,
    )  # fmt: skip
    settings = (ObservedSetting("NCCL_IB_TC", said("106")), ObservedSetting("NCCL_IB_GID_INDEX", said("3")))
    covers = frozenset({"pauses", "classes", "host", "nics", "mtu"})
    return ObservedDevice(name, "host", "host", (f"{name}.txt",), ports=(port,), settings=settings, covers=covers)


def make_fabric() -> tuple[ObservedDevice, ...]:
    """Make two leaves and a spine between two hosts."""
    return (
        make_switch("leaf-1", ("host-1/eth2", "spine-1/e1"), 1),
        make_switch("leaf-2", ("host-2/eth2", "spine-1/e2"), 1),
        make_switch("spine-1", ("leaf-1/e2", "leaf-2/e2"), 2),
        make_host("host-1", "leaf-1/e1"),
        make_host("host-2", "leaf-2/e1"),
    )


def change(device: str, port: int | None = None, **fields: Any) -> tuple[ObservedDevice, ...]:
    """Change fields of one device, or of one of its ports, counted from 0."""
    return tuple(_change(one, port, fields) if one.name == device else one for one in make_fabric())


def change_all(**fields: Any) -> tuple[ObservedDevice, ...]:
    """Change fields of every port of every switch."""
    return tuple(
        replace(one, ports=tuple(replace(p, **fields) for p in one.ports)) if one.role == "switch" else one
        for one in make_fabric()
    )


def change_nic(host: str, **fields: Any) -> tuple[ObservedDevice, ...]:
    """Change fields of the NIC of a host."""
    return change(host, 0, nic=replace(NIC, **fields))


def change_group(device: str, port: int, **fields: Any) -> tuple[ObservedDevice, ...]:
    """Change fields of the lossless group of a port."""
    return change(device, port, groups=(replace(GROUP, **fields),))


def change_queue(device: str, port: int, key: int, **fields: Any) -> tuple[ObservedDevice, ...]:
    """Change fields of one queue of a port."""
    return change(device, port, queues=tuple(replace(q, **fields) if q.key == key else q for q in QUEUES))


def _change(device: ObservedDevice, port: int | None, fields: dict[str, Any]) -> ObservedDevice:
    if port is None:
        return replace(device, **fields)
    ports = tuple(replace(one, **fields) if place == port else one for place, one in enumerate(device.ports))
    return replace(device, ports=ports)


def find(devices: tuple[ObservedDevice, ...], rule: str, dscps: frozenset[int] | None = None) -> list[Finding]:
    """Find what one rule says."""
    return [finding for finding in lint_devices(LintSource(devices, dscps), RULES) if finding.rule == rule]
