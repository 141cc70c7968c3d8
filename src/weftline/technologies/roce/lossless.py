"""What a declaration asks of the files: lossless classes, cables, and the headroom that each port needs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from weftline.headroom import find_floor, nic_headroom
from weftline.kernels.column import NIL
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind
from weftline.model.lossless import FindNeed, LosslessClass, LosslessDemand, LosslessLink, Need
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.technologies.roce.buffers import total_bytes
from weftline.technologies.roce.classes import number_classes
from weftline.technologies.roce.headrooms import find_headroom
from weftline.technologies.roce.mtu import SWITCH_MTU, host_mtu


def list_demand(design: ResolvedSpec, fabric: Fabric) -> LosslessDemand:
    """List what must hold for nothing to be lost."""
    classes = number_classes(design.spec)
    tiers = _find_tiers(design, fabric)
    totals = {name: total_bytes(design, tier) for name, tier in tiers.items()}
    return LosslessDemand(
        links=tuple(_list_links(fabric)),
        classes=tuple(LosslessClass(one.section.name, tuple(sorted(one.section.dscps))) for one in classes.lossless),
        notify_dscp=classes.notification.dscp,
        find_need=_make_finder(design, tiers),
        buffers={name: total for name, total in totals.items() if total is not None},
    )


def _find_tiers(design: ResolvedSpec, fabric: Fabric) -> dict[str, TierPart]:
    parts = {"leaf": design.leaf, "spine": design.spine, "core": design.core}
    return {
        fabric.node_name[node]: parts[TIER_NAMES[int(fabric.node_tier[node])]] for node in fabric.switch_node.tolist()
    }


def _list_links(fabric: Fabric) -> list[LosslessLink]:
    links: list[LosslessLink] = []
    kinds = (NodeKind.SWITCH, NodeKind.HOST)
    for port, peer in enumerate(fabric.port_peer.tolist()):
        a, b = int(fabric.port_node[port]), NIL if peer == NIL else int(fabric.port_node[peer])
        if peer <= port or fabric.node_kind[a] not in kinds or fabric.node_kind[b] not in kinds:
            continue  # dark, seen from its other end, or at a device whose files are not ours
        cable = int(fabric.port_cable[port])
        length = math.nan if cable == NIL else float(fabric.cable_length_m[cable])
        links.append(
            LosslessLink(
                fabric.node_name[a],
                int(fabric.port_number[port]),
                fabric.node_name[b],
                int(fabric.port_number[peer]),
                None if math.isnan(length) else length,
            )
        )
    return links


def _make_finder(design: ResolvedSpec, tiers: Mapping[str, TierPart]) -> FindNeed:
    """Find needs by the formula of the chip, or by the standard where a platform's own table is used."""

    def find(device: ObservedDevice, port: ObservedPort, length_m: float | None) -> Need | None:
        if length_m is None or port.rate_gbps is None:
            return None
        tier = tiers.get(device.name)
        if tier is None:
            return _find_nic(design, port.rate_gbps.value, length_m)
        if design.headroom_rows is not None:
            return _find_least(port.rate_gbps.value, length_m)
        sized = find_headroom(design, tier, math.ceil(length_m))
        if sized is None:
            return None
        return Need(sized.xoff, f"by the formula of its chip at {port.rate_gbps.value:g} Gb/s and {sized.length_m} m")

    return find


def _find_least(rate_gbps: float, length_m: float) -> Need | None:
    """Hold a platform's own table against what is certain to come, with all that a peer may send before it obeys."""
    floor = find_floor(round(rate_gbps * 1000), length_m, SWITCH_MTU)
    least = None if floor is None else floor.standard
    if least is None:
        return None
    return Need(math.ceil(least), f"{length_m:g} m of cable, a frame and the peer's answer at {rate_gbps:g} Gb/s")


def _find_nic(design: ResolvedSpec, rate_gbps: float, length_m: float) -> Need | None:
    sized = nic_headroom(rate_gbps, length_m, host_mtu(design))
    if sized is None:
        return None
    return Need(sized.driver_xoff, f"by the driver's formula at {rate_gbps:g} Gb/s and {length_m:g} m")
