"""Commands that take a port of a switch with FRR out of service."""

from __future__ import annotations

from weftline.formats.config_db import interface_name
from weftline.model.vendor import Plug, Switching


def switch(plug: Plug) -> Switching:
    """Shut an interface down, and start it up again. FRR user guide, Zebra: shutdown."""
    name = interface_name(plug.number, plug.per_cage)
    head = f"vtysh -c 'configure terminal' -c 'interface {name}'"
    return Switching((f"{head} -c 'shutdown'",), (f"{head} -c 'no shutdown'",), f"on {plug.device}")
