"""What packets must reproduce: closed forms, permutations over seeds, spraying, incast, credits, sick links."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.packets import CREDITED, LINK_PS, PAUSED, ROCE, make_flows, make_machine, tell
from tests.s400 import BYTE_PS, FULL, IDEAL_PS, LOSSLESS, MESSAGE, make_load, make_tree, permute, selective
from tests.tables import cut
from weftline.model.fabric import Fabric, Tier
from weftline.model.packet import Carriage, LaneProfile, PacketOptions, PacketResult
from weftline.model.result import SimOptions
from weftline.model.routes import Routes
from weftline.model.traffic import Collective, Flows
from weftline.route import compute_routes
from weftline.simulate import simulate
from weftline.simulate.packet.run import simulate_packets

MTU = 4096
WIRE_PS = FULL * BYTE_PS
OPTIONS = PacketOptions(samples=0)
CONTROLS = pytest.mark.parametrize("profile", [PAUSED, CREDITED], ids=["pause", "credit"])
INFINIBAND = replace(ROCE, overhead_bytes=26, unstored_bytes=0, ack_bytes=30, notice_bytes=30)


def make_line(switches: int, hosts: int = 1) -> tuple[Fabric, Routes]:
    """Make switches in a row."""
    fabric = from_links(switches, hosts, [(i, i + 1) for i in range(switches - 1)])
    return fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))


def make_star(hosts: int) -> tuple[Fabric, Routes]:
    """Make hosts on one switch."""
    return make_line(1, hosts)


@CONTROLS
@pytest.mark.parametrize("is_through", [False, True], ids=["stored", "cut-through"])
@pytest.mark.parametrize("switches", [1, 2, 5])
@pytest.mark.parametrize("size", [1, 4096, 4097, 100_000, 2**20])
def test_a_message_alone_takes_its_closed_form(
    size: int, switches: int, is_through: bool, profile: LaneProfile
) -> None:
    fabric, routes = make_line(switches, 2)
    nodes = len(fabric.switch_row)
    is_switch = fabric.switch_row >= 0
    machine = make_machine(
        fabric, profile, is_cut_through=np.full(nodes, int(is_through)),
        latency_ps=np.where(is_switch, 300_000, 700_000), receive_ps=np.where(is_switch, 0, 600_000),
    )  # fmt: skip
    flows = make_flows([(0, 2 * switches - 1)], size)
    result = simulate_packets(flows, fabric, routes, machine, OPTIONS)
    count = -(-size // MTU)
    last = (size - (count - 1) * MTU + 82) * BYTE_PS
    fixed = (switches + 1) * LINK_PS + switches * 300_000 + 700_000 + 600_000
    # A switch that stores adds a packet's time: a full one's where the last has full ones before it.
    each = 0 if is_through else (WIRE_PS if count > 1 else last)
    assert result.finish_ps.tolist() == [fixed + (count - 1) * WIRE_PS + last + switches * each]


@pytest.mark.parametrize(("ports", "low", "high"), [(4, 1.9, 3.2), (8, 4.0, 6.0)])
def test_permutations_by_flow_hash_are_as_slow_as_published(ports: int, low: float, high: float) -> None:
    """1,024 hosts stand in ``benchmarks/packet.py``."""
    last = sorted(float(permute(ports, seed, OPTIONS).finish_ps.max()) / IDEAL_PS for seed in range(16))
    tell(" ".join(f"{one:.2f}" for one in last))
    assert low <= statistics.median(last) <= high


@pytest.mark.parametrize(("ports", "seeds"), [(4, 16), (8, 3)])
def test_spraying_comes_near_the_ideal_where_receivers_take_any_order(ports: int, seeds: int) -> None:
    machine = selective(make_tree(ports)[0])
    options = replace(OPTIONS, spread="spray")
    last = [float(permute(ports, seed, options, machine).finish_ps.max()) / IDEAL_PS for seed in range(seeds)]
    tell(" ".join(f"{one:.3f}" for one in last))
    assert min(last) >= 0.95  # the way of a flow may be shorter than that of the ideal
    assert max(last) <= 1.25


@pytest.mark.parametrize("ports", [4, 8])
def test_choosing_by_queues_is_between_a_hash_and_turns(ports: int) -> None:
    """A switch sees its own queues, and not those behind the next switch."""
    machine = selective(make_tree(ports)[0])
    last = {
        spread: statistics.median(
            permute(ports, seed, replace(OPTIONS, spread=spread), machine).finish_ps.max() / IDEAL_PS
            for seed in range(5)
        )
        for spread in ("hash", "adaptive", "spray")
    }
    tell(last)
    assert last["spray"] <= last["adaptive"] <= 0.75 * last["hash"]


@pytest.mark.parametrize(("ports", "seeds"), [(4, 8), (8, 3)])
def test_spraying_collapses_where_receivers_go_back(ports: int, seeds: int) -> None:
    options = replace(OPTIONS, spread="spray", until_ps=10 * IDEAL_PS)
    for seed in range(seeds):
        result = permute(ports, seed, options)
        assert result.ending == "until"
        assert result.again > 10 * MESSAGE // MTU


@CONTROLS
def test_an_incast_across_a_tree_keeps_its_receiver_busy(profile: LaneProfile) -> None:
    fabric, routes = make_tree(4)
    hosts = fabric.endpoint_port.tolist()
    flows = make_flows([(host, hosts[15]) for host in hosts[:15]], MESSAGE)
    result = simulate_packets(flows, fabric, routes, make_machine(fabric, profile), OPTIONS)
    last = int(result.finish_ps.max())
    assert result.loss is None
    assert result.dropped == result.discarded == result.again == 0
    assert 15 * MESSAGE * BYTE_PS / last >= 0.97
    assert 15 * MESSAGE // MTU * FULL * BYTE_PS / last >= 0.99


@pytest.mark.parametrize(("window", "buffer"), [(131_072, 131_072), (131_072, 65_536), (65_536, 1 << 20)])
@pytest.mark.parametrize("metres", [50, 500, 2000])
def test_a_long_cable_carries_a_window_each_time_there_and_back(metres: int, window: int, buffer: int) -> None:
    fabric, routes = make_line(2)
    is_switch = fabric.switch_row[fabric.port_node] >= 0
    trunk = np.flatnonzero(is_switch & is_switch[fabric.port_peer])
    propagation = np.full(fabric.port_count, 10_000)
    propagation[trunk] = round(metres / 198e6 * 1e12)
    profile = replace(CREDITED, window_bytes=window, buffer_bytes=buffer)
    machine = make_machine(fabric, profile, INFINIBAND, propagation_ps=propagation)
    size = 32 * 2**20
    result = simulate_packets(make_flows([(0, 1)], size), fabric, routes, machine, OPTIONS)
    wire = MTU + 26
    packets = min(window, buffer) // 64 // -(-wire // 64)
    back = 2 * int(propagation[trunk[0]]) + 2 * wire * BYTE_PS
    rate = min(1 / (wire * BYTE_PS), packets / back)
    assert result.finish_ps[0] == pytest.approx(size / MTU / rate, rel=0.01)
    starved = packets * wire * BYTE_PS < back
    assert (result.lanes.starved_ps[trunk].sum() > 0) == starved


def ring_of(ranks: int, size: int) -> Collective:
    return Collective("all-reduce", "ring", size, ranks)


def in_fluid(flows: Flows, fabric: Fabric, routes: Routes, latency_us: float) -> float:
    """Take the fluid's time with the wire's bytes for the payload's, in picoseconds."""
    more = replace(flows, size_bytes=flows.size_bytes * FULL / MTU)
    return simulate(more, fabric, routes, SimOptions(latency_us)).total_us * 1e6


