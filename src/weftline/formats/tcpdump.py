"""``tcpdump -nn [-v] -i IF udp port 4791``: packets of RoCE, as far as their header says what spreads them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output

ROCE_PORT = 4791
"""UDP destination of RoCE v2. IANA; IBTA annex A17."""
MAX_PACKETS = 1_000_000
_FLOW = re.compile(r"(?:^|\s)([0-9a-fA-F.:]{2,45})\.(\d{1,5}) > ([0-9a-fA-F.:]{2,45})\.(\d{1,5}):")
_TOS = re.compile(r"IP6? \((?:tos|class) 0x([0-9a-fA-F]{1,2})")
_KNOWN = re.compile(rb"^(?:\S+ IP6? (?:\(tos|\S+ > \S+\.4791:)|tcpdump: listening on )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RocePacket:
    """One packet of RoCE."""

    source: str
    source_port: int
    destination: str
    tos: int | None
    """Traffic class byte; None without ``-v``."""
    line: int


def looks_like(head: bytes) -> bool:
    """Tell the output by a packet to the port of RoCE."""
    return _KNOWN.search(head) is not None


def parse(output: Output, log: ProblemLog) -> tuple[RocePacket, ...]:
    """Read the packets to the port of RoCE; all others, and lines of payload, say nothing here."""
    found: list[RocePacket] = []
    tos: int | None = None
    for number, line in output.numbered():
        head = _TOS.search(line[:400])
        tos = int(head[1], 16) if head else tos
        flow = _FLOW.search(line[:400])
        if flow is None:
            continue
        if flow[4] == str(ROCE_PORT):
            if int(flow[2]) > 65_535:
                log.add("artifact.host-value", f"{flow[2]} is no UDP port", "", number, 1, "warning")
            if len(found) >= MAX_PACKETS:
                log.add("artifact.dump-too-large", f"one output has more than {MAX_PACKETS:,} packets", "", number)
                break
            found.append(RocePacket(flow[1], int(flow[2]), flow[3], tos, number))
        tos = None
    return tuple(found)
