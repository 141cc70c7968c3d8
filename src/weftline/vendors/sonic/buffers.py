"""Buffers, schedulers and marks: pools, the profiles that groups and queues refer to, and what each holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from weftline.errors import Place
from weftline.formats.config_db_keys import QueueKey, read_references
from weftline.model.observed import ObservedPool
from weftline.model.observed_port import ObservedGroup, ObservedMarks, ObservedQueue
from weftline.model.said import Said
from weftline.vendors.sonic.held import NO_ROW, Held, Switch, once
from weftline.vendors.sonic.links import find_port
from weftline.vendors.sonic.ports import Ports
from weftline.vendors.sonic.sorting import MAX_GROUP, MAX_QUEUE

MAX_BYTES = 2**40
MAX_WEIGHT = 100
_SCHEDULES: dict[str, Literal["strict", "weighted"]] = {"STRICT": "strict", "DWRR": "weighted", "WRR": "weighted"}
_DIRECTIONS: dict[str, Literal["ingress", "egress", "both"]] = {
    "ingress": "ingress",
    "egress": "egress",
    "both": "both",
}
_MODES: dict[str, Literal["dynamic", "static"]] = {"dynamic": "dynamic", "static": "static"}
_TRUE = {"true": True, "false": False}
_MARKED = {
    "ecn_none": False,
    "ecn_green": True,
    "ecn_yellow": False,
    "ecn_red": False,
    "ecn_green_yellow": True,
    "ecn_green_red": True,
    "ecn_yellow_red": False,
    "ecn_all": True,
}
"""Whether green packets are marked; packets that no meter coloured are green."""


def read_pools(switch: Switch) -> tuple[ObservedPool, ...]:
    """Read the pools."""
    return tuple(
        ObservedPool(
            name,
            row.place(),
            direction=switch.choice(row, "type", _DIRECTIONS),
            mode=switch.choice(row, "mode", _MODES),
            size_bytes=switch.number(row, "size", 0, MAX_BYTES),
            headroom_bytes=switch.number(row, "xoff", 0, MAX_BYTES),
        )
        for name, row in switch.rows("BUFFER_POOL").items()
    )


@dataclass(frozen=True, slots=True)
class _Profile:
    """What a buffer profile says."""

    size: Said[int] | None
    xoff: Said[int] | None
    xon: Said[int] | None
    xon_offset: Said[int] | None
    dynamic_th: Said[int] | None
    static_bytes: Said[int] | None
    pool: Said[str] | None


@dataclass(frozen=True, slots=True)
class _Schedule:
    """What a scheduler says."""

    kind: Said[Literal["strict", "weighted"]] | None
    weight: Said[int] | None


_UNPLANNED = _Schedule(None, None)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a row of the table of schedulers says of its queues."""

    where: Place
    schedule: _Schedule = _UNPLANNED
    marks: ObservedMarks | None = None


@dataclass(frozen=True, slots=True)
class _Buffer:
    """What a row of the table of buffers says of its queues."""

    where: Place
    said: Said[str] | None = None
    profile: _Profile | None = None


