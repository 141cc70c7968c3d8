"""Torus: the sizes of a declared torus by arithmetic, and the refusal of what cannot be built."""

from __future__ import annotations

import math
from dataclasses import dataclass

from weftline.compile.place import refuse
from weftline.compile.ports import leaf_ports
from weftline.errors import Problem
from weftline.model.design import ResolvedSpec


@dataclass(frozen=True, slots=True)
class TorusPlan:
    """Sizes of a torus."""

    sizes: tuple[int, ...]
    links: tuple[int, ...]
    """Between neighbours, in each dimension."""
    endpoints: int
    """Ports for endpoints of each switch."""
    ports: int
    """All ports of each switch, dark ones too."""
    hosts: int
    rails: int
    unit: int
    """Hosts that a switch holds."""

    @property
    def switches(self) -> int:
        """Count switches."""
        return math.prod(self.sizes)

    @property
    def switch_links(self) -> int:
        """Count links between switches: in a dimension of two, neighbours on both sides are one."""
        runs = sum(links * (2 if size > 2 else size - 1) for size, links in zip(self.sizes, self.links, strict=True))
        return self.switches * runs // 2


def plan_torus(design: ResolvedSpec) -> TorusPlan | tuple[Problem, ...]:
    """Work out all sizes in constant time, or say with the arithmetic why the fabric cannot be built."""
    topology, ports = design.spec.topology, leaf_ports(design)
    sizes, rails, hosts = topology.sizes, design.rails, design.spec.hosts.count
    links = topology.dimension_links or (1,) * len(sizes)
    switches = math.prod(sizes)
    ends = -(-hosts // switches) * rails if topology.endpoints == "auto" else topology.endpoints
    unit = ends // rails
    if unit * switches < hosts:
        shape = " x ".join(str(size) for size in sizes)
        return refuse(
            design,
            "spec.group-hosts",
            f"{shape} = {switches:,} switches hold {ends} // {rails} rails = {unit} hosts each, {switches * unit:,} in "
            f"all, and {hosts:,} are declared",
            f"declare endpoints: {-(-hosts // switches) * rails}, or a larger torus",
            "topology.endpoints",
        )
    between = [count * min(size - 1, 2) for size, count in zip(sizes, links, strict=True)]
    need = ports.used(ends) + sum(between)
    if need > ports.trunk:
        sums = " + ".join(str(count) for count in between)
        return refuse(
            design,
            "spec.switch-ports",
            f"a switch needs {ports.tell(ends)} and {sums} = {sum(between)} for its neighbours, "
            f"{ports.used(ends)} + {sum(between)} = {need} > {ports.trunk} ports of {ports.name}",
            "declare more switches, fewer links between neighbours, or a leaf with more ports",
            "topology.sizes",
        )
    return TorusPlan(sizes, links, ends, ports.total(ends), hosts, rails, unit)
