"""Every ``auto`` of a declaration gets its meaning, so that later stages decide nothing."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from types import MappingProxyType

from weftline.declare.cables import choose_direct_runs, choose_runs
from weftline.declare.checks import check_degrees
from weftline.declare.choose import (
    Desk,
    HostChoice,
    check_switches,
    choose_above,
    choose_host,
    choose_leaf,
    largest_unit,
    link_rate,
    slots_per_host,
    usable_ports,
)
from weftline.declare.own import add_own_parts
from weftline.declare.problems import order_problems
from weftline.declare.ranges import Interval, expand_ranges, parse_ranges
from weftline.declare.read import Declaration, canonical_json, dump_spec
from weftline.errors import Problem
from weftline.model.design import ResolvedSpec, RunPart, TierPart
from weftline.model.parts import PACKET_FIGURES, REDUCTION_FIGURES, AsicPart, Catalog, NicPart, PortSet, SwitchPart
from weftline.model.spec import AUTO, FabricSpec
from weftline.model.topology import DIRECT


def resolve_spec(declaration: Declaration, catalog: Catalog) -> ResolvedSpec | tuple[Problem, ...]:
    """Resolve every ``auto``, look parts up, list hosts; refuse what the technology or a part cannot do."""
    spec, places = declaration.spec, declaration.places
    whole = add_own_parts(spec, catalog, places)
    if isinstance(whole, list):
        return order_problems(whole, places.file)
    desk = Desk(spec, whole, places)
    _check_technology(desk)
    design = _resolve(desk)
    if design is None or desk.problems:
        return order_problems(desk.problems, places.file)
    return design


def _resolve(desk: Desk) -> ResolvedSpec | None:
    spec = desk.spec
    choice = choose_host(desk)
    if choice is None:
        check_switches(desk)
        return None
    gpus = choice.host.gpus if spec.hosts.gpus == AUTO else spec.hosts.gpus
    rails = choice.host.rails if spec.hosts.rails == AUTO else spec.hosts.rails
    desk.problems.extend(check_degrees(tuple(enumerate(spec.jobs)), spec.hosts.count, gpus, desk.places))
    tiers = _tiers(desk, choice, rails)
    if tiers is None:
        return None
    is_direct = spec.topology.kind in DIRECT
    runs = _runs(desk, choice, tiers[0])
    unit = _unit_size(desk, tiers[0], rails)
    listed: dict[tuple[Interval, ...], tuple[int, ...]] = {}
    return ResolvedSpec(
        spec=spec,
        digest=_digest(spec, choice, tiers, runs),
        host_name=choice.name,
        host=choice.host,
        nic=choice.nic,
        gpus=gpus,
        rails=rails,
        rate_gbps=choice.ports.rate_gbps,
        unit_size=unit,
        leaf=tiers[0],
        spine=tiers[1],
        core=tiers[2],
        host_leaf=runs[0],
        leaf_spine=runs[1],
        spine_core=runs[2],
        leaf_leaf=runs[3] if is_direct else None,
        between_groups=runs[4] if is_direct else None,
        leaf_down_ports=_down_ports(desk, tiers[0], choice.ports.rate_gbps) if is_direct else None,
        tenant_hosts=tuple(_hosts(tenant.hosts, spec.hosts.count, listed) for tenant in spec.tenants),
        job_hosts=tuple(_hosts(job.hosts, spec.hosts.count, listed) for job in spec.jobs),
        cabling_path=spec.topology.cabling,
        places=MappingProxyType(desk.places.all()),
    )


def _check_technology(desk: Desk) -> None:
    """Refuse what the technology does not have at all, by the catalogue's data."""
    spec = desk.spec
    data = desk.catalog.defaults.technologies.get(spec.technology)
    if data is None:
        return
    if spec.routing.lmc > data.max_lmc:
        message = f"routing.lmc is {spec.routing.lmc}; {spec.technology} allows at most {data.max_lmc}"
        hint = "remove lmc" if data.max_lmc == 0 else f"write a number from 0 to {data.max_lmc}"
        desk.note("capability.lmc", message, hint, desk.places.value("routing", "lmc"))
    mtu = spec.lossless.mtu
    if mtu != AUTO and data.mtus and mtu not in data.mtus:
        message = f"lossless.mtu is {mtu}, which {spec.technology} does not have"
        hint = f"write one of {', '.join(str(known) for known in data.mtus)}, or auto"
        desk.note("capability.link-mtu", message, hint, desk.places.value("lossless", "mtu"))


def _tiers(desk: Desk, choice: HostChoice, rails: int) -> tuple[TierPart, TierPart, TierPart] | None:
    topology, rate = desk.spec.topology, link_rate(desk, choice)
    leaf = choose_leaf(desk, choice, rails)
    spine = choose_above(desk, "spine", topology.spine, leaf, rate)
    core = choose_above(desk, "core", topology.core, spine, rate)
    if leaf is None or spine is None or core is None:
        return None
    asics = desk.catalog.asics
    return _tier(leaf, asics), _tier(spine, asics), _tier(core, asics)


