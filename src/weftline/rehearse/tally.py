"""What is known of many states so far, as columns that fill while states are judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import F64, I8, I32, I64, NIL
from weftline.model.rehearsal import VERDICTS, Outcomes, Way
from weftline.rehearse.scene import Found


@dataclass(frozen=True, eq=False)
class Tally:
    """What is known so far; columns that are filled as states are judged."""

    way: I8
    deadlock: I8
    lost_endpoints: I32
    lost_pairs: I64
    undelivered: I64
    worst: F64
    port: I32
    leave: dict[int, I32]
    """Ranks that leave, only of states in which some do."""

    @property
    def done(self) -> int:
        """Count the states that are judged."""
        return int(np.count_nonzero(self.way != Way.OPEN))

    def put(self, state: int, found: Found) -> None:
        """Write down what one state leaves; the mark that it is judged comes last."""
        self.deadlock[state] = VERDICTS.index(found.deadlock)
        self.lost_endpoints[state] = found.lost_endpoints
        self.lost_pairs[state] = found.lost_pairs
        self.undelivered[state] = found.undelivered
        self.worst[state], self.port[state] = found.worst, found.port
        if found.leave:
            self.leave[state] = np.array(found.leave, dtype=np.int32)
        way = Way.WHOLE if found.is_whole else Way.PART
        self.way[state] = Way.ANEW if found.is_anew else way


def open_tally(states: int, jobs: int) -> Tally:
    """Make an empty tally."""
    return Tally(
        way=np.zeros(states, dtype=np.int8),
        deadlock=np.zeros(states, dtype=np.int8),
        lost_endpoints=np.zeros(states, dtype=np.int32),
        lost_pairs=np.zeros(states, dtype=np.int64),
        undelivered=np.zeros(states, dtype=np.int64),
        worst=np.zeros((states, jobs)),
        port=np.full((states, jobs), NIL, dtype=np.int32),
        leave={},
    )


def close_tally(tally: Tally) -> Outcomes:
    """Freeze a tally."""
    states = len(tally.way)
    sizes = np.zeros(states, dtype=np.int64)
    for state, ranks in tally.leave.items():
        sizes[state] = len(ranks)
    ranks = [tally.leave[state] for state in sorted(tally.leave)]
    return Outcomes(
        tally.way.copy(), tally.deadlock.copy(), tally.lost_endpoints.copy(), tally.lost_pairs.copy(),
        tally.undelivered.copy(), tally.worst.copy(), tally.port.copy(),
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        np.concatenate(ranks).astype(np.int32) if ranks else np.zeros(0, dtype=np.int32),
    )  # fmt: skip


def reopen_tally(outcomes: Outcomes) -> Tally:
    """Make a tally of outcomes, so that what is open can be judged."""
    begin, end = outcomes.leave_ptr[:-1], outcomes.leave_ptr[1:]
    leave = {
        state: outcomes.leave_rank[begin[state] : end[state]].copy() for state in np.flatnonzero(end > begin).tolist()
    }
    return Tally(
        outcomes.way.copy(), outcomes.deadlock.copy(), outcomes.lost_endpoints.copy(), outcomes.lost_pairs.copy(),
        outcomes.undelivered.copy(), outcomes.worst.copy(), outcomes.port.copy(), leave,
    )  # fmt: skip
