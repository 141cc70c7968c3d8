"""The labs: one explicit table of what makes a fabric run on this machine."""

from __future__ import annotations

from weftline.labs.ibsim import IBSIM
from weftline.labs.netns import NETNS
from weftline.model.lab import Lab

LABS: dict[str, Lab] = {lab.name: lab for lab in (IBSIM, NETNS)}

__all__ = ["LABS"]
