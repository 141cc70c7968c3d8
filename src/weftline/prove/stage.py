"""One stage of a change of tables: whatever mixture of before and after runs, nothing loops, waits or is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.channels import find_causes
from weftline.kernels.column import I32, I64, NIL, U8, U16, Array, digest_parts
from weftline.kernels.cycles import find_cycle, rank_channels
from weftline.kernels.mixture import GOOD, LOOPS, walk_column
from weftline.kernels.reach import IS_ENDPOINT, IS_SKIPPED
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes
from weftline.model.proof import Certificate, Proof, Verdict, Witness
from weftline.model.routes import Routes
from weftline.prove.deadlock import MAX_CYCLE_STEPS, build_dependencies, find_channels
from weftline.prove.mixed import gather_mixed, mix_steps
from weftline.prove.steps import list_mixed, mark_classes, tell_cycle
from weftline.prove.tables import Tables, read_tables, view_lane
from weftline.prove.transient import join_tables
from weftline.prove.unite import United, lane_column
from weftline.prove.witness import name_destination

CLAIM = "transient"
STATEMENT = (
    "Whatever mixture of the tables before and after a packet meets, at each switch the entry of either, it does not "
    "loop, it is delivered where both the first and the last tables deliver it, and the channels that packets of all "
    "mixtures hold and wait for form no cycle in any lane. Packets of earlier stages are delivered or dropped by then."
)
OF_STEPS = (
    " Packets carry the class of their path before or after, and at each pair of ports of each switch the lane follows "
    "from the map before or after."
)
WITHOUT = " Nothing is sent to the {count:,} destinations that are drained."


@dataclass(frozen=True, eq=False)
class Ground:
    """The fabric and both tables as the kernels see them; entries before, after and between name the same groups."""

    fabric: Fabric
    united: United

    @cached_property
    def tables(self) -> Tables:
        """Read the old tables; the new ones differ in their entries alone."""
        return read_tables(self.fabric, replace(self.united.old, lanes=None))

    @cached_property
    def lanes(self) -> int:
        """Count the lanes that are used before or after."""
        return max(self.united.old.lane_count, self.united.new.lane_count)

    @cached_property
    def with_answers(self) -> bool:
        """Tell whether what an endpoint sends may be on its own lane too."""
        found = (self.united.old.lanes, self.united.new.lanes)
        return any(one is not None and one.with_answers for one in found)

    def mark_senders(self, goal: int) -> U8:
        """Mark the switches with an endpoint other than the destination."""
        tables = self.tables
        marks = np.zeros(len(self.fabric.switch_node), dtype=np.uint8)
        marks[tables.home_row] = 1
        home = int(tables.target_row[goal])
        alone = tables.home_count[tables.home_row == home] <= tables.own_count[goal]
        if home != NIL and len(alone) and bool(alone[0]):
            marks[home] = 0
        return marks

    def mark_speakers(self, lane: int, sides: Sequence[Routes]) -> U8:
        """Mark the switches with an endpoint whose own lane on some side is this one: its answers may be on it."""
        marks = np.zeros(len(self.fabric.switch_node), dtype=np.uint8)
        if self.with_answers:
            tables = self.tables
            speaks = (tables.target_kind == IS_ENDPOINT) & (tables.target_row != NIL)
            for side in sides:
                marks[tables.target_row[speaks & (lane_column(side) == lane)]] = 1
        return marks

    def walk(self, goal: int, before: Routes, after: Routes) -> tuple[U8, I32, int]:
        """Judge the walks to a destination under both entries of each switch; see ``walk_column``."""
        tables = self.tables
        return walk_column(
            before.group[:, goal].astype(np.int32), after.group[:, goal].astype(np.int32), self.mark_senders(goal),
            tables.group_ptr, tables.member_ptr, tables.next_row, tables.next_port, tables.local,
            int(tables.target_kind[goal]), int(tables.target_port[goal]), int(tables.target_row[goal]),
        )  # fmt: skip

    @cached_property
    def is_owed(self) -> dict[int, NDArray[np.bool_]]:
        """Remember for destinations which switches' packets both the first and the last tables deliver."""
        return {}

    def find_owed(self, goal: int) -> NDArray[np.bool_]:
        """Mark the switches whose endpoints reach a destination before and after: these must reach it all the while."""
        if goal not in self.is_owed:
            old, new = self.united.old, self.united.new
            good = [self.walk(goal, one, one)[0] == GOOD for one in (old, new)]
            self.is_owed[goal] = good[0] & good[1] & (self.mark_senders(goal) == 1)
        return self.is_owed[goal]

    def judge_column(self, goal: int, before: Routes, after: Routes) -> tuple[str, int]:
        """Judge one destination in a mixture: what is wrong (``loop``, ``lost``, else nothing) and at which switch."""
        state = self.walk(goal, before, after)[0]
        looping = np.flatnonzero(state == LOOPS)
        if len(looping):
            return "loop", int(looping[0])
        if (state > GOOD).any():
            lost = np.flatnonzero((state != GOOD) & self.find_owed(goal))
            if len(lost):
                return "lost", int(lost[0])
        return "", NIL


