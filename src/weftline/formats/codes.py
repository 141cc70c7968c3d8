"""Codes of the attributes of a port, as the wire has them, to what they mean; IBTA vol 1, 14.2.5.6."""

from __future__ import annotations

from functools import lru_cache

from weftline.model.survey import ManagerState

_WIDTHS = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
_SPEEDS = ((1, "SDR"), (2, "DDR"), (4, "QDR"), (256, "FDR"), (512, "EDR"), (1024, "HDR"), (2048, "NDR"), (4096, "XDR"))
"""Bits of the merged word of ibdiagnet: the old speeds, and the extended ones from bit 8."""
_VLS = {1: 1, 2: 2, 3: 4, 4: 8, 5: 15}
_MTUS = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
_MANAGERS: tuple[ManagerState, ...] = ("not-active", "discovering", "standby", "master")
MAX_PORT_STATE = 4
MAX_PROTECTION = 3


@lru_cache(maxsize=256)
def width_of(bits: int | None) -> int | None:
    """Return the most lanes that a set of widths allows; None where none is known."""
    return max((lanes for bit, lanes in _WIDTHS.items() if bits and bits & bit), default=None)


@lru_cache(maxsize=256)
def speed_of(bits: int | None) -> str:
    """Return the fastest speed of a set; empty where none is known."""
    return next((name for bit, name in reversed(_SPEEDS) if bits and bits & bit), "")


def vls_of(code: int | None) -> int | None:
    """Return how many data VLs a code stands for."""
    return _VLS.get(code) if code is not None else None


def mtu_of(code: int | None) -> int | None:
    """Return the bytes that an MTU code stands for; a number of bytes is taken as it is."""
    if code is None:
        return None
    return code if code in _MTUS.values() else _MTUS.get(code)


def manager_state(code: int | None) -> ManagerState:
    """Return the state of a subnet manager; IBTA vol 1, 14.2.5.13."""
    return _MANAGERS[code] if code is not None and 0 <= code < len(_MANAGERS) else "unknown"


def has_key(value: int | None, protection: int | None) -> bool | None:
    """Say whether a management key is set.

    From protection level 1 on a port shows zero to those who do not know its key, so zero then says nothing.
    IBTA vol 1, 14.2.4.1.
    """
    if value:
        return True
    return False if value == 0 and protection == 0 else None
