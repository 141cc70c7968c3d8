"""In-network reduction: switches that add up what their ports bring, and the trees along which they do."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.kernels.column import I32, freeze


@dataclass(frozen=True, slots=True)
class ReductionLimits:
    """What the switch of one tier can reduce; None: nobody says, so that nothing limits it."""

    part: str
    reduces: bool
    trees_per_switch: int | None = None
    trees_per_port: int | None = None
    trees_in_fabric: int | None = None
    """Of each network: planes are networks of their own."""
    children: int | None = None
    """Ports that one tree may gather from at one switch."""
    latency_ns: float | None = None
    """What adding up takes besides the way through the switch."""
    window_bytes: int | None = None
    """What one tree may have under way at one time."""
    source: str = ""


@dataclass(frozen=True, slots=True)
class AggregationTree:
    """Switches that gather what the ports of the members send, up to a root that hands the sum down again.

    S switches, the root first and every other one after the one above it. M members.
    """

    rail: int
    """Position of the members among the ranks of their hosts."""
    plane: int
    switch: I32
    """``[S]``: nodes."""
    level: I32
    """``[S]``: links below the root."""
    parent: I32
    """``[S]``: place in ``switch`` of the one above; NIL for the root."""
    up_port: I32
    """``[S]``: port that sends to the one above; NIL for the root."""
    rank: I32
    """``[M]``: the members."""
    member_port: I32
    """``[M]``: the port that sends for each member."""
    member_parent: I32
    """``[M]``: place in ``switch`` of the switch that it is plugged into."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(
            self.switch, self.level, self.parent, self.up_port, self.rank, self.member_port, self.member_parent
        )  # fmt: skip

    @property
    def levels(self) -> int:
        """Count the levels of switches."""
        return int(self.level.max(initial=0)) + 1


@dataclass(frozen=True, slots=True)
class ReductionPlan:
    """The trees of one all-reduce, or why there are none."""

    trees: tuple[AggregationTree, ...]
    members_per_host: int
    """Ranks that share a host: they reduce inside it first, each of them a part."""
    reason: str | None
    """Why it cannot be done, with the switch, its part and the limit; None where it can."""
    limits: tuple[ReductionLimits, ...]
    """Of the parts that the trees use."""
    shared_links: int = 0
    """Links that more than one tree uses."""
    assumptions: tuple[str, ...] = ()
