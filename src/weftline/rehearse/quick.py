"""One state by its parts: only columns, flows and proofs that a fault touches are computed again, then put back."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.columns import count_misled, find_spoilt, put_back, refill
from weftline.kernels.outage import has_stranded, hold_ends, mark_outage, stay_together
from weftline.kernels.rings import BROKEN, change_rings
from weftline.kernels.strain import (
    add_flows,
    find_most,
    list_redone,
    mark_units,
    renew_ways,
    restore,
    spread_units,
)
from weftline.model.proof import Verdict
from weftline.model.routes import GroupTable, no_route
from weftline.rehearse.ground import Base, Flows, Units, Ways
from weftline.rehearse.scene import Found, Scene

MOST_CHANGED = 4_000_000
"""Entries that one state may change before it is judged from scratch."""
LAST_TOKEN = 2_000_000_000


class Bench:
    """Room to work in for one thread: a copy of the tables and loads that each state changes and puts back."""

    def __init__(self, scene: Scene, ways: Ways, flows: Flows, base: Base) -> None:
        self.scene, self.ways, self.flows, self.base = scene, ways, flows, base
        fabric, crews = scene.fabric, scene.crews
        rows, ports = ways.rows, fabric.port_count
        # columns stand together in memory, since states change and walk columns; rows are searched in the original
        self.table: GroupTable = scene.routes.group
        if not ways.is_set:
            self.table = self.table.copy(order="F")
        self.token = 0
        self.port_stamp: I32 = np.zeros(ports, dtype=np.int32)
        self.edge_stamp: I32 = np.zeros(max(1, len(ways.edge_row)), dtype=np.int32)
        self.row_stamp: I32 = np.zeros(rows, dtype=np.int32)
        self.goal_stamp: I32 = np.zeros(len(scene.routes.destination_port), dtype=np.int32)
        self.rank_stamp: I32 = np.zeros(crews.ranks, dtype=np.int32)
        self.changed_stamp: I32 = np.zeros(crews.ranks, dtype=np.int32)
        self.flow_stamp: I32 = np.zeros(len(self.flows.goal), dtype=np.int32)
        self.load_stamp: I32 = np.zeros((max(1, len(crews.names)), ports), dtype=np.int32)
        self.dead: I32 = np.empty(max(1, len(ways.edge_row)), dtype=np.int32)
        self.queue: I32 = np.empty(max(1, rows), dtype=np.int32)
        self.lead: I32 = np.empty(max(1, len(ways.edge_row)), dtype=np.int32)
        self.good: I32 = np.empty(max(1, len(ways.link_port)), dtype=np.int32)
        self.rests: I32 = ways.rests.copy()
        self.new_hop = np.empty_like(ways.hop)
        self.new_falls = np.empty_like(ways.falls)
        self.new_of: I32 = np.full(len(ways.home), NIL, dtype=np.int32)
        room = min(MOST_CHANGED, max(1, self.table.size)) if not ways.is_set else 1
        self.undo_cell: I64 = np.empty(room, dtype=np.int64)
        self.undo_entry: I32 = np.empty(room, dtype=np.int32)
        self.touched: I32 = np.empty((max(1, len(crews.names)), ports), dtype=np.int32)
        self.counts: I32 = np.zeros(max(1, len(crews.names)), dtype=np.int32)
        self._make_lists(crews.ranks, crews.port.shape[1])
        self._make_spread(rows)
        self.load: F64 = base.load.copy()
        if base.units is not None:
            self.unit_stamp: I32 = np.zeros(len(base.units.home), dtype=np.int32)
            self.units: I32 = np.empty(max(1, len(base.units.home)), dtype=np.int32)
        self.component_ends: I64 = self._count_ends()

    def _make_lists(self, ranks: int, planes: int) -> None:
        self.rank_lost: I32 = np.zeros(ranks, dtype=np.int32)
        self.leaving, self.changed = (np.empty(max(1, ranks), dtype=np.int32) for _ in range(2))
        many = max(1, ranks * planes)
        self.removed, self.redone, self.added_rank, self.added_goal, self.added_port = (
            np.empty(many, dtype=np.int32) for _ in range(5)
        )
        self.added_rate: F64 = np.empty(many)

    def _make_spread(self, rows: int) -> None:
        self.carried: F64 = np.zeros(max(1, rows))
        self.started: I32 = np.empty(max(1, 2 * len(self.flows.goal)), dtype=np.int32)
        self.head: I32 = np.full(256, NIL, dtype=np.int32)
        self.following: I32 = np.full(max(1, rows), NIL, dtype=np.int32)
        self.waits = np.zeros(max(1, rows), dtype=np.uint8)

    def _count_ends(self) -> I64:
        fabric = self.scene.fabric
        ends = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL]
        return np.bincount(fabric.port_component[ends], minlength=1).astype(np.int64)

    def judge_parts(self, ports: I32, seen: list[GroupTable] | None = None) -> Found | None:
        """Judge a state by its parts; None where that does not do. ``seen`` takes a copy of the tables of the state."""
        ways = self.ways
        self.token = self.token % LAST_TOKEN + 1
        self.counts[:] = 0
        many = mark_outage(
            ports, self.token, ways.port_edge, ways.link_ptr, ways.link_port, self.port_stamp, self.edge_stamp,
            self.dead,
        )  # fmt: skip
        dead = self.dead[:many]
        lost = hold_ends(ports, -1, self.scene.crews.row, self.rests)
        try:
            if many and not self._is_whole(dead):
                return None
            return self._judge_load(ports, dead, lost, seen)
        finally:
            hold_ends(ports, 1, self.scene.crews.row, self.rests)
            for job in range(len(self.scene.crews.names)):
                restore(job, self.base.load, self.load, self.touched[job, : self.counts[job]])

    def _is_whole(self, dead: I32) -> bool:
        """Whether what is left hangs together, apart from switches without anything."""
        ways = self.ways
        if has_stranded(dead, self.token, ways.edge_ptr, ways.edge_from, self.edge_stamp, self.rests):
            return False
        return stay_together(
            dead, self.token, ways.edge_ptr, ways.edge_row, ways.edge_from, self.edge_stamp, ways.component,
            self.row_stamp, self.queue,
        )  # fmt: skip

    def _judge_load(self, ports: I32, dead: I32, lost: int, seen: list[GroupTable] | None) -> Found | None:
        gone, more, _, leave = self._change_rings(ports)
        if gone == BROKEN:
            return None
        sets = self.ways.is_set
        sound = (
            self._judge_sets(ports, dead, gone, more) if sets else self._judge_columns(ports, dead, gone, more, seen)
        )
        if not sound:
            return None
        worst, where = self._find_worst()
        pairs = self._count_pairs(ports) if lost else 0
        leaving = tuple(sorted(self.leaving[:leave].tolist()))
        return Found(Verdict.PROVED, lost, pairs, 0, worst, where, leaving)

    def _change_rings(self, ports: I32) -> tuple[int, int, int, int]:
        crews, flows = self.scene.crews, self.flows
        if not crews.ranks:
            return 0, 0, 0, 0
        return change_rings(
            ports, self.token, crews.port, crews.host, crews.after, crews.before, crews.planes, crews.seat_ptr,
            crews.seat_rank, crews.goal, crews.row, self.port_stamp, crews.capacity, crews.fan, flows.goal,
            self.rank_stamp, self.rank_lost, self.changed_stamp, self.leaving, self.changed, self.removed,
            self.added_rank, self.added_goal, self.added_port, self.added_rate,
        )  # fmt: skip

    def _count_pairs(self, ports: I32) -> int:
        fabric = self.scene.fabric
        ends = ports[self.scene.crews.row[ports] != NIL]
        part, gone = np.unique(fabric.port_component[ends], return_counts=True)
        before = self.component_ends[part]
        return int((before * (before - 1) - (before - gone) * (before - gone - 1)).sum())

    def _find_worst(self) -> tuple[tuple[float, ...], tuple[int, ...]]:
        found = [
            find_most(
                job, self.token, self.base.order[job], self.base.load, self.load, self.load_stamp,
                self.touched[job, : self.counts[job]], self.scene.crews.capacity,
            )
            for job in range(len(self.scene.crews.names))
        ]  # fmt: skip
        return tuple(float(worst) for worst, _ in found), tuple(int(port) for _, port in found)

    def _judge_columns(self, ports: I32, dead: I32, gone: int, more: int, seen: list[GroupTable] | None) -> bool:
        """Fill the columns that the fault spoils again, check every entry of them, and move the flows."""
        ways = self.ways
        spoilt = find_spoilt(
            ports, self.token, ways.port_edge, ways.edge_from, ways.edge_ptr, self.edge_stamp, ways.group_of_port,
            ways.goal_home, ways.component, self.scene.routes.group, self.goal_stamp,
        )  # fmt: skip
        removed = self.removed[:gone]
        redone = self.redone[:0]
        if spoilt or gone:
            count = list_redone(
                self.token,
                self.goal_stamp,
                self.flows.in_ptr,
                self.flows.in_flow,
                removed,
                self.flow_stamp,
                self.redone,
            )
            redone = self.redone[:count]
        if self.move(removed, -1.0) + self.move(redone, -1.0):
            return False
        used = 0
        if spoilt:
            used = refill(
                ports, self.token, dead, ways.home, ways.goal_ptr, ways.goal_list, self.goal_stamp, ways.goal_port,
                self.port_stamp, self.rests, ways.component, ways.component_ptr, ways.sequence, ways.order,
                ways.edge_ptr, ways.edge_row, ways.edge_from, ways.link_ptr, ways.link_port, ways.port_edge,
                self.edge_stamp, ways.hop, ways.falls, self.new_hop, self.new_falls, self.new_of, ways.group_of_port,
                self.scene.routes.group_ptr, ways.group_row, ways.group_port, ways.ordinal, ways.divisor,
                ways.slots, no_route(self.table), self.queue, self.lead, self.good, self.undo_cell, self.undo_entry,
                self.table,
            )  # fmt: skip
        if used < 0:
            self.table[:] = self.scene.routes.group
            return False
        try:
            if used and not self._is_right(used):
                return False
            if seen is not None:
                seen.append(self.table.copy())
            return not (self.move(redone, 1.0) + self._move_added(more))
        finally:
            put_back(self.undo_cell[:used], self.undo_entry[:used], self.table)

    def _is_right(self, used: int) -> bool:
        """Check what changed against the certificate, entry by entry."""
        ways = self.ways
        wrong, most = count_misled(
            self.token, ways.home, ways.goal_ptr, ways.goal_list, self.goal_stamp, ways.goal_group, ways.component,
            ways.order, ways.edge_ptr, self.edge_stamp, ways.hop, ways.falls, self.new_hop, self.new_falls,
            self.new_of, self.scene.routes.group_ptr, ways.group_row, ways.group_port, self.port_stamp,
            self.undo_cell[:used], ways.home_of, self.table,
        )  # fmt: skip
        return not wrong and most + 1 <= self.scene.rules.max_hops

    def move(self, flows: I32, sign: float) -> int:
        """Add flows to the loads, or take them off, along single ports; counts those that end nowhere."""
        if not len(flows):
            return 0
        own, ways = self.flows, self.ways
        return add_flows(
            flows, sign, self.token, own.job, own.row, own.goal, own.port, own.rate, self.scene.routes.group_ptr,
            ways.group_port, ways.group_row, self.table, self.load, self.load_stamp, self.touched, self.counts,
        )  # fmt: skip

    def _move_added(self, more: int) -> int:
        if not more:
            return 0
        crews, ways = self.scene.crews, self.ways
        port = self.added_port[:more]
        return add_flows(
            np.arange(more, dtype=np.int32), 1.0, self.token, crews.job[self.added_rank[:more]], crews.row[port],
            self.added_goal[:more], port, self.added_rate[:more], self.scene.routes.group_ptr, ways.group_port,
            ways.group_row, self.table, self.load, self.load_stamp, self.touched, self.counts,
        )  # fmt: skip

    def _judge_sets(self, ports: I32, dead: I32, gone: int, more: int) -> bool:
        """Find ways again where a lost edge changes hops, and spread again what used a lost port."""
        ways = self.ways
        self.new_of[:] = NIL
        if len(dead):
            apart, most = renew_ways(
                self.token, dead, ways.home, self.rests, ways.component, ways.component_ptr, ways.sequence,
                ways.order, ways.edge_ptr, ways.edge_row, ways.edge_from, self.edge_stamp, ways.hop, ways.falls,
                self.new_hop, self.new_falls, self.new_of, self.queue,
            )  # fmt: skip
            if apart or most + 1 > self.scene.rules.max_hops:
                return False
        removed = self.removed[:gone]
        self.flow_stamp[removed] = self.token
        port = self.added_port[:more]
        homes = len(ways.home)
        unit = self.scene.crews.job[self.added_rank[:more]] * homes + ways.home_of[self.added_goal[:more]]
        units = self.base.units
        if units is None:
            return True
        unit = unit.astype(np.int32)
        count = mark_units(
            ports, self.token, units.use_ptr, units.use_unit, removed, units.of_flow, unit, self.unit_stamp, self.units
        )
        chosen = self.units[:count]
        added = (unit, self.scene.crews.row[port], self.added_rate[:more])
        none = (unit[:0], added[1][:0], added[2][:0])
        if self.spread(chosen, -1.0, none) + self.spread(chosen, 1.0, added):
            return False
        self.add_ends(removed, -1.0)
        self._touch(port, self.added_goal[:more], self.scene.crews.job[self.added_rank[:more]], added[2])
        return True

    def spread(self, chosen: I32, sign: float, added: tuple[I32, I32, F64]) -> int:
        """Spread units over all the ports that lead on; counts those that end nowhere."""
        ways, units = self.ways, self.base_units
        return spread_units(
            chosen, self.token, sign, units.ptr, units.flow, units.home, units.job, self.flow_stamp, self.flows.row,
            self.flows.rate, *added, ways.home, ways.order, ways.edge_ptr, ways.edge_row, ways.link_ptr,
            ways.link_port, self.port_stamp, ways.hop, ways.falls, self.new_hop, self.new_falls, self.new_of,
            self.carried, self.started, self.head, self.following, self.waits, self.load, self.load_stamp,
            self.touched, self.counts,
        )  # fmt: skip

    @property
    def base_units(self) -> Units:
        """The units; only where entries are sets."""
        assert self.base.units is not None  # noqa: S101
        return self.base.units

    def add_ends(self, flows: I32, sign: float) -> None:
        """Add flows to the links of their endpoints."""
        if len(flows):
            own = self.flows
            self._touch(own.port[flows], own.goal[flows], own.job[flows], sign * own.rate[flows])

    def _touch(self, port: I32, goal: I32, job: I32, amount: F64) -> None:
        home_port = self.ways.goal_home_port[goal]
        for one in (port, home_port):
            fresh = self.load_stamp[job, one] != self.token
            for which, where in zip(job[fresh].tolist(), one[fresh].tolist(), strict=True):
                if self.load_stamp[which, where] != self.token:
                    self.load_stamp[which, where] = self.token
                    self.touched[which, self.counts[which]] = where
                    self.counts[which] += 1
            np.add.at(self.load, (job, one), amount)
