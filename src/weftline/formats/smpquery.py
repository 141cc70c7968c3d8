"""What smpquery prints of nodes, ports, switches, lanes and arbitration, one answer or many: bytes to facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from weftline.errors import Place, Problem
from weftline.formats import codes
from weftline.formats.lid import MAX_LID
from weftline.formats.sections import number
from weftline.formats.subnet import name_lane, read_guid
from weftline.formats.text import MAX_LINE, ProblemLog, read_lines
from weftline.kernels.column import NIL
from weftline.model.discovery import NodeType
from weftline.model.survey import ArbitrationFact, LaneFact, NodeFact, PortFact, SurveyPart

MAX_BYTES = 128 * 2**20
_HEAD = re.compile(
    r"# (Node info|Port info|Switch info|SL2VL table|VLArbitration tables): "
    r"(?:Lid (\d{1,5})|DR path.{0,400}?)(?: port (\d{1,3}))?(?: LowCap.{0,40})?$"
)
_ANY = re.compile(rb"^# (?:Node info|Port info|Switch info|SL2VL table|VLArbitration tables): ", re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9]{0,40}):\.*(.*)$")
_LANES = re.compile(r"ports: in\s+(\d{1,3}), out\s+(\d{1,3}): \|((?:\s*\d{1,2}\|){16})")
_ROW = re.compile(r"(VL|WEIGHT)\s*:\s*\|((?:0x[0-9a-fA-F]{1,2}\s*\|){1,64})")
_KINDS: dict[str, NodeType] = {"Switch": "switch", "Channel Adapter": "ca", "Router": "router"}
_STATES = {"Down": 1, "Initialize": 2, "Init": 2, "Armed": 3, "Active": 4}
_PHYSICAL = {"Sleep": 1, "Polling": 2, "Disabled": 3, "Training": 4, "LinkUp": 5, "LinkErrorRecovery": 6}
_RATE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) Gbps")
_WIDTH = re.compile(r"(\d{1,2})X")
_VLS = re.compile(r"VL0(?:-(\d{1,2}))?$")


@dataclass(slots=True)
class _Answer:
    """One answer of smpquery."""

    what: str
    lid: int
    port: int
    line: int
    fields: dict[str, str] = field(default_factory=dict[str, str])
    rows: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def looks_like(head: bytes) -> bool:
    """Say whether the title of an answer stands in the first bytes."""
    return _ANY.search(head) is not None


def parse(data: bytes, file: str) -> SurveyPart:
    """Read answers to ``smpquery nodeinfo | portinfo | switchinfo | sl2vl | vlarb``, in any order.

    Ports are named by LID and number, as asked; answers by directed route to a port without a LID say nothing of where
    it is, and are left out.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    answers = list(_answers(lines))
    guids = {answer.lid: read_guid(answer.fields.get("Guid", "")) for answer in answers if answer.what == "Node info"}
    nodes: list[NodeFact] = []
    ports: list[PortFact] = []
    lanes: list[LaneFact] = []
    tables: list[ArbitrationFact] = []
    for answer in answers:
        place = Place(file, answer.line)
        own = number(answer.fields.get("Lid", ""))
        if answer.what == "Port info" and answer.lid == NIL and own:
            answer.lid = min(own, MAX_LID)
        node = guids.get(answer.lid, 0) if answer.lid != NIL else 0
        if answer.what == "Node info":
            nodes.append(_node(answer, place))
        elif answer.lid == NIL:
            message = "this answer by directed route does not say whose it is"
            log.add("artifact.unknown-node", message, "ask by LID", answer.line, 1, "note")
        elif answer.what == "Switch info":
            nodes.append(_switch(answer, node, place))
        elif answer.what == "Port info":
            ports.append(_port(answer, node, place))
        elif answer.what == "SL2VL table":
            lanes.extend(_lanes(answer, node, file, log))
        else:
            tables.extend(_arbitration(answer, node, place, log))
    if not answers:
        log.add("artifact.dump-empty", "there is no answer of smpquery in this file", "give its output", 1)
    return SurveyPart(
        nodes=tuple(nodes), ports=tuple(ports), lanes=tuple(lanes), arbitration=tuple(tables), problems=log.close()
    )


def _answers(lines: list[str]) -> Iterator[_Answer]:
    """Split lines into answers."""
    current: _Answer | None = None
    for line, raw in enumerate(lines, 1):
        text = raw.rstrip()
        if len(text) > MAX_LINE:
            continue
        head = _HEAD.match(text)
        if head:
            if current is not None:
                yield current
            lid = min(int(head[2]), MAX_LID) if head[2] else NIL
            current = _Answer(head[1], lid, int(head[3]) if head[3] else NIL, line)
        elif current is not None:
            found = _FIELD.match(text)
            if (found and not text.startswith(("VL", "WEIGHT", "ports"))) or (found and ":." in text):
                current.fields.setdefault(found[1], found[2].strip())
            elif text:
                current.rows.append((line, text))
    if current is not None:
        yield current


