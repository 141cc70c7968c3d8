"""Edges: whether a switch lets an endpoint send from addresses that are not its own, filter by filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.model.observed_routing import ObservedFilter, ObservedRule
from weftline.model.separation import EdgePort
from weftline.prove.tenancy.ground import Step
from weftline.prove.tenancy.placement import Standing
from weftline.prove.tenancy.prefixes import Prefix, PrefixIndex, is_inside, parse_prefix

Checked = Literal["checked", "open", "unknown"]
ANY = frozenset({"", "any", "0.0.0.0/0", "::/0"})
ANY_PROTOCOL = frozenset({"", "any", "ip", "ipv4", "all"})
VXLAN_PORT = 4789
"""RFC 7348, 5."""


@dataclass(frozen=True, slots=True)
class EdgeVerdict:
    """Whether the sources of one endpoint are checked, and why."""

    end: EdgePort
    verdict: Checked
    step: Step


def judge_sources(standing: Standing, index: PrefixIndex, own: int) -> EdgeVerdict:
    """Judge whether packets of an endpoint with another's source address are dropped where it is cabled.

    One check that holds is enough: a reverse path check by the port itself, or a filter on the way in.
    """
    if not standing.routings and not any(port.vlans for port in standing.carriers):
        return EdgeVerdict(standing.end, "unknown", Step(f"no file says in which VRF or VLAN {standing.end.facing} is"))
    for port in standing.ports:
        if port.checks_source is not None and port.checks_source.value == "strict":
            return EdgeVerdict(standing.end, "checked", Step(f"{port.name} checks sources", port.checks_source.where))
    subnets = [prefix for routing in standing.routings for prefix, _ in routing.subnets]
    judged = [judge_filter(one, subnets, index, own) for one in standing.filters]
    for verdict in ("checked", "unknown"):
        found = next((step for word, step in judged if word == verdict), None)
        if found is not None:
            return EdgeVerdict(standing.end, verdict, found)
    if judged:
        return EdgeVerdict(standing.end, "open", judged[0][1])
    named = _find_dangling(standing)
    if named:
        return EdgeVerdict(
            standing.end, "unknown", Step(f"filter {named} of {standing.end.facing} is not in the files")
        )
    where = standing.carriers[0].where
    return EdgeVerdict(standing.end, "open", Step(f"{standing.end.facing} has no filter on the way in", where))


def _find_dangling(standing: Standing) -> str:
    known = {one.name for one in standing.ground.device.filters}
    names = (said.value for port in standing.ports for said in port.filters_in)
    return next((name for name in names if name not in known), "")


def judge_filter(one: ObservedFilter, subnets: list[Prefix], index: PrefixIndex, own: int) -> tuple[Checked, Step]:
    """Judge whether a filter lets in sources of the owner alone.

    A source may be in a subnet of the interface, or in a prefix in which nobody else has an address.
    """
    for rule in sorted(one.rules, key=lambda rule: rule.order):
        step = Step(f"rule {rule.order} of filter {one.name}: {rule.action} from {rule.source or 'any'}", rule.where)
        if rule.action == "mirror":
            continue
        if rule.action == "other":
            return "unknown", step
        if rule.action == "deny":
            if _takes_all(rule):
                return "checked", step
            continue
        source = parse_prefix(rule.source.removeprefix("host ")) if rule.source not in ANY else None
        if source is None and rule.source not in ANY:
            return "unknown", step
        if source is not None and _is_own(source, subnets, index, own):
            continue
        return ("unknown" if rule.unread else "open"), step
    rest = None if one.otherwise is None else one.otherwise.value
    words = {"deny": "drops the rest", "permit": "lets the rest in", None: "does not say what happens to the rest"}
    verdicts: dict[str | None, Checked] = {"deny": "checked", "permit": "open", None: "unknown"}
    return verdicts[rest], Step(f"filter {one.name} {words[rest]}", one.where)


def _takes_all(rule: ObservedRule) -> bool:
    return (
        rule.source in ANY
        and rule.target in ANY
        and rule.protocol in ANY_PROTOCOL
        and not rule.target_port
        and not rule.unread
    )


def _is_own(source: Prefix, subnets: list[Prefix], index: PrefixIndex, own: int) -> bool:
    if any(is_inside(source, subnet) for subnet in subnets):
        return True
    return bool(own) and index.find(source) == own


def stops_tunnels(standing: Standing, udp_port: int) -> bool:
    """Tell whether a filter on the way in drops UDP to the port of tunnels."""
    for one in standing.filters:
        for rule in sorted(one.rules, key=lambda rule: rule.order):
            is_tunnel = rule.protocol in {"udp", "17"} and rule.target_port in {"", str(udp_port), "vxlan"}
            if rule.action == "deny" and not rule.unread and rule.source in ANY and rule.target in ANY:
                if is_tunnel or _takes_all(rule):
                    return True
            elif rule.action == "permit" and (rule.protocol in ANY_PROTOCOL or is_tunnel):
                break
    return False


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
