"""Laws of proofs after a change: verdicts, distances and counts are those from scratch, and certificates hold."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import make_fabric
from tests.properties.test_repair import draw_lost, stand, trees
from tests.properties.test_routes import graphs
from tests.tables import random_world
from weftline.kernels.column import I32
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate
from weftline.prove.incremental import Changed, Judged, judge_routes, prove_change
from weftline.route.repair import repair_routes

RULES = ProofRules(max_hops=60)


def check_equal(changed: Judged, scratch: Judged) -> None:
    """Hold a proof after a change against the proof from scratch."""
    assert [proof.verdict for proof in changed.proofs] == [proof.verdict for proof in scratch.proofs]
    assert np.array_equal(changed.distance, scratch.distance)
    assert np.array_equal(changed.counts, scratch.counts)
    assert np.array_equal(changed.rows, scratch.rows)
    assert changed.routes.digest == replace(changed.routes).digest
    reach, other = changed.proofs[0], scratch.proofs[0]
    assert (reach.bound, reach.statement, reach.detail) == (other.bound, other.statement, other.detail)
    assert (reach.witness is None) == (other.witness is None)
    for proof in changed.proofs:
        is_proved = proof.verdict is Verdict.PROVED
        assert check_certificate(changed.fabric, changed.routes, proof) == is_proved


@settings(max_examples=40, deadline=None)
@given(st.one_of(graphs(), trees), st.data())
def test_lost_links_are_proved_as_from_scratch_one_after_another(fabric: Fabric, data: st.DataObject) -> None:
    standing = replace(stand(fabric), is_quick=True)
    declared = judge_routes(fabric, standing.routes, RULES)
    for _ in range(2):
        repair = repair_routes(standing, draw_lost(data, fabric))
        changed = Changed(repair.changed_row, repair.changed_goal)
        check_equal(
            prove_change(declared, repair.fabric, repair.routes, changed),
            judge_routes(repair.fabric, repair.routes, RULES),
        )


def break_entries(routes: Routes, picks: random.Random) -> tuple[Routes, Changed]:
    """Put other entries of the same row, or none, into some places."""
    group = routes.group.copy()
    rows, goals = group.shape
    cells = sorted({(picks.randrange(goals), picks.randrange(rows)) for _ in range(picks.randrange(1, 5))})
    for goal, row in cells:
        group[row, goal] = group[row, picks.randrange(goals)] if picks.randrange(4) else 255
    columns: list[I32] = [np.array([cell[end] for cell in cells], dtype=np.int32) for end in (1, 0)]
    return replace(routes, group=group), Changed(*columns)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_wrong_entries_are_found_as_from_scratch(seed: int) -> None:
    fabric, routes = random_world(seed)
    if not routes.group.size:
        return
    picks = random.Random(seed)
    judged = judge_routes(fabric, routes, RULES)
    for _ in range(2):
        routes, changed = break_entries(routes, picks)
        judged = prove_change(judged, fabric, routes, changed)
        check_equal(judged, judge_routes(fabric, routes, RULES))


def test_ranks_of_a_full_tree_do_for_one_lost_link() -> None:
    fabric = make_fabric("fat-tree", hosts=128, ports=8, tiers=3)
    standing = replace(stand(fabric, "fat-tree"), is_quick=True)
    declared = judge_routes(fabric, standing.routes, RULES)
    up = next(p for p in range(fabric.port_count) if fabric.link_name(p).startswith("leaf-003/8~spine-"))
    repair = repair_routes(standing, np.array([up], dtype=np.int32))
    judged = prove_change(declared, repair.fabric, repair.routes, Changed(repair.changed_row, repair.changed_goal))
    assert [proof.verdict for proof in judged.proofs] == [Verdict.PROVED, Verdict.PROVED]
    assert not judged.has_new_ranks
    assert judged.measured < len(repair.touched) < declared.measured
