"""Happenings: what goes wrong, and right again, on a fabric while packets are on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from weftline.model.routes import Routes


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The link of a port goes down or comes up, both directions.

    What waits to be sent at its two ends is discarded, and so is every packet that would arrive while it is down.
    """

    at_ps: int
    port: int
    is_up: bool


@dataclass(frozen=True, slots=True)
class SwitchChange:
    """All links of a switch go down or come up; a link that is down for a reason of its own stays so."""

    at_ps: int
    node: int
    is_up: bool


@dataclass(frozen=True, slots=True)
class RateChange:
    """The link of a port runs at another rate from now on, both directions; never above its own."""

    at_ps: int
    port: int
    rate_gbps: float


@dataclass(frozen=True, slots=True)
class BitErrors:
    """The link of a port has bit errors from now on, both directions; a ratio of 0 ends them.

    A frame of w bytes is hit with a chance of 1 - (1 - ratio)**(8 w), bits being hit independently of each other. One
    that is hit fails its check (IEEE 802.3 FCS, InfiniBand VCRC) and is discarded by the receiver; the adapters must
    send it again. That is what RoCE does, and InfiniBand unless its link-level retry is on: then nothing is lost, and
    the frame takes the line once more, so that the link is slower by the chance of a full packet. Whether it is on is
    for the caller to know; errors are discards unless ``has_retry``.
    """

    at_ps: int
    port: int
    ratio: float
    """Bits received wrong among all bits."""
    has_retry: bool = False


@dataclass(frozen=True, slots=True)
class PauseAsked:
    """The receiver at a port asks its peer to pause, or to resume, all lanes with pauses; others hear nothing."""

    at_ps: int
    port: int
    is_on: bool


@dataclass(frozen=True, slots=True)
class NewRoutes:
    """The switches and the senders use other tables from now on: those made for what is left of the fabric.

    Packets that are on their way keep it where the sender chose it (flow hash), and die at a port that is down. A pair
    that the new tables do not connect keeps its old way, too.
    """

    at_ps: int
    routes: Routes


Happening: TypeAlias = LinkChange | SwitchChange | RateChange | BitErrors | PauseAsked | NewRoutes


def order_happenings(happenings: Iterable[Happening]) -> tuple[Happening, ...]:
    """Bring happenings into the order of time; those of one time keep theirs."""
    return tuple(sorted(happenings, key=lambda one: one.at_ps))


def flap_link(port: int, start_ps: int, period_ps: int, down_ps: int, count: int) -> tuple[Happening, ...]:
    """List the changes of a link that goes down ``count`` times, a period apart, for ``down_ps`` each."""
    if not 0 < down_ps < period_ps:
        raise ValueError(f"a link cannot be down for {down_ps} ps of each {period_ps} ps")
    turns = range(start_ps, start_ps + count * period_ps, period_ps)
    return tuple(LinkChange(at + late, port, late > 0) for at in turns for late in (0, down_ps))


def slow_receiver(port: int, start_ps: int, end_ps: int, period_ps: int, duty: float) -> tuple[Happening, ...]:
    """List the pauses of a host that does not keep up: in each period it asks for a pause of ``duty`` of it.

    ``duty`` is above 0 and at most 1, which is one pause from the start to the end: an adapter that hangs.
    """
    if not 0 < duty <= 1 or period_ps < 1 or end_ps <= start_ps:
        raise ValueError(f"no pauses of {duty} of each {period_ps} ps from {start_ps} ps to {end_ps} ps")
    if duty == 1:
        return (PauseAsked(start_ps, port, is_on=True), PauseAsked(end_ps, port, is_on=False))
    asked: list[Happening] = []
    for at in range(start_ps, end_ps, period_ps):
        resume = min(end_ps, at + max(1, round(duty * period_ps)))
        asked += [PauseAsked(at, port, is_on=True), PauseAsked(resume, port, is_on=False)]
    return tuple(asked)
