"""Ports: how many a switch has where some are split for slower NICs, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.model.design import ResolvedSpec


@dataclass(frozen=True, slots=True)
class LeafPorts:
    """The ports of a leaf: ``trunk`` at the rate between switches, or ``down`` if all were split for NICs."""

    name: str
    trunk: int
    down: int

    def used(self, endpoints: int) -> int:
        """Count the ports at trunk rate that endpoint ports take."""
        return -(-endpoints * self.trunk // self.down)

    def left(self, endpoints: int) -> int:
        """Count the ports at trunk rate that are left beside so many endpoint ports; negative where there are none."""
        return self.trunk - self.used(endpoints)

    def total(self, endpoints: int) -> int:
        """Count the ports of a leaf that is run like this, dark ones too."""
        return endpoints + self.left(endpoints)

    def tell(self, endpoints: int) -> str:
        """Say what endpoint ports take, with the arithmetic where they are split."""
        if self.down == self.trunk:
            return f"{endpoints} for endpoints"
        return f"{self.used(endpoints)} for {endpoints} endpoints ({self.down // self.trunk} to a port)"


def leaf_ports(design: ResolvedSpec) -> LeafPorts:
    """Read the ports of the leaves from the design."""
    return LeafPorts(design.leaf.name, design.leaf.ports, design.leaf_down_ports or design.leaf.ports)
