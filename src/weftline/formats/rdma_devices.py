"""Which interface an RDMA device has (``ibdev2netdev``), and its default marking (``cma_roce_tos``)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output, Told

_LINK = re.compile(
    r"(?:^|\s)([a-z][A-Za-z0-9_.-]{0,63}) (?:\(.{0,80}?\) .{0,120}? )?"
    r"port (\d{1,4}) (?:\(.{0,20}?\) )?[<=]=+> (\S{1,64})(?: \((\w{1,20})\))?"
)
_KNOWN = re.compile(rb"^\S.{0,200} port \d+ .{0,30}==> \S+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DeviceLink:
    """One port of an RDMA device, and the interface that it is for the kernel."""

    device: str
    port: int
    interface: str
    state: str
    """``Up`` or ``Down``; empty where it was not printed."""
    line: int


@dataclass(frozen=True, slots=True)
class DefaultMark:
    """What ``cma_roce_tos`` or ``cma_roce_mode`` printed of one port."""

    device: str
    """Empty where the command line was not kept; the tool itself takes mlx5_0 then, a person perhaps not."""
    port: int
    tos: Told[int] | None = None
    mode: Told[str] | None = None


def looks_like(head: bytes) -> bool:
    """Tell the output of ibdev2netdev by its arrow."""
    return _KNOWN.search(head) is not None


def parse(output: Output, log: ProblemLog) -> tuple[DeviceLink, ...]:
    """Read the output of ibdev2netdev."""
    found: list[DeviceLink] = []
    for number, line in output.numbered():
        match = _LINK.search(line[:1000])
        if match is None:
            log.add("artifact.host-line", f"{line.strip()[:60]!r} links no device", "", number, 1, "warning")
        elif len(found) < 10_000:
            found.append(DeviceLink(match[1], int(match[2]), match[3], match[4] or "", number))
    return tuple(found)


def parse_mark(output: Output, log: ProblemLog) -> DefaultMark:
    """Read the one line of cma_roce_tos or cma_roce_mode."""
    device, port = output.option("-d"), output.option("-p")
    number = int(port) if port.isdigit() and len(port) <= 4 else 1
    mark = DefaultMark(device, number)
    for line, text in output.numbered():
        word = text.strip()
        if word.isdigit() and len(word) <= 6:
            if int(word) > 255:
                log.add("artifact.host-value", f"{word} is no byte of DSCP and ECN", "", line, 1, "warning")
            mark = DefaultMark(device, number, Told(int(word), line), mark.mode)
        elif "RoCE" in word and len(word) <= 40:
            mark = DefaultMark(device, number, mark.tos, Told(word, line))
        else:
            log.add("artifact.host-line", f"{word[:60]!r} is no default of a port", "", line, 1, "warning")
    return mark