@dataclass
class _Shared:
    """Profiles of a switch, each read once."""

    switch: Switch
    profiles: dict[str, _Profile] = field(default_factory=dict[str, _Profile])
    schedules: dict[str, _Schedule] = field(default_factory=dict[str, _Schedule])
    marks: dict[str, ObservedMarks] = field(default_factory=dict[str, ObservedMarks])

    def profile(self, row: Held) -> _Profile:
        return once(self.profiles, row.key, lambda: self._read_profile(row))

    def _read_profile(self, row: Held) -> _Profile:
        switch = self.switch
        sizes = [switch.number(row, name, 0, MAX_BYTES) for name in ("size", "xoff", "xon", "xon_offset")]
        return _Profile(
            *sizes,
            dynamic_th=switch.number(row, "dynamic_th", -8, 8),
            static_bytes=switch.number(row, "static_th", 0, MAX_BYTES),
            pool=switch.follow(row, "pool", "BUFFER_POOL")[0],
        )

    def schedule(self, row: Held) -> _Schedule:
        return once(
            self.schedules,
            row.key,
            lambda: _Schedule(
                self.switch.choice(row, "type", _SCHEDULES), self.switch.number(row, "weight", 1, MAX_WEIGHT)
            ),
        )

    def mark(self, row: Held) -> ObservedMarks:
        return once(self.marks, row.key, lambda: self._read_marks(row))

    def _read_marks(self, row: Held) -> ObservedMarks:
        """Read how green packets are marked; thresholds of marks alone win where a release has them."""
        switch = self.switch
        for colour in ("yellow", "red"):
            for name in ("min_threshold", "max_threshold"):
                switch.number(row, f"{colour}_{name}", 0, MAX_BYTES)
            switch.number(row, f"{colour}_drop_probability", 0, 100)
            switch.choice(row, f"wred_{colour}_enable", _TRUE)
        low, high = (switch.number(row, f"green_{name}_threshold", 0, MAX_BYTES) for name in ("min", "max"))
        return ObservedMarks(
            row.key,
            row.place(),
            is_marking=switch.choice(row, "ecn", _MARKED),
            drops_unmarked=switch.choice(row, "wred_green_enable", _TRUE),
            min_bytes=switch.number(row, "ecn_green_min_threshold", 0, MAX_BYTES) or low,
            max_bytes=switch.number(row, "ecn_green_max_threshold", 0, MAX_BYTES) or high,
            percent=switch.number(row, "ecn_green_mark_probability", 0, 100)
            or switch.number(row, "green_drop_probability", 0, 100),
        )


def buffer_ports(switch: Switch, ports: Ports) -> int:
    """Give each port its groups and queues; return how many rows are of ports of other cards of a chassis."""
    shared = _Shared(switch)
    _read_groups(shared, ports)
    foreign = _read_queues(shared, ports)
    for table in ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"):
        for key, row in switch.rows(table).items():
            for name in key.split(","):
                find_port(switch, ports, name.strip(), row.place())
            for said in read_references(row.text("profile_list") or ""):
                if switch.row("BUFFER_PROFILE", said.name) is None:
                    switch.blame_absent("BUFFER_PROFILE", said.name, row.place("profile_list"))
    for row in switch.rows("BUFFER_PROFILE").values():
        shared.profile(row)
    for row in switch.rows("SCHEDULER").values():
        shared.schedule(row)
    for row in switch.rows("WRED_PROFILE").values():
        shared.mark(row)
    return foreign


def _list_places(switch: Switch, ports: Ports, key: QueueKey, row: Held, high: int) -> Iterator[tuple[str, int]]:
    """List (port, number) that a row is of; ports that are missing and numbers that no chip has are blamed."""
    if key.last > high:
        switch.blame("artifact.out-of-range", f"{key.last} is above {high}", row.place())
    for name in key.ports:
        if name in ports or find_port(switch, ports, name, row.place()) is not None:
            for number in key.numbers:
                yield name, number


def _read_groups(shared: _Shared, ports: Ports) -> None:
    switch = shared.switch
    found: dict[str, dict[int, ObservedGroup]] = {}
    for key, row in switch.queue_rows("BUFFER_PG"):
        said, target = switch.follow(row, "profile" if "profile" in row.fields else "pg_profile", "BUFFER_PROFILE")
        profile = None if target is None else shared.profile(target)
        where = row.place()
        computed = None if said is None else Said(said.value == NO_ROW, said.where)
        for name, number in _list_places(switch, ports, key, row, MAX_GROUP):
            if profile is None:
                group = ObservedGroup(number, where, profile=said, is_computed=computed)
            else:
                group = ObservedGroup(
                    number,
                    where,
                    profile=said,
                    is_computed=computed,
                    size_bytes=profile.size,
                    xoff_bytes=profile.xoff,
                    xon_bytes=profile.xon,
                    xon_offset_bytes=profile.xon_offset,
                    pool=profile.pool,
                    dynamic_th=profile.dynamic_th,
                    static_bytes=profile.static_bytes,
                )
            _keep_once(switch, found.setdefault(name, {}), number, group, row)
    for name, groups in found.items():
        ports[name].groups = tuple(groups[number] for number in sorted(groups))


