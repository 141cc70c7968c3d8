"""``ibv_devinfo [-v]``: the RDMA devices of a host, their ports, and with ``-v`` their GIDs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from weftline.formats.show_gids import GidEntry, read_gid
from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output, Told

MAX_PORTS = 10_000
_GID = re.compile(r"^GID\[\s*(\d{1,5})\]:\s*([0-9a-fA-F:.]+)(?:,\s*(.{0,40}))?$")
_KNOWN = re.compile(rb"^hca_id:\s*\S+", re.MULTILINE)
_FIELD = re.compile(r"^([a-z_0-9]{1,60}):\s+(.{1,200})$")
_VERSIONS = {"RoCE v1": "v1", "IB/RoCE v1": "v1", "RoCE v2": "v2"}


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """One port of an RDMA device and what was printed of it."""

    device: str
    number: int
    line: int
    fields: dict[str, Told[str]]
    """By name, as ``active_mtu`` -> ``4096 (5)``; the fields of the device are in each of its ports."""
    gids: tuple[GidEntry, ...]

    def number_of(self, name: str) -> Told[int] | None:
        """Return the first number of a field, as 4096 of ``active_mtu``."""
        told = self.fields.get(name)
        match = re.match(r"\d{1,9}(?=\s|$)", told.value) if told else None
        return Told(int(match[0]), told.line) if told and match else None


def looks_like(head: bytes) -> bool:
    """Tell the output by the line that begins a device."""
    return _KNOWN.search(head) is not None


@dataclass
class _Draft:
    ports: list[RdmaPort] = field(default_factory=list[RdmaPort])
    device: str = ""
    shared: dict[str, Told[str]] = field(default_factory=dict[str, Told[str]])
    fields: dict[str, Told[str]] = field(default_factory=dict[str, Told[str]])
    gids: list[GidEntry] = field(default_factory=list[GidEntry])
    number: int = 0
    line: int = 0

    def close(self) -> None:
        if self.number and len(self.ports) < MAX_PORTS:
            fields = {**self.shared, **self.fields}
            self.ports.append(RdmaPort(self.device, self.number, self.line, fields, tuple(self.gids)))
        self.fields, self.gids, self.number = {}, [], 0


def parse(output: Output, log: ProblemLog) -> tuple[RdmaPort, ...]:
    """Read the ports of all devices; a field before the first device is named."""
    draft = _Draft()
    for number, line in output.numbered():
        text = line.strip()
        gid = _GID.match(text)
        match = _FIELD.match(text)
        if gid:
            _read_gid(gid, number, draft, log)
        elif match is None:
            if ":" not in text and not draft.device:
                log.add("artifact.host-line", f"{text[:60]!r} is no line of ibv_devinfo", "", number, 1, "warning")
        elif match[1] == "hca_id":
            draft.close()
            draft.device, draft.shared = match[2].strip()[:64], {}
        elif match[1] == "port" and match[2].strip().isdigit() and len(match[2].strip()) <= 4:
            draft.close()
            draft.number, draft.line = int(match[2]), number
        elif not draft.device:
            log.add("artifact.host-line", f"{text[:60]!r} stands before any device", "", number, 1, "warning")
        else:
            (draft.fields if draft.number else draft.shared)[match[1]] = Told(match[2].strip(), number)
    draft.close()
    return tuple(draft.ports)


def _read_gid(gid: re.Match[str], line: int, draft: _Draft, log: ProblemLog) -> None:
    address = read_gid(gid[2])
    if address is None:
        log.add("artifact.host-value", f"{gid[2][:40]!r} is no GID", "", line, 1, "warning")
    elif len(draft.gids) < 4096:
        version = _VERSIONS.get((gid[3] or "").strip(), "")
        draft.gids.append(GidEntry(draft.device, draft.number, int(gid[1]), address, version, "", line))