def prove_stage(ground: Ground, before: Routes, after: Routes, drained: NDArray[np.bool_] | None = None) -> Proof:
    """Prove or refute that the tables may change from ``before`` to ``after`` in any order of their entries.

    ``drained`` marks destinations to which nothing is sent. Both tables are told by the groups of the ground.
    """
    fabric, united = ground.fabric, ground.united
    off = np.zeros(before.group.shape[1], dtype=bool) if drained is None else drained
    of = digest_parts((CLAIM, united.old.digest, united.new.digest, off, *_list_parts(before), *_list_parts(after)))
    statement = STATEMENT + (WITHOUT.format(count=int(off.sum())) if off.any() else "")
    settled = (before.group == united.old.group) | (before.group == united.new.group)
    still = (before.group == after.group).all(axis=0) & settled.all(axis=0)
    for goal in np.flatnonzero(~still & ~off).tolist():
        what, row = ground.judge_column(goal, before, after)
        if what:
            return _refute(of, statement, _tell_column(ground, goal, what, row))
    detail: dict[str, Any] = {"lanes": ground.lanes, "dependencies": 0, "destinations": int((~still & ~off).sum())}
    if united.old.steps is not None or united.new.steps is not None:
        return _prove_steps(ground, (before, after), off, of, detail)
    joined, read = _join(ground, before, after)
    channels = find_channels(fabric, read)
    ranks = np.full((ground.lanes, fabric.port_count), NIL, dtype=np.int32)
    for lane in range(ground.lanes):
        views = _view(ground, (joined, read), ((before, after), (before, after)), lane, off)
        dependencies = build_dependencies(fabric, *views)
        if dependencies is None:
            return _doubt(of, "the turns would not fit into a GiB")
        rank, remaining = rank_channels(*dependencies)
        if remaining:
            return _refute(of, statement, _tell_cycle(ground, joined, views, dependencies, rank, lane))
        ranks[lane, channels] = rank[channels]
        detail["dependencies"] += len(dependencies[1])
    return _accept(of, statement, ranks, detail)


def _prove_steps(
    ground: Ground, sides: tuple[Routes, Routes], off: NDArray[np.bool_], of: str, detail: dict[str, Any]
) -> Proof:
    """Judge a stage where packets change lanes on their way: classes and maps before and after, in every mixture."""
    fabric = ground.fabric
    mixed = mix_steps(sides[0].steps, sides[1].steps)
    if mixed is None:
        return _doubt(of, "the ports of both maps are of more classes than can be told apart")
    maps, mask, unsaid = mixed
    statement = STATEMENT + OF_STEPS + (WITHOUT.format(count=int(off.sum())) if off.any() else "")
    told = _find_unsaid(ground, mask, unsaid, off)
    if told is not None:
        return _refute(of, statement, told)
    joined, read = _join(ground, *sides)
    read = replace(read, target_kind=np.where(off, IS_SKIPPED, read.target_kind).astype(np.int8),
                   same_as=np.arange(len(off), dtype=np.int32))  # fmt: skip
    walkers = gather_mixed(fabric, read, maps, mask, with_answers=ground.with_answers)
    waits = list_mixed(fabric, read, maps, walkers, ground.lanes)
    if waits is None:
        return _doubt(of, "the turns would not fit into a GiB")
    rank, remaining = rank_channels(*waits)
    if remaining:
        return _refute(of, statement, tell_cycle(fabric, joined, read, (maps, walkers), waits, rank))
    return _accept(of, statement, rank.reshape(ground.lanes, -1), {**detail, "dependencies": len(waits[1])})


def _find_unsaid(ground: Ground, mask: U16, unsaid: int, off: NDArray[np.bool_]) -> Witness | None:
    """Find a pair whose packets could meet a map that does not name their class: nobody knows what becomes of them."""
    tables, fabric = ground.tables, ground.fabric
    hits = np.broadcast_to(mask & np.uint16(unsaid), (len(fabric.switch_node), len(off)))
    for goal in np.flatnonzero(hits.any(axis=0) & ~off & (tables.target_kind != IS_SKIPPED)).tolist():
        rows = np.flatnonzero((hits[:, goal] != 0) & (ground.mark_senders(goal) == 1))
        if len(rows):
            return _tell_column(ground, goal, "lost", int(rows[0]), int(hits[rows[0], goal]))
    return None


def _list_parts(routes: Routes) -> tuple[Array, ...]:
    """List what may differ from stage to stage."""
    steps = routes.steps
    laned = () if steps is None else (steps.lane, mark_classes(steps))
    return (routes.group, lane_column(routes), *laned)


