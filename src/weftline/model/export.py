"""What managers need that route a fabric by engines of their own."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.model.levels import ServiceIntent


@dataclass(frozen=True, slots=True)
class ExportIntent:
    """The ends of one subnet, and the shape that an engine should see; nothing of it is proved."""

    is_tree: bool
    """Whether every endpoint hangs on the lowest tier and every link joins two tiers next to each other."""
    tiers: int
    computes: tuple[str, ...]
    """Port ids of hosts in hex, ascending."""
    stores: tuple[str, ...]
    """Port ids of all other endpoints."""
    order: tuple[str, ...]
    """Port ids of all endpoints, rail by rail and host by host: in this order routes are spread evenly."""
    switches: tuple[tuple[str, str], ...]
    """Tier and node id of each switch."""
    service: ServiceIntent | None = None
    """Levels that were declared; those that come from the proved routes are of no use to other routes."""
