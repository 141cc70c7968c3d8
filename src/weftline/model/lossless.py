"""Losslessness: which classes must lose nothing, over which links, and what each port needs for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort


@dataclass(frozen=True, slots=True)
class LosslessClass:
    """One declared class whose packets must not be lost."""

    name: str
    dscps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LosslessLink:
    """One cable between two ports, by the names of devices and the numbers printed on them."""

    a_device: str
    a_number: int
    b_device: str
    b_number: int
    length_m: float | None


@dataclass(frozen=True, slots=True)
class Need:
    """The headroom that a port needs for one lossless class, in bytes, with its arithmetic."""

    size: int
    how: str


FindNeed: TypeAlias = Callable[[ObservedDevice, ObservedPort, float | None], Need | None]
"""(device, port, metres of cable) -> what it needs; None where that is not known."""


@dataclass(frozen=True, slots=True)
class LosslessDemand:
    """What a declaration asks of files: the classes, the cables, and what each port needs."""

    links: tuple[LosslessLink, ...]
    classes: tuple[LosslessClass, ...]
    notify_dscp: int
    find_need: FindNeed
    buffers: Mapping[str, int]
    """Bytes of the packet buffer by device, where they are known."""


@dataclass(frozen=True, slots=True)
class LosslessSource:
    """Everything that a proof of losslessness is about."""

    devices: Mapping[str, ObservedDevice]
    demand: LosslessDemand
    of: str
    """Digest of what the files were made from, or of the files."""
