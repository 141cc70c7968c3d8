"""Lanes: which share of every link's buffers a packet holds, so that circles of waiting break."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.kernels.column import I8, U16, freeze

MAX_LANES = 15
"""Data lanes of a link at most. IBTA vol 1, 7.6.3: VL15 is for management alone."""
USUAL_LANES = 8
"""Data lanes that switches and adapters of the last generations offer (VLCap 4: VL0 to VL7)."""
MAX_CLASSES = 16
"""Classes of paths at most. IBTA vol 1, 7.6.5: a service level is four bits."""


@dataclass(frozen=True, eq=False)
class LaneSteps:
    """How a packet changes its lane from hop to hop, as tables from service level to lane do (IBTA vol 1, 7.6.6).

    A path has a class, which a packet carries unchanged. At each switch the class of the path, of the port that it
    came in by and of the port that it leaves by give the lane that it holds on the way out.
    """

    path_class: I8
    """``[1, D]`` where every source sends to a destination by one class, else ``[S, D]`` by the source's switch row."""
    port_class: I8
    """Class of every port of the fabric; that of endpoints is not looked at."""
    lane: I8
    """``[path class, class of the port in, class of the port out]``."""
    more: U16 | None = None
    """A bit for each further class by which endpoints of a switch send to a destination, ``[S, D]``; None: no others.

    A manager may give each endpoint of a switch a level of its own, so that one class does not say it all.
    """

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.path_class, self.port_class, self.lane)
        if self.more is not None:
            freeze(self.more)

    def class_of(self, row: int, destination: int) -> int:
        """Find the class of the path from a switch row to a destination."""
        return int(self.path_class[row if len(self.path_class) > 1 else 0, destination])

    def lane_of(self, path_class: int, in_port: int, out_port: int) -> int:
        """Find the lane that a packet holds behind a port."""
        return int(self.lane[path_class, self.port_class[in_port], self.port_class[out_port]])


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lane of each destination, which a packet keeps on its whole way, or steps from lane to lane.

    Without steps a lane can be said by a service level per destination, which a subnet manager hands out with the
    path, whoever asks.
    """

    count: int
    """Lanes in use, counted from lane 0."""
    of_destination: I8
    """Aligned with the destinations of the routes; not looked at where there are steps."""
    with_answers: bool
    """Whether what an endpoint sends may be on its own lane too, and not only on that of the destination.

    A request for a connection names one service level, and both ends keep it (IBTA vol 1, chapter 12: Primary SL of
    REQ), as an answer to a datagram does: so half of the traffic of a connection is on the lane of its source, unless
    each end asks for the path to the other. Where there are steps, the same is said of classes.
    """
    steps: LaneSteps | None = None
    """None: a packet keeps its lane."""

    def __post_init__(self) -> None:
        """Make the column read-only."""
        freeze(self.of_destination)
