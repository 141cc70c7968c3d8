"""Rules on the edge: what a tenant's port takes that is not its own, or that a tunnel end would unpack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from weftline.admit.filters import TUNNEL_PORT, Admission, judge_sources, judge_tunnels, list_rules
from weftline.admit.prefix import Prefix, parse_prefix
from weftline.errors import Place
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used, name_table
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import DEFAULT_VRF, ObservedFilter

VIRTUAL = ("loopback", "vlan", "lo")


def is_tenant(name: str) -> bool:
    """Tell whether a VRF is one of tenants, as far as its name says."""
    return name not in {DEFAULT_VRF, "", "mgmt", "management"}


@dataclass(frozen=True, slots=True)
class Edge:
    """One port of a tenant's VRF, with the interfaces by which its packets come in and the filters there."""

    port: ObservedPort
    names: frozenset[str]
    subnets: tuple[Prefix, ...]
    filters: tuple[ObservedFilter, ...]


def list_edges(device: ObservedDevice) -> Iterator[Edge]:
    """List where tenants' packets come in: routed ports, and ports of VLANs that an interface routes."""
    known = {one.name: one for one in device.filters}
    bound: dict[str, list[str]] = {}
    for one in device.filters:
        for said in one.ports if one.stage is None or one.stage.value == "in" else ():
            bound.setdefault(said.value, []).append(one.name)
    for gate in device.ports:
        if gate.vrf is None or not is_tenant(gate.vrf.value) or not gate.addresses or not is_used(gate):
            continue
        subnets = tuple(prefix for said in gate.addresses if (prefix := parse_prefix(said.value)) is not None)
        for port in _list_plugs(device, gate):
            both = (port, gate) if port is not gate else (port,)
            names = [name for one in both for name in (*bound.get(one.name, ()), *(s.value for s in one.filters_in))]
            filters = tuple(known[name] for name in dict.fromkeys(names) if name in known)
            if all(name in known for name in names):
                yield Edge(port, frozenset(one.name for one in both), subnets, filters)


def _list_plugs(device: ObservedDevice, gate: ObservedPort) -> Iterator[ObservedPort]:
    """List the ports whose packets an interface routes: itself, or those of its VLAN."""
    vlan = None if gate.routes_vlan is None else gate.routes_vlan.value
    if vlan is None and not gate.name.lower().startswith(VIRTUAL):
        yield gate
    for port in device.ports if vlan is not None else ():
        if is_used(port) and any(said.value == vlan for said in port.vlans):
            yield port


def _admit(edge: Edge, how: Callable[[ObservedFilter], Admission]) -> Admission | None:
    """Say what lets packets in: no filter at all, or the rule of one where none drops; None where nothing does."""
    judged = [how(one) for one in edge.filters]
    if any(one.verdict != "lets" for one in judged):
        return None
    return judged[0] if judged else Admission("lets", "there is no filter on the way in", edge.port.where)


def _judge_sources(source: LintSource) -> Iterator[Hit]:
    """Name tenants' ports at which packets with the address of anybody come in."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for edge in list_edges(device) if "filters" in device.covers else ():
            said = edge.port.checks_source
            if said is not None and said.value != "off":
                continue

            let = _admit(
                edge, lambda one, edge=edge: judge_sources(one, list_rules(one, edge.names), edge.subnets, _is_none)
            )
            if let is not None:
                right = f"a filter on the way in for its own subnet{name_table(device, 'filters')}"
                found.append((edge.port, f"takes packets from any source address: {let.says}", let.where, right))
        yield from gather(found, device.name)


def _is_none(_: Prefix) -> bool:
    return False


def _judge_rules(one: ObservedFilter, edge: Edge, targets: Sequence[Prefix], udp: int) -> Admission:
    return judge_tunnels(one, list_rules(one, edge.names), targets, udp)


def _judge_tunnels(source: LintSource) -> Iterator[Hit]:
    """Name tenants' ports at which made-up VXLAN packets come in, on switches that unpack some."""
    tunnels = [device.tunnel for device in source.switches if device.tunnel is not None]
    ends = [None if one.source is None else parse_prefix(one.source.value.partition("/")[0]) for one in tunnels]
    targets = [] if None in ends else [end for end in ends if end is not None]
    for device in source.switches:
        if device.tunnel is None or "filters" not in device.covers:
            continue
        udp = TUNNEL_PORT if device.tunnel.udp_port is None else device.tunnel.udp_port.value
        right = f"a rule that drops UDP {udp} before any lets it in{name_table(device, 'filters')}"
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for edge in list_edges(device):
            let = _admit(edge, lambda one, edge=edge, udp=udp: _judge_rules(one, edge, targets, udp))
            if let is not None:
                message = f"takes UDP {udp}, in which a host can write packets of another tenant: {let.says}"
                found.append((edge.port, message, let.where, right))
        yield from gather(found, device.name)


RULES = (
    Rule("tenancy.tunnels-unfiltered", "warning", _judge_tunnels, "RFC 7348, 7: made-up VXLAN packets", ("TEN-07",)),
    Rule("tenancy.sources-unchecked", "note", _judge_sources, "RFC 2827: packets with the address of another"),
)
