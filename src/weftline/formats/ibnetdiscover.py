"""The topology file of ibnetdiscover (ibsim reads it too): bytes to neutral records."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from weftline.errors import Problem
from weftline.formats.speed import LANE_GBPS, WIDTHS
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.formats.topology import write
from weftline.kernels.column import NIL
from weftline.model.discovery import Discovery, NodeRecord, NodeType, PortRecord

__all__ = ["looks_like", "parse", "write"]

MAX_BYTES = 64 * 2**20
"""A subnet of 49,151 addresses takes under 48 MB."""
MAX_NODES = 65_536
"""A subnet has at most 49,151."""
MAX_PORT = 254
"""255 means 'no port' in forwarding tables; IBTA vol 1, 19.2.4."""
MAX_DESCRIPTION = 128
"""Characters of a description that are kept; the hardware has 64 bytes."""

_KINDS: dict[str, NodeType] = {
    "Switch": "switch",
    "Ca": "ca",
    "Hca": "ca",
    "Rt": "router",
    "Rtr": "router",
    "Router": "router",
}
_HEADER = re.compile(r'(Switch|Ca|Hca|Rtr|Router|Rt)\s*(\d{1,9})\s*"([^"]{1,64})"\s*(?:#\s*(.*))?$')
_HEADER_START = re.compile(r'(?:Switch|Ca|Hca|Rtr|Router|Rt)(?:\s|\d|"|$)')
_HEADER_NOTE = re.compile(r'(?:"(.*)")?\s*(?:(?:base|enhanced) port 0)?\s*(?:lid (\d{1,9}))?\s*(?:lmc (\d{1,3}))?')
_PORT = re.compile(
    r"\[(\d{1,9})\](?:\[ext \d+\])?\s*(?:\((?:0x)?([0-9a-fA-F]{1,16})\))?"
    r'\s*"([^"]{1,64})"\s*\[(\d{1,9})\](?:\[ext \d+\])?\s*(?:\((?:0x)?([0-9a-fA-F]{1,16})\))?\s*(.*)$'
)
_PORT_STEPS = (
    (re.compile(r"\[\d{1,9}\](?:\[ext \d+\])?\s*"), "a port number in brackets"),
    (re.compile(r"(?:\((?:0x)?[0-9a-fA-F]{1,16}\))?\s*"), "a port GUID in parentheses"),
    (re.compile(r'"[^"]{1,64}"\s*'), "the quoted id of the peer (at most 64 characters)"),
    (re.compile(r"\[\d{1,9}\]"), "the port number of the peer in brackets"),
)
_PORT_NOTE = re.compile(r'#\s*(?:lid (\d{1,9}) lmc (\d{1,3})\s*)?(?:"(.*)"\s*)?(.*)$')
_TAIL = re.compile(r"(?:^|\s)(?:lid \d+\s+)?(\d{1,3})x\s*(\S+)\s*$")
_WIDTH = re.compile(r"(?:^|\s)w=(\d{1,3})(?:\s|$)")
_ATTRIBUTE = re.compile(r"(\w+)=0x([0-9a-fA-F]{1,16})(?:\(([0-9a-fA-F]{1,16})\))?\s*(?:#.*)?$")
_ATTRIBUTE_START = re.compile(r"(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid|chassisguid)=")
_GUID_KEY = re.compile(r"[SHRshr]-([0-9a-fA-F]{16})$")
_GUIDS = ("switchguid", "caguid", "rtguid")
_CHASSIS = re.compile(r"(?:Non-Chassis Nodes|Chassis\b|ChassisNum|Spine \d|Line \d|do\s|DR path)")
_WARNING = re.compile(r"(?:ibwarn|ibpanic|src/|/.*/src/|.*mad_rpc|.*query_smp)")
_DUMP_WORD = re.compile(r"(?:#|Switch|Ca|Hca|Rt|\w+guid=|vendid=|\[\d)")


@dataclass(slots=True)
class _Node:
    """A node while its lines are read."""

    kind: NodeType
    key: str
    port_count: int
    line: int
    guid: int = 0
    system_guid: int = 0
    device_id: int = 0
    description: str = ""
    lid: int = NIL
    lmc: int = 0
    ports: dict[int, PortRecord] = field(default_factory=dict[int, PortRecord])

    def freeze(self) -> NodeRecord:
        """Return the record."""
        return NodeRecord(
            self.kind,
            self.key,
            self.port_count,
            tuple(self.ports.values()),
            self.guid,
            self.system_guid,
            self.device_id,
            self.description,
            self.lid,
            self.lmc,
            self.line,
        )


@dataclass(slots=True)
class _Reader:
    """The state between two lines of a dump."""

    log: ProblemLog
    nodes: list[_Node] = field(default_factory=list[_Node])
    current: _Node | None = None
    attributes: dict[str, int] = field(default_factory=dict[str, int])
    attribute_line: int = 0
    talk: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Lines since the last record that belong to none and may be a terminal's."""
    prologue: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Such lines before the first record."""
    has_begun: bool = False

    def read(self, line: int, raw: str) -> None:
        """Take one line."""
        text = raw.strip()
        if not text or text[0] == "#":
            return
        if len(raw) > MAX_LINE:
            self.log.add(
                "artifact.dump-line", f"a line has {len(raw):,} characters; at most {MAX_LINE:,} are read", "", line
            )
            return
        column = len(raw) - len(raw.lstrip()) + 1
        if text[0] == "[":
            self.settle()
            self.port(line, column, text)
        elif _HEADER_START.match(text):
            self.settle()
            self.header(line, column, text)
        elif _ATTRIBUTE_START.match(text):
            self.settle()
            self.attribute(line, column, text)
        else:
            self.other(line, column, text)

    def settle(self) -> None:
        """Refuse odd lines in the middle: only before the first record and after the last may a terminal talk."""
        if self.has_begun:
            for line, text in self.talk:
                hint = "a line is a node, a port in brackets, an attribute such as caguid=0x.., or a comment"
                self.log.add("artifact.dump-line", f"{text[:60]!r} is no line of a topology file", hint, line)
        else:
            self.prologue = self.talk
            self.has_begun = True
        self.talk = []

    def other(self, line: int, column: int, text: str) -> None:
        """Take a line that is no record."""
        if _CHASSIS.match(text):
            return
        if text.startswith("include"):
            hint = "give the file as ibnetdiscover prints it from the running subnet"
            self.log.add("artifact.dump-line", "files that include others are not read", hint, line, column)
        elif _WARNING.match(text):
            message = f"the tool complained while it read the subnet: {text[:100]}"
            hint = "nodes behind this place may be absent; run it again"
            self.log.add("artifact.discovery-warning", message, hint, line, column, "warning")
        else:
            self.talk.append((line, text))

    def attribute(self, line: int, column: int, text: str) -> None:
        """Take ``caguid=0x..`` and its like, which stand before their node."""
        match = _ATTRIBUTE.match(text)
        if match is None:
            at = column + text.index("=") + 1
            hint = "a hexadecimal number of at most 16 digits, as caguid=0x0002c90300001000"
            self.log.add("artifact.dump-line", f"{text[:60]!r} has no hexadecimal value", hint, line, at)
            return
        self.current = None
        self.attributes[match[1]] = int(match[2], 16)
        self.attribute_line = line

    def header(self, line: int, column: int, text: str) -> None:
        """Take the line that starts a node."""
        self.current = None
        match = _HEADER.match(text)
        if match is None:
            hint = 'as Switch 65 "S-0002c90300001000" # "name" base port 0 lid 1 lmc 0'
            message = f"{text[:60]!r} is no node: a type, a number of ports and a quoted id are expected"
            self.log.add("artifact.dump-line", message, hint, line, column)
            return
        count = int(match[2])
        if not 1 <= count <= MAX_PORT:
            message = f"a node has {count} ports; 1 to {MAX_PORT} are possible"
            self.log.add("artifact.port-range", message, "", line, column + match.start(2))
            return
        node = _Node(_KINDS[match[1]], match[3], count, line)
        guid = _GUID_KEY.match(node.key)
        if guid:
            node.key = node.key[0].upper() + node.key[1:].lower()
            node.guid = int(guid[1], 16)
        for name in _GUIDS:
            node.guid = self.attributes.get(name, node.guid)
        node.system_guid = self.attributes.get("sysimgguid", 0)
        node.device_id = self.attributes.get("devid", 0)
        self.attributes.clear()
        note = _HEADER_NOTE.match(match[4] or "")
        if note:
            node.description = (note[1] or "").strip()[:MAX_DESCRIPTION]
            node.lid = int(note[2]) if note[2] and node.kind == "switch" else NIL
            node.lmc = min(int(note[3] or 0), 7)
        self.nodes.append(node)
        self.current = node

    def port(self, line: int, column: int, text: str) -> None:
        """Take a port line of the current node."""
        match = _PORT.match(text)
        if match is None:
            at, wanted = _first_fault(text)
            hint = 'as [1](2c903000a1b2c1) "S-0002c90300001000"[17] # lid 5 lmc 0 "name" lid 1 4xNDR'
            message = f"{text[:60]!r} is no port: {wanted} is expected here"
            self.log.add("artifact.dump-line", message, hint, line, column + at)
            return
        node = self.current
        if node is None:
            message = f"port {match[1]} belongs to no node"
            self.log.add("artifact.stray-port", message, "the line of its node is missing or broken", line, column)
            return
        number, peer_number = int(match[1]), int(match[4])
        if not 1 <= number <= node.port_count:
            message = f"{node.description or node.key} has {node.port_count} ports, so no port {number}"
            self.log.add("artifact.port-range", message, "", line, column + 1)
            return
        if number in node.ports:
            message = (
                f"port {number} of {node.description or node.key} stands on line {node.ports[number].line} already"
            )
            self.log.add("artifact.duplicate-port", message, "", line, column + 1)
            return
        if not 1 <= peer_number <= MAX_PORT:
            message = f"port {peer_number} of the peer is out of range; 1 to {MAX_PORT} are possible"
            self.log.add("artifact.port-range", message, "", line, column + match.start(4))
            return
        peer = match[3]
        if _GUID_KEY.match(peer):
            peer = peer[0].upper() + peer[1:].lower()
        guid, peer_guid = int(match[2] or "0", 16), int(match[5] or "0", 16)
        lid, lmc, description, width, speed = _read_note(match[6])
        if node.kind == "switch":
            lid, lmc = NIL, 0
        node.ports[number] = PortRecord(
            number, peer, peer_number, guid, peer_guid, description, width, speed, lid, lmc, line, column
        )


def _first_fault(text: str) -> tuple[int, str]:
    """Say how far a broken port line can be read, and what was expected there."""
    at = 0
    for pattern, wanted in _PORT_STEPS:
        match = pattern.match(text, at)
        if match is None:
            return at, wanted
        at = match.end()
    return at, "the end of the line"


def _read_note(text: str) -> tuple[int, int, str, int, str]:
    """Read what follows a port: own LID, LMC, the peer's description, width and speed."""
    lid, lmc, description, width, speed = NIL, 0, "", 0, ""
    tail = text
    if text.startswith("#"):
        note = _PORT_NOTE.match(text)
        if note:
            lid = int(note[1]) if note[1] else NIL
            lmc = min(int(note[2] or 0), 7)
            description, tail = (note[3] or "").strip()[:MAX_DESCRIPTION], note[4]
    found = _TAIL.search(tail)
    if found and int(found[1]) in WIDTHS:
        width = int(found[1])
        speed = found[2] if found[2] in LANE_GBPS else ""
    elif not text.startswith("#"):
        given = _WIDTH.search(tail)
        width = int(given[1]) if given and int(given[1]) in WIDTHS else 0
    return lid, lmc, description, width, speed


