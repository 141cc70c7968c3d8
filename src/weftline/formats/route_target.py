"""Route targets as devices act on them: parsed, derived from number and VNI, and matched."""

from __future__ import annotations

import re
from dataclasses import dataclass

AUTO = "auto"
ANY = "*"
DERIVED_BITS = 0xFFFF
"""Of a number of four bytes only the lower two go into a derived route target. FRR, bgp_evpn.c; RFC 8365, 5.1.2.1."""
_FORM = re.compile(r"(?:target:|rt\s+)?(?P<admin>\*|\d+(?:\.\d+){0,3}):(?P<number>\d+)", re.ASCII)
_DOTTED_NUMBER = 2
_MOST_DIGITS = 24


@dataclass(frozen=True, slots=True)
class RouteTarget:
    """One route target; ``admin`` is a number, an address, or ``*`` for any (FRR's wildcard)."""

    admin: str
    number: int


def parse_target(text: str) -> RouteTarget | None:
    """Read a route target in any of its spellings; None where it is none."""
    found = _FORM.fullmatch(text.strip()) if len(text) <= 4 * _MOST_DIGITS else None
    if found is None:
        return None
    parts = found["admin"].split(".")
    admin = found["admin"]
    if len(parts) == _DOTTED_NUMBER:  # asdot notation of a number of four bytes. RFC 5396
        admin = str((int(parts[0]) << 16) + int(parts[1]))
    elif len(parts) == 1 and admin != ANY:
        admin = str(int(admin))
    return RouteTarget(admin, int(found["number"]))


def derive_target(number: int, vni: int) -> RouteTarget:
    """Derive what ``auto`` exports: two leaves with unlike numbers derive unlike targets from one VNI."""
    return RouteTarget(str(number & DERIVED_BITS), vni)
