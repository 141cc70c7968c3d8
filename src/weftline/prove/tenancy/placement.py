"""Placement: which owners have an endpoint in which table and in which VLAN, each with the ports that say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from weftline.admit.filters import RuleIndex
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import ObservedRule
from weftline.model.separation import EdgePort, SeparationFiles
from weftline.prove.sharing import Allowed, call_owner
from weftline.prove.tenancy.ground import DeviceGround, Routing, Step, Table, is_shut, lay_ground
from weftline.prove.tenancy.segments import Segment, Segments, join_segments, name_segment


@dataclass(frozen=True, slots=True)
class Claim:
    """One endpoint that stands for its owner in a table or a segment, and how it got there."""

    end: EdgePort
    routing: Routing | None
    """The interface that routes for it; None where its VLAN has none."""
    segment: Segment | None = None
    """The VLAN that its port is in, where it is in one."""
    gateway: Segment | None = None
    """The VLAN that the interface routes: the same one, or one that is joined with it elsewhere."""
    through: Routing | None = None
    """The interface by which its table is in that VLAN, where its own port is not."""

    @property
    def spot(self) -> Segment | None:
        """The VLAN that it stands for its owner in."""
        return self.gateway or self.segment

    def explain(self, segments: Segments) -> tuple[Step, ...]:
        """List why the endpoint is where it is."""
        steps = [Step(f"{self.end.name} of {call_owner(self.end.owner)} is cabled to {self.end.facing}")]
        if self.segment is not None:
            steps.append(Step(f"{self.end.facing} is in {name_segment(self.segment)}"))
        if self.segment is not None and self.gateway is not None:
            steps.extend(segments.explain(self.segment, self.gateway))
        if self.routing is not None:
            steps.append(self.routing.tell())
        if self.through is not None:
            steps.append(self.through.tell())
        return tuple(steps)


class Standing(NamedTuple):
    """One endpoint with the interfaces of the switch that take its packets."""

    end: EdgePort
    ground: DeviceGround
    carriers: tuple[ObservedPort, ...]
    routings: tuple[Routing, ...]
    """Those that route: the port's own, or of its VLANs on that switch."""
    ports: tuple[ObservedPort, ...]
    """The interfaces that packets come in by: the port, its bundle, those upon it, gateways."""
    held: tuple[tuple[RuleIndex, list[ObservedRule]], ...]
    """The filters on the way in, bound from either side, each with the rules that hold at these interfaces."""


@dataclass(slots=True)
class Placement:
    """Where everybody stands."""

    grounds: dict[str, DeviceGround]
    segments: Segments
    in_table: dict[Table, dict[str, Claim]] = field(default_factory=dict[Table, dict[str, Claim]])
    in_segment: dict[Segment, dict[str, Claim]] = field(default_factory=dict[Segment, dict[str, Claim]])
    """By the segment that stands for all that are joined."""
    standings: list[Standing] = field(default_factory=list[Standing])
    doubts: list[str] = field(default_factory=list[str])


def place_owners(files: SeparationFiles, may: Allowed) -> Placement:
    """Find where the endpoints of each owner stand; what the files do not say is a doubt."""
    grounds = {device.name: lay_ground(device) for device in files.devices if device.role != "host"}
    placement = Placement(grounds, join_segments(grounds, files.links))
    placement.doubts.extend(doubt for ground in grounds.values() for doubt in ground.doubts)
    lost: list[EdgePort] = []
    loose: list[EdgePort] = []
    for end in files.ends:
        if not end.facing:
            continue
        device, name = end.port or ("", "")
        ground = grounds.get(device)
        carriers = () if ground is None else ground.carriers(name)
        if ground is None or not carriers:
            lost.append(end)
        elif name not in ground.shut and not is_shut(carriers[0]):
            _place(placement, end, ground, carriers, loose)
    _raise_to_tables(placement)
    _lower_to_segments(placement)
    placement.doubts.extend(_count("no file says how {} is configured", lost))
    placement.doubts.extend(_count("no file says in which VRF or VLAN {} is", loose))
    placement.doubts.extend(_doubt_cables(placement, may))
    return placement


def _count(form: str, ends: list[EdgePort]) -> Iterator[str]:
    if ends:
        more = f", one of {len(ends):,}" if len(ends) > 1 else ""
        yield form.format(f"{ends[0].facing}, which faces {ends[0].name},") + more


def _place(
    placement: Placement, end: EdgePort, ground: DeviceGround, carriers: tuple[ObservedPort, ...], loose: list[EdgePort]
) -> None:
    name = ground.device.name
    routings: list[Routing] = []
    is_placed = False
    for port in carriers:
        if port.is_up is not None and not port.is_up.value:
            continue
        routing = ground.find_routing(port.name)
        if routing is not None:
            routings.append(routing)
            claims = placement.in_table.get(routing.table)
            if claims is None:
                claims = placement.in_table[routing.table] = {}
            if end.owner not in claims:
                claims[end.owner] = Claim(end, routing)
        for vlan in port.vlans:
            segment = (name, vlan.value)
            root = placement.segments.find(segment)
            placement.in_segment.setdefault(root, {}).setdefault(end.owner, Claim(end, None, segment))
            routings.extend(ground.gateways.get(vlan.value, ()))
        is_placed = is_placed or routing is not None or bool(port.vlans)
    if not is_placed:
        loose.append(end)
    ports = (*carriers, *[one.port for one in routings if one.port not in carriers])
    bound = {port.name for port in ports}
    if end.port is not None:
        bound.add(end.port[1])
    filters = ground.find_filters(bound, [said.value for port in ports for said in port.filters_in])
    held = tuple([(one, one.find(bound)) for one in filters])
    placement.standings.append(Standing(end, ground, carriers, tuple(routings), ports, held))


def _raise_to_tables(placement: Placement) -> None:
    """Put the owners of each segment into the tables that route it, on whichever switch."""
    for ground in placement.grounds.values():
        for vlan, gateways in ground.gateways.items():
            segment = (ground.device.name, vlan)
            claims = placement.in_segment.get(placement.segments.find(segment), {})
            for gateway, (owner, claim) in product(gateways, claims.items()):
                raised = Claim(claim.end, gateway, claim.segment, segment)
                placement.in_table.setdefault(gateway.table, {}).setdefault(owner, raised)


def _lower_to_segments(placement: Placement) -> None:
    """Put the owners of each table into the VLANs that it routes: two VRFs in one VLAN or VNI are not apart."""
    for ground in placement.grounds.values():
        for vlan, gateways in ground.gateways.items():
            spot = (ground.device.name, vlan)
            for gateway in gateways:
                claims = placement.in_table.get(gateway.table)
                known = {} if claims is None else placement.in_segment.setdefault(placement.segments.find(spot), {})
                for owner, claim in () if claims is None else claims.items():
                    known.setdefault(owner, Claim(claim.end, claim.routing, None, spot, gateway))


def _doubt_cables(placement: Placement, may: Allowed) -> Iterator[str]:
    """Say where a cable may join VLANs of owners that must not meet."""
    found: dict[tuple[Segment, Segment], str] = {}
    for a, b, step in placement.segments.doubtful:
        roots = placement.segments.find(a), placement.segments.find(b)
        if roots[0] == roots[1] or roots in found:
            continue
        owners = [placement.in_segment.get(root, {}) for root in roots]
        if any(not may(mine, other) for mine, other in product(*owners)):
            found[roots] = f"{step.says}, and its other end VLAN {b[1]} instead"
    yield from list(found.values())[:3]
