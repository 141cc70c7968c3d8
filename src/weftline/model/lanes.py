"""Lanes: which share of every link's buffers the packets to a destination hold, so that circles of waiting break."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.kernels.column import I8, freeze

MAX_LANES = 15
"""Data lanes of a link at most. IBTA vol 1, 7.6.3: VL15 is for management alone."""
USUAL_LANES = 8
"""Data lanes that switches and adapters of the last generations offer (VLCap 4: VL0 to VL7)."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lane of each destination; a packet keeps it on its whole way, whoever sends it.

    So a lane can be said by a service level per destination, which a subnet manager hands out with the path.
    """

    count: int
    """Lanes in use, counted from lane 0."""
    of_destination: I8
    """Aligned with the destinations of the routes."""
    with_answers: bool
    """Whether what an endpoint sends may be on its own lane too, and not only on that of the destination.

    A request for a connection names one service level, and both ends keep it (IBTA vol 1, chapter 12: Primary SL of
    REQ), as an answer to a datagram does: so half of the traffic of a connection is on the lane of its source, unless
    each end asks for the path to the other.
    """

    def __post_init__(self) -> None:
        """Make the column read-only."""
        freeze(self.of_destination)