STAR_US = (2 * LINK_PS + WIRE_PS) / 1e6


@CONTROLS
@pytest.mark.parametrize(
    "load",
    [
        ring_of(16, 16 * 2**20),
        Collective("all-to-all", "ring", 16 * 2**20, 16),
        Collective("permutation", "ring", 2**22, 16),
    ],
    ids=["ring", "all-to-all", "permutation"],
)
def test_packets_and_the_fluid_agree_on_a_star(load: Collective, profile: LaneProfile) -> None:
    fabric, routes = make_star(16)
    flows = make_load(fabric, load, 16)
    result = simulate_packets(flows, fabric, routes, make_machine(fabric, profile), OPTIONS)
    assert result.finish_ps.max() == pytest.approx(in_fluid(flows, fabric, routes, STAR_US), rel=0.05)


@CONTROLS
def test_packets_and_the_fluid_agree_on_an_incast(profile: LaneProfile) -> None:
    fabric, routes = make_star(16)
    flows = make_flows([(host, 15) for host in range(15)], MESSAGE)
    result = simulate_packets(flows, fabric, routes, make_machine(fabric, profile), OPTIONS)
    assert result.finish_ps.max() == pytest.approx(in_fluid(flows, fabric, routes, STAR_US), rel=0.05)


def test_a_ring_runs_at_the_pace_of_its_sick_link() -> None:
    fabric, routes = make_star(8)
    size = 16 * 2**20
    flows = make_load(fabric, ring_of(8, size), 8)
    rate = np.full(fabric.port_count, 400_000)
    rate[[3, int(fabric.port_peer[3])]] = 100_000
    sick = simulate_packets(flows, fabric, routes, make_machine(fabric, rate_mbps=rate), OPTIONS)
    packets = 14 * size // 8 // MTU
    assert sick.finish_ps.max() == pytest.approx(packets * WIRE_PS * 4, rel=0.05)
    slow = replace(fabric, port_rate_gbps=rate / 1000)
    slowly = compute_routes(slow, "updown", to_switches=False, roots=("leaf-001",))
    assert sick.finish_ps.max() == pytest.approx(in_fluid(flows, slow, slowly, STAR_US), rel=0.05)
    healthy = simulate_packets(flows, fabric, routes, make_machine(fabric), OPTIONS)
    assert 3.6 <= sick.finish_ps.max() / healthy.finish_ps.max() <= 4.0


