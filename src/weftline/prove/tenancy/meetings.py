"""Meetings: who can reach, share, watch or impersonate whom, each with the reasons that a person can follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from typing import Any, Literal

from weftline.admit.prefix import Prefix, is_inside
from weftline.model.isolation import MANAGEMENT
from weftline.model.separation import SeparationFiles
from weftline.prove.sharing import Allowed, call_owner
from weftline.prove.tenancy.edges import EdgeVerdict, check_sources, check_tunnels, list_tunnel_ends
from weftline.prove.tenancy.exchange import OUTSIDE, UNDERLAY, Roads
from weftline.prove.tenancy.ground import Step, Table
from weftline.prove.tenancy.placement import Claim, Placement
from weftline.prove.tenancy.segments import NETWORK, name_segment
from weftline.prove.tenancy.watching import Watched

MOST_EXPLAINED = 100
"""Meetings with a path; more of them say nothing new."""
MOST_TRIED = 2_000
MOST_DOUBTED = 5
Kind = Literal["path", "underlay", "outside", "segment", "network", "source", "tunnel", "mirror"]


@dataclass(frozen=True, slots=True)
class Meeting:
    """One thing that isolation forbids, and why the files lead to it."""

    kind: Kind
    a: str
    """The owner who reaches, or is observed."""
    b: str
    summary: str
    steps: tuple[Step, ...]

    def tell(self) -> dict[str, Any]:
        """Put it into values that JSON carries."""
        return {
            "kind": self.kind,
            "a_owner": call_target(self.a),
            "b_owner": call_target(self.b),
            "summary": self.summary,
            "path": [_tell_step(step) for step in self.steps],
        }


def _tell_step(step: Step) -> dict[str, Any]:
    where = step.where
    found: dict[str, Any] = {"says": step.says, "file": "" if where is None else where.file}
    if where is not None and where.line is not None:
        found["line"] = where.line
    if where is not None and where.path:
        found["path"] = where.path
    return found


def call_target(owner: str) -> str:
    """Call an owner, or what nobody owns, as people do."""
    return {UNDERLAY: "the underlay", OUTSIDE: "everywhere else"}.get(owner, call_owner(owner))


class Judge:
    """Holds who may reach what, as bits, and finds who does."""

    def __init__(self, files: SeparationFiles, placement: Placement, roads: Roads) -> None:
        """Take what was read, and work out who must not reach what."""
        self.placement = placement
        self.roads = roads
        self.may = Allowed(files.sharings)
        self.may_leave = files.may_leave
        self._reached: dict[bool, list[int]] = {}
        self.everyone = 0
        for other, bit in roads.bits.items():
            self.everyone |= 0 if other in {UNDERLAY, OUTSIDE} else bit
        self.forbidden = {owner: self._forbid(owner) for owner in {end.owner for end in files.ends}}

    def _forbid(self, owner: str) -> int:
        bits = self.roads.bits
        if owner == MANAGEMENT:
            return 0
        found = bits[UNDERLAY] | (0 if owner in self.may_leave else bits[OUTSIDE])
        partners = self.may.list_partners(owner)
        if partners is None:
            return found
        allowed = 0
        for other in partners:
            allowed |= bits.get(other, 0)
        return found | (self.everyone & ~allowed)

    def reach(self, *, is_certain: bool) -> list[int]:
        """Find what packets at each point can reach, once."""
        if is_certain not in self._reached:
            self._reached[is_certain] = self.roads.graph.reach(is_certain=is_certain)
        return self._reached[is_certain]

    def find_paths(self) -> Iterator[Meeting]:
        """Find for each pair of owner and target a table from which packets certainly go there."""
        seen: set[tuple[str, str]] = set()
        for table, claim, target in islice(self._list_met(is_certain=True), MOST_TRIED):
            key = (claim.end.owner, target)
            meeting = None if key in seen else self._explain(table, claim, target, is_certain=True)
            if meeting is not None:
                seen.add(key)
                yield meeting
            if len(seen) >= MOST_EXPLAINED:
                return

    def doubt_paths(self) -> Iterator[str]:
        """Say where packets may go; nothing is said only where none can by any way that the files leave open."""
        for table, claim, target in islice(self._list_met(is_certain=False), MOST_DOUBTED):
            meeting = self._explain(table, claim, target, is_certain=False)
            words = f"{_call(claim)} reaches {call_target(target)} by prefixes of which each holds a part of it"
            yield f"it may be that {words if meeting is None else meeting.summary}"

    def _list_met(self, *, is_certain: bool) -> Iterator[tuple[Table, Claim, str]]:
        """List who can reach what they must not, by owners and not by their single addresses."""
        # what nobody reaches by any way, nobody reaches by certain ones
        if is_certain and next(self._list_met(is_certain=False), None) is None:
            return
        reach = self.reach(is_certain=is_certain)
        for table, claims in self.placement.in_table.items():
            start = self.roads.graph.table(table)[0]
            for owner, claim in claims.items():
                met = reach[start] & self.forbidden[owner]
                for target in self._name_bits(met) if met else ():
                    yield table, claim, target

    def _has_address(self, point: int, prefix: Prefix) -> bool:
        table = self.roads.graph.handing.get(point)
        held = () if table is None else self._subnets.get(table, ())
        return any(is_inside(one, prefix) or is_inside(prefix, one) for one in held)

    @cached_property
    def _subnets(self) -> dict[Table, list[Prefix]]:
        """Map tables to the subnets of their interfaces."""
        found: dict[Table, list[Prefix]] = {}
        for ground in self.placement.grounds.values():
            for routing in ground.routing.values():
                found.setdefault(routing.table, []).extend(prefix for prefix, _ in routing.subnets)
        return found

    def _name_bits(self, bits: int) -> list[str]:
        return [name for name, bit in self.roads.bits.items() if bits & bit]

    def _explain(self, table: Table, claim: Claim, target: str, *, is_certain: bool) -> Meeting | None:
        graph, segments = self.roads.graph, self.placement.segments
        start, bit = graph.table(table)[0], self.roads.bits[target]
        found = graph.trace(start, bit, self._has_address, is_certain=is_certain)
        if found is None:
            return None
        point, way = found
        steps = [*claim.explain(segments), *way]
        end = graph.handing.get(point)
        other = None if end is None else self.placement.in_table.get(end, {}).get(target)
        if other is not None:
            steps.extend(reversed(other.explain(segments)))
        if target == OUTSIDE:
            summary = f"{claim.end.name} ({call_owner(claim.end.owner)}) has a default route out"
            return Meeting("outside", claim.end.owner, target, f"{summary}: {_last(way)}", tuple(steps))
        if target == UNDERLAY:
            what = "reaches the addresses of switches and tunnel ends"
            summary = f"{claim.end.name} ({call_owner(claim.end.owner)}) {what}: {_first(way) or _last(steps)}"
            return Meeting("underlay", claim.end.owner, target, summary, tuple(steps))
        there = target if other is None else f"{other.end.name} ({call_owner(target)})"
        why = _first(way) or "both are in one VRF of one switch"
        summary = f"{claim.end.name} ({call_owner(claim.end.owner)}) reaches {there} and its gateway: {why}"
        return Meeting("path", claim.end.owner, target, summary, tuple(steps))

    def find_shared(self) -> Iterator[Meeting]:
        """Find VLANs and network numbers that two owners share who must not."""
        segments, explained = self.placement.segments, 0
        for claims in self.placement.in_segment.values():
            for mine, other in self._pair(claims):
                a, b = mine.spot or (NETWORK, 0), other.spot or (NETWORK, 0)
                explained += 1
                if explained > MOST_EXPLAINED:
                    continue
                steps = (*mine.explain(segments), *segments.explain(a, b), *reversed(other.explain(segments)))
                summary = f"{_call(mine)} and {_call(other)} are in one broadcast domain, {name_segment(a)}"
                yield Meeting("segment", mine.end.owner, other.end.owner, summary, steps)
        for vni, claims in self.list_networks().items():
            for mine, other in self._pair(claims):
                steps = tuple(self._explain_network(vni, mine)) + tuple(self._explain_network(vni, other))
                summary = f"{_call(mine)} and {_call(other)} share VNI {vni}"
                yield Meeting("network", mine.end.owner, other.end.owner, summary, steps)

    def _pair(self, claims: Mapping[str, Claim]) -> Iterator[tuple[Claim, Claim]]:
        for a, b in combinations(sorted(claims), 2):
            if not self.may(a, b):
                yield claims[a], claims[b]

    def list_networks(self) -> dict[int, dict[str, Claim]]:
        """List who is behind each network number, by VRF or by VLAN."""
        found: dict[int, dict[str, Claim]] = {}
        for table, claims in self.placement.in_table.items():
            vrf = self.placement.grounds[table[0]].vrfs.get(table[1])
            for owner, claim in claims.items() if vrf is not None and vrf.vni is not None else ():
                found.setdefault(vrf.vni.value, {}).setdefault(owner, claim)  # type: ignore[union-attr]
        for ground in self.placement.grounds.values():
            tunnel = ground.device.tunnel
            for vlan, vni in () if tunnel is None else tunnel.vni_of_vlan:
                root = self.placement.segments.find((ground.device.name, vlan))
                for owner, claim in self.placement.in_segment.get(root, {}).items():
                    found.setdefault(vni.value, {}).setdefault(owner, claim)
        return found

    def _explain_network(self, vni: int, claim: Claim) -> Iterator[Step]:
        yield from claim.explain(self.placement.segments)
        table = None if claim.routing is None else claim.routing.table
        vrf = None if table is None else self.placement.grounds[table[0]].vrfs.get(table[1])
        if table is not None and vrf is not None and vrf.vni is not None and vrf.vni.value == vni:
            yield Step(f"VRF {table[1]} of {table[0]} is VNI {vni}", vrf.vni.where)
        elif claim.spot is not None:
            yield from self.placement.segments.explain(claim.spot, (NETWORK, vni))

    def judge_edges(self) -> list[EdgeVerdict]:
        """Judge whether sources are checked at each endpoint that is somebody's."""
        bits, index = self.roads.bits, self.roads.index
        return [
            check_sources(standing, index, bits[standing.end.owner])
            for standing in self.placement.standings
            if standing.end.owner != MANAGEMENT
        ]

    def judge_tunnels(self) -> list[EdgeVerdict]:
        """Judge whether made-up tunnel packets are dropped at each endpoint of a switch that unpacks some.

        Where files cannot say filters at all, it is a risk that the statement names, and no verdict.
        """
        ends = list_tunnel_ends(self.placement.grounds.values())
        return [
            check_tunnels(standing, ends)
            for standing in self.placement.standings
            if standing.end.owner != MANAGEMENT
            and standing.ground.device.tunnel is not None
            and "filters" in standing.ground.device.covers
        ]


