"""Parts looked up by name, or picked by technology, rate and size from the catalogue's order of preference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from weftline.declare.fields import nearest
from weftline.declare.places import Places
from weftline.errors import Place, Problem
from weftline.model.parts import Catalog, HostPart, NicPart, Part, PortSet, SwitchPart
from weftline.model.spec import AUTO, FabricSpec

AnyPart = TypeVar("AnyPart", bound=Part)


@dataclass(frozen=True, slots=True)
class Desk:
    """What resolving works on, and the problems it found so far."""

    spec: FabricSpec
    catalog: Catalog
    places: Places
    problems: list[Problem] = field(default_factory=list[Problem])

    def note(self, code: str, message: str, hint: str, where: Place) -> None:
        """Keep a problem."""
        self.problems.append(Problem(code, message, hint, where))


def find_part(desk: Desk, parts: Mapping[str, AnyPart], name: str, path: tuple[str, ...]) -> tuple[str, AnyPart] | None:
    """Look a part up by name (case does not count) and refuse it where the technology cannot use it."""
    where, key = desk.places.value(*path), ".".join(path)
    technology = desk.spec.technology
    exact = name if name in parts else next((known for known in parts if known.casefold() == name.casefold()), None)
    usable = [known for known, part in parts.items() if technology in part.technologies]
    if exact is None:
        near = nearest(name, parts)
        hint = (
            f"did you mean {near!r}?" if near else f"known parts are {_some(usable)}; or describe your own under parts"
        )
        desk.note("spec.unknown-part", f"{key}: there is no part {name!r}", hint, where)
        return None
    if technology not in parts[exact].technologies:
        message = (
            f"{key}: {exact} cannot be used with {technology}, only with {' and '.join(parts[exact].technologies)}"
        )
        desk.note("capability.part-technology", message, f"parts for {technology} are {_some(usable)}", where)
        return None
    return exact, parts[exact]


def usable_ports(part: SwitchPart | NicPart, technology: str) -> tuple[PortSet, ...]:
    """List the port sets of a part that a technology can use, fastest first, most ports first."""
    found = [ports for ports in part.ports if technology in (ports.technologies or part.technologies)]
    return tuple(sorted(found, key=lambda ports: (-ports.rate_gbps, -ports.count, ports.per_cage)))


def nic_ports(part: NicPart, technology: str, planes: int, rate_gbps: float | None) -> PortSet | None:
    """Find the NIC's port set with a port per plane: the fastest, else that of the rate; no more ports than needed."""
    fitting = [
        ports
        for ports in usable_ports(part, technology)
        if ports.count >= planes and rate_gbps in {None, ports.rate_gbps}
    ]
    return min(fitting, key=lambda ports: (-ports.rate_gbps, ports.count), default=None)


@dataclass(frozen=True, slots=True)
class HostChoice:
    """A host part, its NIC, and how the NIC's ports run."""

    name: str
    host: HostPart
    nic: NicPart
    ports: PortSet


def choose_host(desk: Desk) -> HostChoice | None:
    """Look up or pick the host part and its NIC."""
    hosts = desk.spec.hosts
    if hosts.part != AUTO:
        found = find_part(desk, desk.catalog.hosts, hosts.part, ("hosts", "part"))
        return _with_nic(desk, *found) if found else None
    rate = None if hosts.rate_gbps == AUTO else hosts.rate_gbps
    for name in _preferred_hosts(desk, rate):
        host = desk.catalog.hosts[name]
        nic = desk.catalog.nics.get(host.nic)
        if hosts.nic != AUTO:
            return _with_nic(desk, name, host)
        ports = nic_ports(nic, desk.spec.technology, desk.spec.topology.planes, rate) if nic else None
        if nic and ports:
            return HostChoice(name, host, nic, ports)
    message = f"no host of the catalogue has NICs with {_ports_wanted(desk, rate)} for {desk.spec.technology}"
    hint = _nic_hint(desk, rate) + "; name hosts.part and hosts.nic, or describe your own under parts"
    desk.note("capability.no-part", message, hint, desk.places.value("hosts", "rate_gbps"))
    return None


def _preferred_hosts(desk: Desk, rate: float | None) -> list[str]:
    any_rate = rate is None or desk.spec.hosts.nic != AUTO
    return [
        name
        for preference in desk.catalog.defaults.hosts
        if desk.spec.technology in preference.technologies and (any_rate or preference.rate_gbps == rate)
        for name in preference.parts
        if name in desk.catalog.hosts
    ]


def _with_nic(desk: Desk, name: str, host: HostPart) -> HostChoice | None:
    hosts, planes = desk.spec.hosts, desk.spec.topology.planes
    path = ("hosts", "part") if hosts.nic == AUTO else ("hosts", "nic")
    found = find_part(desk, desk.catalog.nics, host.nic if hosts.nic == AUTO else hosts.nic, path)
    if found is None:
        return None
    rate = None if hosts.rate_gbps == AUTO else hosts.rate_gbps
    ports = nic_ports(found[1], desk.spec.technology, planes, rate)
    if ports is None:
        has = _show_ports(usable_ports(found[1], desk.spec.technology)) or "no port"
        wanted = f"{planes} plane{'s' * (planes > 1)} need{'s' * (planes == 1)} {_ports_wanted(desk, rate)}"
        message = f"the NIC {found[0]} of {name} has {has} for {desk.spec.technology}; {wanted}"
        key = "planes" if planes > 1 and desk.places.has("topology", "planes") else ""
        where = desk.places.value("topology", key) if key else desk.places.value("hosts", "rate_gbps")
        desk.note("capability.nic-ports", message, _nic_hint(desk, rate), where)
        return None
    return HostChoice(name, host, found[1], ports)


