"""Packets from the first event to a result that has been held against what must be true of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weftline.errors import InternalError
from weftline.kernels import packet_state as st
from weftline.kernels.calendar import NOW
from weftline.kernels.column import I64, NIL
from weftline.kernels.packet_run import DONE, STUCK, World
from weftline.model.fabric import Fabric
from weftline.model.packet import Ending, LaneCount, Loss, Machine, PacketOptions, PacketResult, Series
from weftline.model.result import SimOptions
from weftline.model.routes import Routes
from weftline.model.traffic import Flows
from weftline.simulate.packet.drive import drive
from weftline.simulate.packet.judge import find_bound, hold_against
from weftline.simulate.packet.standstill import find_cycle
from weftline.simulate.packet.ways import find_ways
from weftline.simulate.packet.world import lay_world, wire

FOREVER = 1 << 62
FIRST_SAMPLE_PS = 1_000_000
"""Moments of series are a microsecond apart at first, and twice as far whenever there are too many."""
Progress = Callable[[int, int, int], None]
"""(simulated picoseconds, flows that have arrived, packets received so far)."""


def simulate_packets(
    flows: Flows,
    fabric: Fabric,
    routes: Routes,
    machine: Machine,
    options: PacketOptions,
    progress: Progress | None = None,
) -> PacketResult:
    """Send the flows packet by packet; same input and seed, same result to the picosecond.

    Raises:
        SpecError: ``spec.unreachable-pair``.
        InternalError: ``internal.packets-lost`` where bytes are neither here nor there, ``internal.beats-line`` where a
            link carried more than its rate, ``internal.beats-bound`` where all came too early.
    """
    walk = SimOptions(0.0, options.inside_host_gbytes_per_s, options.seed, options.max_hops)
    ways = find_ways(flows, fabric, routes, machine.medium, walk)
    bound = find_bound(flows, fabric, machine)
    world = lay_world(flows, wire(fabric, routes), machine, ways, options)
    world, status, series = run_world(world, options, progress)
    check_world(world)
    result = sum_up(world, status, series, machine)
    hold_against(result, bound)
    return result


def run_world(world: World, options: PacketOptions, progress: Progress | None = None) -> tuple[World, int, Series]:
    """Run a world to its end, and look at its ports at about ``options.samples`` moments."""
    until = FOREVER if options.until_ps is None else options.until_ps
    step = FIRST_SAMPLE_PS
    moments: list[tuple[int, I64, I64, I64]] = []

    def hear(now: World) -> None:
        if progress is not None:
            number = now.number
            progress(int(now.clock[NOW]), len(now.finish) - int(number[st.FLOWS_LEFT]), int(number[st.HOPS]))

    while True:
        at = min(until, (len(moments) + 1) * step) if options.samples else until
        world, status = drive(world, at, hear)
        now = at if status not in {DONE, STUCK} else int(world.clock[NOW])
        if options.samples:
            port = world.port
            moments.append((now, port.bytes.copy(), port.queued.astype(np.int64), port.held.astype(np.int64)))
        if status in {DONE, STUCK} or at == until:
            return world, status, _series(moments, len(world.port))
        if len(moments) >= 2 * options.samples:
            moments = moments[1::2]
            step *= 2


def _series(moments: list[tuple[int, I64, I64, I64]], ports: int) -> Series:
    columns = [np.array([moment[turn] for moment in moments], dtype=np.int64) for turn in range(4)]
    shape = (len(moments), ports)
    return Series(columns[0].reshape(-1), *(column.reshape(shape) for column in columns[1:]))


def check_world(world: World) -> None:
    """Hold a world against what must be true of it at every moment.

    Raises:
        InternalError: ``internal.packets-lost``, ``internal.beats-line``.
    """
    number, port = world.number, world.port
    queued = sum(_count_list(int(head), world) for head in world.lane.head[world.lane.head != NIL])
    flying = sum(_count_list(int(head), world) for head in port.flight[port.flight != NIL])
    used = len(world.packet) - int(number[st.PACKETS_LEFT])
    if queued + flying != used:
        words = f"{used} packets are in use, {queued} in queues and {flying} on links"
        raise InternalError("internal.packets-lost", words)
    # A port may just have begun a packet: it is busy for longer than it has run.
    run = np.maximum(port.busy, int(world.clock[NOW]))
    most = run.astype(np.float64) * world.link.rate / 8e6
    if (port.bytes > most + 1).any():
        at = int(np.argmax(port.bytes - most))
        raise InternalError("internal.beats-line", f"port {at} sent {port.bytes[at]} bytes where {most[at]:.0f} fit")


def _count_list(item: int, world: World) -> int:
    count = 0
    following = world.packet.next
    while item != NIL:
        count += 1
        item = int(following[item])
    return count


def sum_up(world: World, status: int, series: Series, machine: Machine) -> PacketResult:
    """Make a result of a world that has come to its end."""
    number, lane, hold = world.number, world.lane, world.hold
    medium, carriage = machine.medium, machine.carriage
    shape = (len(world.port), medium.lanes)
    now = int(world.clock[NOW])
    still = np.array([(world.port.held >> turn) & 1 for turn in range(medium.lanes)], dtype=bool).T
    held = hold.time.reshape(shape) + np.where(still, now - hold.since.reshape(shape), 0)

    def table(column: I64) -> I64:
        return column.astype(np.int64).reshape(shape)

    cycle = find_cycle(world) if status == STUCK else ()
    ending: Ending = "until"
    if status == DONE:
        ending = "done"
    elif status == STUCK:
        ending = "deadlock" if cycle else "stuck"
    loss = None
    if number[st.FIRST_LOST] != NIL:
        into = int(number[st.FIRST_LANE])
        loss = Loss(
            int(number[st.FIRST_LOST]), into // medium.lanes, into % medium.lanes, int(number[st.FIRST_FLOW]),
            int(number[st.UNLUCKY]),
        )  # fmt: skip
    return PacketResult(
        ending=ending,
        end_ps=now if status in {DONE, STUCK} else int(series.at_ps[-1]) if len(series.at_ps) else now,
        start_ps=world.start,
        finish_ps=world.finish,
        cause=world.cause,
        longest_ps=world.longest,
        longest_at=world.longest_at,
        port_bytes=world.port.bytes.copy(),
        lanes=LaneCount(
            table(lane.most), table(lane.most_held), table(lane.marks), table(lane.drops), table(lane.pauses), held,
            table(hold.starved_time), table(hold.discards),
        ),
        series=series,
        loss=loss,
        cycle=cycle,
        hops=int(number[st.HOPS]),
        events=int(number[st.EVENTS]),
        again=int(number[st.AGAIN_SENT]),
        notices=int(number[st.NOTICES]),
        dropped=int(number[st.LOST]),
        corrupted=int(number[st.CORRUPTED]) + int(world.link.corrupted.sum()),
        discarded=int(number[st.DISCARDED]),
        assumptions=(*medium.assumptions, *carriage.assumptions),
    )  # fmt: skip