def _node(answer: _Answer, place: Place) -> NodeFact:
    """Read what a node is."""
    fields = answer.fields
    return NodeFact(
        read_guid(fields.get("Guid", "")),
        place,
        _KINDS.get(fields.get("NodeType", "")),
        port_count=number(fields.get("NumPorts", "")),
        device_id=number(fields.get("DevId", "")),
        vendor_id=number(fields.get("VendorId", "")),
        system=read_guid(fields.get("SystemGuid", "")),
        key_capacity=number(fields.get("PartCap", "")),
        lid=answer.lid,
    )


def _switch(answer: _Answer, node: int, place: Place) -> NodeFact:
    """Read what a switch can hold."""
    return NodeFact(
        node,
        place,
        "switch",
        switch_key_capacity=number(answer.fields.get("PartEnforceCap", "")),
        table_capacity=number(answer.fields.get("LinearFdbCap", "")),
        lid=answer.lid,
    )


def _port(answer: _Answer, node: int, place: Place) -> PortFact:
    """Read a port; one without a LID of its own is an outer port of a switch, whose key stands on port 0."""
    fields = answer.fields
    at = answer.port if answer.port != NIL else number(fields.get("LocalPort", ""))
    is_plain = number(fields.get("Lid", "")) == 0 and bool(at)
    protection = number(fields.get("ProtectBits", ""))
    extended = _fastest(fields.get("LinkSpeedExtActive", ""))
    inbound, outbound = number(fields.get("PartEnforceInb", "")), number(fields.get("PartEnforceOutb", ""))
    return PortFact(
        node,
        NIL if at is None else at,
        place,
        lid=answer.lid,
        lmc=None if is_plain else number(fields.get("LMC", "")),
        state=_STATES.get(fields.get("LinkState", "")),
        physical=_PHYSICAL.get(fields.get("PhysLinkState", "")),
        width=_widest(fields.get("LinkWidthActive", "")),
        width_supported=_widest(fields.get("LinkWidthSupported", "")),
        speed=extended or _fastest(fields.get("LinkSpeedActive", "")),
        speed_supported=_fastest(fields.get("LinkSpeedExtSupported", ""))
        or _fastest(fields.get("LinkSpeedSupported", "")),
        mtu=number(fields.get("NeighborMTU", "")),
        mtu_supported=number(fields.get("MtuCap", "")),
        vls=_vls(fields.get("VLCap", "")),
        vls_used=_vls(fields.get("OperVLs", "")),
        enforces_in=None if inbound is None else inbound == 1,
        enforces_out=None if outbound is None else outbound == 1,
        protection=None if is_plain else protection,
        lease_s=None if is_plain else number(fields.get("MkeyLeasePeriod", "")),
        has_management_key=None if is_plain else codes.has_key(number(fields.get("Mkey", "")), protection),
        capability_mask=None if is_plain else number(fields.get("CapMask", "")),
        key_violations=number(fields.get("PkeyViolations", "")),
    )


def _fastest(text: str) -> str:
    """Name the fastest of some speeds."""
    return name_lane(max((float(rate) for rate in _RATE.findall(text)), default=0.0))


def _widest(text: str) -> int | None:
    """Return the widest of some widths."""
    return max((int(lanes) for lanes in _WIDTH.findall(text)), default=None)


def _vls(text: str) -> int | None:
    """Return how many data VLs ``VL0-7`` are."""
    match = _VLS.match(text)
    return None if match is None else int(match[1] or "0") + 1


def _lanes(answer: _Answer, node: int, file: str, log: ProblemLog) -> Iterator[LaneFact]:
    """Read the lanes of an output port, a row per input."""
    for line, text in answer.rows:
        match = _LANES.match(text)
        if match:
            lanes = tuple(int(cell) for cell in match[3].strip("|").split("|"))
            if max(lanes) <= 15:
                yield LaneFact(node, int(match[1]), int(match[2]), lanes, Place(file, line), lid=answer.lid)
                continue
        if not text.startswith("#"):
            log.add("artifact.dump-line", f"{text[:60]!r} is no row of lanes", "16 lanes of 0 to 15", line)


def _arbitration(answer: _Answer, node: int, place: Place, log: ProblemLog) -> Iterator[ArbitrationFact]:
    """Read the two tables of a port."""
    tables: dict[str, dict[str, list[int]]] = {"low": {}, "high": {}}
    which = "low"
    for line, text in answer.rows:
        match = _ROW.match(text)
        if text.startswith("#"):
            which = "high" if "High priority" in text else "low"
        elif match:
            values = [int(cell.strip(), 16) for cell in match[2].strip("| ").split("|")]
            tables[which].setdefault(match[1], []).extend(values)
        else:
            log.add("artifact.dump-line", f"{text[:60]!r} is no row of lanes or weights", "", line)
    pairs = {
        name: tuple(zip(table.get("VL", []), table.get("WEIGHT", []), strict=False)) for name, table in tables.items()
    }
    yield ArbitrationFact(node, answer.port, pairs["high"], pairs["low"], place, lid=answer.lid)
