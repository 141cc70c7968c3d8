"""Files of NVUE that anybody wrote, as observed devices."""

from __future__ import annotations

from collections.abc import Sequence

from weftline.errors import Place
from weftline.formats import nvue
from weftline.model.observed import ObservedDevice, ObservedPool
from weftline.model.said import Said
from weftline.vendors.nvue.file import NAME, At, NvueDevice
from weftline.vendors.nvue.interfaces import read_interfaces
from weftline.vendors.nvue.routing import (
    read_filters,
    read_mirrors,
    read_route_maps,
    read_routers,
    read_tunnel,
    read_vrfs,
)
from weftline.vendors.nvue.traffic import KINDS, read_watchdog

COVERS = frozenset({
    "ports", "classes", "pauses", "buffers", "marks", "schedule", "watchdog", "mtu", "tenancy", "routing", "filters",
    "mirrors", "hash",
})  # fmt: skip
_KNOWN = frozenset({
    "interface", "qos", "router", "vrf", "nve", "evpn", "bridge", "system", "service", "acl", "platform",
    "mlag", "cluster",
})  # fmt: skip
_KNOWN_QOS = frozenset({*KINDS, "roce", "traffic-pool", "pfc-watchdog"})
MAX_SEED = 4_294_967_295


def recognise(name: str, head: bytes) -> str | None:
    """Name the form of a file, by its first bytes."""
    del name
    return NAME if nvue.looks_like(head) else None


def configure(files: Sequence[tuple[str, bytes]]) -> tuple[ObservedDevice, ...]:
    """Read files of any number of devices."""
    return tuple(_read_device(name, data) for name, data in files)


def _read_device(name: str, data: bytes) -> ObservedDevice:
    read = nvue.read_nvue(data, name)
    root = At(read.root, ())
    device = NvueDevice(name, list(read.problems))
    watchdog = read_watchdog(device, root.find("qos"))
    ports = read_interfaces(device, root, watchdog)
    for key in root.list_keys():
        if key not in _KNOWN:
            device.pass_over(key)
    for key, at in root.items("qos"):
        if key not in _KNOWN_QOS:
            device.pass_over("qos", key)
        elif key == "traffic-pool":
            continue
        elif key in KINDS and at.text is not None:
            device.blame("artifact.out-of-range", f"qos.{key} holds a value, and should hold profiles", at)
    host = device.text(root.find("system", "hostname")) or device.text(root.find("platform", "hostname", "value"))
    where = Place(name, read.version.line, read.version.column) if read.version is not None else None
    seed = root.find("system", "forwarding", "hash-seed")
    fields = root.find("system", "forwarding", "ecmp-hash")
    chosen = tuple(key for key, at in root.items("system", "forwarding", "ecmp-hash") if at.text in {"on", "enabled"})
    return ObservedDevice(
        name=host.value if host is not None else _stem(name),
        role="switch",
        vendor=NAME,
        files=(name,),
        platform=None if read.model is None or where is None else Said(read.model, where),
        release=None if read.release is None or where is None else Said("{}.{}".format(*read.release), where),
        ports=tuple(ports),
        pools=tuple(ObservedPool(key, device.place(at)) for key, at in root.items("qos", "traffic-pool")),
        watchdog=watchdog,
        hash_fields=device.said(chosen, fields) if fields is not None else None,
        hash_seed=device.number(seed, 0, MAX_SEED),
        adaptive_routing=device.state(root.find("router", "adaptive-routing")),
        vrfs=read_vrfs(device, root),
        routers=read_routers(device, root),
        tunnel=read_tunnel(device, root),
        filters=read_filters(device, root, ports),
        route_maps=read_route_maps(device, root),
        mirrors=read_mirrors(device, root),
        tables=(("filters", "acl"),),
        unread=tuple(sorted(device.unread.items())),
        covers=COVERS,
        problems=tuple(device.problems),
    )


def _stem(name: str) -> str:
    """Name a device by its folder where the file has the name that they all have."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in {"", ".", "etc", "nvue.d"}]
    stem = parts[-1].rpartition(".")[0] or parts[-1] if parts else name
    return parts[-2] if stem in {"startup", "nvue"} and len(parts) > 1 else stem
