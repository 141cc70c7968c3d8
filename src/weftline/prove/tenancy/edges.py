"""Edges: whether a switch lets an endpoint send from addresses that are not its own, or to the ends of tunnels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from weftline.admit.filters import TUNNEL_PORT, Admission, judge_sources, judge_tunnels
from weftline.admit.prefix import Prefix, parse_prefix
from weftline.model.separation import EdgePort
from weftline.prove.tenancy.ground import DeviceGround, Step
from weftline.prove.tenancy.placement import Standing
from weftline.prove.tenancy.prefixes import PrefixIndex

Checked = Literal["checked", "open", "unknown"]
_WORDS: dict[str, Checked] = {"drops": "checked", "unknown": "unknown", "lets": "open"}
"""What a filter does, the stronger first, and what that makes of an endpoint."""
_STRENGTH = tuple(_WORDS)


class EdgeVerdict(NamedTuple):
    """Whether what one endpoint sends is checked, and why."""

    standing: Standing
    verdict: Checked
    found: Admission | Step
    """What decides: a filter, or something else in words."""
    is_exact: bool = True
    """Whether nothing comes in but from the subnets of the port itself."""

    @property
    def end(self) -> EdgePort:
        """Name the endpoint."""
        return self.standing.end

    @property
    def step(self) -> Step:
        """Say why; hardly any of a fabric's endpoints is asked."""
        if isinstance(self.found, Step):
            return self.found
        return Step(f"{self.found.says}{_name_table(self.standing)}", self.found.where)


@dataclass(frozen=True, slots=True)
class TunnelEnds:
    """The ends of all tunnels of a fabric, as addresses, and the UDP ports that they listen at."""

    prefixes: frozenset[Prefix]
    ports: tuple[int, ...]


def list_tunnel_ends(grounds: Iterable[DeviceGround]) -> TunnelEnds:
    """List where packets would be unpacked; one end whose address no file says leaves all addresses in question."""
    tunnels = [ground.device.tunnel for ground in grounds if ground.device.tunnel is not None]
    sources = [None if one.source is None else parse_prefix(one.source.value.partition("/")[0]) for one in tunnels]
    ports = {TUNNEL_PORT if one.udp_port is None else one.udp_port.value for one in tunnels}
    known = frozenset(prefix for prefix in sources if prefix is not None)
    return TunnelEnds(known if known and None not in sources else frozenset(), tuple(sorted(ports)))


def check_sources(standing: Standing, index: PrefixIndex, own: int) -> EdgeVerdict:
    """Judge whether packets of an endpoint with another's source address are dropped where it is cabled.

    One check that holds is enough: a reverse path check by the port itself, or a filter on the way in. A source may
    be in a subnet of the interface, or in a prefix in which nobody else has an address.
    """
    if not standing.routings and not any(port.vlans for port in standing.carriers):
        return EdgeVerdict(standing, "unknown", Step(f"no file says in which VRF or VLAN {standing.end.facing} is"))
    for port in standing.ports:
        if port.checks_source is not None and port.checks_source.value == "strict":
            return EdgeVerdict(standing, "checked", Step(f"{port.name} checks sources", port.checks_source.where))
    subnets = [prefix for routing in standing.routings for prefix, _ in routing.subnets]

    def is_ours(source: Prefix) -> bool:
        return bool(own) and index.find(source) == own

    return _decide(standing, [judge_sources(one.one, rules, subnets, is_ours) for one, rules in standing.held])


def check_tunnels(standing: Standing, ends: TunnelEnds) -> EdgeVerdict:
    """Judge whether an endpoint's packets to the UDP port of tunnels are dropped where it is cabled.

    Which VRF they come in by decides nothing here: chips differ in whether they unpack in each of them. RFC 7348, 7.
    """
    judged = [
        _decide(standing, [judge_tunnels(one.one, rules, ends.prefixes, port) for one, rules in standing.held])
        for port in ends.ports
    ]
    if len(judged) == 1:
        return judged[0]
    order = ("open", "unknown", "checked")
    return min(judged, key=lambda one: order.index(one.verdict))


def _decide(standing: Standing, judged: list[Admission]) -> EdgeVerdict:
    """Decide by all filters on the way in; one that holds is enough, and one that is not understood may hold."""
    if judged:
        one = judged[0] if len(judged) == 1 else min(judged, key=lambda one: _STRENGTH.index(one.verdict))
        return EdgeVerdict(standing, _WORDS[one.verdict], one, one.is_exact)
    named = _find_dangling(standing)
    in_table = _name_table(standing)
    if named:
        says = f"filter {named} of {standing.end.facing} is not in the files"
        return EdgeVerdict(standing, "unknown", Step(f"{says}{in_table}"))
    says = f"{standing.end.facing} has no filter on the way in{in_table}"
    return EdgeVerdict(standing, "open", Step(says, standing.carriers[0].where))


def _name_table(standing: Standing) -> str:
    device = standing.ground.device
    table = next((told for name, told in device.tables if name == "filters"), "")
    return f" ({device.name}, {table})" if table else f" ({device.name})"


def _find_dangling(standing: Standing) -> str:
    known = {one.name for one in standing.ground.device.filters}
    names = (said.value for port in standing.ports for said in port.filters_in)
    return next((name for name in names if name not in known), "")


def list_wide(verdicts: Iterable[EdgeVerdict]) -> Iterator[str]:
    """Say where hosts can send as others of their own tenant: kept apart from tenants, not from each other."""
    wide = [one.end.facing for one in verdicts if one.verdict == "checked" and not one.is_exact]
    if wide:
        yield (
            f"{len(wide):,} edge ports, {wide[0]} first, let in sources of their tenant beyond their own subnet: its "
            "hosts can send as each other"
        )


def name_edges(standings: list[Standing]) -> dict[str, dict[str, Standing]]:
    """Map each device's interfaces to an endpoint whose packets they carry."""
    found: dict[str, dict[str, Standing]] = {}
    for standing in standings:
        names = found.setdefault(standing.ground.device.name, {})
        if standing.end.port is not None:
            names.setdefault(standing.end.port[1], standing)
        for port in standing.ports:
            names.setdefault(port.name, standing)
    return found
