"""Small random worlds for the packet machine: stars, trees, lines and rings, whatever their buffers and flows do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal

from hypothesis import strategies as st

from tests.kernels.packet_sketch import CARRIAGE, Flow, Sketch
from tests.kernels.reference.packets_world import NIL, World
from weftline.model.packet import Carriage, FlowControl, LaneProfile, Marking, Pacing

UNTIL_PS = 1_000_000_000
"""Where the run of a scene ends if it has not ended before: what is lost may be lost again for ever."""

Shape = Literal["star", "tree", "line", "ring"]
Spread = Literal["spray", "adaptive"] | None


@dataclass(frozen=True, slots=True)
class Scene:
    """A sketch with flows, and how its switches choose among equal ports."""

    shape: Shape
    sketch: Sketch
    spread: Spread

    def make_world(self) -> World:
        return self.sketch.make_world(self.spread)


RATES = st.sampled_from([100_000, 25_000, 400_000, 33_333])
TIMES = st.sampled_from([0, 1_000, 37_123, 400_000])


@st.composite
def scenes(draw: st.DrawFn, shape: Shape | None = None, control: FlowControl | None = None) -> Scene:
    """Draw a scene; with a ``control`` every lane has it and room enough to lose nothing."""
    shape = shape or draw(st.sampled_from(["star", "tree", "line", "ring"]))
    lanes = draw(st.integers(1, 3))
    carriage = draw(carriages())
    size = stored_bytes(carriage)
    kinds = safe_profiles(size, control) if control is not None else profiles(size)
    sketch = Sketch(
        profiles=draw(st.lists(kinds, min_size=1, max_size=4)),
        lanes=lanes,
        carriage=carriage,
        data_lane=draw(st.integers(0, lanes - 1)),
        ack_lane=draw(st.integers(0, lanes - 1)),
        notice_lane=draw(st.integers(NIL, lanes - 1)),
        seed=draw(st.integers(0, 2**32)),
    )
    mixture = draw(st.integers(0, 10))
    sketch.profile_at = lambda port, lane: pick_profile(sketch.profiles, mixture, port, lane)
    hosts = draw_fabric(draw, sketch, shape, 1000 * size if control is not None else None)
    spread: Spread = draw(st.sampled_from([None, None, "spray", "adaptive"])) if shape != "ring" else None
    draw_flows(draw, sketch, hosts, shape)
    return Scene(shape, sketch, spread)


def pick_profile(profiles: Sequence[LaneProfile], mixture: int, port: int, lane: int) -> int:
    """Pick the profile of a lane; both ends of a link have credits, or neither has."""
    own, other = ((end * mixture + lane) % len(profiles) for end in (port, port ^ 1))
    differ = (profiles[own].control is FlowControl.CREDIT) != (profiles[other].control is FlowControl.CREDIT)
    return min(own, other) if differ else own


def stored_bytes(carriage: Carriage) -> int:
    """What a full packet takes of a buffer at most."""
    wire = max(carriage.mtu_bytes + carriage.overhead_bytes, carriage.ack_bytes, carriage.notice_bytes)
    return -(-(wire - carriage.unstored_bytes) // 256) * 256


@st.composite
def carriages(draw: st.DrawFn) -> Carriage:
    """Draw what the adapters do; half of them pace."""
    is_bare = draw(st.booleans())
    ack_every = draw(st.sampled_from([1, 2, 5, 8]))
    return Carriage(
        mtu_bytes=draw(st.sampled_from([256, 1000, 4096])),
        overhead_bytes=26 if is_bare else CARRIAGE.overhead_bytes,
        unstored_bytes=0 if is_bare else CARRIAGE.unstored_bytes,
        ack_bytes=30 if is_bare else CARRIAGE.ack_bytes,
        notice_bytes=30 if is_bare else CARRIAGE.notice_bytes,
        pause_bytes=CARRIAGE.pause_bytes,
        recovery=draw(st.sampled_from(["go-back-n", "selective"])),
        ack_every=ack_every,
        timeout_ps=draw(st.sampled_from([0, 5_000_000, 20_000_000, 100_000_000])),
        window_packets=draw(st.sampled_from([ack_every, 16, 64])),
        reorder_packets=draw(st.sampled_from([0, 1, 3, 16])),
        pacing=draw(st.none() | pacings()),
        assumptions=(),
    )


@st.composite
def pacings(draw: st.DrawFn) -> Pacing:
    """Draw a way to slow down, mostly faster than real ones, so that a short run sees all of it."""
    return Pacing(
        name="drawn",
        gain=draw(st.sampled_from([1 / 256, 1 / 16])),
        alpha_ps=draw(st.sampled_from([1_000_000, 5_000_000])),
        decrease_ps=draw(st.sampled_from([0, 1_000_000, 4_000_000])),
        increase_ps=draw(st.sampled_from([500_000, 3_000_000])),
        increase_bytes=draw(st.sampled_from([0, 5_000, 100_000])),
        stages=draw(st.sampled_from([1, 3])),
        additive_mbps=draw(st.sampled_from([40.0, 1_000.0])),
        hyper_mbps=draw(st.sampled_from([400.0, 5_000.0])),
        least_mbps=draw(st.sampled_from([100.0, 5_000.0])),
        notice_ps=draw(st.sampled_from([0, 2_000_000, 50_000_000])),
    )


@st.composite
def markings(draw: st.DrawFn, size: int) -> Marking:
    """Draw thresholds between nothing and a few packets."""
    least = draw(st.integers(0, 4)) * size
    return Marking(least, least + draw(st.integers(0, 8)) * size, draw(st.sampled_from([0, 50_000, 1_000_000])))


@st.composite
def profiles(draw: st.DrawFn, size: int) -> LaneProfile:
    """Draw how a lane is treated; a buffer of credits has room for a packet at least, else it never moves."""
    control = draw(st.sampled_from(list(FlowControl)))
    is_credit = control is FlowControl.CREDIT
    return LaneProfile(
        control=control,
        is_lossless=draw(st.booleans()),
        cell_bytes=64 if is_credit else draw(st.sampled_from([1, 64, 80, 256])),
        reserve_bytes=draw(st.integers(0, 3)) * size,
        headroom_bytes=draw(st.integers(0, 12)) * size,
        dynamic_th=draw(st.none() | st.integers(-4, 3)),
        static_bytes=draw(st.integers(0, 10)) * size,
        resume_offset_bytes=draw(st.integers(0, 3)) * size,
        buffer_bytes=draw(st.integers(1, 8)) * size,
        window_bytes=draw(st.integers(0, 8)) * size,
        is_strict=draw(st.booleans()),
        weight=draw(st.sampled_from([1, 2, 16, 200])),
        limit_bytes=draw(st.sampled_from([0, 0, 2, 6])) * size,
        obeys=draw(st.sampled_from([True, True, True, False])),
        marking=draw(st.none() | markings(size)),
    )


@st.composite
def safe_profiles(draw: st.DrawFn, size: int, control: FlowControl) -> LaneProfile:
    """Draw a lane that loses nothing: no limit, and headroom for the longest cable at the highest rate."""
    return LaneProfile(
        control=control,
        is_lossless=True,
        cell_bytes=64 if control is FlowControl.CREDIT else draw(st.sampled_from([1, 64, 80, 256])),
        reserve_bytes=draw(st.integers(0, 3)) * size,
        headroom_bytes=200 * size + 400_000,
        dynamic_th=draw(st.none() | st.integers(-8, 0)),
        static_bytes=draw(st.integers(0, 10)) * size,
        resume_offset_bytes=draw(st.integers(0, 3)) * size,
        buffer_bytes=draw(st.integers(1, 8)) * size,
        window_bytes=draw(st.integers(0, 8)) * size,
        is_strict=draw(st.booleans()),
        weight=draw(st.sampled_from([1, 2, 16, 200])),
        marking=draw(st.none() | markings(size)),
    )


def draw_fabric(draw: st.DrawFn, sketch: Sketch, shape: Shape, pool: int | None) -> list[int]:
    """Draw nodes and links, and list the hosts."""
    pools = st.just(pool) if pool is not None else st.sampled_from([0, 3_000, 20_000, 100_000, 1 << 30])
    edges = {"star": 1, "tree": draw(st.integers(2, 3)), "line": draw(st.integers(2, 4)), "ring": 4}[shape]
    per_edge = draw(st.integers(2, 5)) if shape == "star" else draw(st.integers(1, 3))
    cuts = draw(st.booleans())

    def add_switch() -> int:
        return sketch.add_switch(draw(TIMES), draw(pools), cut_through=cuts and draw(st.booleans()))

    def link(a: int, b: int) -> None:
        sketch.link(a, b, draw(RATES), draw(TIMES), draw(st.sampled_from([0, 5_000, 100_000])))

    switches = [add_switch() for _ in range(edges)]
    hosts: list[int] = []
    for switch in switches:
        for _ in range(per_edge):
            hosts.append(sketch.add_host(draw(TIMES), draw(TIMES)))
            link(hosts[-1], switch)
    spines = [add_switch() for _ in range(draw(st.integers(1, 3)))] if shape == "tree" else []
    for spine, switch in product(spines, switches):
        link(switch, spine)
    beside = {"line": switches, "ring": [*switches, switches[0]]}.get(shape, [])
    for a, b in pairwise(beside):
        for _ in range(draw(st.integers(1, 2)) if shape == "line" else 1):
            link(a, b)
    return hosts


def draw_flows(draw: st.DrawFn, sketch: Sketch, hosts: Sequence[int], shape: Shape) -> None:
    """Draw flows over shortest ways, or around a ring; all at once, or such that one waits for another."""
    is_burst = draw(st.booleans())
    pairs = draw_burst(draw, hosts) if is_burst else draw_pairs(draw, hosts)
    changes_lane = draw(st.booleans())
    mtu = sketch.carriage.mtu_bytes
    lanes = st.integers(0, sketch.lanes - 1)
    for flow, (source, target) in enumerate(pairs):
        hops = go_round(sketch, source, target) if shape == "ring" else draw_way(draw, sketch, source, target)
        drawn = st.lists(lanes, min_size=len(hops), max_size=len(hops)).map(tuple)
        packets = st.sampled_from([12, 25, 40]) if is_burst else st.integers(0, 20)
        waits = not is_burst and flow > 0
        sketch.add_flow(
            Flow(
                source,
                target,
                size_bytes=draw(packets) * mtu + draw(st.sampled_from([0, 0, 1, mtu - 1])),
                needs=tuple(sorted(draw(st.sets(st.integers(0, flow - 1), max_size=2)))) if waits else (),
                queue=draw(st.sampled_from([NIL, source])) if waits else NIL,
                earliest_ps=draw(st.sampled_from([0, 0, 1_000_000])) if waits else 0,
                delay_ps=draw(st.sampled_from([0, 0, 1, 250_000, 3_000_000])) if waits else 0,
                lanes=draw(drawn) if changes_lane else None,
                back_lanes=draw(drawn) if changes_lane else None,
                hops=hops,
            )
        )


def draw_burst(draw: st.DrawFn, hosts: Sequence[int]) -> list[tuple[int, int]]:
    """Draw flows from all hosts at once: all to one, or each as far on; perhaps twice."""
    count = len(hosts)
    shift = draw(st.integers(1, count - 1))
    is_incast = draw(st.booleans())
    to_one = [(host, hosts[0]) for host in hosts[1:]]
    onward = [(host, hosts[(at + shift) % count]) for at, host in enumerate(hosts)]
    return (to_one if is_incast else onward) * draw(st.integers(1, 2))


def draw_pairs(draw: st.DrawFn, hosts: Sequence[int]) -> list[tuple[int, int]]:
    """Draw some pairs of different hosts."""
    pairs = st.tuples(st.sampled_from(hosts), st.integers(1, len(hosts) - 1))
    drawn = draw(st.lists(pairs, min_size=1, max_size=10))
    return [(source, hosts[(hosts.index(source) + shift) % len(hosts)]) for source, shift in drawn]


def draw_way(draw: st.DrawFn, sketch: Sketch, source: int, target: int) -> tuple[int, ...]:
    return sketch.route(source, target, lambda ports: draw(st.sampled_from(ports)))


def go_round(sketch: Sketch, source: int, target: int) -> tuple[int, ...]:
    """Go from host to host by the links that the ring was closed with, always onwards."""
    hops = [sketch.list_ports(source)[0]]
    last = sketch.list_ports(target)[0] ^ 1
    while (at := sketch.ends[hops[-1] ^ 1].node) != sketch.ends[last].node:
        # Even is the end at which a link begins, and at switches all but the onward ones end.
        hops.append(next(port for port in sketch.list_ports(at) if port % 2 == 0))
    return (*hops, last)