def without_uplinks(down: int) -> Fabric:
    """Make four leaves with four hosts and four uplinks each, some of the first leaf's dark."""
    fabric = make_fabric("fat-tree", hosts=16, ports=8, tiers=2, technology="roce")
    leaf = int(fabric.port_node[fabric.port_peer[fabric.endpoint_port[0]]])
    ports = range(int(fabric.port_ptr[leaf]), int(fabric.port_ptr[leaf + 1]))
    tiers = fabric.node_tier[fabric.port_node[fabric.port_peer]]
    up = [port for port in ports if fabric.port_peer[port] >= 0 and tiers[port] == Tier.SPINE]
    assert len(up) == 4
    return cut(fabric, up[:down])


def send_across(down: int, engine: str, options: PacketOptions, carriage: Carriage) -> PacketResult:
    """Send from each host of the first leaf to one of the second."""
    fabric = without_uplinks(down)
    routes = compute_routes(fabric, engine, to_switches=False)
    hosts = fabric.endpoint_port.tolist()
    # Long enough that the last packets, which queue behind each other at places drawn by chance, weigh little.
    flows = make_flows([(hosts[turn], hosts[4 + turn]) for turn in range(4)], 8 * MESSAGE)
    return simulate_packets(flows, fabric, routes, make_machine(fabric, LOSSLESS, carriage), options)


SELECTIVE = replace(ROCE, recovery="selective", window_packets=4096, reorder_packets=2048)


@pytest.mark.parametrize("spread", ["spray", "adaptive"])
def test_throughput_falls_with_the_uplinks_where_packets_use_them_all(spread: str) -> None:
    options = replace(OPTIONS, spread=spread)  # type: ignore[arg-type]
    whole = send_across(0, "ecmp", options, SELECTIVE).finish_ps.max()
    for down in (1, 2):
        time = send_across(down, "ecmp", options, SELECTIVE).finish_ps.max()
        assert time / whole == pytest.approx(4 / (4 - down), rel=0.05)


