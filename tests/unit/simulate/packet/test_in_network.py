"""All-reduces in the network, by packets and as fluid: what each host sends, how long it takes, what delays it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import make_fabric
from tests.packets import CREDITED, LOSSY, PAUSED, ROCE, make_flows, make_machine, tell
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.happening import LinkChange
from weftline.model.packet import Carriage, LaneProfile, PacketOptions, PacketResult, Spread
from weftline.model.reduction import ReductionLimits, ReductionPlan
from weftline.model.routes import Routes
from weftline.model.traffic import Collective, Flows, Placement, Via
from weftline.route import compute_routes
from weftline.schedule import expand, expand_reduction, join_flows, place_ranks, plan_trees, reduction_chunks
from weftline.simulate import SimOptions, simulate
from weftline.simulate.packet.run import simulate_packets

MIB = 1 << 20
LINE = 50_000.0
"""Bytes per microsecond of 400 Gb/s."""
FREE = ReductionLimits("part", reduces=True)
BARE = replace(ROCE, overhead_bytes=26, unstored_bytes=0, ack_bytes=30, notice_bytes=30)


def lay(fabric: Fabric, size: int = 8 * MIB, limits: ReductionLimits = FREE) -> tuple[Collective, Flows, ReductionPlan]:
    placement = place_ranks(fabric)
    plan = plan_trees(fabric, placement, (limits,) * 3)
    assert plan.reason is None
    collective = Collective("all-reduce", "in-network", size, placement.ranks)
    return collective, expand_reduction(collective, placement, plan, fabric), plan


def route(fabric: Fabric) -> Routes:
    return compute_routes(fabric, "updown", to_switches=False)


def send(
    flows: Flows, fabric: Fabric, *, profile: LaneProfile = CREDITED, spread: Spread = "hash",
    carriage: Carriage = BARE, faults: tuple[LinkChange, ...] = (), until_us: float | None = None,
) -> PacketResult:  # fmt: skip
    options = PacketOptions(
        spread=spread, inside_host_gbytes_per_s=450.0, until_ps=None if until_us is None else round(until_us * 1e6)
    )
    return simulate_packets(
        flows, fabric, route(fabric), make_machine(fabric, profile, carriage), options, faults=faults
    )  # fmt: skip


@pytest.fixture(scope="module")
def tree() -> Fabric:
    """Sixteen hosts under four leaves and four spines."""
    return make_fabric(hosts=16, ports=8)


def wire(size: int, carriage: Carriage = BARE) -> int:
    return size + -(-size // carriage.mtu_bytes) * carriage.overhead_bytes


def test_each_host_sends_and_gets_the_array_once_where_a_ring_takes_nearly_twice(tree: Fabric) -> None:
    collective, flows, _ = lay(tree)
    result, size = send(flows, tree), collective.size_bytes
    own = tree.endpoint_port[tree.port_peer[tree.endpoint_port] != NIL]
    acks = BARE.ack_bytes * 2 * size // BARE.mtu_bytes
    for ports in (own, tree.port_peer[own]):
        assert (result.port_bytes[ports] >= wire(size)).all()
        assert (result.port_bytes[ports] <= wire(size) + acks).all()
    ring = replace(collective, algorithm="ring")
    around = send(expand(ring, place_ranks(tree)), tree)
    share = around.port_bytes[own].astype(float) / result.port_bytes[own]
    assert share == pytest.approx(2 * 15 / 16, rel=0.01)
    tell("in-network", result.end_ps / 1e6, "us, ring", around.end_ps / 1e6, "us")
    assert result.end_ps < around.end_ps / 1.7


@pytest.mark.parametrize("profile", [CREDITED, PAUSED, LOSSY])
@pytest.mark.parametrize("spread", ["hash", "adaptive", "spray", "flowlet"])
def test_an_idle_fabric_takes_little_more_than_the_array_at_line_rate(
    tree: Fabric, profile: LaneProfile, spread: Spread
) -> None:
    collective, flows, plan = lay(tree)
    result = send(flows, tree, profile=profile, spread=spread)
    assert result.ending == "done"
    assert result.dropped == result.again == 0
    # Three more levels have to get their first chunk, and each of four links takes half a microsecond.
    chunk = float(reduction_chunks(collective, plan, 1).size.max())
    ideal = (wire(collective.size_bytes) + 3 * wire(round(chunk))) / LINE + 4 * 0.5
    assert result.end_ps / 1e6 == pytest.approx(ideal, rel=0.02)
    busbw = collective.bus_bandwidth(result.end_ps / 1e6)
    assert busbw is not None
    assert 0.95 * 2 * 15 / 16 * LINE / 1000 < busbw < 2 * 15 / 16 * LINE / 1000


def test_fluid_and_packets_agree_within_headers(tree: Fabric) -> None:
    _, flows, _ = lay(tree)
    fluid = simulate(flows, tree, route(tree), SimOptions(0.5))
    packets = send(flows, tree)
    assert packets.end_ps / 1e6 == pytest.approx(fluid.total_us, rel=0.02)
    own = tree.endpoint_port[tree.port_peer[tree.endpoint_port] != NIL]
    assert fluid.port_bytes[own].tolist() == [8 * MIB] * 16
    assert fluid.total_us >= 8 * MIB / LINE


@pytest.mark.parametrize("options", [
    {"hosts": 64, "ports": 8, "tiers": 3}, {"hosts": 16, "ports": 8, "planes": 2},
    {"hosts": 8, "rails": 4, "ports": 16},
    {"kind": "rail-only", "hosts": 8, "rails": 4, "ports": 16},
])  # fmt: skip
def test_tiers_planes_and_rails_each_carry_their_share(options: dict[str, object]) -> None:
    fabric = make_fabric(**options)  # type: ignore[arg-type]
    collective, flows, plan = lay(fabric)
    result = send(flows, fabric)
    assert result.ending == "done"
    rails = int(options.get("rails", 1))  # type: ignore[call-overload]
    share = collective.size_bytes // rails // fabric.planes
    members = np.concatenate([tree.member_port for tree in plan.trees])
    assert len(members) == int(options["hosts"]) * rails * fabric.planes  # type: ignore[call-overload]
    uplinks = np.concatenate([tree.up_port[1:] for tree in plan.trees])
    for ports in (members, fabric.port_peer[members], uplinks, fabric.port_peer[uplinks]):
        assert (result.port_bytes[ports] >= wire(share)).all()
        assert (result.port_bytes[ports] <= wire(share) * 1.02).all()
    levels = max(tree.levels for tree in plan.trees)
    chunk = float(reduction_chunks(collective, plan, fabric.planes).size.max())
    inside = 2 * (rails - 1) / rails * collective.size_bytes / 450_000
    ideal = (wire(share) + (2 * levels - 1) * wire(round(chunk))) / LINE + 2 * levels * 0.5 + inside
    assert result.end_ps / 1e6 == pytest.approx(ideal, rel=0.03)


def test_each_chunk_waits_for_all_below_and_comes_back_from_above(tree: Fabric) -> None:
    collective, flows, plan = lay(tree, 256 * 1024)
    result = send(flows, tree)
    one = plan.trees[0]
    chunks = len(reduction_chunks(collective, plan, 1).size)
    sent: dict[int, list[int]] = {}
    for flow in range(flows.count):
        if flows.via[flow] == Via.LINK:
            sent.setdefault(int(flows.source[flow]), []).append(flow)
    assert all(len(own) == chunks for own in sent.values())
    for at in range(1, len(one.switch)):
        below = one.member_port[one.member_parent == at]
        for chunk in range(chunks):
            up = sent[int(one.up_port[at])][chunk]
            assert result.start_ps[up] >= max(result.finish_ps[sent[int(port)][chunk]] for port in below)
            down = sent[int(tree.port_peer[one.up_port[at]])][chunk]
            for port in below:
                assert result.start_ps[sent[int(tree.port_peer[port])][chunk]] >= result.finish_ps[down]
    assert result.finish_ps.min() >= 0


def test_a_small_window_costs_the_time_that_a_sum_is_under_way(tree: Fabric) -> None:
    wide = send(lay(tree)[1], tree).end_ps
    narrow = lay(tree, limits=replace(FREE, window_bytes=64 * 1024))
    result = send(narrow[1], tree)
    assert result.end_ps > 1.2 * wide
    # Never more under way than the window: a member's chunk goes when the one so far before has come back.
    chunks = reduction_chunks(narrow[0], narrow[2], 1)
    assert chunks.window * float(chunks.size.max()) <= 64 * 1024
    port = int(narrow[2].trees[0].member_port[0])
    up = np.flatnonzero((narrow[1].source == port) & (narrow[1].via == Via.LINK))
    down = np.flatnonzero((narrow[1].target == port) & (narrow[1].via == Via.LINK))
    assert (result.start_ps[up[chunks.window :]] >= result.finish_ps[down[: -chunks.window]]).all()


def test_the_time_of_adding_up_is_paid_once_per_switch_and_not_per_chunk(tree: Fabric) -> None:
    plain = send(lay(tree)[1], tree).end_ps
    slow = send(lay(tree, limits=replace(FREE, latency_ns=2_000.0))[1], tree).end_ps
    assert (slow - plain) / 1e6 == pytest.approx(2 * 2.0, rel=0.05)


def test_other_traffic_on_an_uplink_takes_its_half(tree: Fabric) -> None:
    """A flow through a leaf shares the tree's uplink with the sums of that leaf."""
    collective, flows, plan = lay(tree)
    up = int(plan.trees[0].up_port[1])
    routes, alone = route(tree), send(flows, tree).end_ps
    senders, own = place_ranks(tree).rank_port[:4, 0], place_ranks(tree).rank_port[12:, 0]
    pairs = [(int(a), int(b)) for a in senders for b in own]
    other = make_flows(pairs, 4 * MIB)
    both = join_flows([flows, other])
    result = simulate_packets(
        both, tree, routes, make_machine(tree, CREDITED, BARE), PacketOptions(spread="spray"),
    )  # fmt: skip
    assert result.ending == "done"
    reduced = int(result.finish_ps[: flows.count].max())
    assert result.port_bytes[up] > wire(collective.size_bytes)
    tell("alone", alone / 1e6, "us, beside others", reduced / 1e6, "us")
    assert 1.2 * alone < reduced < 6 * alone


