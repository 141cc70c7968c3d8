"""Laws of stages where packets change lanes on their way, held against every mixture of tables, classes and maps."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.mixtures import (
    find_classes,
    find_lane,
    follow_maps,
    interleave,
    is_safe,
    list_cells,
    list_packets,
    list_pieces,
    mix_maps,
)
from tests.tables import minimal_routes, ports_of, random_world
from weftline.compile.direct import build_dragonfly
from weftline.enact import Ordering, order_change
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes, LaneSteps
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.prove.stage import Ground, prove_stage
from weftline.prove.steps import mark_classes
from weftline.prove.unite import unite_tables
from weftline.route import compute_routes

MOST_PIECES = 6
SEEDS = st.integers(0, 2**32)


def give_steps(fabric: Fabric, routes: Routes, rng: random.Random) -> Routes:
    """Give tables lanes of one kind or the other at random: one, kept, or changed on the way."""
    goals, rows = len(routes.destination_port), len(fabric.switch_node)
    lanes = rng.randint(1, 3)
    answers = rng.random() < 0.4
    if rng.random() < 0.3:
        own = np.array([rng.randrange(lanes) for _ in range(goals)], dtype=np.int8)
        return replace(routes, lanes=Lanes(lanes, own, with_answers=answers))
    classes, kinds = rng.randint(1, 2), rng.randint(1, 3)
    wide = rows if rng.random() < 0.5 else 1
    steps = LaneSteps(
        path_class=np.array([rng.randrange(classes) for _ in range(wide * goals)], dtype=np.int8).reshape(wide, goals),
        port_class=np.array([rng.randrange(kinds) for _ in range(fabric.port_count)], dtype=np.int8),
        lane=np.array([rng.randrange(lanes) for _ in range(classes * kinds**2)], dtype=np.int8).reshape(
            classes, kinds, kinds
        ),
        more=np.array([[rng.randrange(1 << classes) for _ in range(goals)] for _ in range(rows)], dtype=np.uint16)
        .reshape(rows, goals) if rng.random() < 0.3 else None,
    )  # fmt: skip
    return replace(routes, lanes=Lanes(lanes, np.zeros(goals, dtype=np.int8), with_answers=answers, steps=steps))


def two_worlds(seed: int) -> tuple[Fabric, Routes, Routes]:
    """Make a small fabric and two tables of it, with lanes of their own, or the same where that is drawn."""
    fabric, old = random_world(seed, sane=True)
    rng = random.Random(seed + 7)
    to_switches = bool(np.any(old.destination_port == -1))
    new = minimal_routes(fabric, tie=lambda _r, _d, ports: [rng.choice(list(ports))], to_switches=to_switches)
    first, last = give_steps(fabric, old, rng), give_steps(fabric, new, rng)
    if rng.random() < 0.3:
        last = replace(new, lanes=first.lanes)
    assume(first.steps is not None or last.steps is not None)
    return fabric, first, last


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(SEEDS, st.booleans())
def test_a_stage_is_proved_where_every_mixture_is_safe(seed: int, is_drained: bool) -> None:
    fabric, old, new = two_worlds(seed)
    assume(len(list_pieces(old, new)) <= MOST_PIECES or np.any(old.group_ptr != new.group_ptr))
    ground = Ground(fabric, unite_tables(old, new))
    first, last = ground.united.old, ground.united.new
    assume(len(list_pieces(first, last)) <= MOST_PIECES)
    off = np.zeros(len(first.destination_node), dtype=bool)
    off[: int(is_drained)] = True
    proof = prove_stage(ground, first, last, off)
    # the twin reads the lanes as they were given, not as they were united
    sides = (replace(first, lanes=old.lanes), replace(last, lanes=new.lanes))
    wanted = is_safe(fabric, *sides, (*sides, set(np.flatnonzero(off).tolist())))
    assert (proof.verdict is Verdict.PROVED) == wanted, proof


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(SEEDS)
def test_maps_that_change_place_by_place_give_the_waits_of_both_at_each_hop(seed: int) -> None:
    """The twin takes at each hop either map; here every mixture of places of maps is made and packets are followed."""
    fabric, old, new = two_worlds(seed)
    ground = Ground(fabric, unite_tables(old, new))
    sides = (replace(ground.united.old, lanes=old.lanes), replace(ground.united.new, lanes=new.lanes))
    assume(len(list_pieces(*sides)) <= 3)
    waits: set[object] = set()
    assumed: set[object] = set()
    for mixture in interleave(*sides):
        packets = [one for one in list_packets(fabric, mixture, sides, set()) if one.how == "delivered"]
        cells = list_cells(sides, packets)
        assume(len(cells) <= 8)
        assume(not any(None in {lane_of(side, one.path_class) for side in sides} for one in packets))
        for new_cells in mix_maps(cells):
            for one in packets:
                waits |= set(itertools.pairwise(follow_maps(one, sides, new_cells)))
        for one in packets:
            held = [{(lane_at(side, one.path_class, *hop), hop[1]) for side in sides} for hop in one.hops]
            for first, then in itertools.pairwise(held):
                assumed |= set(itertools.product(first, then))
    assert waits == assumed


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(SEEDS)
def test_stages_hold_against_every_mixture_and_end_at_the_new_tables(seed: int) -> None:
    fabric, old, new = two_worlds(seed)
    hold(fabric, order_change(fabric, old, new, budget=20_000_000))


def hold(fabric: Fabric, ordering: Ordering) -> None:
    """Hold the stages against the slow twin; those with many pieces against their proofs alone."""
    off = set[int]() if ordering.drain is None else set(ordering.drain.destinations.tolist())
    before = ordering.old
    for stage in ordering.stages:
        assert stage.proof.verdict is Verdict.PROVED, stage.proof.witness
        if len(list_pieces(before, stage.routes)) <= MOST_PIECES:
            assert is_safe(fabric, ordering.old, ordering.new, (before, stage.routes, off))
        before = stage.routes
    assert (ordering.verdict is Verdict.PROVED) == (bool(ordering.stages) and ordering.drain is None)
    if ordering.stages:
        steps, wanted = before.steps, ordering.new.steps
        assert steps is not None
        assert wanted is not None
        assert np.array_equal(before.group, ordering.new.group)
        assert np.array_equal(steps.lane, wanted.lane)
        assert np.all(mark_classes(steps) == mark_classes(wanted))


@pytest.mark.parametrize(
    ("engines", "words"),
    [
        (("updown", "dragonfly"), ["maps", "destinations"]),
        (("dragonfly", "updown"), ["destinations", "maps"]),
        (("dragonfly", "dragonfly-adaptive"), ["maps", "move", "destinations"]),
        (("dragonfly-adaptive", "dragonfly"), ["destinations", "move", "maps"]),
    ],
)
def test_a_dragonfly_changes_its_engine(engines: tuple[str, str], words: list[str]) -> None:
    """New maps come before whoever needs them, and old ones go when nobody does."""
    fabric = build_dragonfly(2, 2, 2, 5)
    old, new = (compute_routes(fabric, engine, to_switches=False) for engine in engines)
    ordering = order_change(fabric, old, new)
    assert (ordering.verdict, ordering.drain) == (Verdict.PROVED, None), ordering.why
    said = [next(word for word in ("destinations at", "maps", "move") if word in one.words) for one in ordering.stages]
    kinds = [kind.removesuffix(" at") for kind, _ in itertools.groupby(said)]
    assert kinds == words
    hold(fabric, ordering)
    pairs = sum(count_pairs(ordering.old, ordering.new, list(ports_of(fabric, row))) for row in range(10))
    assert [one.writes for one in ordering.stages if one.words.startswith("maps")] == [pairs]


def count_pairs(old: Routes, new: Routes, ports: list[int]) -> int:
    """Count pairs of ports of a switch between which some class has another lane, or is named by one map alone."""
    return sum(
        any(find_lane(old, (one, a, b)) != find_lane(new, (one, a, b)) for one in range(4))
        for a, b in itertools.product(ports, repeat=2)
    )


def test_a_class_that_a_map_does_not_name_is_lost_and_the_witness_says_whose() -> None:
    fabric = build_dragonfly(2, 2, 2, 5)
    old, new = (compute_routes(fabric, engine, to_switches=False) for engine in ("dragonfly", "dragonfly-adaptive"))
    direct = order_change(fabric, old, new).direct
    assert direct.witness is not None
    assert direct.witness.kind == "lost"
    told = direct.witness.detail
    goal = [fabric.port_name(int(port)) for port in new.destination_port].index(told["destination"])
    row = fabric.switch_row[fabric.node_name.index(told["switch"])]
    assert told["path_class"] in {*find_classes(old, row, goal), *find_classes(new, row, goal)}
    assert None in {find_lane(side, (told["path_class"], 0, 0)) for side in (old, new)}


def lane_of(routes: Routes, path_class: int) -> int | None:
    return lane_at(routes, path_class, 0, 0)


def lane_at(routes: Routes, path_class: int, came: int, out: int) -> int | None:
    steps = routes.steps
    if steps is None:
        return path_class if path_class < routes.lane_count else None
    return steps.lane_of(path_class, came, out) if path_class < len(steps.lane) else None