def tell_source(verdict: EdgeVerdict) -> Meeting:
    """Tell an endpoint that can send with the address of another."""
    end = verdict.end
    summary = f"{end.name} ({call_owner(end.owner)}) can send from addresses of others: {verdict.step.says}"
    first = Step(f"{end.name} of {call_owner(end.owner)} is cabled to {end.facing}")
    return Meeting("source", end.owner, end.owner, summary, (first, verdict.step))


def tell_tunnel(verdict: EdgeVerdict) -> Meeting:
    """Tell an endpoint that can write packets as if they came through a tunnel."""
    end = verdict.end
    summary = f"{end.name} ({call_owner(end.owner)}) can send made-up tunnel packets: {verdict.step.says}"
    first = Step(f"{end.name} of {call_owner(end.owner)} is cabled to {end.facing}")
    return Meeting("tunnel", end.owner, UNDERLAY, summary, (first, verdict.step))


def tell_watched(watched: Watched) -> Meeting:
    """Tell a session that copies packets of a tenant."""
    owner = "" if watched.end is None else watched.end.owner
    whom = "packets of every tenant" if watched.end is None else f"{watched.end.name} ({call_owner(owner)})"
    summary = f"{whom} can be observed: {watched.step.says}"
    return Meeting("mirror", owner, owner, summary, (watched.step,))


def _call(claim: Claim) -> str:
    return f"{claim.end.name} ({call_owner(claim.end.owner)})"


def _first(steps: tuple[Step, ...]) -> str:
    return next((step.says for step in steps if step.says), "")


def _last(steps: tuple[Step, ...] | list[Step]) -> str:
    return next((step.says for step in reversed(steps) if step.says), "")