def _tier(entry: tuple[str, SwitchPart, PortSet], asics: Mapping[str, AsicPart]) -> TierPart:
    """Take the switch as it runs: a hardware SKU of its port set stands for that of the part."""
    name, part, ports = entry
    if ports.sonic_hwsku:
        part = part.model_copy(update={"sonic_hwsku": ports.sonic_hwsku})
    chip = None if part.asic is None else asics.get(part.asic)
    return TierPart(name, part, ports.count, ports.rate_gbps, ports.per_cage, chip)


def _unit_size(desk: Desk, leaf: TierPart, rails: int) -> int:
    hosts, topology = desk.spec.hosts, desk.spec.topology
    if topology.kind in DIRECT:
        return _group_size(desk.spec, rails)
    if hosts.unit_size != AUTO:
        return hosts.unit_size
    per_host = slots_per_host(desk, rails)
    unit = largest_unit(leaf.ports, per_host, topology.oversubscription)
    if unit == 0 and topology.kind != "cabling":
        message = f"a leaf {leaf.name} has {leaf.ports} ports"
        message += f": too few for the {per_host} port(s) of one host and their uplinks"
        desk.note(
            "spec.unit-size",
            message,
            "choose a leaf with more ports, or kind: rail-optimised",
            desk.places.value("topology", "leaf"),
        )
    return max(unit, 1)


def _group_size(spec: FabricSpec, rails: int) -> int:
    """Give the hosts that stand together in the first group, or on a switch of a torus."""
    topology, hosts = spec.topology, spec.hosts.count
    if topology.kind == "torus":
        switches = math.prod(topology.sizes)
        return max(-(-hosts // switches) if topology.endpoints == AUTO else topology.endpoints // rails, 1)
    first = topology.groups[0]
    if first.hosts != AUTO:
        return max(first.hosts, 1)
    held = -(-hosts // sum(group.count for group in topology.groups))
    return max(held if first.endpoints == AUTO else first.leaf * first.endpoints // rails, 1)


def _down_ports(desk: Desk, leaf: TierPart, rate: float) -> int:
    """Count the ports of a leaf if all of them ran at the NIC's rate."""
    if leaf.rate_gbps == rate:
        return leaf.ports
    found = [ports.count for ports in usable_ports(leaf.part, desk.spec.technology) if ports.rate_gbps == rate]
    if not found:
        message = f"topology.leaf: {leaf.name} has no ports of {rate:g} Gb/s, the rate of the NICs"
        hint = "choose a leaf whose ports can be split to that rate, or leave topology.trunk_gbps out"
        desk.note("capability.switch-rate", message, hint, desk.places.value("topology", "leaf"))
    return max(found, default=leaf.ports)


def _runs(desk: Desk, choice: HostChoice, leaf: TierPart) -> tuple[RunPart, ...]:
    if desk.spec.topology.kind in DIRECT:
        return choose_direct_runs(desk, choice, leaf.rate_gbps)
    return choose_runs(desk, choice, leaf.per_cage)


def _hosts(text: str, count: int, listed: dict[tuple[Interval, ...], tuple[int, ...]]) -> tuple[int, ...]:
    """List host indices once per distinct range, so that many jobs on all hosts cost little."""
    ranges = parse_ranges(text, count)
    if isinstance(ranges, str):  # refused when the declaration was read
        return ()
    if ranges not in listed:
        listed[ranges] = expand_ranges(ranges)
    return listed[ranges]


def _digest(spec: FabricSpec, choice: HostChoice, tiers: tuple[TierPart, ...], runs: tuple[RunPart, ...]) -> str:
    """Digest the declaration and the parts that it uses; order of keys, comments and spacing do not count."""
    content = {
        "spec": dump_spec(spec),
        "host": [choice.name, choice.host.model_dump(mode="json")],
        "nic": _dump_part(choice.nic),
        "tiers": [[tier.name, _dump_part(tier.part)] for tier in tiers],
        "runs": [[run.name, run.part.model_dump(mode="json") if run.part else None, run.length_m] for run in runs],
    }
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def _dump_part(part: NicPart | SwitchPart) -> dict[str, object]:
    """Dump a part; figures that are younger than the digests of fabrics without them count where they are given.

    What a switch reduces changes nothing that is built, so it never counts.
    """
    young = {field for field in PACKET_FIGURES if getattr(part, field, 0) is None}
    dump = part.model_dump(mode="json", exclude=young | {*REDUCTION_FIGURES})
    dump["sources"] = [one for one in dump["sources"] if not {*one["figures"]} <= {*REDUCTION_FIGURES}]
    return dump
