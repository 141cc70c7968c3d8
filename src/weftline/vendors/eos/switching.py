"""Commands that take a port of an EOS switch out of service."""

from __future__ import annotations

from weftline.model.vendor import Plug, Switching
from weftline.vendors.eos.writing import interface_name


def switch(plug: Plug) -> Switching:
    """Shut an interface down, and start it up again. EOS user manual, Ethernet ports: shutdown."""
    head = ("configure", f"interface {interface_name(plug.number, plug.per_cage)}")
    return Switching((*head, "shutdown", "end"), (*head, "no shutdown", "end"), f"on {plug.device}")
