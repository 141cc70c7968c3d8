"""Commands that take a port of a switch with NVUE out of service."""

from __future__ import annotations

from weftline.model.vendor import Plug, Switching
from weftline.vendors.nvue.writing import interface_name


def switch(plug: Plug) -> Switching:
    """Set the link down, and up again. Cumulus Linux 5, Interface Configuration and Management."""
    head = f"nv set interface {interface_name(plug.number, plug.per_cage)} link state"
    return Switching((f"{head} down", "nv config apply"), (f"{head} up", "nv config apply"), f"on {plug.device}")
