"""Moments of a run: what the ports had sent, and what stood at them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weftline.kernels.column import I64
from weftline.kernels.packet_run import World
from weftline.model.packet import Series

FIRST_SAMPLE_PS = 1_000_000
"""Moments are a microsecond apart at first, and twice as far whenever there are too many."""
NEVER = 1 << 62


@dataclass
class Album:
    """About ``samples`` moments so far, or none where that is 0."""

    samples: int
    step_ps: int = FIRST_SAMPLE_PS
    moments: list[tuple[int, I64, I64, I64]] = field(default_factory=list[tuple[int, I64, I64, I64]])

    @property
    def next_ps(self) -> int:
        """When the next moment is to be taken."""
        return (len(self.moments) + 1) * self.step_ps if self.samples else NEVER

    def take(self, at_ps: int, world: World) -> None:
        """Keep the ports as they are now, instead of what was kept for the same time."""
        if self.moments and self.moments[-1][0] >= at_ps:
            self.moments.pop()
        port = world.port
        self.moments.append((at_ps, port.bytes.copy(), port.queued.astype(np.int64), port.held.astype(np.int64)))
        if len(self.moments) >= 2 * self.samples:
            self.moments = self.moments[1::2]
            self.step_ps *= 2

    def show(self, ports: int) -> Series:
        """Make the series."""
        columns = [np.array([moment[turn] for moment in self.moments], dtype=np.int64) for turn in range(4)]
        shape = (len(self.moments), ports)
        return Series(columns[0].reshape(-1), *(column.reshape(shape) for column in columns[1:]))
