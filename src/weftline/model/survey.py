"""A survey: what a folder of dumps says about one subnet that exists; what no file says stays None or empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from weftline.errors import Place, Problem
from weftline.kernels.column import NIL
from weftline.model.discovery import Discovery, NodeType
from weftline.model.partitions import PartitionFile

ManagerState = Literal["master", "standby", "discovering", "not-active", "unknown"]


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the folder as it was recognised; what is read only with a fabric at hand keeps its bytes."""

    file: str
    form: str
    """Name in the table of forms, as ``ibnetdiscover``; empty where nobody knows the file."""
    digest: str
    """SHA-256 of the bytes; of a file that nobody knows, of those that were looked at."""
    data: bytes = field(default=b"", repr=False)
    nature: Literal["", "empty", "binary", "text"] = ""
    """Of a file that nobody knows, what its first bytes are."""


@dataclass(frozen=True, slots=True)
class NodeFact:
    """What a file says about one node."""

    node: int
    """Node GUID."""
    where: Place
    kind: NodeType | None = None
    description: str = ""
    port_count: int | None = None
    device_id: int | None = None
    vendor_id: int | None = None
    system: int = 0
    """System image GUID; 0 where no file says."""
    firmware: str = ""
    key_capacity: int | None = None
    """Places of the partition table of a port (PartitionCap)."""
    switch_key_capacity: int | None = None
    """Places of the partition table of an external port of a switch (PartitionEnforcementCap)."""
    table_capacity: int | None = None
    """Entries of the linear forwarding table (LinearFDBCap)."""
    lid: int = NIL
    """Where the file names the node by a LID of it."""


@dataclass(frozen=True, slots=True)
class PortFact:
    """What a file says about one port; a key is never kept, only whether there is one."""

    node: int
    """Node GUID; 0 where the file names the port by its own GUID or LID only."""
    number: int
    """As printed; the port 0 of a switch carries its address. NIL where the file does not say."""
    where: Place
    port_guid: int = 0
    lid: int = NIL
    lmc: int | None = None
    state: int | None = None
    """1 down, 2 initialised, 3 armed, 4 active. IBTA vol 1, 14.2.5.6."""
    physical: int | None = None
    """2 polling, 3 disabled, 5 link up."""
    width: int | None = None
    """Lanes in use."""
    width_supported: int | None = None
    """Most lanes that the port can use."""
    speed: str = ""
    """Speed of one lane in use, as ``NDR``."""
    speed_supported: str = ""
    """Fastest speed that the port can use."""
    mtu: int | None = None
    """In bytes."""
    mtu_supported: int | None = None
    vls: int | None = None
    """Data VLs that the port has (VLCap)."""
    vls_used: int | None = None
    """Data VLs that are in operation (OperationalVLs)."""
    enforces_in: bool | None = None
    enforces_out: bool | None = None
    protection: int | None = None
    """M_KeyProtectBits, 0 to 3."""
    lease_s: int | None = None
    """M_KeyLeasePeriod; 0 never ends."""
    has_management_key: bool | None = None
    capability_mask: int | None = None
    key_violations: int | None = None
    """Packets of a wrong partition that arrived here; sticks at 65,535."""


@dataclass(frozen=True, slots=True)
class KeyFact:
    """The partition table of one port."""

    node: int
    """Node GUID; 0 where the file names the port by its GUID or LID only."""
    number: int
    """NIL where the file does not say."""
    where: Place
    port_guid: int = 0
    lid: int = NIL
    keys: tuple[int, ...] = ()
    """16 bits each, the highest says full membership; 0 is an empty place."""
    is_ordered: bool = True
    """Whether the position is the index in the table; some reports list the keys without their index."""
    is_whole: bool = True
    """Whether no key can be missing here."""
    name: str = ""
    """What the file calls the port, where it gives neither GUID nor LID."""


@dataclass(frozen=True, slots=True)
class ManagerFact:
    """One subnet manager that a file names."""

    where: Place
    port_guid: int = 0
    lid: int = NIL
    priority: int | None = None
    state: ManagerState = "unknown"
    name: str = ""
    has_key: bool | None = None
    """Whether it has an SM_Key other than zero."""


