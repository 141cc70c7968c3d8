"""The labs: one explicit table of what makes a fabric run on this machine."""

from __future__ import annotations

from weftline.model.lab import Lab
from weftline.register import Register

LABS = Register[Lab]({"ibsim": "weftline.labs.ibsim:IBSIM", "netns": "weftline.labs.netns:NETNS"})

__all__ = ["LABS"]