def _keep_once(switch: Switch, held: dict[int, ObservedGroup], number: int, group: ObservedGroup, row: Held) -> None:
    if number in held:
        message = f"group {number} stands in {held[number].where.path} too; the order of two rows is not defined"
        switch.blame("artifact.said-twice", message, row.place())
    held[number] = group


@dataclass(slots=True)
class _QueueDraft:
    """What the table of schedulers and the table of buffers say of one queue."""

    where: Place
    plan: _Plan | None = None
    buffer: _Buffer | None = None

    def finish(self, number: int) -> ObservedQueue:
        plan, buffer = self.plan or _Plan(self.where), self.buffer or _Buffer(self.where)
        profile = buffer.profile
        return ObservedQueue(
            number,
            plan.where,
            schedule=plan.schedule.kind,
            weight=plan.schedule.weight,
            marks=plan.marks,
            profile=buffer.said,
            pool=None if profile is None else profile.pool,
            reserved_bytes=None if profile is None else profile.size,
            dynamic_th=None if profile is None else profile.dynamic_th,
            static_bytes=None if profile is None else profile.static_bytes,
        )


def _read_queues(shared: _Shared, ports: Ports) -> int:
    switch = shared.switch
    found: dict[str, dict[int, _QueueDraft]] = {}
    foreign = 0
    for table in ("QUEUE", "BUFFER_QUEUE"):
        seen: set[tuple[str, int]] = set()
        listed = list(switch.queue_rows(table))
        hosts = {key.host for key, _ in listed}
        for key, row in listed:
            if key.host and not _is_local(switch, ports, key, hosts):
                foreign += 1
                continue
            read = _read_plan(shared, row) if table == "QUEUE" else _read_buffer(shared, row)
            for name, number in _list_places(switch, ports, key, row, MAX_QUEUE):
                if (name, number) in seen:
                    message = f"queue {number} of {name} stands in two rows; their order is not defined"
                    switch.blame("artifact.said-twice", message, row.place())
                seen.add((name, number))
                held = found.setdefault(name, {})
                draft = held.get(number)
                if draft is None:
                    draft = held[number] = _QueueDraft(read.where)
                if isinstance(read, _Plan):
                    draft.plan = read
                else:
                    draft.buffer = read
    for name, queues in found.items():
        ports[name].queues = tuple(queues[number].finish(number) for number in sorted(queues))
    return foreign


def _is_local(switch: Switch, ports: Ports, key: QueueKey, hosts: set[str]) -> bool:
    """Whether a queue of a chassis is of this card; not known, and no, where several are named and none is this."""
    metadata = switch.row("DEVICE_METADATA", "localhost")
    host = None if metadata is None else metadata.text("hostname")
    if (host or key.host) != key.host or (host is None and len(hosts) > 1):
        return False
    return not switch.knows("PORT") or all(name in ports for name in key.ports)


def _read_plan(shared: _Shared, row: Held) -> _Plan:
    switch = shared.switch
    scheduler = switch.target(row, "scheduler", "SCHEDULER")
    marks = switch.target(row, "wred_profile", "WRED_PROFILE")
    return _Plan(
        row.place(),
        _UNPLANNED if scheduler is None else shared.schedule(scheduler),
        None if marks is None else shared.mark(marks),
    )


def _read_buffer(shared: _Shared, row: Held) -> _Buffer:
    said, target = shared.switch.follow(row, "profile", "BUFFER_PROFILE")
    return _Buffer(row.place(), said, None if target is None else shared.profile(target))