def test_a_fixed_table_halves_the_flows_of_the_doubled_uplink() -> None:
    whole = send_across(0, "updown", OPTIONS, ROCE).finish_ps
    times = send_across(1, "updown", OPTIONS, ROCE).finish_ps
    assert whole.max() / whole.min() < 1.01
    ratio = sorted((times / whole.max()).tolist())
    tell(ratio)
    assert ratio == pytest.approx([1, 1, 2, 2], rel=0.05)


def go_round_leaves(down: int, spread: str, carriage: Carriage) -> int:
    """Run a ring all-gather whose every hop crosses to the next leaf."""
    fabric = without_uplinks(down)
    routes = compute_routes(fabric, "updown" if spread == "hash" else "ecmp", to_switches=False)
    hosts = fabric.endpoint_port.tolist()
    order = [hosts[4 * leaf + turn] for turn in range(4) for leaf in range(4)]
    steps = 15
    ends = [(order[at], order[(at + 1) % 16]) for _ in range(steps) for at in range(16)]
    needs = [[] if step == 0 else [16 * (step - 1) + (at - 1) % 16] for step in range(steps) for at in range(16)]
    flows = make_flows(ends, 2**20, needs)
    options = replace(OPTIONS, spread=spread)  # type: ignore[arg-type]
    machine = make_machine(fabric, LOSSLESS, carriage)
    return int(simulate_packets(flows, fabric, routes, machine, options).finish_ps.max())


def test_the_doubled_uplink_gates_a_ring_under_fixed_tables() -> None:
    """With one uplink of four dark two flows share one, and the ring waits for them; adaptive shares it among four."""
    whole = go_round_leaves(0, "hash", ROCE)
    ideal = 15 * 2**20 // MTU * WIRE_PS
    assert whole == pytest.approx(ideal, rel=0.15)
    gated = go_round_leaves(1, "hash", ROCE) / whole
    shared = go_round_leaves(1, "adaptive", SELECTIVE) / whole
    tell(f"fixed {gated:.2f} times as long, adaptive {shared:.2f}")
    assert gated == pytest.approx(2, rel=0.1)
    assert 1.1 <= shared <= 1.5


NICS = 8
"""Of a node, each of which is a host of its own here; the second node's come after the first's."""


def between_nodes(sent: dict[int, float]) -> int:
    """Send from NICs of one node to the same of another, and back, on one switch; return when all has arrived."""
    fabric, routes = make_star(2 * NICS)
    there = [(nic, NICS + nic) for nic in sent]
    flows = make_flows(there + [(b, a) for a, b in there], [*sent.values()] * 2)
    return int(simulate_packets(flows, fabric, routes, make_machine(fabric), OPTIONS).finish_ps.max())


def test_a_node_without_one_nic_of_eight_has_an_eighth_less() -> None:
    size = 7 * 2**20
    whole = between_nodes(dict.fromkeys(range(NICS), float(size)))
    left = between_nodes(dict.fromkeys(range(NICS - 1), size * NICS / (NICS - 1)))
    assert whole / left == pytest.approx(1 - 0.125, abs=0.005)


def test_a_ring_that_shares_the_nic_of_another_runs_at_half() -> None:
    """Each NIC has a ring of two nodes; that of the lost one goes over its neighbour's."""
    size = 4 * 2**20
    whole = between_nodes(dict.fromkeys(range(NICS), float(size)))
    fabric, routes = make_star(2 * NICS)
    nics = [*range(NICS - 1), NICS - 2]
    pairs = [(nic, NICS + nic) for nic in nics]
    flows = make_flows(pairs + [(b, a) for a, b in pairs], size)
    times = simulate_packets(flows, fabric, routes, make_machine(fabric), OPTIONS).finish_ps[:NICS] / whole
    assert times[:-2].max() == pytest.approx(1, rel=0.01)
    assert times[-2:].max() == pytest.approx(2, rel=0.05)
    assert times[-2:].min() > 1.8
