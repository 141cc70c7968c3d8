from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fabrics import make_fabric
from weftline.errors import SpecError
from weftline.model.fabric import Fabric
from weftline.model.traffic import Algorithm, Collective, CollectiveKind, Flows, Placement, Via
from weftline.schedule import ALGORITHMS, expand, place_ranks

PAIRS = [(kind, algorithm) for kind, algorithms in ALGORITHMS.items() for algorithm in algorithms]
REFUSED = [(k, a) for k in get_args(CollectiveKind) for a in get_args(Algorithm) if (k, a) not in PAIRS]


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """Four hosts of four NICs."""
    return make_fabric(hosts=4, rails=4, ports=32)


@pytest.fixture(scope="module")
def two_planes() -> Fabric:
    """Four hosts of four NICs of two ports."""
    return make_fabric(hosts=4, rails=4, ports=32, planes=2)


def needs(flows: Flows, flow: int) -> list[int]:
    """List what a flow needs."""
    return flows.need_flow[flows.need_ptr[flow] : flows.need_ptr[flow + 1]].tolist()


def spread(flows: Flows, placement: Placement, ranks: int) -> list[list[float]]:
    """Send one unit of knowledge per rank along the flows; how much of each rank's each rank has in the end."""
    rank_of = {int(port): rank for rank, ports in enumerate(placement.rank_port) for port in ports}
    known = np.eye(ranks, dtype=bool)
    for flow in range(flows.count):  # every algorithm lists a flow after those that it needs
        known[rank_of[int(flows.target[flow])]] |= known[rank_of[int(flows.source[flow])]]
    return known.tolist()


@pytest.mark.parametrize(("kind", "algorithm"), PAIRS)
@pytest.mark.parametrize("ranks", [2, 8, 16])
@pytest.mark.parametrize("planes", [1, 2])
def test_a_need_arrives_where_the_flow_starts(
    kind: CollectiveKind, algorithm: Algorithm, ranks: int, planes: int, fabric: Fabric, two_planes: Fabric
) -> None:
    placement = place_ranks(fabric if planes == 1 else two_planes, ranks)
    flows = expand(Collective(kind, algorithm, 10**6, ranks), placement)
    rank_of = {int(port): rank for rank, ports in enumerate(placement.rank_port) for port in ports}
    for flow in range(flows.count):
        for need in needs(flows, flow):
            assert need < flow
            assert rank_of[int(flows.target[need])] == rank_of[int(flows.source[flow])]
    assert (flows.source != flows.target).all()
    for queue in np.unique(flows.queue):
        members = flows.queue == queue
        assert len(np.unique(flows.source[members])) == 1
        assert len(np.unique(flows.via[members])) == 1


@pytest.mark.parametrize("algorithm", ["ring", "hierarchical", "tree"])
@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 16])
def test_an_all_reduce_brings_everything_everywhere(algorithm: Algorithm, ranks: int, fabric: Fabric) -> None:
    placement = place_ranks(fabric, ranks)
    flows = expand(Collective("all-reduce", algorithm, 1024, ranks), placement)
    assert np.all(spread(flows, placement, ranks))


@pytest.mark.parametrize("algorithm", ["ring", "hierarchical"])
@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize("ranks", [1, 2, 8, 16])
def test_each_rank_sends_what_the_algorithm_says(
    algorithm: Algorithm, planes: int, ranks: int, fabric: Fabric, two_planes: Fabric
) -> None:
    placement = place_ranks(fabric if planes == 1 else two_planes, ranks)
    size = 1000  # not divisible by the ranks
    for kind, passes in (("all-reduce", 2), ("all-gather", 1), ("reduce-scatter", 1)):
        flows = expand(Collective(kind, algorithm, size, ranks), placement)  # type: ignore[arg-type]
        for ports in placement.rank_port:
            mine = np.isin(flows.source, ports)
            assert flows.size_bytes[mine].sum() == pytest.approx(passes * (ranks - 1) / ranks * size, rel=1e-12)
            theirs = np.isin(flows.target, ports)
            assert flows.size_bytes[theirs].sum() == pytest.approx(passes * (ranks - 1) / ranks * size, rel=1e-12)


def test_a_flat_ring_never_uses_the_network_inside_the_host(fabric: Fabric) -> None:
    flows = expand(Collective("all-reduce", "ring", 160, 16), place_ranks(fabric, 16))
    assert flows.count == 2 * 15 * 16
    assert (flows.via == Via.FABRIC).all()
    assert set(flows.size_bytes) == {10.0}
    assert flows.tag.max() == 29
    assert needs(flows, 16) == [15]
    assert needs(flows, 17) == [0]


def test_a_hierarchical_ring_crosses_hosts_only_on_one_rail(fabric: Fabric) -> None:
    placement = place_ranks(fabric, 16)
    flows = expand(Collective("all-reduce", "hierarchical", 160, 16), placement)
    inside = flows.via == Via.HOST
    host, rail = fabric.port_node, fabric.port_rail
    assert (host[flows.source[inside]] == host[flows.target[inside]]).all()
    assert (host[flows.source[~inside]] != host[flows.target[~inside]]).all()
    assert (rail[flows.source[~inside]] == rail[flows.target[~inside]]).all()
    assert set(flows.size_bytes[inside]) == {40.0}
    assert set(flows.size_bytes[~inside]) == {10.0}
    assert flows.count == 16 * (2 * 3 + 2 * 3)
    assert flows.tag.max() == 11