@dataclass(frozen=True, slots=True)
class LaneFact:
    """The lane of each service level between two ports of a node; one record may stand for all ports."""

    node: int
    port_in: int
    port_out: int
    lanes: tuple[int, ...]
    """One per service level, 16 of them; 15 drops."""
    where: Place
    lid: int = NIL
    """Where the file names the node by a LID of it; its GUID is then 0."""


@dataclass(frozen=True, slots=True)
class ArbitrationFact:
    """How a port shares itself between lanes: pairs of lane and weight in the order of the table."""

    node: int
    number: int
    high: tuple[tuple[int, int], ...]
    low: tuple[tuple[int, int], ...]
    where: Place
    lid: int = NIL
    """Where the file names the node by a LID of it; its GUID is then 0."""


@dataclass(frozen=True, slots=True)
class MulticastFact:
    """The ports by which one switch sends one multicast LID."""

    node: int
    mlid: int
    ports: tuple[int, ...]
    where: Place


@dataclass(frozen=True, slots=True)
class MulticastGroup:
    """A multicast group: its address, its LID, its partition and its members."""

    mgid: str
    mlid: int
    where: Place
    key: int | None = None
    members: tuple[int, ...] = ()
    """Port GUIDs."""
    lists_members: bool = True
    """False where the file lists groups alone, so that nobody knows who is in them."""


@dataclass(frozen=True, slots=True)
class OptionFact:
    """One option of the manager; the value of a secret is ``set`` or ``zero``."""

    name: str
    value: str
    where: Place


@dataclass(frozen=True, slots=True)
class LogFact:
    """What the log of a manager says of partitions since its last sweep but one."""

    kind: Literal["given-up", "key-lost", "enforcement-cleared"]
    where: Place
    node: int = 0
    number: int = NIL
    text: str = ""


@dataclass(frozen=True, slots=True)
class PlannedCable:
    """One cable of a plan: devices and ports as the plan calls them."""

    a_device: str
    a_port: str
    b_device: str
    b_port: str
    where: Place
    is_expected: bool = True
    """Whether the plan says that the cable is in place and in scope."""


@dataclass(frozen=True, slots=True)
class SurveyPart:
    """What one file says; every field that it does not speak of is empty."""

    discovery: Discovery | None = None
    nodes: tuple[NodeFact, ...] = ()
    ports: tuple[PortFact, ...] = ()
    keys: tuple[KeyFact, ...] = ()
    managers: tuple[ManagerFact, ...] = ()
    lanes: tuple[LaneFact, ...] = ()
    arbitration: tuple[ArbitrationFact, ...] = ()
    multicast: tuple[MulticastFact, ...] = ()
    groups: tuple[MulticastGroup, ...] = ()
    options: tuple[OptionFact, ...] = ()
    partitions: PartitionFile | None = None
    log: tuple[LogFact, ...] | None = None
    """None where the file is no log."""
    plan: tuple[PlannedCable, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    """Node GUID to the name that a person gave it."""
    engine: str = ""
    """The routing engine that the manager says it used."""
    is_adaptive: bool | None = None
    """Whether the switches say that adaptive routing is on; None where no file says."""
    problems: tuple[Problem, ...] = ()
    skipped: tuple[str, ...] = ()
    """Sections of the file that nobody reads."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything that the files of a folder say about one subnet."""

    sources: tuple[Source, ...]
    """Every file, known or not, by name."""
    parts: tuple[SurveyPart, ...]
    """Per source what it says; empty where it is read later or not at all."""
    discovery: Discovery | None
    """The topology that counts: of the most exact source."""
    discovery_file: str
    problems: tuple[Problem, ...]
    is_planned: bool = False
    """Whether the topology is that of a plan, for want of one that was discovered."""

    def of_form(self, *forms: str) -> tuple[Source, ...]:
        """List the sources of some forms."""
        return tuple(source for source in self.sources if source.form in forms)
