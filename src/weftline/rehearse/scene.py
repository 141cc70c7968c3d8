"""What every state is judged on, and what one state leaves; small to import, since one question has to be quick."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.rehearse.crews import Crews


@dataclass(frozen=True, eq=False)
class Scene:
    """The whole fabric with its tables and its jobs."""

    fabric: Fabric
    routes: Routes
    crews: Crews
    rules: ProofRules


@dataclass(frozen=True, eq=False)
class Found:
    """What one state leaves."""

    deadlock: Verdict
    lost_endpoints: int
    lost_pairs: int
    undelivered: int
    """NIL where it was not judged."""
    worst: tuple[float, ...]
    port: tuple[int, ...]
    leave: tuple[int, ...]
    is_whole: bool = False
    is_anew: bool = False
    """Whether such tables do not hold, so that others are judged, made of what is left by the engine or updown."""
