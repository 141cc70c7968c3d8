"""What adoption makes of a discovery dump: a fabric with its addresses, its shape, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.errors import Problem
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes


@dataclass(frozen=True, slots=True)
class Adoption:
    """A discovered fabric, with the words that its dump uses."""

    fabric: Fabric
    addresses: Addresses
    shape: str
    """``rail-optimised``, ``rail-only``, ``fat-tree``, ``single-switch``, ``ring`` or ``irregular``."""
    shape_reason: str
    """One sentence that says why."""
    problems: tuple[Problem, ...]
    node_description: tuple[str, ...]
    """Per node the description in the dump; of a host of several adapters the first."""
    port_adapter: tuple[str, ...]
    """Per port the description of its adapter; empty on switches."""
    port_place: tuple[int, ...] = ()
    """Per port its number on its adapter or switch, as the dump has it."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """What the files say about adaptive routing, by which switches choose among ports packet by packet."""

    state: Literal["judged", "not-seen", "unknown"]
    """``judged``: its groups were read; ``not-seen``: no file speaks of it; ``unknown``: it is on, and where packets
    may go is not in the files."""
    entries: int = 0
    """Entries whose packets may leave by the ports of a group."""
    switches: int = 0
    """Switches with such entries."""
    reasons: tuple[str, ...] = ()
    """How it is known to be on."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Forwarding tables as read from dumps, and what was wrong with them."""

    routes: Routes
    problems: tuple[Problem, ...]
    adaptive: Adaptive = Adaptive("not-seen")
    unseen: str = ""
    """Why packets may take ways that the routes do not have, so that nothing can be proved; empty where they cannot."""