def test_a_shuffle_of_whole_hosts_is_still_hierarchical_and_a_part_of_them_is_not(fabric: Fabric) -> None:
    whole = place_ranks(fabric, 16, "random", 3)
    flows = expand(Collective("all-reduce", "hierarchical", 160, 16), whole)
    between = flows.via == Via.FABRIC
    assert (fabric.port_rail[flows.source[between]] == fabric.port_rail[flows.target[between]]).all()
    for ranks, order in ((6, "order"), (8, "random")):
        with pytest.raises(SpecError) as caught:
            expand(
                Collective("all-reduce", "hierarchical", 160, ranks),
                place_ranks(fabric, ranks, order, 3),  # type: ignore[arg-type]
            )
        assert caught.value.code == "spec.uneven-hosts"


def test_all_to_all_goes_round_from_each_rank(fabric: Fabric) -> None:
    placement = place_ranks(fabric, 4)
    flows = expand(Collective("all-to-all", "ring", 400, 4), placement)
    ports = placement.rank_port[:, 0].tolist()
    first = flows.source == ports[1]
    assert flows.target[first].tolist() == [ports[2], ports[3], ports[0]]
    assert set(flows.size_bytes) == {100.0}
    assert len(flows.need_flow) == 0


@given(ranks=st.integers(1, 16), seed=st.integers(0, 2**32 - 1))
def test_a_permutation_sends_to_each_rank_once_and_never_home(ranks: int, seed: int, fabric: Fabric) -> None:
    placement = place_ranks(fabric, ranks, "random", seed)
    flows = expand(Collective("permutation", "ring", 4096, ranks), placement)
    assert flows.count == (ranks if ranks > 1 else 0)
    assert len(set(flows.target)) == flows.count
    assert (flows.source != flows.target).all()


def test_a_tree_passes_a_chunk_up_when_both_children_have_sent_it(fabric: Fabric) -> None:
    flows = expand(Collective("all-reduce", "tree", 2**20, 7), place_ranks(fabric, 7))
    assert flows.count == 2 * 6 * 2
    assert set(flows.size_bytes) == {2.0**19}
    assert needs(flows, 5) == [3, 2]  # rank 1 waits for ranks 3 and 4
    assert needs(flows, 6) == [5, 4]  # the root sends to rank 1 when ranks 1 and 2 have sent to it
    assert needs(flows, 8) == [6]  # rank 3 has from rank 1 what rank 1 has from the root
    assert needs(flows, 17) == [15, 14]


@pytest.mark.parametrize(("kind", "algorithm"), PAIRS)
def test_one_rank_sends_nothing(kind: CollectiveKind, algorithm: Algorithm, fabric: Fabric) -> None:
    assert expand(Collective(kind, algorithm, 100, 1), place_ranks(fabric, 1)).count == 0


@pytest.mark.parametrize(("kind", "algorithm"), REFUSED)
def test_what_an_algorithm_does_not_do_is_refused(kind: CollectiveKind, algorithm: Algorithm, fabric: Fabric) -> None:
    with pytest.raises(SpecError, match="is not done by") as caught:
        expand(Collective(kind, algorithm, 100, 4), place_ranks(fabric, 4))
    assert caught.value.code == "spec.collective"
    assert caught.value.hint.startswith("choose ")


@pytest.mark.parametrize(
    "collective",
    [
        Collective("reduce", "ring", 100, 4),  # type: ignore[arg-type]
        Collective("all-reduce", "ring", 0, 4),
        Collective("all-reduce", "ring", 2**60 + 1, 4),
        Collective("all-reduce", "ring", 100, 5),
    ],
)
def test_a_collective_out_of_range_is_refused(collective: Collective, fabric: Fabric) -> None:
    with pytest.raises(SpecError) as caught:
        expand(collective, place_ranks(fabric, 4))
    assert caught.value.code == "spec.collective"


def test_what_does_not_fit_in_memory_is_refused_before_it_is_made() -> None:
    ranks = 8192
    port = np.zeros((ranks, 1), dtype=np.int32)
    placement = Placement(port, port[:, 0].copy(), port[:, 0].copy(), "order", 0)
    with pytest.raises(SpecError, match="134,201,344 messages") as caught:
        expand(Collective("all-reduce", "ring", 2**20, ranks), placement)
    assert caught.value.code == "spec.too-many-flows"


def test_two_planes_halve_each_message_and_need_both_halves(two_planes: Fabric) -> None:
    placement = place_ranks(two_planes, 4)
    flows = expand(Collective("all-reduce", "ring", 400, 4), placement)
    assert flows.count == 2 * 6 * 4
    assert set(flows.size_bytes) == {50.0}
    assert needs(flows, 8) == needs(flows, 9) == [6, 7]
    assert len(set(flows.queue)) == 8
    assert (two_planes.port_plane[flows.source] == two_planes.port_plane[flows.target]).all()
