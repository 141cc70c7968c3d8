"""Service levels of single paths: endpoints of one switch may have different ones, and each path holds its own lane."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.tables import clockwise_routes, ring
from weftline.adopt import place_levels
from weftline.errors import ArtifactError
from weftline.kernels.column import NIL
from weftline.model.proof import ProofRules, Verdict
from weftline.prove import check_certificate, prove
from weftline.prove.steps import gather_walkers
from weftline.prove.tables import read_tables
from weftline.technologies.infiniband.addresses import number

IDENTITY = tuple(range(8))
RULES = ProofRules(required=("deadlock",), max_hops=8, all_shifts_up_to=1, sample_shifts=1)
FABRIC = ring(5, 2)
ADDRESSES = number(FABRIC)
ROUTES = clockwise_routes(FABRIC, 5, ties="clockwise")
LIDS = ADDRESSES.port_address[FABRIC.endpoint_port].tolist()
HOME = FABRIC.switch_row[FABRIC.port_node[FABRIC.port_peer[FABRIC.endpoint_port]]].tolist()


def list_paths(cut: int, lift: int = 1) -> list[tuple[int, int, int]]:
    """List every path; those that pass the link before switch ``cut`` have a level of their own."""

    def passes(source: int, goal: int) -> bool:
        ahead = (HOME[goal] - HOME[source]) % 5
        steps = [(HOME[source] + at) % 5 for at in range(1, ahead + 1)] if ahead <= 2 else []
        back = [(HOME[source] - at) % 5 for at in range(5 - ahead)] if ahead > 2 else []
        return cut in steps or cut in back

    pairs = itertools.permutations(range(len(LIDS)), 2)
    return [(LIDS[a], LIDS[b], lift if passes(a, b) else 0) for a, b in pairs]


def verdict(paths: list[tuple[int, int, int]], lanes: tuple[int, ...] = IDENTITY) -> Verdict:
    laned = place_levels(paths, lanes, FABRIC, ADDRESSES, ROUTES)
    (proof,) = [one for one in prove(FABRIC, laned, RULES).proofs if one.claim == "deadlock"]
    assert check_certificate(FABRIC, laned, proof) == (proof.verdict is Verdict.PROVED)
    return proof.verdict


def test_paths_over_one_link_on_a_lane_of_their_own_break_the_ring() -> None:
    assert verdict(list_paths(0)) is Verdict.PROVED
    assert verdict(list_paths(0, lift=0)) is Verdict.REFUTED
    # two levels on one lane are one lane
    assert verdict(list_paths(0), (3, 3)) is Verdict.REFUTED


def test_each_level_of_the_endpoints_of_a_switch_counts() -> None:
    """One neighbour is enough to close the ring: all paths of the first endpoint of each switch stay on level 0."""
    firsts = {LIDS[HOME.index(row)] for row in range(5)}
    paths = [(a, b, 0 if a in firsts else level) for a, b, level in list_paths(0)]
    assert verdict(paths) is Verdict.REFUTED
    laned = place_levels(paths, IDENTITY, FABRIC, ADDRESSES, ROUTES)
    assert laned.steps is not None
    walkers = gather_walkers(FABRIC, laned, read_tables(FABRIC, laned), laned.steps)
    for row, goal in np.ndindex(*walkers.mask.shape):
        wanted = {level for a, b, level in paths if HOME[LIDS.index(a)] == row and b == LIDS[goal]} or {0}
        assert int(walkers.mask[row, goal]) == sum(1 << level for level in wanted)
    assert laned.digest != place_levels(list_paths(0), IDENTITY, FABRIC, ADDRESSES, ROUTES).digest


@pytest.mark.parametrize(
    ("paths", "lanes"),
    [
        ([(LIDS[0], LIDS[1], 8)], IDENTITY),
        ([(LIDS[0], LIDS[1], -1)], IDENTITY),
        ([(LIDS[0], 0, 0)], IDENTITY),
        ([(40_000, LIDS[1], 0)], IDENTITY),
        ([(-1, LIDS[1], 0)], IDENTITY),
        ([(int(ADDRESSES.node_address[FABRIC.switch_node[0]]), LIDS[1], 0)], IDENTITY),
        ([], (15,)),
        ([], (-1,)),
        ([], (*range(14), 0, 0, 0)),
    ],
)
def test_what_does_not_fit_is_refused(paths: list[tuple[int, int, int]], lanes: tuple[int, ...]) -> None:
    with pytest.raises(ArtifactError) as caught:
        place_levels(paths, lanes, FABRIC, ADDRESSES, ROUTES)
    assert caught.value.code == "artifact.levels"


def test_tables_with_classes_that_are_not_there_are_refused() -> None:
    laned = place_levels(list_paths(0), (0, 1), FABRIC, ADDRESSES, ROUTES)
    lanes, steps = laned.lanes, laned.steps
    assert lanes is not None
    assert steps is not None
    assert steps.more is not None
    short = replace(steps, lane=np.array(steps.lane[:2]), more=np.where(steps.more > 0, 4, 0).astype(np.uint16))
    narrow = replace(steps, more=np.array(steps.more[:, 1:]))
    for wrong in (short, narrow):
        with pytest.raises(ArtifactError):
            prove(FABRIC, replace(laned, lanes=replace(lanes, steps=wrong)), RULES)
    assert NIL not in steps.path_class
