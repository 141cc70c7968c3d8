"""How soon a switch notices that a link is gone: the timers of its ``frr.conf``, and what they foretell."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

LOCAL_S = 0.2
"""From the loss of a carrier to other ways at both ends and at every switch that is told of it (measured)."""
CARRIERS_S = 1.0
"""Linux tells of one lost carrier at once, and of further ones a second later. net/core/link_watch.c."""
MARGIN_S = 0.5
"""For a machine that is busy: the lab is no switch chip."""
_TIMERS = re.compile(rb"^ timers bgp (\d{1,5}) (\d{1,5})$", re.MULTILINE)
_MULTIPLIER = re.compile(rb"^  detect-multiplier (\d{1,3})$", re.MULTILINE)
_INTERVAL = re.compile(rb"^  (?:receive|transmit)-interval (\d{1,5})$", re.MULTILINE)
_PROFILE = re.compile(rb"^ profile (\w{1,64})$", re.MULTILINE)
_WATCHED = re.compile(rb"^ neighbor \S+ bfd(?: |$)", re.MULTILINE)
DATACENTER_HOLD_S = 9.0
"""Hold time under ``frr defaults datacenter``. FRR user guide, BGP."""
DEFAULT_INTERVAL_MS, DEFAULT_MULTIPLIER = 300, 3
"""FRR user guide, BFD."""
ENDS_PER_CPU = 100
"""Sessions of BFD with 300 ms that one processor carries beside everything else; with more they flap (measured)."""


@dataclass(frozen=True, slots=True)
class Timers:
    """The timers of one switch."""

    hold_s: float
    interval_ms: int | None
    """Between packets of BFD; None where links are not watched."""
    multiplier: int
    rendered_ms: int | None = None
    """What the file says, where this machine is too slow for it."""
    profile: str = ""
    """Name of the profile of BFD."""


def read_timers(content: bytes) -> Timers:
    """Read the timers of an ``frr.conf``."""
    hold = _TIMERS.search(content)
    multiplier = _MULTIPLIER.search(content)
    profile = _PROFILE.search(content)
    intervals = [int(text) for text in _INTERVAL.findall(content)]
    return Timers(
        hold_s=float(hold[2]) if hold else DATACENTER_HOLD_S,
        interval_ms=max(intervals, default=DEFAULT_INTERVAL_MS) if _WATCHED.search(content) else None,
        multiplier=int(multiplier[1]) if multiplier else DEFAULT_MULTIPLIER,
        profile=profile[1].decode() if profile else "",
    )


def slow_down(timers: Timers, ends: int, cpus: int) -> Timers:
    """Make BFD as much slower as a machine with so few processors needs for so many ends of sessions."""
    if timers.interval_ms is None:
        return timers
    factor = max(1, math.ceil(ends / (ENDS_PER_CPU * max(cpus, 1))))
    if factor == 1 or not timers.profile:
        return timers
    return replace(timers, interval_ms=timers.interval_ms * factor, rendered_ms=timers.interval_ms)


def foretell(timers: Timers, links: int, *, is_silent: bool) -> tuple[float, str]:
    """Say how long packets are lost at most when links go, and by which arithmetic."""
    rest = f"{LOCAL_S:g} s for other ways + {MARGIN_S:g} s margin"
    after = LOCAL_S + MARGIN_S
    if timers.interval_ms is None:
        detect, words = timers.hold_s, f"hold time {timers.hold_s:g} s without BFD"
    else:
        detect = timers.multiplier * timers.interval_ms / 1000
        words = f"BFD {timers.multiplier} x {timers.interval_ms} ms"
    if is_silent:
        return detect + after, f"{words} + {rest}"
    if links == 1:
        return after, f"both ends see the carrier go: {rest}"
    if detect < CARRIERS_S:
        return detect + after, f"{words}, since Linux tells of further carriers only after {CARRIERS_S:g} s + {rest}"
    return CARRIERS_S + after, f"{CARRIERS_S:g} s, in which Linux tells of further carriers + {rest}"


def foretell_return() -> tuple[float, str]:
    """Say how long packets are lost at most when links come back."""
    arithmetic = f"{LOCAL_S:g} s until every switch takes the way that returns + {MARGIN_S:g} s margin"
    return LOCAL_S + MARGIN_S, arithmetic
