"""What a discovery dump says, as neutral records: nodes with the ports that they list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.errors import Place, Problem
from weftline.kernels.column import NIL

NodeType = Literal["switch", "ca", "router"]


@dataclass(frozen=True, slots=True)
class PortRecord:
    """One line of a dump: a port, what it is wired to, and how fast the link runs."""

    number: int
    peer: str = ""
    """Key of the node at the other end; empty on a dark port."""
    peer_number: int = 0
    guid: int = 0
    """0 where the dump does not say."""
    peer_guid: int = 0
    peer_description: str = ""
    width: int = 0
    """Lanes; 0 where the dump does not say."""
    speed: str = ""
    """Speed of one lane as printed, such as ``NDR``; empty where the dump does not say."""
    lid: int = NIL
    """Base LID of this port; NIL where the dump does not say, and on switches, whose node has it."""
    lmc: int = 0
    line: int = 0
    column: int = 1


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node of a dump and the ports that it lists."""

    kind: NodeType
    key: str
    """What the dump calls the node; peers refer to it."""
    port_count: int
    ports: tuple[PortRecord, ...] = ()
    guid: int = 0
    system_guid: int = 0
    device_id: int = 0
    description: str = ""
    lid: int = NIL
    """LID of a switch; NIL where the dump does not say."""
    lmc: int = 0
    line: int = 0

    @property
    def title(self) -> str:
        """Name the node as a person knows it: its description, else its key."""
        return self.description or self.key


@dataclass(frozen=True, slots=True)
class Discovery:
    """A whole dump: its nodes in the order of the file, and what was wrong with single lines."""

    form: str
    """``ibnetdiscover``, ``portlist`` or ``ibdm-topo``."""
    file: str
    digest: str
    """SHA-256 of the bytes."""
    nodes: tuple[NodeRecord, ...]
    problems: tuple[Problem, ...] = ()

    def place(self, line: int, column: int = 1) -> Place:
        """Point at a line of the dump."""
        return Place(self.file, line or None, column if line else None)
