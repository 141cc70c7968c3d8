"""The packet machine against its slow twin, to the picosecond, in random worlds."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.packet_plain import run_plain
from tests.kernels.packet_worlds import UNTIL_PS, Scene, changing_scenes, scenes
from tests.kernels.reference import packets as twin
from tests.kernels.reference.packets_world import NIL
from tests.kernels.reference.packets_world import World as Sheet
from weftline.kernels import packet_state as state
from weftline.kernels.calendar import NOW
from weftline.kernels.column import I32
from weftline.kernels.packet_run import DONE, STUCK, WAITING_UNTIL, World, run
from weftline.model.happening import LinkChange, RateChange
from weftline.model.packet import FlowControl, Machine, PacketOptions
from weftline.model.traffic import Flows, Via
from weftline.simulate.packet.drive import drive
from weftline.simulate.packet.faults import apply_happening, make_plant
from weftline.simulate.packet.standstill import find_cycle
from weftline.simulate.packet.ways import Ways
from weftline.simulate.packet.world import Wiring, lay_world


def lay(sheet: Sheet) -> World:
    """Lay out for the kernel what the twin is given."""
    flows = len(sheet.flow_bytes)
    paths = len(sheet.path_ptr) - 1
    ptr: list[int] = sheet.path_ptr.tolist()
    ports: list[int] = sheet.path_port.tolist()
    spans = [range(ptr[path], ptr[path + 1]) for path in range(paths)]
    forth = [[ports[hop] for hop in span] for span in spans]
    back = [[int(sheet.port_peer[ports[hop]]) for hop in reversed(span)] for span in spans]
    data = [[int(sheet.path_lane[hop]) for hop in span] for span in spans]
    acks = [[int(sheet.back_lane[hop]) for hop in reversed(span)] for span in spans]
    begin = np.cumsum([0, *(len(way) + 1 for way in forth + back)]).astype(np.int32)
    column = np.zeros(len(sheet.port_peer), dtype=np.int32) if sheet.tables is None else sheet.tables.column
    touches = sheet.is_switch[sheet.port_node] == 1
    is_over_link = touches[sheet.flow_source] | touches[sheet.flow_target]
    via = np.where(is_over_link, Via.LINK, np.where(sheet.is_inside == 1, Via.HOST, Via.FABRIC))
    world = lay_world(
        Flows(
            source=sheet.flow_source,
            target=sheet.flow_target,
            via=via.astype(np.int8),
            size_bytes=sheet.flow_bytes.astype(np.float64),
            need_ptr=sheet.need_ptr,
            need_flow=sheet.need_flow,
            queue=sheet.flow_queue,
            tag=np.zeros(flows, dtype=np.int32),
            start_us=sheet.flow_earliest / 1e6,
            delay_us=sheet.flow_delay / 1e6,
        ),
        wire(sheet),
        Machine(sheet.medium, sheet.carriage),
        Ways(
            flow_pair=sheet.flow_path,
            forth=begin[:paths],
            back=begin[paths:-1],
            goal=np.where(is_over_link, state.END, column[sheet.flow_target]).astype(np.int32),
            port=np.array([port for way in forth + back for port in (*way, state.END)], dtype=np.int32),
            lane=np.array([lane for way in data + acks for lane in (*way, 0)], dtype=np.int32),
        ),
        PacketOptions(
            spread="hash" if sheet.tables is None else sheet.tables.spread,
            seed=sheet.seed,
            burst_ps=sheet.burst_ps,
            inside_host_gbytes_per_s=1000 / sheet.inside.fs_per_byte * 1000 if sheet.inside.fs_per_byte else None,
            inside_latency_ps=sheet.inside.latency_ps,
        ),
    )
    assert world.number[state.INSIDE_FS] == sheet.inside.fs_per_byte
    world.link.loss_ppb = sheet.loss_ppb
    world.port.fault |= np.where(sheet.loss_ppb > 0, state.LOSSY, 0) | np.where(sheet.is_dead == 1, state.DEAD, 0)
    return world


def wire(sheet: Sheet) -> Wiring:
    """Take the links and the tables; where every path is fixed there is one empty row for each switch."""
    tables = sheet.tables
    if tables is None:
        row = np.where(sheet.is_switch == 1, np.cumsum(sheet.is_switch) - 1, NIL).astype(np.int32)
        empty: I32 = np.zeros(1, dtype=np.int32)
        return Wiring(
            sheet.port_peer, sheet.port_node, row, np.zeros((1, 1), dtype=np.uint8), empty, empty, empty
        )  # fmt: skip
    return Wiring(
        sheet.port_peer, sheet.port_node, tables.switch_row, tables.group.astype(np.uint8), tables.group_ptr,
        tables.member_ptr, tables.member_port,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """What both machines must agree on; lists by flow or by port."""

    ending: str
    start_ps: list[int]
    finish_ps: list[int]
    wire_bytes: list[int]
    pauses: list[int]
    marks: list[int]
    drops: list[int]
    corrupted: list[int]
    discards: list[int]
    held_ps: list[int]
    starved_ps: list[int]
    peak: list[list[int]]
    loss: tuple[int, int, int] | None
    cycle: list[tuple[int, int]]


def end_of(ending: str, finish_ps: list[int], until_ps: int) -> int:
    """Up to when pauses count that have not ended: a standstill has no last moment that both know."""
    return max(finish_ps) if ending == "done" else until_ps


def run_twin(sheet: Sheet, until_ps: int) -> Told:
    loop, fabric, hosts = twin.run(sheet, until_ps, lingers=False)
    ending = "until" if loop.heap else "stuck"
    if NIL not in hosts.finish_ps:
        ending = "done"
    outcome = twin.tell(loop, fabric, hosts, end_of(ending, hosts.finish_ps, until_ps))
    ports = outcome.ports
    return Told(
        ending,
        outcome.start_ps,
        outcome.finish_ps,
        [port.wire_bytes for port in ports],
        [port.pauses for port in ports],
        [port.marks for port in ports],
        [port.drops for port in ports],
        [port.corrupted for port in ports],
        [port.discards for port in ports],
        [port.held_ps for port in ports],
        [port.starved_ps for port in ports],
        [port.peak for port in ports],
        outcome.loss,
        outcome.cycle,
    )


def run_compiled(world: World, until_ps: int) -> tuple[World, int]:
    """Run the kernels; where nothing is compiled columns are too narrow for Python, and lists are faster."""
    if os.environ.get("NUMBA_DISABLE_JIT"):
        return world, run_plain(run, world, until_ps)
    return drive(world, until_ps, lambda _: None)


def change_links(sheet: Sheet) -> Callable[[World, int], tuple[World, int]]:
    """Make what runs the kernels and lets happen to links what is to happen."""

    def run_world(world: World, until_ps: int) -> tuple[World, int]:
        unused: Any = None
        fabric: Any = SimpleNamespace(port_peer=sheet.port_peer)
        plant = make_plant(world, unused, fabric, sheet.medium, unused)
        plant.is_down[:] = sheet.is_dead == 1
        for change in sheet.changes:
            world, status = run_compiled(world, change.at_ps)
            if status == DONE:
                return world, status
            if change.rate_mbps:
                happening = RateChange(change.at_ps, change.port, change.rate_mbps / 1000)
            else:
                happening = LinkChange(change.at_ps, change.port, is_up=change.is_up)
            world = apply_happening(world, plant, happening)
        return run_compiled(world, until_ps)

    return run_world


def run_kernel(
    sheet: Sheet, until_ps: int, run_world: Callable[[World, int], tuple[World, int]] = run_compiled
) -> Told:
    world, status = run_world(lay(sheet), until_ps)
    ending = {DONE: "done", STUCK: "stuck", WAITING_UNTIL: "until"}[status]
    lanes = sheet.medium.lanes
    number, port, lane, hold = world.number, world.port, world.lane, world.hold
    finish: list[int] = world.finish.tolist()
    end = end_of(ending, finish, until_ps)
    held = hold.time.reshape(-1, lanes).sum(axis=1)
    for turn in range(lanes):
        held += np.where(port.held >> turn & 1, end - hold.since.reshape(-1, lanes)[:, turn], 0)
    loss = None
    if number[state.FIRST_LOST] != NIL:
        loss = int(number[state.FIRST_LOST]), *divmod(int(number[state.FIRST_LANE]), lanes)
    assert world.clock[NOW] <= end
    return Told(
        ending,
        world.start.tolist(),
        finish,
        port.bytes.tolist(),
        world.link.pauses.tolist(),
        lane.marks.reshape(-1, lanes).sum(axis=1).tolist(),
        lane.drops.reshape(-1, lanes).sum(axis=1).tolist(),
        world.link.corrupted.tolist(),
        hold.discards.reshape(-1, lanes).sum(axis=1).tolist(),
        held.tolist(),
        hold.starved_time.reshape(-1, lanes).sum(axis=1).tolist(),
        lane.most.reshape(-1, lanes).tolist(),
        loss,
        list(find_cycle(world)) if ending == "stuck" else [],
    )


@settings(max_examples=150, deadline=None)
@given(
    st.tuples(st.sampled_from([None, FlowControl.PAUSE, FlowControl.CREDIT]), st.booleans()).flatmap(
        lambda kind: scenes(control=kind[0], is_patient=kind[1])
    )
)
def test_the_kernel_and_its_twin_agree(scene: Scene) -> None:
    sheet = scene.make_world()
    assert run_kernel(sheet, UNTIL_PS) == run_twin(sheet, UNTIL_PS)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="what happens to links is done on narrow columns")
@settings(max_examples=100, deadline=None)
@given(changing_scenes())
def test_they_agree_while_links_die_come_back_and_get_slower(scene: Scene) -> None:
    sheet = scene.make_world()
    assert run_kernel(sheet, UNTIL_PS, change_links(sheet)) == run_twin(sheet, UNTIL_PS)
