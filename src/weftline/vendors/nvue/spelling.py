"""Releases of NVUE: which one is meant, and how it spells what changed its name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.errors import CapabilityError
from weftline.formats.settings import Settings

NEWEST = (5, 15)
"""The newest release whose files were seen."""
FIRST_MAJOR = 5
_RELEASE = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?")
PORTS_MOVED = (5, 7)
"""From here on ports stand below their protocol. Cumulus Linux 5.7, 'What's New', changed commands."""
RENAMED = (5, 13)
"""From here on ``state: enabled`` for ``enable: on``, ``ipv4`` for ``ip``, and ``vrf`` beside it."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The words of one release."""

    release: tuple[int, int]

    @property
    def is_renamed(self) -> bool:
        """Whether it has the newer words."""
        return self.release >= RENAMED

    @property
    def on(self) -> Settings:
        """What switches a feature on."""
        return {"state": "enabled"} if self.is_renamed else {"enable": "on"}

    @property
    def yes(self) -> str:
        """What switches a single setting on."""
        return "enabled" if self.is_renamed else "on"

    def target_port(self, port: int) -> Settings:
        """Match a UDP port that packets go to."""
        found: Settings = {"dest-port": {str(port): {}}}
        return {"udp": found} if self.release >= PORTS_MOVED else found

    def place(self, address: str | None, vrf: str | None = None) -> Settings:
        """Give an interface an address and a VRF."""
        found: Settings = {} if address is None else {"address": {address: {}}}
        if self.is_renamed:
            return {**({"vrf": vrf} if vrf is not None else {}), **({"ipv4": found} if found else {})}
        return {"ip": {**found, **({"vrf": vrf} if vrf is not None else {})}}


def read_release(text: str | None) -> tuple[int, int]:
    """Read ``5.13`` or ``5.13.1``; None is the newest that is known.

    Raises:
        CapabilityError: ``capability.release`` when the text names no release that has NVUE.
    """
    if text is None:
        return NEWEST
    match = _RELEASE.fullmatch(text)
    if match is None or int(match[1]) < FIRST_MAJOR:
        hint = f"write it as {NEWEST[0]}.{NEWEST[1]}; auto is the newest that is known"
        raise CapabilityError("capability.release", f"{text[:40]!r} is no release of Cumulus Linux with NVUE", hint)
    return (int(match[1]), int(match[2]))
