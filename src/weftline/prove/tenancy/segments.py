"""Segments: VLANs of switches, joined by cables that carry them and by the network numbers (VNIs) of VXLAN."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from weftline.model.separation import SwitchLink
from weftline.prove.tenancy.ground import DeviceGround, Step, is_shut

Segment: TypeAlias = tuple[str, int]
"""Device and VLAN; the device is empty for a network number."""
NETWORK = ""


def name_segment(segment: Segment) -> str:
    """Name a segment as people do."""
    device, number = segment
    return f"VNI {number}" if device == NETWORK else f"VLAN {number} of {device}"


@dataclass(slots=True)
class Segments:
    """Segments as a graph; what is connected is one broadcast domain."""

    ways: dict[Segment, list[tuple[Segment, Step]]] = field(default_factory=dict[Segment, list[tuple[Segment, Step]]])
    doubtful: list[tuple[Segment, Segment, Step]] = field(default_factory=list[tuple[Segment, Segment, Step]])
    """Pairs that a cable may join: it carries one here and the other there."""
    _root: dict[Segment, Segment] = field(default_factory=dict[Segment, Segment])

    def join(self, a: Segment, b: Segment, step: Step) -> None:
        """Join two segments."""
        self.ways.setdefault(a, []).append((b, step))
        self.ways.setdefault(b, []).append((a, step))
        self._root[self.find(a)] = self.find(b)

    def find(self, segment: Segment) -> Segment:
        """Find the segment that stands for all that are joined with this one."""
        path = [segment]
        while (above := self._root.get(path[-1], path[-1])) != path[-1]:
            path.append(above)
        for one in path[:-1]:
            self._root[one] = path[-1]
        return path[-1]

    def explain(self, a: Segment, b: Segment) -> tuple[Step, ...]:
        """List the reasons why two segments are one; empty where they are the same."""
        came: dict[Segment, tuple[Segment, Step] | None] = {a: None}
        queue = deque([a])
        while queue and b not in came:
            here = queue.popleft()
            for there, step in self.ways.get(here, ()):
                if there not in came:
                    came[there] = (here, step)
                    queue.append(there)
        steps: list[Step] = []
        at: Segment = b
        while (way := came.get(at)) is not None:
            at = way[0]
            steps.append(way[1])
        return tuple(reversed(steps))


def join_segments(grounds: Mapping[str, DeviceGround], links: tuple[SwitchLink, ...]) -> Segments:
    """Join VLANs that share a network number, and those that both ends of a cable carry."""
    segments = Segments()
    for ground in grounds.values():
        tunnel = ground.device.tunnel
        for vlan, vni in () if tunnel is None else tunnel.vni_of_vlan:
            step = Step(f"{ground.device.name} maps VLAN {vlan} to VNI {vni.value}", vni.where)
            segments.join((ground.device.name, vlan), (NETWORK, vni.value), step)
    # a cable joins what both its ends carry, so that nothing is to be looked for where a switch has no VLAN
    having = {name for name, ground in grounds.items() if ground.has_vlans}
    for link in links if having else ():
        if link.a is not None and link.b is not None and link.a[0] in having and link.b[0] in having:
            _join_link(segments, grounds, link, (link.a, link.b))
    return segments


def _join_link(
    segments: Segments,
    grounds: Mapping[str, DeviceGround],
    link: SwitchLink,
    ends: tuple[tuple[str, str], tuple[str, str]],
) -> None:
    carried: list[dict[int, Step]] = []
    for device, name in ends:
        ground = grounds.get(device)
        found: dict[int, Step] = {}
        for port in () if ground is None else ground.carriers(name):
            for vlan in () if is_shut(port) else port.vlans:
                found[vlan.value] = Step(f"{link.name} carries VLAN {vlan.value}", vlan.where)
        carried.append(found)
    (a, _), (b, _) = ends
    for vlan in carried[0].keys() & carried[1].keys():
        segments.join((a, vlan), (b, vlan), carried[0][vlan])
    for mine in sorted(carried[0].keys() - carried[1].keys()):
        for other in sorted(carried[1].keys() - carried[0].keys()):
            # an untagged VLAN takes the number of whichever port it arrives at
            segments.doubtful.append(((a, mine), (b, other), carried[0][mine]))
