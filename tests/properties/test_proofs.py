"""Laws of the proofs: a changed table is refuted or still right, what is proved can be checked, names do not matter."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.brute import is_reached
from tests.fabrics import make_fabric
from tests.tables import change_entries, change_member, random_world
from tests.unit.prove.cases import replay
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate, prove
from weftline.route import compute_routes

SEEDS = st.integers(0, 2**32)
WORLDS = (
    ("fat-tree", "fat-tree", True),
    ("fat-tree", "ecmp", False),
    ("rail-only", "fat-tree", False),
    ("rail-optimised", "updown", True),
)


@cache
def proved_world(kind: str, engine: str, to_switches: bool) -> tuple[Fabric, Routes]:
    options = {"hosts": 4, "rails": 2, "ports": 4, "unit_size": 2} if kind != "fat-tree" else {"hosts": 8, "ports": 4}
    fabric = make_fabric(kind, **options)
    return fabric, compute_routes(fabric, engine, to_switches=to_switches)


@pytest.mark.parametrize(("kind", "engine", "to_switches"), WORLDS)
def test_what_the_engines_make_is_proved(kind: str, engine: str, to_switches: bool) -> None:
    fabric, routes = proved_world(kind, engine, to_switches)
    report = prove(fabric, routes, ProofRules(required=("reach", "deadlock")))
    assert report.is_accepted, report.proofs
    assert is_reached(fabric, routes, 5)


@pytest.mark.parametrize(("kind", "engine", "to_switches"), WORLDS)
@settings(max_examples=60)
@given(seed=SEEDS)
def test_one_changed_entry_is_refuted_or_still_right(kind: str, engine: str, to_switches: bool, seed: int) -> None:
    fabric, routes = proved_world(kind, engine, to_switches)
    rng = random.Random(seed)
    rows, ends = routes.group.shape
    if rng.random() < 0.5:
        place = (rng.randrange(rows), rng.randrange(ends))
        changed = change_entries(routes, {place: rng.choice((0, 1, 2, 3, 4, 254, 255))})
    else:
        port = rng.randrange(-1, fabric.port_count + 1)
        changed = change_member(routes, rng.randrange(len(routes.member_port)), port)
    proof = prove(fabric, changed, ProofRules()).proofs[0]
    assert (proof.verdict is Verdict.PROVED) == is_reached(fabric, changed, 5)
    if proof.witness is not None:
        replay(fabric, changed, proof.witness)


@settings(max_examples=200)
@given(SEEDS, st.integers(1, 5))
def test_any_tables_are_judged_as_every_walk_says(seed: int, max_hops: int) -> None:
    fabric, routes = random_world(seed)
    report = prove(fabric, routes, ProofRules(max_hops=max_hops))
    reach = report.proofs[0]
    has_senders = bool((fabric.port_peer[fabric.endpoint_port] != NIL).any())
    assert (reach.verdict is Verdict.PROVED) == (has_senders and is_reached(fabric, routes, max_hops))
    for proof in report.proofs:
        assert check_certificate(fabric, routes, proof) == (proof.verdict is Verdict.PROVED)
        assert (proof.witness is not None) == (proof.verdict is Verdict.REFUTED)
    if reach.witness is not None:
        replay(fabric, routes, reach.witness)


@settings(max_examples=50)
@given(SEEDS)
def test_names_do_not_matter(seed: int) -> None:
    fabric, routes = random_world(seed)
    renamed = replace(fabric, node_name=tuple(f"node-{i}" for i in range(fabric.node_count)))
    again = replace(routes, fabric_digest=renamed.digest)
    one, two = (prove(f, r, ProofRules()) for f, r in ((fabric, routes), (renamed, again)))
    assert [(p.verdict, p.bound) for p in one.proofs] == [(p.verdict, p.bound) for p in two.proofs]


@settings(max_examples=50)
@given(SEEDS)
def test_faster_links_never_raise_the_load(seed: int) -> None:
    fabric, routes = random_world(seed, sane=True)
    between = fabric.switch_row[fabric.port_node] >= 0
    faster = replace(fabric, port_rate_gbps=fabric.port_rate_gbps * (1 + between))
    one = prove(fabric, routes, ProofRules()).proofs[2].bound or 0.0
    two = prove(faster, replace(routes, fabric_digest=faster.digest), ProofRules()).proofs[2].bound or 0.0
    assert two <= one + 1e-9
