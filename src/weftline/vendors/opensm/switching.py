"""Commands that take a port of an InfiniBand switch out of service."""

from __future__ import annotations

from weftline.model.vendor import Plug, Switching


def switch(plug: Plug) -> Switching:
    """Disable the port at the switch, and enable it again. ibportstate(8); the address is the LID of the switch."""
    head = f"ibportstate {plug.address} {plug.number}"
    return Switching((f"{head} disable",), (f"{head} enable",), "on a host of the subnet")
