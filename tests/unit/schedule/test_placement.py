from __future__ import annotations

import dataclasses

import pytest

from tests.fabrics import make_fabric
from weftline.errors import SpecError
from weftline.kernels.column import NIL
from weftline.schedule import place_ranks


def test_order_goes_by_host_then_rail() -> None:
    fabric = make_fabric(hosts=3, rails=2, ports=16)
    placement = place_ranks(fabric, 5)
    names = [fabric.port_name(int(port)) for port in placement.rank_port[:, 0]]
    assert names == ["host-0001/nic1", "host-0001/nic2", "host-0002/nic1", "host-0002/nic2", "host-0003/nic1"]
    assert placement.rank_host.tolist() == [0, 0, 1, 1, 2]
    assert placement.rank_rail.tolist() == [0, 1, 0, 1, 0]


def test_random_is_a_seeded_shuffle_of_every_nic() -> None:
    fabric = make_fabric(hosts=8, rails=2, ports=16)
    first, again, other = (place_ranks(fabric, None, "random", seed) for seed in (1, 1, 2))
    assert first.rank_port.tobytes() == again.rank_port.tobytes()
    assert first.rank_port.tobytes() != other.rank_port.tobytes()
    assert sorted(first.rank_port.ravel()) == sorted(place_ranks(fabric).rank_port.ravel())
    few = place_ranks(fabric, 4, "random", 1)
    assert few.rank_port.tolist() == first.rank_port[:4].tolist()


def test_a_rank_has_a_port_on_every_plane() -> None:
    fabric = make_fabric(hosts=4, rails=2, planes=2, ports=16)
    placement = place_ranks(fabric, 3)
    names = [[fabric.port_name(int(port)) for port in ports] for ports in placement.rank_port]
    assert names[1] == ["host-0001/nic2p1", "host-0001/nic2p2"]
    assert placement.rank_rail.tolist() == [0, 1, 0]


def test_hosts_can_be_chosen() -> None:
    fabric = make_fabric(hosts=4, rails=2, ports=16)
    assert place_ranks(fabric, hosts=(1, 3)).rank_host.tolist() == [1, 1, 3, 3]


def test_extra_endpoints_and_dark_nics_take_no_rank() -> None:
    fabric = make_fabric(hosts=4, rails=1, ports=16, extras=(("manager", 1, "auto"),))
    peer = fabric.port_peer.copy()
    dark = int(fabric.endpoint_port[1])
    peer[[dark, peer[dark]]] = NIL
    fabric = dataclasses.replace(fabric, port_peer=peer)
    assert place_ranks(fabric).rank_host.tolist() == [0, 2, 3]


@pytest.mark.parametrize("ranks", [0, -1, 9, 10**9])
def test_more_ranks_than_nics_are_refused_with_the_arithmetic(ranks: int) -> None:
    with pytest.raises(SpecError, match="4 hosts have 8 connected NICs") as caught:
        place_ranks(make_fabric(hosts=4, rails=2, ports=16), ranks)
    assert caught.value.code == "spec.too-many-ranks"


def test_no_host_is_refused() -> None:
    with pytest.raises(SpecError) as caught:
        place_ranks(make_fabric(hosts=4, rails=2, ports=16), hosts=())
    assert caught.value.code == "spec.too-many-ranks"


@pytest.mark.parametrize(("order", "seed"), [("sorted", 0), ("random", -1), ("random", 2**32)])
def test_an_unknown_placement_is_refused(order: str, seed: int) -> None:
    with pytest.raises(SpecError) as caught:
        place_ranks(make_fabric(hosts=4), 2, order, seed)  # type: ignore[arg-type]
    assert caught.value.code == "spec.placement"
