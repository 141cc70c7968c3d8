"""``show_gids``: the table of GIDs, one line each with device, port, index, address, RoCE version and interface."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output

MAX_GIDS = 100_000
_KNOWN = re.compile(rb"^(?:DEV\s+PORT\s+INDEX\s+GID|n_gids_found=)", re.MULTILINE)
_MAPPED = 96
"""Bits before the IPv4 address in an IPv6 address that stands for one."""


@dataclass(frozen=True, slots=True)
class GidEntry:
    """One entry of the GID table of one port."""

    device: str
    port: int
    index: int
    address: str
    """As IPv4 where the GID stands for one, else as IPv6 in its short form."""
    version: str
    """``v1`` or ``v2``; empty where it was not printed."""
    interface: str
    """Empty where it was not printed."""
    line: int

    @property
    def is_link_local(self) -> bool:
        """Whether no router forwards packets to it."""
        return ipaddress.ip_address(self.address).is_link_local


def looks_like(head: bytes) -> bool:
    """Tell the output by its heading, or by its last line."""
    return _KNOWN.search(head) is not None


def read_gid(text: str) -> str | None:
    """Read a GID in any spelling; None when it is none."""
    try:
        address = ipaddress.IPv6Address(text) if len(text) <= 39 else None
    except ValueError:
        return None
    if address is None:
        return None
    return str(address.ipv4_mapped or address)


def parse(output: Output, log: ProblemLog) -> tuple[GidEntry, ...]:
    """Read the table; the count on its last line must agree with it."""
    found: list[GidEntry] = []
    for number, line in output.numbered():
        words = line.split()
        if words[0] == "DEV" or set(words[0]) == {"-"}:
            continue
        if words[0].startswith("n_gids_found="):
            said = words[0].partition("=")[2]
            if said != str(len(found)):
                message = f"the last line counts {said[:20]} GIDs; {len(found)} are listed"
                log.add("artifact.host-value", message, "give the whole output", number, 1, "warning")
            continue
        entry = _read_entry(words, number)
        if entry is None:
            log.add("artifact.host-line", f"{line.strip()[:60]!r} is no GID", "", number, 1, "warning")
        elif len(found) >= MAX_GIDS:
            log.add("artifact.dump-too-large", f"one output has more than {MAX_GIDS:,} GIDs", "", number)
            break
        else:
            found.append(entry)
    return tuple(found)


def _read_entry(words: list[str], line: int) -> GidEntry | None:
    if len(words) < 4 or not words[1].isdigit() or not words[2].isdigit() or len(words[1] + words[2]) > 12:
        return None
    address = read_gid(words[3])
    if address is None:
        return None
    rest = [word for word in words[4:] if word.count(".") != 3]
    version = rest[0].lower() if rest and re.fullmatch(r"[vV]\d(?:\.\d)?", rest[0]) else ""
    interface = rest[-1] if len(rest) > (1 if version else 0) else ""
    return GidEntry(words[0][:64], int(words[1]), int(words[2]), address, version, interface[:64], line)
