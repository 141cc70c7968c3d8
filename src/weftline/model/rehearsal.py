"""A rehearsal: what each state of failure leaves of the fabric and of the jobs, and whether that is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from weftline.kernels.column import F64, I8, I32, I64, freeze
from weftline.model.proof import Verdict


class Way(IntEnum):
    """How a state was judged."""

    OPEN = 0
    """Not yet."""
    PART = 1
    """What the fault touches was computed again."""
    WHOLE = 2
    """All tables and proofs were computed again."""
    ANEW = 3
    """The same, and repaired tables do not hold, so that all are made anew."""


VERDICTS = (Verdict.UNKNOWN, Verdict.PROVED, Verdict.REFUTED)
"""Verdicts by their number in a column."""


@dataclass(frozen=True, slots=True)
class JobBase:
    """A job on the whole fabric."""

    name: str
    ranks: int
    first: int
    """Where its ranks begin in the numbering of all jobs together."""
    worst: float
    """Highest load over capacity of a link in the steady step; 0 where nothing is sent."""
    port: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What is allowed; None: told and not judged."""

    max_job_loss: float | None
    max_lost_endpoints: int | None
    max_leaving_ranks: int | None


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What F faults leave, as columns; J jobs."""

    way: I8
    deadlock: I8
    """Index into ``VERDICTS``."""
    lost_endpoints: I32
    """Endpoints that no link joins to the rest any more."""
    lost_pairs: I64
    """Ordered pairs of endpoints that cables no longer join."""
    undelivered: I64
    """Pairs that cables join and the tables do not deliver."""
    worst: F64
    """``[F, J]``: highest load over capacity in the steady step of each job."""
    port: I32
    """``[F, J]``: where, NIL where nothing is sent."""
    leave_ptr: I64
    leave_rank: I32
    """Ranks that must leave, numbered over all jobs."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(
            self.way, self.deadlock, self.lost_endpoints, self.lost_pairs, self.undelivered, self.worst, self.port,
            self.leave_ptr, self.leave_rank,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class State:
    """One fault in words that a report or a program takes."""

    fault: str
    kind: str
    connected: bool
    deadlock: Verdict
    job_loss: tuple[tuple[str, float | None], ...]
    """Per job the share of its all-reduce that is lost; None where it is not known."""
    leave: tuple[tuple[str, tuple[int, ...]], ...]
    """Per job the ranks that must leave."""
    lost_endpoints: int
    lost_pairs: int
    undelivered: int
    worst_link: tuple[tuple[str, str], ...]
    """Per job the link that bounds its step."""
    is_anew: bool
    """Whether repaired tables do not hold, and the tables are others made anew, by the engine or by updown."""
    breaks: tuple[str, ...]
    """What is not allowed, in words; empty where all is."""

    @property
    def leaving(self) -> int:
        """Count the ranks that must leave."""
        return sum(len(ranks) for _, ranks in self.leave)

    @property
    def most_lost(self) -> float:
        """The largest loss of a job; 1 where one is not known."""
        return max((1.0 if loss is None else loss for _, loss in self.job_loss), default=0.0)


@dataclass(frozen=True, slots=True)
class KindSum:
    """The states of one kind together."""

    kind: str
    states: int
    broken: int
    most_lost: float
    """Largest loss of a job; NaN where one is not known."""
    most_leaving: int
    most_endpoints: int
    """Most endpoints that one state cuts off."""
    apart: int
    """States in which some pair is no longer connected."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """All states of one rehearsal, the most damaging first."""

    what: str
    states: int
    jobs: tuple[JobBase, ...]
    limits: Limits
    worst: tuple[State, ...]
    kinds: tuple[KindSum, ...]
    broken: int
    """States that are not allowed."""
    whole: int
    """States of which everything was computed again."""
    of: str
    """Digest of the routes."""
    load: str
    """What a load is here, in one sentence."""
    verdict: Verdict
    """Proved: every state is allowed. Refuted: some state is not. Unknown: some could not be judged."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a person types to disable one port, and to undo it."""

    port: str
    where: str
    do: tuple[str, ...]
    undo: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether something may be disabled now."""

    question: str
    state: State
    jobs: tuple[JobBase, ...]
    limits: Limits
    dark: bool
    """Whether nothing of it carries anything."""
    cut: tuple[str, ...]
    """Endpoints that are cut off by it."""
    repaired: str
    """How tables come about in this state, in words."""
    commands: tuple[Command, ...]
    of: str
    load: str

    @property
    def is_yes(self) -> bool:
        """Whether it may."""
        return not self.state.breaks