def test_same_input_same_picosecond(tree: Fabric) -> None:
    first, second = (send(lay(tree)[1], tree) for _ in range(2))
    assert first.end_ps == second.end_ps
    assert (first.finish_ps == second.finish_ps).all()


def test_a_link_that_fails_stops_the_sum_and_one_that_comes_back_lets_it_go_on(tree: Fabric) -> None:
    _, flows, plan = lay(tree)
    up = int(plan.trees[0].up_port[1])
    carriage = replace(BARE, timeout_ps=50_000_000)
    gone = send(flows, tree, carriage=carriage, faults=(LinkChange(50_000_000, up, is_up=False),), until_us=5_000)
    assert gone.ending != "done"
    faults = (LinkChange(50_000_000, up, is_up=False), LinkChange(150_000_000, up, is_up=True))
    back = send(flows, tree, carriage=carriage, faults=faults)
    assert back.ending == "done"
    assert back.end_ps > send(flows, tree).end_ps + 90_000_000


def test_odd_sizes_arrive_to_the_byte(tree: Fabric) -> None:
    for size in (1, 4095, 4097, 1_000_003):
        collective, flows, plan = lay(tree, size)
        chunks = reduction_chunks(collective, plan, 1)
        assert chunks.size.sum() == size
        assert (chunks.size > 0).all()
        assert send(flows, tree).ending == "done"


def test_placements_of_one_rank_per_host_need_no_network_inside(tree: Fabric) -> None:
    placement: Placement = place_ranks(tree)
    _, flows, _ = lay(tree)
    assert not (flows.via == Via.HOST).any()
    assert set(np.unique(flows.via).tolist()) <= {Via.LINK, Via.WORK}
    assert placement.ranks == 16
