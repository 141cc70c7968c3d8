"""Links, switches and receivers that fail while packets are on the way: what is lost, what waits, what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hyp

from tests.fabrics import from_links
from tests.packets import CREDITED, LINK_PS, PAUSED, ROCE, make_flows, make_machine
from weftline.errors import UsageError
from weftline.kernels import packet_state as st
from weftline.kernels.column import NIL
from weftline.kernels.packet_run import DONE, World
from weftline.model.fabric import Fabric, Tier
from weftline.model.happening import (
    BitErrors,
    Happening,
    LinkChange,
    NewRoutes,
    PauseAsked,
    RateChange,
    SwitchChange,
    flap_link,
    order_happenings,
    slow_receiver,
)
from weftline.model.packet import LaneProfile, PacketOptions, PacketResult
from weftline.model.result import SimOptions
from weftline.model.routes import Routes
from weftline.model.traffic import Flows
from weftline.route import compute_routes
from weftline.route.repair import cut_fabric
from weftline.simulate.packet.account import list_packets
from weftline.simulate.packet.faults import apply_happening, check_plant, make_plant
from weftline.simulate.packet.run import run_world, simulate_packets
from weftline.simulate.packet.standstill import IDLE
from weftline.simulate.packet.ways import find_ways
from weftline.simulate.packet.world import lay_world, wire

US = 1_000_000
WIRE_PS = (4096 + 82) * 20
"""A full packet at 400 Gb/s."""
QUICK = replace(ROCE, timeout_ps=30 * US)
SWITCHES = ("leaf-001", "leaf-002", "spine-001", "spine-002")
LINKS = [(leaf, spine) for leaf in range(2) for spine in (2, 3)]
HOSTS = {f"host-{i + 1:04d}": SWITCHES[i // 4] for i in range(8)}
TIERS = {"spine-001": Tier.SPINE, "spine-002": Tier.SPINE}
ROOTS = ("spine-001", "spine-002")
Place = tuple[Fabric, Routes]


@pytest.fixture(scope="module")
def tree() -> Place:
    """Two leaves of four hosts and two spines."""
    fabric = from_links(SWITCHES, HOSTS, LINKS, tiers=TIERS)
    return fabric, compute_routes(fabric, "updown", to_switches=False, roots=ROOTS)


@pytest.fixture(scope="module")
def ecmp(tree: Place) -> Place:
    """The same, with groups of two uplinks."""
    return tree[0], compute_routes(tree[0], "ecmp", to_switches=False)


def uplink(fabric: Fabric, leaf: int, spine: int) -> int:
    """Find the port of a leaf towards a spine."""
    a, b = (fabric.node_name.index(SWITCHES[i]) for i in (leaf, 2 + spine))
    ports = np.flatnonzero((fabric.port_node == a) & (fabric.port_node[fabric.port_peer] == b))
    return int(ports[0])


def reroute(place: Place, dead: list[int], engine: str = "updown") -> Routes:
    cut = cut_fabric(place[0], np.array(dead, dtype=np.int32))
    roots = ROOTS if engine == "updown" else ()
    return compute_routes(cut, engine, to_switches=False, roots=roots)


def send(
    place: Place, flows: Flows, faults: Sequence[Happening], profile: LaneProfile = PAUSED, **more: object
) -> PacketResult:
    carriage = more.pop("carriage", QUICK)
    options = PacketOptions(**more)  # type: ignore[arg-type]
    machine = make_machine(place[0], profile, carriage)  # type: ignore[arg-type]
    return simulate_packets(flows, *place, machine, options, None, faults)


def across(size: float) -> Flows:
    """Each host of the first leaf sends to one of the second."""
    return make_flows([(i, 4 + i) for i in range(4)], size)


def busiest(place: Place, flows: Flows) -> int:
    """Find the uplink of the first leaf that carries most of some flows."""
    sent = send(place, flows, []).port_bytes
    return max((uplink(place[0], 0, spine) for spine in (0, 1)), key=lambda port: int(sent[port]))


@pytest.mark.parametrize("profile", [PAUSED, CREDITED])
def test_flows_over_a_link_that_is_down_wait_for_new_routes(tree: Place, profile: LaneProfile) -> None:
    flows = across(2**20)
    dead = busiest(tree, flows)
    down = LinkChange(20 * US, dead, is_up=False)
    stuck = send(tree, flows, [down], profile)
    assert stuck.ending == "stuck"
    assert (stuck.finish_ps == NIL).any()
    assert stuck.discarded > 0
    assert stuck.loss is None
    again = send(tree, flows, [NewRoutes(100 * US, reroute(tree, [dead])), down], profile)
    assert again.ending == "done"
    late = stuck.finish_ps == NIL
    assert (again.finish_ps[late] > 100 * US).all()
    assert again.again > 0
    assert again.loss is None


def test_packets_on_a_link_that_goes_down_are_lost_and_sent_again(tree: Place) -> None:
    flows = make_flows([(0, 1)], 10 * 4096)
    # Down while the third packet is on the wire, and up before the sender's timeout.
    faults: list[Happening] = [LinkChange(3 * WIRE_PS, 0, is_up=False), LinkChange(5 * US, 0, is_up=True)]
    result = send(tree, flows, faults)
    assert result.ending == "done"
    on_wire = LINK_PS // WIRE_PS + 3
    assert 3 <= result.discarded <= on_wire
    assert result.finish_ps[0] >= QUICK.timeout_ps or result.again > 0


def ring(rounds: int, size: float) -> Flows:
    """A ring over hosts of both leaves in turn: each step waits for what came from before."""
    order = [0, 4, 1, 5, 2, 6, 3, 7]
    ends: list[tuple[int, int]] = []
    needs: list[list[int]] = []
    for turn in range(rounds):
        for at in range(8):
            ends.append((order[at], order[(at + 1) % 8]))
            needs.append([] if turn == 0 else [(turn - 1) * 8 + (at - 1) % 8])
    return make_flows(ends, size, needs)


def test_degraded_is_worse_than_dead(tree: Place) -> None:
    flows = ring(14, 2**18)
    link = busiest(tree, flows)
    whole = send(tree, flows, [])
    slow = send(tree, flows, [RateChange(0, link, 40.0)], carriage=replace(QUICK, timeout_ps=10_000 * US))
    dead = send(tree, flows, [LinkChange(0, link, is_up=False), NewRoutes(0, reroute(tree, [link]))])
    assert whole.end_ps < dead.end_ps < slow.end_ps / 2
    # The ring runs at the pace of the slow link: all that crossed it, in either direction, at a tenth of the rate.
    peer = int(tree[0].port_peer[link])
    pace = max(int(slow.port_bytes[port]) for port in (link, peer)) * 8_000_000 // 40_000
    assert pace <= slow.end_ps <= 1.25 * pace


def test_a_link_that_flaps_delays_and_loses_nothing_for_good(tree: Place) -> None:
    flows = across(2**20)
    link = busiest(tree, flows)
    faults = flap_link(link, 10 * US, 60 * US, 15 * US, 3)
    assert [one.at_ps // US for one in faults] == [10, 25, 70, 85, 130, 145]
    flapping, whole = send(tree, flows, list(faults)), send(tree, flows, [])
    assert flapping.ending == "done"
    assert flapping.end_ps > whole.end_ps + 15 * US
    assert flapping.discarded > 0


@pytest.mark.parametrize("profile", [PAUSED, CREDITED])
@pytest.mark.parametrize("recovery", ["go-back-n", "selective"])
def test_bit_errors_lose_what_they_should(tree: Place, profile: LaneProfile, recovery: str) -> None:
    count = 20_000
    ratio = 1e-7
    carriage = replace(QUICK, recovery=recovery)  # type: ignore[arg-type]
    result = send(tree, make_flows([(0, 1)], count * 4096), [BitErrors(0, 0, ratio)], profile, carriage=carriage)
    assert result.ending == "done"
    chance = 1 - (1 - ratio) ** (8 * (4096 + 82))
    expected = (count + result.again) * chance
    assert abs(result.corrupted - expected) < 5 * expected**0.5
    assert result.dropped == result.discarded == 0
    assert result.again > 0


def test_retry_by_the_link_makes_it_slower_and_loses_nothing(tree: Place) -> None:
    flows = make_flows([(0, 1)], 2000 * 4096)
    result = send(tree, flows, [BitErrors(0, 0, 1e-5, has_retry=True)], CREDITED)
    chance = 1 - (1 - 1e-5) ** (8 * (4096 + 82))
    assert result.corrupted == result.again == 0
    assert result.end_ps == pytest.approx(2000 * WIRE_PS / (1 - chance), rel=0.01)


def test_errors_end_when_the_ratio_is_nothing(tree: Place) -> None:
    faults = [BitErrors(0, 0, 1e-5), BitErrors(0, 0, 0.0)]
    assert send(tree, make_flows([(0, 1)], 2000 * 4096), faults).corrupted == 0


def test_a_slow_receiver_slows_its_neighbour_while_it_lasts(tree: Place) -> None:
    # Host 4 is slow; host 5 shares the way to its leaf with it.
    flows = make_flows([(0, 4), (0, 5)], 2**22)
    pauses = slow_receiver(4, 10 * US, 200 * US, 20 * US, 0.9)
    slow = send(tree, flows, list(pauses), carriage=ROCE)
    whole = send(tree, flows, [], carriage=ROCE)
    assert slow.ending == "done"
    assert slow.loss is None
    assert slow.dropped == 0
    assert slow.finish_ps[1] > whole.finish_ps[1] + 50 * US
    assert slow.end_ps < whole.end_ps + 190 * US
    leaf = int(tree[0].port_peer[4])
    assert slow.lanes.held_ps[leaf, 0] == pytest.approx(0.9 * 190 * US, rel=0.07)
    assert slow.lanes.pauses[4, 0] == len(pauses) // 2
    # The pause spread back to the sender itself.
    assert slow.lanes.held_ps[0, 0] > 0
    # Credits know no pauses.
    assert send(tree, flows, list(pauses), CREDITED).end_ps == send(tree, flows, [], CREDITED).end_ps


def test_an_adapter_that_hangs_stops_what_is_behind_it(tree: Place) -> None:
    hang = slow_receiver(4, 10 * US, 500 * US, 20 * US, 1.0)
    assert len(hang) == 2
    result = send(tree, make_flows([(0, 4)], 2**20), list(hang), carriage=replace(ROCE, timeout_ps=0))
    assert result.ending == "done"
    assert result.finish_ps[0] > 500 * US


@pytest.mark.parametrize(("duty", "period", "end"), [(0.0, 10, 100), (1.1, 10, 100), (0.5, 0, 100), (0.5, 10, 0)])
def test_pauses_that_make_no_sense_are_refused(duty: float, period: int, end: int) -> None:
    with pytest.raises(ValueError, match="no pauses of"):
        slow_receiver(0, 0, end, period, duty)


def test_a_link_that_is_down_for_longer_than_its_period_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be down"):
        flap_link(0, 0, 10, 10, 1)


def test_a_switch_that_is_down_takes_all_its_links(tree: Place) -> None:
    flows = across(2**20)
    spine = tree[0].node_name.index("spine-001")
    ports = np.flatnonzero(tree[0].port_node == spine).tolist()
    down = SwitchChange(10 * US, spine, is_up=False)
    dead = send(tree, flows, [down])
    other = send(tree, flows, [down, NewRoutes(50 * US, reroute(tree, ports))])
    back = send(tree, flows, [down, SwitchChange(60 * US, spine, is_up=True)])
    assert (dead.ending, other.ending, back.ending) == ("stuck", "done", "done")
    assert other.port_bytes[ports].sum() < back.port_bytes[ports].sum()


def test_a_link_of_a_switch_that_comes_back_stays_down_for_its_own_reason(tree: Place) -> None:
    spine = tree[0].node_name.index("spine-001")
    link = uplink(tree[0], 0, 0)
    changes = [
        LinkChange(0, link, is_up=False), SwitchChange(US, spine, is_up=False), SwitchChange(2 * US, spine, is_up=True)
    ]  # fmt: skip
    both = make_flows([(i, (i + 4) % 8) for i in range(8)], 2**20)
    result = send(tree, both, list(changes))
    assert result.port_bytes[link] == 0
    assert result.port_bytes[uplink(tree[0], 1, 0)] > 0


@pytest.mark.parametrize("spread", ["spray", "adaptive", "flowlet"])
@pytest.mark.parametrize("profile", [PAUSED, CREDITED])
def test_switches_that_choose_avoid_a_dead_port(ecmp: Place, spread: str, profile: LaneProfile) -> None:
    fabric = ecmp[0]
    link = uplink(fabric, 0, 0)
    selective = replace(QUICK, recovery="selective")
    faults: list[Happening] = [LinkChange(20 * US, link, is_up=False)]
    result = send(ecmp, across(2**20), faults, profile, carriage=selective, spread=spread)
    whole = send(ecmp, across(2**20), [], profile, carriage=selective, spread=spread)
    assert result.port_bytes[link] < whole.port_bytes[link]
    # Only the answers keep to ways that were fixed; new tables move those too.
    routes = reroute(ecmp, [link], "ecmp")
    faults.append(NewRoutes(40 * US, routes))
    mended = send(ecmp, across(2**20), faults, profile, carriage=selective, spread=spread)
    assert mended.ending == "done"
    assert mended.loss is None


def test_tables_have_one_type_whoever_made_them(ecmp: Place) -> None:
    """Each other type of a column has the loop compiled again, which takes more than a minute."""
    fabric, routes = ecmp
    flows, machine, walk = across(4096.0), make_machine(fabric, PAUSED, QUICK), SimOptions(0.0, None, 0, 64)
    weighted = replace(routes, member_weight=np.full(len(routes.member_port), 2, dtype=np.int32))
    kinds: list[str] = []
    for first in (routes, weighted):
        ways = find_ways(flows, fabric, first, machine.medium, walk)
        world = lay_world(flows, wire(fabric, first), machine, ways, PacketOptions())
        plant = make_plant(world, flows, fabric, machine.medium, walk)
        other = apply_happening(world, plant, NewRoutes(0, routes))
        kinds += [str([(column.dtype, column.flags.writeable) for column in one]) for one in (world, other)]
    assert len(kinds) == 4
    assert len(set(kinds)) == 1


def test_new_routes_of_an_unreachable_receiver_leave_it_stuck(tree: Place) -> None:
    down = LinkChange(10 * US, 4, is_up=False)
    result = send(tree, across(2**20), [down, NewRoutes(20 * US, reroute(tree, [4]))])
    assert result.ending == "stuck"
    assert (result.finish_ps == NIL).tolist() == [True, False, False, False]


def test_until_ends_before_what_would_happen(tree: Place) -> None:
    result = send(tree, across(2**20), [LinkChange(50 * US, 0, is_up=False)], until_ps=20 * US)
    assert result.ending == "until"
    assert result.end_ps == 20 * US
    assert result.discarded == 0


def test_a_flow_that_waits_for_its_time_is_not_stuck(tree: Place) -> None:
    result = send(tree, make_flows([(0, 1), (0, 4)], 4096, start=[0.0, 5000.0]), [])
    assert result.ending == "done"


def is_at_rest(world: World, room: np.ndarray) -> bool:  # type: ignore[type-arg]
    """Tell whether no buffer holds anything and all credit is back or on its way."""
    queued, _ = list_packets(world, world.lane.head)
    groups = world.lane.reserved + world.lane.shared + world.lane.headroom
    return not len(queued) and not groups.any() and not world.node.used.any() and not world.lane.xoff.any()


@hyp.composite
def schedules(draw: hyp.DrawFn, fabric: Fabric) -> list[Happening]:
    """Draw up to eight things that happen within the first 150 us."""
    ports = hyp.integers(0, fabric.port_count - 1)
    times = hyp.integers(0, 150 * US)
    switches = hyp.sampled_from(fabric.switch_node.tolist())
    one = hyp.one_of(
        hyp.builds(LinkChange, times, ports, hyp.booleans()),
        hyp.builds(SwitchChange, times, switches, hyp.booleans()),
        hyp.builds(RateChange, times, ports, hyp.sampled_from([1.0, 40.0, 133.0, 400.0, 800.0])),
        hyp.builds(BitErrors, times, ports, hyp.sampled_from([0.0, 1e-7, 1e-5, 1.0]), hyp.booleans()),
        hyp.builds(PauseAsked, times, hyp.integers(0, 7), hyp.booleans()),
        hyp.builds(NewRoutes, times, hyp.sampled_from(ALTERNATIVES)),
    )
    return draw(hyp.lists(one, max_size=8))


TREE = from_links(SWITCHES, HOSTS, LINKS, tiers=TIERS)
TABLES = compute_routes(TREE, "ecmp", to_switches=False)
ALTERNATIVES = [TABLES, *(reroute((TREE, TABLES), [uplink(TREE, 0, spine)], "ecmp") for spine in (0, 1))]


@settings(max_examples=60, deadline=None)
@given(
    schedules(TREE),
    hyp.sampled_from([PAUSED, CREDITED]),
    hyp.sampled_from(["hash", "spray", "adaptive", "flowlet"]),
    hyp.sampled_from(["go-back-n", "selective"]),
    hyp.lists(hyp.tuples(hyp.integers(0, 7), hyp.integers(0, 7)), min_size=1, max_size=8),
    hyp.integers(0, 5),
)
def test_whatever_happens_it_ends_and_nothing_leaks(
    faults: list[Happening], profile: LaneProfile, spread: str, recovery: str, ends: list[tuple[int, int]], seed: int
) -> None:
    flows = make_flows(ends, 60 * 4096.0)
    small = replace(profile, static_bytes=20_000) if profile is PAUSED else replace(profile, buffer_bytes=16_384)
    carriage = replace(QUICK, recovery=recovery, window_packets=64, reorder_packets=16)  # type: ignore[arg-type]
    machine = make_machine(TREE, small, carriage)
    options = PacketOptions(seed=seed, spread=spread)  # type: ignore[arg-type]
    walk = SimOptions(0.0, None, seed, options.max_hops)
    told: list[tuple[object, ...]] = []
    for _ in range(2):
        ways = find_ways(flows, TREE, TABLES, machine.medium, walk)
        world = lay_world(flows, wire(TREE, TABLES), machine, ways, options)
        plant = make_plant(world, flows, TREE, machine.medium, walk)
        world, status, _ = run_world(world, options, None, plant, order_happenings(faults))
        check_plant(world, plant)
        told.append((status, world.finish.tolist(), int(world.number[st.EVENTS]), world.port.bytes.tolist()))
        assert world.number[st.UNLUCKY] == 0
        # With nothing more to come, what is left of a run that is done comes to rest.
        if status == DONE:
            world.number[st.FLOWS_LEFT] = 1
            world, status, _ = run_world(world, replace(options, samples=0), None, plant, ())
            check_plant(world, plant)
            is_paused = bool(world.port.held.any())
            assert is_paused or status == IDLE or is_at_rest(world, plant.room)
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("happening", "said"),
    [
        (LinkChange(-1, 0, is_up=False), "before the start"),
        (LinkChange(0, -1, is_up=False), "has no link"),
        (RateChange(0, 10_000, 100.0), "has no link"),
        (RateChange(0, 0, 0.0), "is no rate"),
        (RateChange(0, 0, float("nan")), "is no rate"),
        (BitErrors(0, 0, 1.5), "is not from 0 to 1"),
        (SwitchChange(0, 10_000, is_up=False), "is no switch"),
    ],
)
def test_what_cannot_happen_is_refused(tree: Place, happening: Happening, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        send(tree, across(4096), [happening])
    assert caught.value.code == "usage.fault-words"
    assert caught.value.hint


def test_a_host_is_no_switch(tree: Place) -> None:
    host = int(tree[0].port_node[tree[0].endpoint_port[0]])
    with pytest.raises(UsageError, match="is no switch"):
        send(tree, across(4096), [SwitchChange(0, host, is_up=False)])
