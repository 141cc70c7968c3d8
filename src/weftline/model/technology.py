"""A technology: a few small records of data and functions, never a god-object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from weftline.errors import Problem
from weftline.model.addresses import Addresses
from weftline.model.capability import Need
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.intent import DeviceIntent, ForwardingTable
from weftline.model.isolation import Owners
from weftline.model.lossless import LosslessDemand
from weftline.model.packet import Carriage, Medium
from weftline.model.parameters import CarriageChoice, PacketSource, Parameter
from weftline.model.routes import Routes


@dataclass(frozen=True, slots=True)
class Design:
    """How a technology names, limits and configures a fabric."""

    engines: tuple[str, ...]
    """The engines whose tables the devices can hold; ``engine: auto`` means the first that can route the shape."""
    routes_to_switches: bool
    """Whether switches are destinations of the tables too."""
    count_problems: Callable[[ResolvedSpec, int, int], tuple[Problem, ...]]
    """(design, endpoints, switches) -> what the technology cannot address, with the arithmetic."""
    assign: Callable[[ResolvedSpec, Fabric], Addresses]
    intents: Callable[[ResolvedSpec, Fabric, Addresses, Routes], tuple[DeviceIntent, ...]]
    vendors: tuple[str, ...]
    """Names in the table of vendors; each renders the intents of the devices that are its own."""
    vendors_of: Callable[[ResolvedSpec], tuple[str, ...]] | None = None
    """The vendors of one design, where the declaration chooses among several."""
    owners: Callable[[ResolvedSpec, Fabric], Owners] | None = None
    """Who owns which endpoint; absent where the files keep no owners apart yet."""
    isolate: Callable[[ResolvedSpec, Fabric, Addresses], tuple[DeviceIntent, ...]] | None = None
    """The intents that keep owners apart, and nothing else of what the devices should do."""
    keeps_apart_by_devices: bool = False
    """Whether owners are kept apart by what the files of each switch do, and not by tables that a manager writes."""
    lossless: Callable[[ResolvedSpec, Fabric], LosslessDemand] | None = None
    """Which classes must lose nothing and what each port needs for it; absent where links cannot lose."""
    seats: Callable[[ResolvedSpec, Fabric, int], tuple[int, ...]] | None = None
    """(design, fabric, plane) -> the ports at which managers of a plane run, the master first."""
    table: Callable[[Fabric, Addresses, Routes, int], ForwardingTable] | None = None
    """(fabric, addresses, routes, plane) -> the tables of one plane alone; None where devices take no tables."""
    shaped: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """By the shape of a fabric the engines that ``engine: auto`` tries before the others."""
    not_held: Mapping[str, str] = field(default_factory=dict[str, str])
    """By engine why devices cannot hold its tables, where more can be said than that."""
    needs: Callable[[ResolvedSpec], tuple[str, tuple[Need, ...]]] | None = None
    """The platform of a design's switches, and what is asked of it; None where the catalogue has no such platforms."""

    def list_vendors(self, design: ResolvedSpec) -> tuple[str, ...]:
        """Name the vendors that write the files of a design."""
        return self.vendors if self.vendors_of is None else self.vendors_of(design)

    @property
    def engine(self) -> str:
        """The routing engine that ``engine: auto`` means on the shapes that the technology is built for."""
        return self.engines[0]


@dataclass(frozen=True, slots=True)
class Transport:
    """What a simulation needs to know, with the source of each default."""

    message_latency_us: float
    message_latency_source: str
    medium: Callable[[PacketSource, CarriageChoice], Medium]
    """How ports queue, hold, mark and lose packets, by what files say."""
    carriage: Callable[[PacketSource, CarriageChoice], Carriage]
    """How adapters send, acknowledge and send again."""
    parameters: Callable[[PacketSource, CarriageChoice], tuple[Parameter, ...]]
    """Every figure of both, with who says it."""
    intents: Callable[[ResolvedSpec, Fabric, Addresses, Routes], tuple[DeviceIntent, ...]] | None = None
    """What decides how packets fare, and nothing else of what devices should do; None: all of it may."""
    pacings: tuple[str, ...] = ()
    """Names of the sets of figures that senders can slow down by."""


@dataclass(frozen=True, slots=True)
class Granularity:
    """In which pieces tables change while packets run, and what of their order is ours."""

    piece: str
    """What a device takes at one moment."""
    addresses: int
    """Addresses of one device in a piece."""
    order: str
    """Who decides in which order the pieces of a stage are written, as a sentence without a full stop."""
    stage: str
    """What begins and ends a stage."""
    source: str


@dataclass(frozen=True, slots=True)
class Technology:
    """One way to realise the guarantee: RDMA, lossless, offloaded."""

    name: str
    design: Design
    transport: Transport
    change: Granularity | None = None
    """None where nothing is known of it: then each entry is a piece of its own."""
