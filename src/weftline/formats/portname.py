"""How people name a port in a plan or on a label: text to a neutral word, without knowing the device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MAX_WORD = 64
WordKind = Literal["number", "board", "cage", "adapter", "nic"]


@dataclass(frozen=True, slots=True)
class PortWord:
    """A port as it is called."""

    kind: WordKind
    """``number`` as Port 21, ``board`` as Blade 16_Port 2/20, ``cage`` as 1/2, ``adapter`` as mlx5_2, ``nic`` as nic3.
    """
    number: int = 0
    """Port of the device, board, chip or adapter; 0 where it is not said."""
    board: str = ""
    """Board of a director, as ``L16`` or ``S3``."""
    chip: int = 0
    """Chip on the board, from 1; or the cage; 0 where it is not said."""
    adapter: str = ""
    """Name of the adapter in small letters, as ``mlx5_2``, ``hca-3`` or ``ibp11s0f0``."""


_NUMBER = re.compile(r"(?:(?:switch|ib|eth)?[ _-]*port[ _#-]*|p|port)?(\d{1,3})")
_BLADE = re.compile(r"(?P<kind>blade|leaf|line|l|spine|s|fabric)[ _-]*(?P<board>\d{1,3})"
                    r"[ _/,-]+(?:port|p)[ _-]*(?:(?P<chip>\d{1,2})/)?(?P<number>\d{1,3})")  # fmt: skip
_CHIP = re.compile(r"(?P<kind>[ls])(?P<board>\d{1,3})/u(?P<chip>\d{1,2})[ /]+(?:port *|p)?(?P<number>\d{1,3})")
_CAGE = re.compile(r"(?:port[ _-]*|sw)?(\d{1,2})/(\d{1,2})")
_ADAPTER = re.compile(
    r"(?P<adapter>mlx\d_\d{1,4}|hca-?\d{1,3}|(?:ibp|ibs|ib|hfi1_|qib|hns_)\w{1,16})"
    r"(?:(?:[/:.]| *port *| *p)(?P<number>\d{1,2}))?"
)
_NIC = re.compile(r"nic(\d{1,3})(?:p(\d))?")
_SPINES = ("spine", "s", "fabric")


def read_port(text: str, device: str = "") -> PortWord | None:
    """Read the name of a port; a device's own name before it is left out. None where it names no port.

    >>> read_port("Blade 16_Port 2/20")
    PortWord(kind='board', number=20, board='L16', chip=2, adapter='')
    """
    word = " ".join(text.casefold().split())
    name = " ".join(device.casefold().split())
    if name and word.startswith(name) and word != name:
        word = word[len(name) :].lstrip(" :/_-")
    if len(word) > MAX_WORD:
        return None
    if match := _NIC.fullmatch(word):
        return PortWord("nic", int(match[1]), chip=int(match[2] or 0))
    if match := _ADAPTER.fullmatch(word):
        return PortWord("adapter", int(match["number"] or 0), adapter=match["adapter"])
    return _read_number(word)


def _read_number(word: str) -> PortWord | None:
    """Read the names that end in the number of a port."""
    if match := _NUMBER.fullmatch(word):
        return PortWord("number", int(match[1])) if int(match[1]) else None
    if match := _CHIP.fullmatch(word) or _BLADE.fullmatch(word):
        letter = "S" if match["kind"] in _SPINES else "L"
        return PortWord("board", int(match["number"]), f"{letter}{int(match['board'])}", int(match["chip"] or 0))
    match = _CAGE.fullmatch(word)
    return PortWord("cage", int(match[2]), chip=int(match[1])) if match else None
