"""Laws of the slow packet machine in random worlds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernels.packet_worlds import UNTIL_PS, Scene, make_scene, reduce_scene, scenes, without
from tests.kernels.reference.packets import run, simulate, tell
from tests.kernels.reference.packets_fabric import Fabric
from tests.kernels.reference.packets_loop import Event
from tests.kernels.reference.packets_pace import Delays, Pace
from tests.kernels.reference.packets_world import NIL, World
from weftline.model.packet import FlowControl


def is_empty(fabric: Fabric) -> bool:
    """Tell whether no buffer holds anything, and every credit is back or on its way."""
    for port, groups in zip(fabric.port, fabric.group, strict=True):
        if any(port.queue) or any(port.bytes) or fabric.flight[port.number]:
            return False
        for group in groups:
            if group.reserve or group.shared or group.headroom or group.pool.used or group.is_off:
                return False
            credits_ = fabric.port[port.peer].credits[group.lane]
            if group.profile.control is FlowControl.CREDIT:
                assert credits_ is not None
                bound = group.profile.buffer_bytes
                if group.profile.window_bytes:
                    bound = min(bound, group.profile.window_bytes)
                if credits_.available + sum(more for _, more in credits_.coming) != bound // 64:
                    return False
    return True


@settings(max_examples=150, deadline=None)
@given(scenes())
def test_what_goes_in_comes_out_or_is_counted(scene: Scene) -> None:
    world = scene.make_world()
    loop, fabric, hosts = run(world, UNTIL_PS)
    outcome = tell(loop, fabric, hosts)
    assert outcome == simulate(world, until_ps=UNTIL_PS)
    is_moving = bool(loop.heap)
    if not is_moving and not outcome.blocked:
        assert is_empty(fabric)
    for port, count in enumerate(outcome.ports):
        rate = int(world.medium.rate_mbps[port])
        assert count.wire_bytes * 8_000_000 <= rate * max(outcome.end_ps, fabric.port[port].busy)
        assert 0 <= count.held_ps <= outcome.end_ps * world.medium.lanes
    for groups in fabric.group:
        for group in groups:
            assert 0 <= group.reserve <= group.profile.reserve_bytes
            assert 0 <= group.headroom <= group.profile.headroom_bytes
            assert 0 <= group.pool.used <= group.pool.size
    if outcome.cycle:
        assert scene.shape == "ring"


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([FlowControl.PAUSE, FlowControl.CREDIT]).flatmap(lambda control: scenes(control=control)))
def test_with_room_nothing_is_lost_and_only_a_ring_locks_up(scene: Scene) -> None:
    carriage = scene.sketch.carriage
    # Where packets overtake each other an answer can come too early, and is not repeated: a timeout must help.
    assume(carriage.timeout_ps > 0 or scene.spread is None)
    world = scene.make_world()
    loop, fabric, hosts = run(world, UNTIL_PS)
    assume(not loop.heap)
    outcome = tell(loop, fabric, hosts)
    assert outcome.loss is None
    assert sum(port.drops for port in outcome.ports) == 0
    if outcome.cycle:
        assert scene.shape == "ring"
        assert set(outcome.cycle) <= set(outcome.blocked)
        assert NIL in outcome.finish_ps
        return
    assert NIL not in outcome.finish_ps
    assert is_empty(fabric)
    for flow in range(len(outcome.finish_ps)):
        assert outcome.finish_ps[flow] - outcome.start_ps[flow] >= bound(world, flow)


def bound(world: World, flow: int) -> int:
    """What a flow takes at least: the latencies of its way, and its bytes on the slowest link."""
    medium, carriage = world.medium, world.carriage
    path = int(world.flow_path[flow])
    ports = world.path_port[world.path_ptr[path] : world.path_ptr[path + 1]]
    size = int(world.flow_bytes[flow])
    if size == 0:
        return 0
    wire = size + -(-size // carriage.mtu_bytes) * carriage.overhead_bytes
    if world.tables is not None and len(ports) > 1:
        ports = ports[[0, -1]]
    last = world.port_node[world.port_peer[ports[-1]]]
    if world.is_switch[last] and medium.is_cut_through[last]:
        # A switch that takes packets itself has them when their heads come.
        wire -= min(wire, carriage.mtu_bytes + carriage.overhead_bytes)
    through = world.port_node[ports]
    # What a switch sends itself is on the line at once.
    latency = medium.latency_ps[through[int(world.is_switch[through[0]]) :]].sum() + medium.propagation_ps[ports].sum()
    return int(latency + medium.receive_ps[last]) + -(-wire * 8_000_000 // int(medium.rate_mbps[ports].min()))


def list_sights(scene: Scene) -> set[str]:
    """Name what happens in a scene."""
    loop, fabric, hosts = run(scene.make_world(), UNTIL_PS)
    outcome = tell(loop, fabric, hosts)
    sent = sum(fabric.port[port].packets for port in {*hosts.source})
    sights = {
        "loss": outcome.loss is not None,
        "locked": bool(outcome.cycle),
        "stopped": bool(loop.heap),
        "whole": NIL not in outcome.finish_ps,
        "sent again": sent > 2 * sum(sender.count for sender in hosts.sender),
        "paced": any(isinstance(sender.pace, Pace) and sender.pace.noticed >= 0 for sender in hosts.sender),
        "delayed": any(isinstance(sender.pace, Delays) and sender.pace.noticed >= 0 for sender in hosts.sender),
        "cut through": not all(fabric.is_stored),
        **{spread: scene.spread == spread for spread in ("spray", "adaptive", "flowlet")},
        **{kind.name: times > 0 for kind, times in loop.kinds.items()},
    }
    for name in ("pauses", "marks", "drops", "corrupted", "discards", "held_ps", "starved_ps"):
        sights[name] = any(getattr(port, name) for port in outcome.ports)
    assert not sights.keys() - EXPECTED
    return {name for name, is_there in sights.items() if is_there}


EXPECTED = {
    "loss", "locked", "stopped", "whole", "sent again", "paced", "delayed", "cut through", "spray", "adaptive",
    "flowlet", "corrupted", "discards", "pauses", "marks", "drops", "held_ps", "starved_ps",
    *(kind.name for kind in Event),
}  # fmt: skip


def test_the_worlds_show_everything() -> None:
    """Every kind of event, and everything that a port counts, is there in some of the worlds."""
    controls = (FlowControl.PAUSE, FlowControl.CREDIT)
    rings = [make_scene(seed, "ring", control) for seed in range(20) for control in controls]
    seen = Counter(name for scene in [*rings, *map(make_scene, range(160))] for name in list_sights(scene))
    assert {name: seen[name] for name in EXPECTED if seen[name] < 3} == {}


def test_a_bad_scene_can_be_made_smaller() -> None:
    """Some scene drops packets; the smallest part of it that still does has no flow that could be left out."""
    large = (scene for scene in map(make_scene, range(100)) if len(scene.sketch.flows) > 3)
    scene = next(scene for scene in large if "drops" in list_sights(scene))
    small = reduce_scene(scene, lambda part: "drops" in list_sights(part))
    assert "drops" in list_sights(small)
    assert len(small.sketch.flows) < len(scene.sketch.flows)
    for at in range(len(small.sketch.flows)):
        rest = without(small.sketch.flows, at)
        assert not rest or "drops" not in list_sights(replace(small, sketch=replace(small.sketch, flows=rest)))