def _accept(of: str, statement: str, ranks: I32, detail: dict[str, Any]) -> Proof:
    words = "A rank per lane and transmitting port that grows along every dependency of every mixture."
    certificate = Certificate("rank", words, {"rank": ranks}, digest_parts((CLAIM, ranks)))
    return Proof(
        CLAIM, True, Verdict.PROVED, statement, of, 0, "channels on a cycle", certificate=certificate, detail=detail  # noqa: FBT003
    )  # fmt: skip


def _doubt(of: str, why: str) -> Proof:
    return Proof(CLAIM, True, Verdict.UNKNOWN, f"Not judged: {why}.", of)  # noqa: FBT003


def list_waits(
    ground: Ground, sides: tuple[Routes, Routes], speak: Sequence[Routes], lane: int, off: NDArray[np.bool_]
) -> tuple[I64, I32] | None:
    """List which channel of a lane waits on which in some mixture of both sides, without the destinations ``off``.

    Answers are on the lanes that the tables of ``speak`` give to who answers. As CSR over ports; None where the marks
    would take over a GiB.
    """
    return build_dependencies(ground.fabric, *_view(ground, _join(ground, *sides), (sides, speak), lane, off))


def _join(ground: Ground, before: Routes, after: Routes) -> tuple[Routes, Tables]:
    """Join both tables; a destination that is dark counts: packets to it run as far as the tables lead."""
    joined = join_tables(ground.fabric, (before, after))
    read = read_tables(ground.fabric, replace(joined, lanes=None))
    kind = np.where(read.target_kind == IS_SKIPPED, IS_ENDPOINT, read.target_kind).astype(np.int8)
    return joined, replace(read, target_kind=kind)


def _view(
    ground: Ground,
    both: tuple[Routes, Tables],
    told: tuple[tuple[Routes, Routes], Sequence[Routes]],
    lane: int,
    off: NDArray[np.bool_],
) -> tuple[Tables, ...]:
    """View the joined tables as the packets of a lane do: those to its destinations, and what its endpoints answer."""
    joined, read = both
    sides, speak = told
    forward = (lane_column(sides[0]) == lane) | (lane_column(sides[1]) == lane)
    views = [_keep(read, joined, forward & ~off)]
    speakers = np.flatnonzero(ground.mark_speakers(lane, speak)).astype(np.int32)
    if len(speakers):
        answers = _keep(read, joined, ~forward & ~off)
        ones, none = np.ones_like(speakers), np.zeros_like(answers.own_count)
        views.append(replace(answers, home_row=speakers, home_count=ones, own_count=none))
    return tuple(views)


def _keep(read: Tables, joined: Routes, kept: NDArray[np.bool_]) -> Tables:
    lanes = Lanes(2, np.where(kept, 0, 1).astype(np.int8), with_answers=False)
    return view_lane(read, replace(joined, lanes=lanes), 0)[0]


def _tell_column(ground: Ground, goal: int, what: str, row: int, classes: int = 0) -> Witness:
    name = name_destination(ground.fabric, ground.united.old, goal)
    switch = ground.fabric.node_name[int(ground.fabric.switch_node[row])]
    words = (
        f"packets to {name} could loop at {switch}"
        if what == "loop"
        else f"packets from {switch} to {name} could be lost"
    )
    if not classes:
        return Witness(what, words, {"destination": name, "switch": switch})
    one = (classes & -classes).bit_length() - 1
    words += f": a map from classes to lanes does not name class {one}"
    return Witness(what, words, {"destination": name, "switch": switch, "path_class": one})


def _tell_cycle(
    ground: Ground, joined: Routes, views: tuple[Tables, ...], dependencies: tuple[Any, Any], rank: I32, lane: int
) -> Witness:
    """Show a shortest cycle of a lane by port, and a destination whose packets take each turn."""
    fabric = ground.fabric
    cycle, _ = find_cycle(*dependencies, rank, MAX_CYCLE_STEPS)
    goals = np.full(len(cycle), NIL, dtype=np.int32)
    for view in views:
        causes, _ = find_causes(
            cycle, fabric.port_node, fabric.switch_row, view.group, view.group_ptr, view.member_ptr, view.member_port,
            view.next_row, view.target_kind, view.target_row, view.home_row, view.home_count, view.own_count,
        )  # fmt: skip
        goals = np.where(goals == NIL, causes, goals)
    names = [fabric.link_name(int(port)) for port in cycle]
    told = [name_destination(fabric, joined, int(goal)) for goal in goals if goal != NIL]
    many = f"{len(names)} channels" + (f" of lane {lane}" if ground.lanes > 1 else "")
    summary = f"{many} could wait for each other: {' -> '.join((*names[:8], names[0]))}"
    return Witness("cycle", summary, {"lane": lane, "cycle": names, "destinations": told})


def _refute(of: str, statement: str, witness: Witness) -> Proof:
    bound = len(witness.detail["cycle"]) if witness.kind == "cycle" else 1
    name = "channels on the cycle" if witness.kind == "cycle" else "destinations at least"
    return Proof(CLAIM, True, Verdict.REFUTED, statement, of, bound, name, witness=witness)  # noqa: FBT003
