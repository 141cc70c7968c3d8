"""Small random worlds for the packet machine: stars, trees, lines and rings, whatever their buffers and flows do."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, Literal, get_args

from hypothesis import strategies as st

from tests.kernels.packet_sketch import CARRIAGE, Flow, Sketch
from tests.kernels.reference.packets_world import NIL, Change, Inside, Spread, World
from weftline.model.packet import (
    Carriage,
    DelayTable,
    FlowControl,
    LaneProfile,
    Marking,
    Pacing,
    RootMarking,
    Watchdog,
)

UNTIL_PS = 1_000_000_000
"""Where the run of a scene ends if it has not ended before: what is lost may be lost again for ever."""

Shape = Literal["star", "tree", "line", "ring"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
RATES = (100_000, 25_000, 400_000, 33_333)
TIMES = (0, 1_000, 37_123, 400_000)


@dataclass(frozen=True, slots=True)
class Scene:
    """A sketch with flows, and how its switches choose among equal ports."""

    shape: Shape
    sketch: Sketch
    spread: Spread | None

    def make_world(self) -> World:
        return self.sketch.make_world(self.spread)


def scenes(
    shape: Shape | None = None, control: FlowControl | None = None, *, is_patient: bool = True
) -> st.SearchStrategy[Scene]:
    """Draw scenes by their seed: one that fails is made smaller by ``reduce_scene``, not by hypothesis.

    Drawn choice by choice, scenes of a few hundred choices come out much alike.
    """
    return st.integers(0, 2**64 - 1).map(lambda seed: make_scene(seed, shape, control, is_patient=is_patient))


def make_scene(
    seed: int, shape: Shape | None = None, control: FlowControl | None = None, *, is_patient: bool = True
) -> Scene:
    """Make a scene; with a ``control`` every lane has it and room enough to lose nothing, while it is patient."""
    rng = random.Random(seed)
    shape = shape or rng.choice(SHAPES)
    lanes = rng.randint(1, 3)
    carriage = make_carriage(rng)
    size = stored_bytes(carriage)
    common = rng.choice([None, *FlowControl])
    count = rng.randint(1, 4)
    sketch = Sketch(
        profiles=[
            make_profile(rng, size, common) if control is None else make_safe_profile(rng, size, control)
            for _ in range(count)
        ],
        lanes=lanes,
        carriage=carriage,
        data_lane=rng.randrange(lanes),
        ack_lane=rng.randrange(lanes),
        notice_lane=rng.randint(NIL, lanes - 1),
        seed=rng.randrange(2**32),
        burst_ps=rng.choice([0, 100_000, 2_000_000]),
    )
    mixture = rng.randint(0, 3)
    kept = sketch.profiles if is_patient else [make_impatient(rng, size, one) for one in sketch.profiles]
    sketch.profiles = [*kept, *map(be_patient, kept)]
    sketch.profile_at = lambda port, lane: (
        pick_profile(kept, mixture, port, lane) + (0 if sketch.nodes[sketch.ends[port].node].is_switch else count)
    )
    hosts = add_fabric(
        rng, sketch, shape, [1000 * size] if control is not None else [0, 3_000, 20_000, 100_000, 1 << 30]
    )
    add_flows(rng, sketch, hosts, shape)
    if rng.random() < 0.5:
        add_hops(rng, sketch)
    # In a star and in a ring no two ports are equal.
    spread: Spread | None = rng.choice([None, "spray", "adaptive", "flowlet"]) if shape in {"tree", "line"} else None
    if control is None:
        add_faults(rng, sketch)
    return Scene(shape, sketch, spread)


def add_faults(rng: random.Random, sketch: Sketch) -> None:
    """Let some links spoil packets, and some be down; let some flows stay in their hosts."""
    ports = range(len(sketch.ends))
    if rng.random() < 0.4:
        sketch.loss_ppb = {port: rng.choice([1_000_000, 50_000_000]) for port in ports if rng.random() < 0.5}
    if rng.random() < 0.25:
        link = rng.choice([port for port in ports if port % 2 == 0])
        sketch.dead = {link, link + 1}
    if rng.random() < 0.4:
        sketch.inside = Inside(rng.choice([0, 1_111, 20_000]), rng.choice([0, 600_000]))
        sketch.flows = [
            flow if flow.hops and len(flow.hops) == 1 else replace(flow, is_inside=rng.random() < 0.3)
            for flow in sketch.flows
        ]


def changing_scenes() -> st.SearchStrategy[Scene]:
    """Draw scenes in which links go down and come back, or get slower, while packets are on them."""
    return st.integers(0, 2**64 - 1).map(make_changing_scene)


def make_changing_scene(seed: int) -> Scene:
    """Make a scene with up to six changes of links; a link stays as it is for longer than a packet is on it."""
    rng = random.Random(seed)
    scene = make_scene(seed, None, rng.choice([None, *FlowControl]), is_patient=rng.random() < 0.5)
    sketch = scene.sketch
    ports = rng.sample(range(len(sketch.ends)), rng.randint(1, 2))
    at_ps = 0
    for _ in range(rng.randint(1, 6)):
        at_ps += rng.choice([1_000, 300_000, 1_111_111, 4_000_000, 20_000_000])
        port = rng.choice(ports)
        rate = rng.choice([0, 0, sketch.ends[port].rate_mbps, 7_777])
        sketch.changes.append(Change(at_ps, port, rng.random() < 0.6, rate))
    if isinstance(sketch.carriage.pacing, Pacing) and any(change.rate_mbps for change in sketch.changes):
        # Nobody says what becomes of a rate above that of its line.
        sketch.carriage = replace(sketch.carriage, pacing=None)
    return scene


def pick_profile(profiles: Sequence[LaneProfile], mixture: int, port: int, lane: int) -> int:
    """Pick the profile of a lane; both ends of a link have credits, or neither has."""
    own, other = ((end * mixture + lane) % len(profiles) for end in (port, port ^ 1))
    differ = (profiles[own].control is FlowControl.CREDIT) != (profiles[other].control is FlowControl.CREDIT)
    return min(own, other) if differ else own


def reduce_scene(scene: Scene, is_bad: Callable[[Scene], bool]) -> Scene:
    """Leave out flows and cut the others in half as long as it stays bad."""
    was = None
    while was != scene.sketch.flows:
        was = scene.sketch.flows
        for at in reversed(range(len(scene.sketch.flows))):
            flows = scene.sketch.flows
            short = replace(flows[at], size_bytes=flows[at].size_bytes // 2, needs=())
            for fewer in (without(flows, at), [*flows[:at], short, *flows[at + 1 :]]):
                smaller = replace(scene, sketch=replace(scene.sketch, flows=fewer))
                if fewer and fewer != flows and is_bad(smaller):
                    scene = smaller
                    break
    return scene


def without(flows: Sequence[Flow], gone: int) -> list[Flow]:
    """Leave out one flow, and what others need of it."""
    rest = [flow for at, flow in enumerate(flows) if at != gone]
    return [replace(flow, needs=tuple(need - (need > gone) for need in flow.needs if need != gone)) for flow in rest]


def stored_bytes(carriage: Carriage) -> int:
    """What a full packet takes of a buffer at most."""
    wire = max(carriage.mtu_bytes + carriage.overhead_bytes, carriage.ack_bytes, carriage.notice_bytes)
    return -(-(wire - carriage.unstored_bytes) // 256) * 256


def make_carriage(rng: random.Random) -> Carriage:
    """Make what the adapters do; most of them pace."""
    is_bare = rng.random() < 0.5
    ack_every = rng.choice([1, 2, 5, 8])
    return Carriage(
        mtu_bytes=rng.choice([256, 1000, 4096]),
        overhead_bytes=26 if is_bare else CARRIAGE.overhead_bytes,
        unstored_bytes=0 if is_bare else CARRIAGE.unstored_bytes,
        ack_bytes=30 if is_bare else CARRIAGE.ack_bytes,
        notice_bytes=30 if is_bare else CARRIAGE.notice_bytes,
        pause_bytes=CARRIAGE.pause_bytes,
        recovery=rng.choice(["go-back-n", "selective"]),
        ack_every=ack_every,
        timeout_ps=rng.choice([0, 5_000_000, 20_000_000, 100_000_000]),
        window_packets=rng.choice([ack_every, 16, 64]),
        reorder_packets=rng.choice([0, 1, 3, 16]),
        pacing=rng.choice([None, make_pacing(rng), make_table(rng)]),
        assumptions=(),
    )


def make_pacing(rng: random.Random) -> Pacing:
    """Make a way to slow down, mostly faster than real ones, so that a short run sees all of it."""
    return Pacing(
        name="made",
        gain=rng.choice([1 / 256, 1 / 16]),
        alpha_ps=rng.choice([1_000_000, 5_000_000]),
        decrease_ps=rng.choice([0, 1_000_000, 4_000_000]),
        increase_ps=rng.choice([500_000, 3_000_000]),
        increase_bytes=rng.choice([0, 5_000, 100_000]),
        stages=rng.choice([1, 3]),
        additive_mbps=rng.choice([40.0, 1_000.0]),
        hyper_mbps=rng.choice([400.0, 5_000.0]),
        least_mbps=rng.choice([100.0, 5_000.0]),
        notice_ps=rng.choice([0, 2_000_000, 50_000_000]),
    )


def make_table(rng: random.Random) -> DelayTable:
    """Make a table of delays up to some packets' times; a short one is at its end after a few notices."""
    count = rng.choice([1, 4, 30])
    least = rng.choice([0, 0, count // 2])
    entries = tuple((rng.randint(0, 3), min(at, rng.choice([at, 9]))) for at in range(count))
    return DelayTable("made", entries, rng.choice([1, 3]), rng.choice([300_000, 1_024_000, 20_000_000]), least)


def make_marking(rng: random.Random, size: int) -> Marking | RootMarking:
    """Make thresholds between nothing and a few packets."""
    least = rng.randint(0, 4) * size
    if rng.random() < 0.4:
        chance = rng.choice([200_000, 1_000_000])
        return RootMarking(least, rng.choice([0, 200, 1_000]), chance, marks_victims=rng.random() < 0.3)
    return Marking(least, least + rng.randint(0, 8) * size, rng.choice([0, 50_000, 1_000_000]))


def make_profile(rng: random.Random, size: int, common: FlowControl | None) -> LaneProfile:
    """Make how a lane is treated; a buffer of credits has room for a packet at least, else it never moves."""
    control = common if common is not None else rng.choice([*FlowControl])
    return LaneProfile(
        control=control,
        is_lossless=rng.random() < 0.5,
        cell_bytes=64 if control is FlowControl.CREDIT else rng.choice([1, 64, 80, 256]),
        reserve_bytes=rng.randint(0, 3) * size,
        headroom_bytes=rng.randint(0, 12) * size,
        dynamic_th=rng.choice([None, rng.randint(-4, 3)]),
        static_bytes=rng.randint(0, 10) * size,
        resume_offset_bytes=rng.randint(0, 3) * size,
        buffer_bytes=rng.randint(1, 8) * size,
        window_bytes=rng.randint(0, 8) * size,
        is_strict=rng.random() < 0.5,
        weight=rng.choice([1, 2, 16, 200]),
        limit_bytes=rng.choice([0, 0, 2, 6]) * size,
        obeys=rng.random() < 0.8,
        marking=rng.choice([None, make_marking(rng, size)]),
        **make_patience(rng),
    )


def make_patience(rng: random.Random) -> dict[str, Any]:
    """Make how long a lane waits: mostly for ever, else for some packets' times."""
    times = rng.choice([20_000, 200_000, 2_000_000]), rng.choice([0, 500_000, 8_000_000])
    dog = Watchdog(*times, rng.choice(["drop", "forward"]))
    return {
        "lifetime_ps": rng.choice([0, 100_000, 700_000, 5_000_000]),
        "stall_count": rng.choice([0, 1, 2, 7]),
        "watchdog": rng.choice([None, dog]),
    }


def make_impatient(rng: random.Random, size: int, profile: LaneProfile) -> LaneProfile:
    """Let a lane wait often and not for long: it asks for pauses, and promises credit, for a few packets."""
    few = {"dynamic_th": None, "static_bytes": rng.randint(0, 2) * size, "buffer_bytes": rng.randint(1, 2) * size}
    return replace(profile, **few, **make_patience(rng))


def be_patient(profile: LaneProfile) -> LaneProfile:
    """Let a lane wait for ever, as those of hosts do."""
    return replace(profile, lifetime_ps=0, stall_count=0, watchdog=None)


def make_safe_profile(rng: random.Random, size: int, control: FlowControl) -> LaneProfile:
    """Make a lane that loses nothing: no limit, and headroom for the longest cable at the highest rate."""
    return replace(
        make_profile(rng, size, control),
        is_lossless=True,
        obeys=True,
        headroom_bytes=200 * size + 400_000,
        lifetime_ps=0,
        stall_count=0,
        watchdog=None,
        dynamic_th=rng.choice([None, rng.randint(-8, 0)]),
        limit_bytes=0,
    )


def add_fabric(rng: random.Random, sketch: Sketch, shape: Shape, pools: Sequence[int]) -> list[int]:
    """Add nodes and links, and list the hosts."""
    edges = {"star": 1, "tree": rng.randint(2, 3), "line": rng.randint(2, 4), "ring": rng.randint(3, 5)}[shape]
    per_edge = rng.randint(2, 6) if shape == "star" else rng.randint(1, 3)
    cuts = rng.random() < 0.5

    def add_switch() -> int:
        return sketch.add_switch(rng.choice(TIMES), rng.choice(pools), cut_through=cuts and rng.random() < 0.5)

    is_even = rng.random() < 0.5
    """All links at one rate: then cut-through is at work."""
    common = rng.choice(RATES)

    def link(a: int, b: int) -> None:
        rate = common if is_even else rng.choice(RATES)
        sketch.link(a, b, rate, rng.choice(TIMES), rng.choice([0, 5_000, 100_000]))

    switches = [add_switch() for _ in range(edges)]
    hosts: list[int] = []
    for switch in switches:
        for _ in range(per_edge):
            hosts.append(sketch.add_host(rng.choice(TIMES), rng.choice(TIMES)))
            link(hosts[-1], switch)
    spines = [add_switch() for _ in range(rng.randint(1, 3))] if shape == "tree" else []
    for spine, switch in product(spines, switches):
        link(switch, spine)
    beside = {"line": switches, "ring": [*switches, switches[0]]}.get(shape, [])
    for a, b in pairwise(beside):
        for _ in range(rng.randint(1, 2) if shape == "line" else 1):
            link(a, b)
    return hosts


def add_flows(rng: random.Random, sketch: Sketch, hosts: Sequence[int], shape: Shape) -> None:
    """Add flows over shortest ways, or around a ring; all at once, or such that one waits for another."""
    is_burst = rng.random() < 0.6
    pairs = choose_burst(rng, hosts) if is_burst else choose_pairs(rng, hosts)
    changes_lane = rng.random() < 0.4
    mtu = sketch.carriage.mtu_bytes
    for at, (source, target) in enumerate(pairs):
        hops = go_round(sketch, source, target) if shape == "ring" else sketch.route(source, target, rng.choice)
        packets = rng.choice([12, 25, 40]) if is_burst else rng.randint(0, 20)
        flow = Flow(source, target, packets * mtu + rng.choice([0, 0, 1, mtu - 1]), hops=hops)
        if changes_lane:
            lanes, backs = (tuple(rng.randrange(sketch.lanes) for _ in hops) for _ in range(2))
            flow = replace(flow, lanes=lanes, back_lanes=backs)
        if not is_burst:
            flow = replace(
                flow,
                needs=tuple(sorted(rng.sample(range(at), min(at, rng.randint(0, 2))))),
                queue=rng.choice([NIL, source]),
                earliest_ps=rng.choice([0, 0, 1_000_000]),
                delay_ps=rng.choice([0, 0, 1, 250_000, 3_000_000]),
            )
        sketch.add_flow(flow)


def add_hops(rng: random.Random, sketch: Sketch) -> None:
    """Add flows over one link each, from and to switches, some of which wait for the one before."""
    mtu = sketch.carriage.mtu_bytes
    ports = [
        at
        for at in range(len(sketch.ends))
        if any(sketch.nodes[sketch.ends[end].node].is_switch for end in (at, at ^ 1))
    ]
    for at in rng.choices(ports, k=rng.randint(1, 8)):
        last = len(sketch.flows) - 1
        size = rng.randint(0, 20) * mtu + rng.choice([0, 1])
        needs = (last,) if rng.random() < 0.4 else ()
        sketch.add_flow(Flow(sketch.ends[at].node, sketch.ends[at ^ 1].node, size, needs, hops=(at,)))


def choose_burst(rng: random.Random, hosts: Sequence[int]) -> list[tuple[int, int]]:
    """Choose flows from all hosts at once: all to one, or each as far on; perhaps twice."""
    count = len(hosts)
    shift = rng.randrange(1, count)
    to_one = [(host, hosts[0]) for host in hosts[1:]]
    onward = [(host, hosts[(at + shift) % count]) for at, host in enumerate(hosts)]
    return rng.choice([to_one, onward]) * rng.randint(1, 2)


def choose_pairs(rng: random.Random, hosts: Sequence[int]) -> list[tuple[int, int]]:
    """Choose some pairs of different hosts."""
    pairs = [rng.sample(hosts, 2) for _ in range(rng.randint(1, 12))]
    return [(source, target) for source, target in pairs]


def go_round(sketch: Sketch, source: int, target: int) -> tuple[int, ...]:
    """Go from host to host by the links that the ring was closed with, always onwards."""
    hops = [sketch.list_ports(source)[0]]
    last = sketch.list_ports(target)[0] ^ 1
    while (at := sketch.ends[hops[-1] ^ 1].node) != sketch.ends[last].node:
        # Even is the end at which a link begins, and at switches all but the onward ones end.
        hops.append(next(port for port in sketch.list_ports(at) if port % 2 == 0))
    return (*hops, last)
