from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from weftline.errors import SpecError
from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.route import compute_routes
from weftline.schedule.patterns import StorageLoad, find_victim, incast, pair_flow, shift, spread_ranks, storage
from weftline.schedule.placement import place_ranks
from weftline.simulate import SimOptions, simulate, walk_ports

QUARTER = StorageLoad(load=0.25, read_bytes=1e6, write_bytes=5e5, reads=0.8, for_us=50_000, seed=3)


@pytest.fixture(scope="module")
def tree() -> tuple[Fabric, Routes]:
    """Sixteen hosts behind leaves of four."""
    fabric = make_fabric(hosts=16, rails=1, ports=8)
    return fabric, compute_routes(fabric, "fat-tree", to_switches=False)


def test_an_incast_meets_at_its_receiver_and_is_what_is_published() -> None:
    """Fifteen senders of 4 MiB at 400 Gb/s share one link: 1,258 us."""
    fabric = from_links(1, 16, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    flows = incast(place_ranks(fabric), 15, 4 * 2**20)
    assert set(flows.target.tolist()) == {0}
    assert sorted(flows.source.tolist()) == list(range(1, 16))
    assert simulate(flows, fabric, routes, SimOptions(0.0)).total_us == pytest.approx(1258.3, abs=0.1)


def test_an_incast_that_repeats_waits_for_its_time_and_for_its_own_last_message() -> None:
    fabric = from_links(1, 4, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    flows = incast(place_ranks(fabric), 2, 5e5, receiver=3, repeats=3, every_us=100.0)
    result = simulate(flows, fabric, routes, SimOptions(1.0))
    assert result.start_us.tolist() == [0.0, 0.0, 100.0, 100.0, 200.0, 200.0]
    np.testing.assert_allclose(result.finish_us, [21, 21, 121, 121, 221, 221])
    busy = simulate(incast(place_ranks(fabric), 2, 5e5, 3, 3, 5.0), fabric, routes, SimOptions(1.0))
    np.testing.assert_allclose(busy.start_us, [0, 0, 20, 20, 40, 40])


def test_senders_are_first_nics_of_hosts_before_second_ones() -> None:
    fabric = make_fabric("rail-optimised", hosts=3, rails=4, ports=8)
    spread = spread_ranks(fabric)
    assert spread.rank_rail.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert len(set(spread.rank_host[:3].tolist())) == 3
    assert spread.ranks == place_ranks(fabric).ranks


def test_a_shift_sends_to_each_rank_once(tree: tuple[Fabric, Routes]) -> None:
    flows = shift(place_ranks(tree[0]), 100, 5)
    assert ((flows.target - flows.source) % 16 == 5 % 16).all() or len(set(flows.target.tolist())) == 16
    with pytest.raises(SpecError, match="sends to oneself") as caught:
        shift(place_ranks(tree[0]), 100, 32)
    assert caught.value.code == "spec.load"


@pytest.mark.parametrize(
    ("senders", "receiver", "repeats", "every"), [(0, 0, 1, 0.0), (16, 0, 1, 0.0), (3, 16, 1, 0.0), (3, 0, 0, 0.0),
    (3, 0, 2, -1.0), (3, 0, 2, float("nan")), (3, 0, 2, 1e9)],
)  # fmt: skip
def test_an_incast_out_of_range_is_refused(
    senders: int, receiver: int, repeats: int, every: float, tree: tuple[Fabric, Routes]
) -> None:
    with pytest.raises(SpecError) as caught:
        incast(place_ranks(tree[0]), senders, 1e6, receiver, repeats, every)
    assert caught.value.code == "spec.load"


@pytest.mark.parametrize(("engine", "between_switches"), [("ecmp", True), ("fat-tree", False)])
def test_a_victim_shares_a_link_with_an_incast_but_not_its_receiver(
    engine: str, between_switches: bool, tree: tuple[Fabric, Routes]
) -> None:
    """Tables that go by destination take another spine to each, so that only the sender's own link is shared."""
    fabric = tree[0]
    routes = compute_routes(fabric, engine, to_switches=False)
    options = SimOptions(1.0)

    def walk(source: I32, target: I32) -> tuple[I64, I32]:
        return walk_ports(source, target, fabric, routes, options)

    flows = incast(place_ranks(fabric), 10, 2**20)
    source, target = find_victim(fabric, flows, walk)
    assert target not in flows.target
    leaf = fabric.port_node[fabric.port_peer]
    assert leaf[target] == leaf[flows.target[0]]
    mine = walk(np.array([source], dtype=np.int32), np.array([target], dtype=np.int32))[1]
    theirs = walk(flows.source, flows.target)[1]
    switches = set(fabric.switch_node.tolist())
    shared = set(mine.tolist()) & set(theirs.tolist())
    inner = {port for port in shared if int(fabric.port_node[port]) in switches and int(leaf[port]) in switches}
    assert shared
    assert bool(inner) == between_switches
    alone = simulate(pair_flow(source, target, 2**20), fabric, routes, options).total_us
    assert alone == pytest.approx(2**20 / 50_000 + 1)


def test_nobody_is_left_to_be_a_victim() -> None:
    fabric = from_links(1, 2, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    flows = incast(place_ranks(fabric), 1, 100)  # the only other NIC sends already, and cannot send to itself
    with pytest.raises(SpecError, match="no NIC is left") as caught:
        find_victim(fabric, flows, lambda a, b: walk_ports(a, b, fabric, routes, SimOptions(1.0)))
    assert caught.value.code == "spec.load"


def test_storage_brings_the_load_that_was_asked_for_evenly_in_time_and_place(tree: tuple[Fabric, Routes]) -> None:
    fabric = tree[0]
    ends = fabric.endpoint_port
    servers, clients = ends[:4], ends[4:]
    flows = storage(fabric, servers, clients, QUARTER)
    read = np.isin(flows.source, servers)
    assert (np.isin(flows.target, servers) == ~read).all()
    assert set(flows.size_bytes[read]) == {1e6}
    assert set(flows.size_bytes[~read]) == {5e5}
    out = flows.size_bytes[read].sum() / QUARTER.for_us / (4 * 50_000)
    assert out == pytest.approx(0.25, rel=0.05)
    assert flows.size_bytes[~read].sum() / flows.size_bytes.sum() == pytest.approx(0.2, abs=0.02)
    assert (np.diff(flows.start_us) >= 0).all()
    assert flows.start_us.max() < QUARTER.for_us
    assert (np.bincount(np.digitize(flows.start_us, np.linspace(0, 50_000, 11)))[1:] > flows.count / 15).all()
    assert set(flows.source[read].tolist()) == set(servers.tolist())
    assert set(flows.target[read].tolist()) == set(clients.tolist())
    assert (flows.queue == NIL).all()
    # Gaps of a Poisson process: deviation as large as the mean.
    gap = np.diff(flows.start_us)
    assert gap.std() / gap.mean() == pytest.approx(1.0, abs=0.08)


def test_the_same_seed_gives_the_same_arrivals_and_another_gives_others(tree: tuple[Fabric, Routes]) -> None:
    ends = tree[0].endpoint_port
    first, again = (storage(tree[0], ends[:2], ends[2:], QUARTER) for _ in range(2))
    assert first.start_us.tobytes() == again.start_us.tobytes()
    assert first.source.tobytes() == again.source.tobytes()
    other = storage(tree[0], ends[:2], ends[2:], replace(QUARTER, seed=4))
    assert other.start_us.tobytes() != first.start_us.tobytes()
    only = storage(tree[0], ends[:2], ends[2:], replace(QUARTER, reads=1.0))
    assert np.isin(only.source, ends[:2]).all()


@pytest.mark.parametrize(
    "changed",
    [{"load": 0.0}, {"load": 1.1}, {"load": float("nan")}, {"reads": -0.1}, {"for_us": 0.0}, {"for_us": 2e9},
     {"read_bytes": 0.0}, {"write_bytes": float("nan")}],
)  # fmt: skip
def test_storage_out_of_range_is_refused(changed: dict[str, float], tree: tuple[Fabric, Routes]) -> None:
    ends = tree[0].endpoint_port
    with pytest.raises(SpecError) as caught:
        storage(tree[0], ends[:2], ends[2:], replace(QUARTER, **changed))  # type: ignore[arg-type]
    assert caught.value.code == "spec.load"


def test_storage_without_servers_or_with_too_many_reads_is_refused(tree: tuple[Fabric, Routes]) -> None:
    ends = tree[0].endpoint_port
    with pytest.raises(SpecError, match="no storage") as caught:
        storage(tree[0], ends[:0], ends, QUARTER)
    assert caught.value.code == "spec.load"
    with pytest.raises(SpecError, match="reads and writes") as caught:
        storage(tree[0], ends[:2], ends[2:], replace(QUARTER, read_bytes=1.0))
    assert caught.value.code == "spec.too-many-flows"


def test_storage_on_two_planes_stays_on_a_plane() -> None:
    fabric = make_fabric(hosts=8, rails=1, ports=8, planes=2)
    ends = fabric.endpoint_port
    flows = storage(fabric, ends[:4], ends[4:], QUARTER)
    assert (fabric.port_plane[flows.source] == fabric.port_plane[flows.target]).all()
    assert set(fabric.port_plane[flows.source].tolist()) == {0, 1}