def _ports_wanted(desk: Desk, rate: float | None) -> str:
    planes = desk.spec.topology.planes
    return f"{planes} port{'s' * (planes > 1)}" + (f" of {rate:g} Gb/s" if rate else "")


def _nic_hint(desk: Desk, rate: float | None) -> str:
    planes, technology = desk.spec.topology.planes, desk.spec.technology
    able = [name for name, nic in desk.catalog.nics.items() if nic_ports(nic, technology, planes, rate)]
    return f"NICs that have them are {_some(able)}" if able else "no NIC of the catalogue has them"


def link_rate(desk: Desk, choice: HostChoice) -> float:
    """Give the rate between switches: that of the NIC, unless ports for NICs are split."""
    trunk = desk.spec.topology.trunk_gbps
    return choice.ports.rate_gbps if trunk == AUTO else trunk


def choose_leaf(desk: Desk, choice: HostChoice, rails: int) -> tuple[str, SwitchPart, PortSet] | None:
    """Look up or pick the leaf: the first preferred part with enough ports for a declared unit."""
    named = desk.spec.topology.leaf
    if named != AUTO:
        return _named_switch(desk, "leaf", named, link_rate(desk, choice))
    technology, rate = desk.spec.technology, link_rate(desk, choice)
    names = [
        name
        for preference in desk.catalog.defaults.switches
        if technology in preference.technologies and preference.rate_gbps == rate
        for name in preference.parts
        if name in desk.catalog.switches
    ]
    found = _at_rate(desk, names or desk.catalog.switches, rate)
    if not found:
        message = f"no switch of the catalogue has ports at {rate:g} Gb/s for {technology}"
        hint = "describe your own under parts.switches and name it as topology.leaf"
        desk.note("capability.no-part", message, hint, desk.places.value("hosts", "rate_gbps"))
        return None
    unit = desk.spec.hosts.unit_size
    need = 0 if unit == AUTO else ports_needed(unit * slots_per_host(desk, rails), desk.spec.topology.oversubscription)
    return next((entry for entry in found if entry[2].count >= need), found[0])


def choose_above(
    desk: Desk, tier: str, named: str, below: tuple[str, SwitchPart, PortSet] | None, rate: float
) -> tuple[str, SwitchPart, PortSet] | None:
    """Look up the switch of a tier, or take that of the tier below."""
    return below if named == AUTO else _named_switch(desk, tier, named, rate)


def check_switches(desk: Desk) -> None:
    """Look up the named switches only, where the rate of the links is not known."""
    for tier in ("leaf", "spine", "core"):
        named: str = getattr(desk.spec.topology, tier)
        if named != AUTO:
            find_part(desk, desk.catalog.switches, named, ("topology", tier))


def _at_rate(desk: Desk, names: Iterable[str], rate: float) -> list[tuple[str, SwitchPart, PortSet]]:
    found: list[tuple[str, SwitchPart, PortSet]] = []
    for name in names:
        part = desk.catalog.switches[name]
        ports = [ports for ports in usable_ports(part, desk.spec.technology) if ports.rate_gbps == rate]
        if ports:
            found.append((name, part, ports[0]))
    return found


def _named_switch(desk: Desk, tier: str, named: str, rate: float) -> tuple[str, SwitchPart, PortSet] | None:
    found = find_part(desk, desk.catalog.switches, named, ("topology", tier))
    if found is None:
        return None
    entry = _at_rate(desk, [found[0]], rate)
    if entry:
        return entry[0]
    has = _show_ports(usable_ports(found[1], desk.spec.technology)) or "no port"
    message = (
        f"topology.{tier}: {found[0]} has {has}, but the links of this fabric run at {rate:g} Gb/s ({_whose(desk)})"
    )
    able = [name for name, _, _ in _at_rate(desk, desk.catalog.switches, rate)]
    hint = f"switches with ports at {rate:g} Gb/s are {_some(able)}" if able else "choose another hosts.rate_gbps"
    desk.note("capability.switch-rate", message, hint, desk.places.value("topology", tier))
    return None


def _whose(desk: Desk) -> str:
    return "the NIC's rate" if desk.spec.topology.trunk_gbps == AUTO else "topology.trunk_gbps"


def slots_per_host(desk: Desk, rails: int) -> int:
    """Count the leaf ports that one host takes on one leaf."""
    return rails if desk.spec.topology.kind == "fat-tree" else 1


def ports_needed(slots: int, oversubscription: float) -> int:
    """Count the ports of a leaf with this many hosts' ports: they and their uplinks."""
    return slots + math.ceil(slots / oversubscription)


def largest_unit(ports: int, per_host: int, oversubscription: float) -> int:
    """Find the most hosts whose ports and uplinks fit on a leaf; 0 where not even one fits."""
    unit = ports // per_host
    while unit > 0 and ports_needed(unit * per_host, oversubscription) > ports:
        unit -= 1
    return unit


def _show_ports(sets: tuple[PortSet, ...]) -> str:
    return " or ".join(f"{ports.count} x {ports.rate_gbps:g} Gb/s" for ports in sets)


def _some(names: Iterable[str]) -> str:
    listed = sorted(names)
    shown = ", ".join(listed[:12])
    return (shown + f" and {len(listed) - 12} more" if len(listed) > 12 else shown) or "none"
