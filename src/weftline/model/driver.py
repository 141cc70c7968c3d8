"""A driver: what reaches a fabric that runs and reads what its devices hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from weftline.errors import Problem
from weftline.kernels.column import U8
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric
from weftline.model.observed import ObservedConfig

StateKind = Literal[
    "node", "link", "address", "entry", "keys", "lanes", "arbitration", "manager", "silence",
    "session", "watch", "route", "kernel", "pair", "mark", "spread", "apart", "edge",
]  # fmt: skip
"""What is compared. ``watch`` is what tells a session that its link is dead; ``route`` is what a routing daemon chose,
``kernel`` what it got into the kernel; ``pair`` means endpoints that must reach each other, ``apart`` those that must
not, ``mark`` the DSCP that packets arrive with, ``spread`` how flows share equal ways, ``edge`` what hosts send
as others or to the ends of tunnels, which must not come in."""


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach one subnet that runs: where it is entered, and what programs need in their environment."""

    subnet: str
    environment: Mapping[str, str]
    """Only what is added to the environment of the command."""
    preload: str
    """Library that programs load first; empty on real hardware."""
    folder: Path
    """A scratch folder to run in."""
    entry: int
    """Port id (GUID) of the endpoint at which the subnet is entered; its manager runs there."""
    of: str = ""
    """Name of the subnet whose rendered files it runs on; empty where that is its own."""
    key_file: Path | None = None
    """File that holds the M_Key, without which guarded devices do not answer; None where they have none."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """One device as it answered."""

    is_switch: bool
    ports: int


@dataclass(frozen=True, slots=True)
class PortState:
    """One port as it answered; the port 0 of a switch carries its address."""

    address: int
    multipath_bits: int
    state: int
    """1 down, 2 initialised, 3 armed, 4 active. IBTA vol 1, 14.2.5.6."""


@dataclass(frozen=True, slots=True)
class ManagerState:
    """A subnet manager as it answered."""

    priority: int
    state: str
    """``master``, ``standby``, ``discovering`` or ``not active``."""


@dataclass(frozen=True, eq=False)
class SubnetState:
    """What the devices of one subnet hold, by node id and port number."""

    subnet: str
    nodes: Mapping[int, NodeState]
    ports: Mapping[tuple[int, int], PortState]
    endpoints: Mapping[int, tuple[int, int]]
    """Port id of an endpoint to its adapter and port number."""
    links: Mapping[tuple[int, int], tuple[int, int]]
    """Far end of each port that is up, as seen from a switch or from the entry."""
    keys: Mapping[tuple[int, int], tuple[int, ...]]
    """Partition keys in the order of the table, empty places left out."""
    tables: Mapping[int, U8]
    """Port by address, from address 0."""
    lanes: Mapping[tuple[int, int, int], bytes]
    """Lane per service level by node, entering port and leaving port, two to a byte."""
    arbitration: Mapping[tuple[int, int, int], bytes]
    """Pairs of lane and weight by node, port and part (1, 2 low, 3, 4 high)."""
    silences: tuple[tuple[int, int, int], ...]
    """Questions that nobody answered: node, attribute, modifier."""
    answers: int = 0
    managers: Mapping[tuple[int, int], ManagerState] = field(default_factory=dict[tuple[int, int], ManagerState])
    """Subnet managers by the port at which they run; port 0 of a switch."""
    key_tables: Mapping[tuple[int, int], tuple[int, ...]] = field(
        default_factory=dict[tuple[int, int], tuple[int, ...]]
    )
    """Partition keys by index, 0 for an empty place; trailing empty places are left out."""
    key_capacity: Mapping[int, int] = field(default_factory=dict[int, int])
    """Places of the key table of an adapter's port, or of the port 0 of a switch, by node id."""
    switch_key_capacity: Mapping[int, int] = field(default_factory=dict[int, int])
    """Places of the key table of an external port, by node id of the switch."""


@dataclass(frozen=True, slots=True)
class FarEnd:
    """What stands at the other end of a port that is up."""

    node: int
    number: int
    port_id: int
    """Of an endpoint; for a switch, that of the switch."""
    is_active: bool = True
    """Whether the port carries data, and not only what the manager sends."""


class Watch(Protocol):
    """A subnet that is kept in view: what stands at which port of its switches."""

    @property
    def links(self) -> Mapping[tuple[int, int], FarEnd]:
        """Far ends by node id and port number; what is not up is not there."""
        ...

    @property
    def reached(self) -> Collection[int]:
        """Node ids of the switches that can be asked."""
        ...

    @property
    def asked(self) -> Collection[int]:
        """Node ids of the switches that the last look asked."""
        ...

    def look(self, suspects: Collection[int] | None) -> bool:
        """Ask some switches, or all, what stands at their ports; says whether something changed."""
        ...

    def check_ends(self, suspects: Collection[int]) -> bool:
        """Ask again what stands behind the ports of some switches that are up; says whether something changed."""
        ...

    def is_entered(self) -> bool:
        """Say whether the port by which the subnet is entered is up; what was seen before may not be so otherwise."""
        ...

    def read_blocks(self, blocks: Sequence[tuple[int, int]]) -> list[bytes | None]:
        """Read blocks of 64 addresses of forwarding tables by (node id, block); None where nobody answers."""
        ...

    def close(self) -> None:
        """End it."""
        ...


@dataclass(frozen=True, slots=True)
class StateDifference:
    """One thing that runs otherwise than it was rendered."""

    kind: StateKind
    subject: str
    rendered: str
    running: str


@dataclass(frozen=True, slots=True)
class Readback:
    """What was read from one subnet, held against what was rendered for it."""

    subnet: str
    compared: Mapping[StateKind, int]
    """How many things of each kind were held against each other."""
    differing: Mapping[StateKind, int]
    differences: tuple[StateDifference, ...]
    """By name; of one kind at most ``MAX_LISTED``, the rest is counted."""
    notes: tuple[str, ...] = ()
    """What was not compared, and why."""

    @property
    def is_equal(self) -> bool:
        """Whether everything runs as it was rendered."""
        return not any(self.differing.values())


@dataclass(frozen=True, slots=True)
class Rendered:
    """What was rendered for one subnet, and the fabric that it is for."""

    config: ObservedConfig
    """What the rendered files say, read back from them."""
    options: Mapping[str, str]
    fabric: Fabric
    addresses: Addresses
    plane: int


@dataclass(frozen=True, slots=True)
class Driver:
    """A register entry: functions that read a running subnet and hold it against what was rendered."""

    name: str
    read_state: Callable[[Access, bool], SubnetState]
    """(access, with lanes) -> what the devices hold."""
    compare: Callable[[Rendered, SubnetState, int], Readback]
    """(rendered, running, port id of the manager) -> every difference by name."""
    wants_lanes: Callable[[Mapping[str, str]], bool]
    """Whether the options set lanes, so that they have to be read."""
    problems: Callable[[], tuple[Problem, ...]] = field(default=lambda: ())
    """What is missing on this machine."""
    watch: Callable[[Access, SubnetState], Watch] | None = None
    """(access, what was read of the subnet just now) -> the subnet kept in view; None where nothing can."""


MAX_LISTED = 10_000
