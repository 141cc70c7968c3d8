"""Packets from the first event to a result that has been held against what must be true of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weftline.kernels import packet_state as st
from weftline.kernels.calendar import NOW
from weftline.kernels.column import I64, NIL
from weftline.kernels.packet_run import DONE, STUCK, WAITING_UNTIL, World
from weftline.model.fabric import Fabric
from weftline.model.happening import Happening, order_happenings
from weftline.model.packet import Bound, Ending, LaneCount, Loss, Machine, PacketOptions, PacketResult, Series
from weftline.model.result import SimOptions
from weftline.model.routes import Routes
from weftline.model.traffic import Flows
from weftline.simulate.packet.album import Album
from weftline.simulate.packet.drive import drive
from weftline.simulate.packet.faults import Plant, apply_happening, check_happenings, check_plant, make_plant
from weftline.simulate.packet.judge import find_bound, hold_against
from weftline.simulate.packet.standstill import IDLE, Vigil, find_cycle
from weftline.simulate.packet.ways import find_ways
from weftline.simulate.packet.world import lay_world, wire

FOREVER = 1 << 62
Progress = Callable[[int, int, int], None]
"""(simulated picoseconds, flows that have arrived, packets received so far)."""


def simulate_packets(  # noqa: PLR0913, PLR0917 - what meets what, and what happens to it
    flows: Flows,
    fabric: Fabric,
    routes: Routes,
    machine: Machine,
    options: PacketOptions,
    progress: Progress | None = None,
    faults: Sequence[Happening] = (),
) -> PacketResult:
    """Send the flows packet by packet; same input and seed, same result to the picosecond.

    ``faults`` is what happens to the fabric meanwhile, in any order.

    Raises:
        SpecError: ``spec.unreachable-pair``.
        UsageError: ``usage.fault-words`` for what cannot happen to this fabric.
        InternalError: ``internal.packets-lost`` where bytes are neither here nor there, ``internal.beats-line`` where a
            link carried more than its rate, ``internal.beats-bound`` where all came too early,
            ``internal.other-fabric`` where new routes are for another fabric.
    """
    check_happenings(faults, fabric)
    walk = SimOptions(0.0, options.inside_host_gbytes_per_s, options.seed, options.max_hops)
    ways = find_ways(flows, fabric, routes, machine.medium, walk)
    bound = find_bound(flows, fabric, machine)
    world = lay_world(flows, wire(fabric, routes), machine, ways, options)
    plant = make_plant(world, flows, fabric, machine.medium, walk)
    world, status, series = run_world(world, options, progress, plant, order_happenings(faults))
    check_plant(world, plant)
    result = sum_up(world, status, series, machine, bound)
    hold_against(result, bound)
    return result


def run_world(
    world: World,
    options: PacketOptions,
    progress: Progress | None = None,
    plant: Plant | None = None,
    faults: Sequence[Happening] = (),
) -> tuple[World, int, Series]:
    """Run a world to its end, and look at its ports at about ``options.samples`` moments.

    ``faults``, in order, happen to the ``plant``. A world at the mercy of timeouts, in which nothing has arrived for
    as long as adapters try, is at its end too: ``IDLE``.
    """
    until = FOREVER if options.until_ps is None else options.until_ps
    album = Album(options.samples)

    def hear(now: World) -> None:
        if progress is not None:
            number = now.number
            progress(int(now.clock[NOW]), len(now.finish) - int(number[st.FLOWS_LEFT]), int(number[st.HOPS]))

    status = WAITING_UNTIL
    for happening in faults:
        if plant is None or happening.at_ps > until or status == DONE:
            break
        world, status = _run_span(world, (happening.at_ps, False), album, hear, None)
        if status != DONE:
            world = apply_happening(world, plant, happening)
    if status != DONE:
        vigil = Vigil(world) if world.number[st.TIMEOUT] > 0 else None
        world, status = _run_span(world, (until, True), album, hear, vigil)
    if options.samples:
        album.take(until if status == WAITING_UNTIL else int(world.clock[NOW]), world)
    return world, status, album.show(len(world.port))


def _run_span(
    world: World, to: tuple[int, bool], album: Album, hear: Callable[[World], None], vigil: Vigil | None
) -> tuple[World, int]:
    """Run to a time, or to the end; unless it is the last span a standstill is none, for something will happen."""
    stop, is_last = to
    while True:
        at = min(stop, album.next_ps, FOREVER if vigil is None else vigil.look_ps)
        world, status = drive(world, at, hear)
        if status == DONE or (status == STUCK and is_last):
            return world, status
        if vigil is not None and at == vigil.look_ps and vigil.is_idle(world):
            return world, IDLE
        if at == stop:
            return world, WAITING_UNTIL
        if at == album.next_ps:
            album.take(at, world)


def sum_up(world: World, status: int, series: Series, machine: Machine, bound: Bound) -> PacketResult:
    """Make a result of a world that has come to its end."""
    number, lane, hold = world.number, world.lane, world.hold
    medium, carriage = machine.medium, machine.carriage
    shape = (len(world.port), medium.lanes)
    now = int(world.clock[NOW])
    is_over = status in {DONE, STUCK, IDLE}
    still = np.array([(world.port.held >> turn) & 1 for turn in range(medium.lanes)], dtype=bool).T
    held = hold.time.reshape(shape) + np.where(still, now - hold.since.reshape(shape), 0)

    def table(column: I64) -> I64:
        return column.astype(np.int64).reshape(shape)

    cycle = find_cycle(world) if status == STUCK else ()
    ending: Ending = "until"
    if status == DONE:
        ending = "done"
    elif is_over:
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
        end_ps=now if is_over else int(series.at_ps[-1]) if len(series.at_ps) else now,
        bound=bound,
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
        corrupted=int(world.link.corrupted.sum()),
        discarded=int(number[st.DISCARDED]),
        assumptions=(*medium.assumptions, *carriage.assumptions),
    )  # fmt: skip
