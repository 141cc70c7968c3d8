"""Nodes, addresses and links that a file states apart become one discovery."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from weftline.formats.ibnetdiscover import MAX_DESCRIPTION, MAX_NODES, MAX_PORT
from weftline.formats.text import ProblemLog
from weftline.kernels.column import NIL
from weftline.model.discovery import Discovery, NodeRecord, NodeType, PortRecord

_LETTERS: dict[NodeType, str] = {"switch": "S", "ca": "H", "router": "R"}
_LANE_NAMES = (
    (2.5, "SDR"),
    (5.0, "DDR"),
    (10.0, "QDR"),
    (14.0625, "FDR"),
    (25.78125, "EDR"),
    (53.125, "HDR"),
    (106.25, "NDR"),
    (212.5, "XDR"),
)
"""Signalling rate of a lane as tools print it; IBTA vol 1, 14.2.5.6. Some print 14, 25, 50, 100 and 200."""
MAX_GUID_DIGITS = 16


def read_guid(text: str) -> int:
    """Read a GUID with or without ``0x``; 0 where there is none."""
    digits = text.strip().strip('"').lower().removeprefix("0x")
    if not 1 <= len(digits) <= MAX_GUID_DIGITS:
        return 0
    try:
        return int(digits, 16) if digits.isalnum() else 0
    except ValueError:
        return 0


def name_lane(gbps: float) -> str:
    """Name the speed of a lane of this rate, as nominal or as on the wire; empty where none is near."""
    return next((name for rate, name in _LANE_NAMES if rate * 0.93 <= gbps <= rate * 1.01), "")


@dataclass(slots=True)
class _Node:
    """A node while facts about it come in."""

    guid: int
    kind: NodeType
    line: int
    port_count: int = 0
    description: str = ""
    system: int = 0
    device: int = 0
    lid: int = NIL
    lmc: int = 0


@dataclass(frozen=True, slots=True)
class _Port:
    """What is known of a port apart from its link."""

    guid: int = 0
    lid: int = NIL
    lmc: int = 0


@dataclass(frozen=True, slots=True)
class _End:
    """The far end of a link as seen from a port."""

    guid: int
    number: int
    line: int
    width: int
    speed: str


@dataclass(slots=True)
class Draft:
    """A subnet while its file is read; a node and a port are named by the GUID of the node."""

    log: ProblemLog
    nodes: dict[int, _Node] = field(default_factory=dict[int, _Node])
    ports: dict[tuple[int, int], _Port] = field(default_factory=dict[tuple[int, int], _Port])
    links: dict[tuple[int, int], _End] = field(default_factory=dict[tuple[int, int], _End])
    rates: dict[tuple[int, int], tuple[int, str]] = field(default_factory=dict[tuple[int, int], tuple[int, str]])

    def node(
        self, guid: int, kind: NodeType, line: int, ports: int = 0, description: str = "", system: int = 0
    ) -> bool:
        """Note a node; the first line about it counts. Returns whether its number of ports can be."""
        known = self.nodes.get(guid)
        if ports > MAX_PORT:
            message = f"a node has {ports} ports; 1 to {MAX_PORT} are possible"
            self.log.add("artifact.port-range", message, "", line)
            return False
        if known is None:
            self.nodes[guid] = _Node(guid, kind, line, ports, description.strip()[:MAX_DESCRIPTION], system)
        elif known.kind != kind:
            message = f"node 0x{guid:016x} is a {kind} here and a {known.kind} on line {known.line}"
            self.log.add("artifact.node-kind", message, "the first is taken; take the dump again", line)
        elif not known.description:
            known.description = description.strip()[:MAX_DESCRIPTION]
        return True

    def address(self, guid: int, number: int, port_guid: int, lid: int, lmc: int = 0) -> None:
        """Note the GUID and LID of a port; those of a switch are of its port 0."""
        node = self.nodes.get(guid)
        if node is not None and node.kind == "switch":
            if lid > 0 and (number == 0 or node.lid == NIL):
                node.lid, node.lmc = lid, min(max(lmc, 0), 7)
        else:
            self.ports[(guid, number)] = _Port(port_guid, lid, min(max(lmc, 0), 7))

    def rate(self, guid: int, number: int, width: int, speed: str) -> None:
        """Note how fast a port runs where its link does not say."""
        self.rates[(guid, number)] = (width, speed)

    def link(self, a: tuple[int, int], b: tuple[int, int], line: int, width: int = 0, speed: str = "") -> None:
        """Note a link; one that a file states from both ends counts once, one that contradicts is a problem."""
        for own, far in ((a, b), (b, a)):
            if not 1 <= own[1] <= MAX_PORT:
                message = f"port {own[1]} of node 0x{own[0]:016x} is out of range; 1 to {MAX_PORT} are possible"
                self.log.add("artifact.port-range", message, "", line)
                return
            known = self.links.get(own)
            if known is not None and (known.guid, known.number) != far:
                message = (
                    f"port {own[1]} of {self._title(own[0])} is linked on line {known.line} already, to another port"
                )
                hint = "a port has one cable; the first line is taken"
                self.log.add("artifact.duplicate-port", message, hint, line)
                return
        self.links.setdefault(a, _End(*b, line, width, speed))
        self.links.setdefault(b, _End(*a, line, width, speed))

    def _title(self, guid: int) -> str:
        """Name a node for a message."""
        node = self.nodes.get(guid)
        return node.description if node is not None and node.description else f"0x{guid:016x}"

    def close(self, form: str, data: bytes) -> Discovery | None:
        """Return the discovery without its problems, which are in the log; None where nothing is linked."""
        if len(self.nodes) > MAX_NODES:
            self.log.add("artifact.dump-too-large", f"more than {MAX_NODES:,} nodes", "give one subnet")
            return None
        if not self.links:
            return None
        by_node: dict[int, list[PortRecord]] = {guid: [] for guid in self.nodes}
        for (guid, number), end in sorted(self.links.items()):
            if guid in by_node:
                by_node[guid].append(self._record(guid, number, end))
            else:
                message = f"port {number} of node 0x{guid:016x} has a link here, and nothing says what node that is"
                self.log.add("artifact.unknown-node", message, "the dump is cut off, or was taken in parts", end.line)
        records: list[NodeRecord] = []
        for guid, ports in by_node.items():
            node = self.nodes[guid]
            if not ports and node.kind != "switch":
                message = f"{node.description or hex(guid)} has no link in this file and is left out"
                self.log.add("artifact.unlinked-adapter", message, "", node.line, severity="warning")
                continue
            records.append(self._node(node, ports))
        return Discovery(form, self.log.file, hashlib.sha256(data).hexdigest(), tuple(records))

    def _key(self, guid: int) -> str:
        """Name a node as ibnetdiscover does; one that nothing is known of as a switch."""
        node = self.nodes.get(guid)
        return f"{_LETTERS[node.kind if node else 'switch']}-{guid:016x}"

    def _record(self, guid: int, number: int, end: _End) -> PortRecord:
        """Make the record of one port."""
        own = self.ports.get((guid, number), _Port())
        far = self.nodes.get(end.guid)
        peer = self.ports.get((end.guid, end.number), _Port())
        width, speed = self.rates.get((guid, number), (end.width, end.speed))
        is_switch = self.nodes[guid].kind == "switch"
        return PortRecord(
            number,
            self._key(end.guid),
            end.number,
            0 if is_switch else own.guid,
            peer.guid,
            far.description if far else "",
            width,
            speed,
            NIL if is_switch else own.lid,
            0 if is_switch else own.lmc,
            end.line,
        )

    def _node(self, node: _Node, ports: list[PortRecord]) -> NodeRecord:
        """Make the record of one node."""
        count = max([node.port_count, *(port.number for port in ports)], default=1) or 1
        return NodeRecord(
            node.kind,
            self._key(node.guid),
            count,
            tuple(ports),
            node.guid,
            node.system,
            node.device,
            node.description,
            node.lid if node.kind == "switch" else NIL,
            node.lmc,
            node.line,
        )