def parse(data: bytes, file: str) -> Discovery | tuple[Problem, ...]:
    """Read a dump; lines that cannot be read become problems with their place, the rest is returned.

    At most 64 MiB, a million lines and 65,536 nodes are read. Returns problems alone when there is no node.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return (lines,)
    log = ProblemLog(file)
    reader = _Reader(log)
    for line, raw in enumerate(lines, 1):
        reader.read(line, raw)
        if len(reader.nodes) > MAX_NODES:
            log.add("artifact.dump-too-large", f"more than {MAX_NODES:,} nodes", "give one subnet", line)
            return log.close()
        if log.count("artifact.dump-line") > MAX_BROKEN or len(reader.talk) > MAX_BROKEN:
            message = f"reading stopped at line {line:,}: too many lines are no part of a dump"
            log.add("artifact.dump-empty", message, "give the output of ibnetdiscover, plain or with -p", line)
            return log.close()
    _finish(reader, len(lines))
    if not reader.nodes:
        if not log.has_error:
            hint = "give the output of ibnetdiscover, plain or with -p, or an IBDM topology"
            log.add("artifact.dump-empty", "there is no node in this file", hint, 1)
        return log.close()
    nodes = tuple(node.freeze() for node in reader.nodes)
    return Discovery("ibnetdiscover", file, hashlib.sha256(data).hexdigest(), nodes, log.close())


def _finish(reader: _Reader, last_line: int) -> None:
    """Judge the end of the file: terminal talk is a note, a node begun and not ended is an error."""
    log = reader.log
    for line, text in [*reader.prologue, *reader.talk]:
        message = f"{text[:60]!r} is not part of the dump and is left out"
        log.add("artifact.terminal-text", message, "", line, severity="note")
    if reader.attributes:
        message = "the file ends before the node that these attributes announce"
        hint = "the dump is cut off; take it again"
        log.add("artifact.dump-truncated", message, hint, reader.attribute_line or last_line)
    for node in reader.nodes:
        if node.kind != "switch" and not node.ports:
            message = f"{node.description or node.key} lists no port, though it can only be found through one"
            hint = "the dump is cut off or was edited; take it again"
            log.add("artifact.dump-truncated", message, hint, node.line)


def looks_like(data: bytes) -> bool:
    """Say whether the first lines look like this format."""
    head = data[:65_536].decode("utf-8", "replace").splitlines()[:200]
    return any(_DUMP_WORD.match(line.strip()) for line in head)
