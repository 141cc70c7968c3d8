"""Parameters of a simulation of packets: what they are made from, and each figure in force with where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from weftline.errors import Place
from weftline.kernels.column import F64
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.observed import ObservedDevice
from weftline.model.packet import Recovery
from weftline.model.routes import Routes
from weftline.model.survey import OptionFact

Origin = Literal["file", "declaration", "part", "formula", "standard", "default"]
"""Who says a figure: a configuration file, the declaration, a part of the catalogue, arithmetic on those, a published
standard, or nobody, so that a stated default stands in, which the user can override."""
FigureValue: TypeAlias = int | float | str | bool


@dataclass(frozen=True, slots=True)
class Figure:
    """One value and who says it."""

    value: FigureValue
    origin: Origin
    source: str
    """The document, the part, the arithmetic, or why this default."""
    where: Place | None = None
    """Where a file says it."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One figure in force, where it holds, and who says it."""

    group: str
    name: str
    value: FigureValue
    unit: str
    """Empty for what has none."""
    holds: str
    """Where it holds, as ``all 64 switch ports``."""
    count: int
    """Ports, nodes or links where it holds; 1 for what holds everywhere."""
    origin: Origin
    source: str
    where: Place | None = None
    """The first place that says it."""


@dataclass(frozen=True, slots=True)
class PacketSource:
    """What a medium and a carriage are made from."""

    design: ResolvedSpec
    fabric: Fabric
    routes: Routes
    devices: Mapping[str, ObservedDevice] = field(default_factory=dict[str, ObservedDevice])
    """What files say, by name of the device."""
    options: tuple[tuple[OptionFact, ...], ...] = ()
    """Options of the manager of each plane, where there are managers."""
    lengths_m: F64 | None = None
    """``[C]``: the length that each cable really has, in place of the fabric's own."""
    notes: tuple[str, ...] = ()
    """What is assumed of the files themselves."""


@dataclass(frozen=True, slots=True)
class CarriageChoice:
    """What the user says of adapters; None is what files, parts and defaults say."""

    pacing: str | None = None
    """Name of a set of figures, or ``none``."""
    recovery: Recovery | None = None
    mtu_bytes: int | None = None
    ack_every: int | None = None
    timeout_us: float | None = None
    window_packets: int | None = None
    reorder_packets: int | None = None
