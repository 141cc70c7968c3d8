from __future__ import annotations

import numpy as np

from tests.fabrics import make_fabric
from tests.traffics import make_traffic
from weftline.rehearse.crews import Crews, find_leaving, list_sends, skip
from weftline.rehearse.gathering import gather_crews
from weftline.route import compute_routes

FABRIC = make_fabric("rail-optimised", hosts=4, rails=1, ports=8, planes=2)


def gather() -> Crews:
    return gather_crews(FABRIC, compute_routes(FABRIC, "updown", to_switches=True), [make_traffic(FABRIC)])


def leaving(dark: list[tuple[int, int]], part: dict[tuple[int, int], int] | None = None) -> list[int]:
    """Say who leaves where the ports of (rank, plane) are dark, or stand in other parts."""
    crews = gather()
    lit = FABRIC.port_peer >= 0
    parts = FABRIC.port_component.copy()
    for rank, plane in dark:
        lit[crews.port[rank, plane]] = False
    for (rank, plane), value in (part or {}).items():
        parts[crews.port[rank, plane]] = value
    return find_leaving(crews, lit, parts).tolist()


def test_a_rank_with_a_plane_left_stays_and_one_without_leaves() -> None:
    assert leaving([(1, 0)]) == []
    assert leaving([(1, 0), (1, 1)]) == [1]


def test_two_neighbours_without_a_common_plane_cannot_both_stay() -> None:
    assert len(leaving([(1, 0), (2, 1)])) == 1


def test_of_a_ring_that_falls_apart_the_larger_part_stays() -> None:
    assert leaving([], {(3, plane): 90 + plane for plane in range(2)}) == [3]
    assert leaving([], {(rank, plane): 90 + plane for rank in (2, 3) for plane in range(2)}) == [2, 3]


def test_what_a_pair_sends_goes_over_the_planes_that_both_have() -> None:
    crews = gather()
    lit = FABRIC.port_peer >= 0
    whole = list_sends(crews, lit, FABRIC.port_component)
    assert len(whole.rank) == 8
    lit[crews.port[1, 0]] = False
    part = list_sends(crews, lit, FABRIC.port_component)
    assert len(part.rank) == 6
    assert sorted(set((part.rate / whole.rate[0]).tolist())) == [1.0, 2.0]
    out = list_sends(skip(crews, np.array([1], dtype=np.int32)), FABRIC.port_peer >= 0, FABRIC.port_component)
    assert sorted(set(out.rank.tolist())) == [0, 2, 3]
