"""Commands that take a port of a SONiC switch out of service."""

from __future__ import annotations

from weftline.formats.config_db import interface_name
from weftline.model.vendor import Plug, Switching


def switch(plug: Plug) -> Switching:
    """Shut an interface down, and start it up again. sonic-utilities, Command-Reference: config interface."""
    name = interface_name(plug.number, plug.per_cage)
    return Switching(
        (f"sudo config interface shutdown {name}",), (f"sudo config interface startup {name}",), f"on {plug.device}"
    )
