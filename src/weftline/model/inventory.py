"""An inventory: the real ids of devices, by the names of the declaration."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.errors import Place


@dataclass(frozen=True, slots=True)
class InventoryRow:
    """One endpoint port or one switch."""

    name: str
    node_id: int
    port_id: int
    """For a switch that of its node, which answers for its port 0."""
    where: Place
