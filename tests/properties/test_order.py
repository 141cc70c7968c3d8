"""Laws of stages: held against every interleaving of the pieces in which devices take their tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.brute import is_channel, lit_endpoints, walk_all
from tests.fabrics import from_links, make_fabric
from tests.properties.test_routes import graphs
from tests.tables import clockwise_routes, cut, minimal_routes, random_world, ring
from weftline.enact import Ordering, Pieces, order_change
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.prove.stage import Ground, prove_stage
from weftline.prove.unite import lane_column, unite_tables
from weftline.route import compute_routes

MOST_PIECES = 8
Wait = tuple[tuple[int, int], tuple[int, int]]
"""A lane of a channel that is held, and one that is waited for."""


def list_pieces(before: Routes, after: Routes, size: int) -> list[tuple[int, int]]:
    """List the pieces that change: blocks of ``size`` destinations of one switch."""
    rows, goals = np.nonzero(before.group != after.group)
    return sorted({(int(row), int(goal) // size) for row, goal in zip(rows, goals, strict=True)})


def interleave(before: Routes, after: Routes, size: int) -> Iterator[Routes]:
    """Make every table that can stand while pieces change, in whatever order they do."""
    pieces = list_pieces(before, after, size)
    for chosen in itertools.product((False, True), repeat=len(pieces)):
        table = before.group.copy()
        for (row, block), is_new in zip(pieces, chosen, strict=True):
            if is_new:
                part = slice(block * size, (block + 1) * size)
                table[row, part] = after.group[row, part]
        yield replace(before, group=table)


def walk_pairs(fabric: Fabric, routes: Routes, off: set[int]) -> Iterator[tuple[int, int, list[str], list[list[int]]]]:
    """Walk every pair of endpoints: source, destination, how the walks end, and the channels of each."""
    for source in lit_endpoints(fabric):
        row = int(fabric.switch_row[fabric.port_node[fabric.port_peer[source]]])
        for goal, target in enumerate(routes.destination_port.tolist()):
            if target != source and goal not in off:
                walks = list(walk_all(fabric, routes, row, goal))
                taken = [[port for _, port in steps if is_channel(fabric, port)] for _, steps in walks]
                yield source, goal, [how for how, _ in walks], taken


def find_served(fabric: Fabric, routes: Routes) -> set[tuple[int, int]]:
    return {(a, b) for a, b, ends, _ in walk_pairs(fabric, routes, set()) if set(ends) == {"delivered"}}


def is_safe(fabric: Fabric, first: Routes, last: Routes, stage: tuple[Routes, Routes, set[int]], size: int) -> bool:
    """Judge a stage by its words: each mixture walked, and all that wait in any of them together."""
    before, after, off = stage
    owed = find_served(fabric, first) & find_served(fabric, last)
    lanes = np.stack((lane_column(before), lane_column(after)))
    answers = any(one.lanes is not None and one.lanes.with_answers for one in (first, last))
    at = {int(port): goal for goal, port in enumerate(first.destination_port) if port != NIL and first.path[goal] == 0}
    waits: set[Wait] = set()
    for mixture in interleave(before, after, size):
        for source, goal, ends, taken in walk_pairs(fabric, mixture, off):
            if "loop" in ends or (set(ends) != {"delivered"} and (source, goal) in owed):
                return False
            own: set[int] = set(lanes[:, goal].tolist())
            own |= set(lanes[:, at[source]].tolist()) if answers else set()
            waits |= {((lane, a), (lane, b)) for lane in own for walk in taken for a, b in itertools.pairwise(walk)}
    return nx.is_directed_acyclic_graph(nx.DiGraph(waits))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.integers(0, 5000), st.integers(0, 5000), st.booleans(), st.sampled_from([1, 2, 64]))
def test_a_stage_is_proved_where_every_interleaving_is_safe(seed: int, other: int, is_sane: bool, size: int) -> None:
    fabric, old = random_world(seed, sane=True)
    _, new = random_world(seed, sane=is_sane)
    if is_sane:
        pick = np.random.default_rng(other)
        new = minimal_routes(fabric, tie=lambda _r, _d, ports: [ports[int(pick.integers(len(ports)))]],
                             to_switches=bool(np.any(old.destination_port == NIL)))  # fmt: skip
    assume(new.fabric_digest == fabric.digest and len(new.destination_node) == len(old.destination_node))
    ground = Ground(fabric, unite_tables(old, new))
    first, last = ground.united.old, ground.united.new
    assume(len(list_pieces(first, last, size)) <= MOST_PIECES)
    off = np.zeros(len(old.destination_node), dtype=bool)
    off[: other % 2] = True
    proof = prove_stage(ground, first, last, off)
    wanted = is_safe(fabric, first, last, (first, last, set(np.flatnonzero(off).tolist())), size)
    assert (proof.verdict is Verdict.PROVED) == wanted, proof.witness


def hold(fabric: Fabric, ordering: Ordering, *, brute: bool = True) -> None:
    """Hold what an order says against its words."""
    off = set[int]() if ordering.drain is None else set(ordering.drain.destinations.tolist())
    before = ordering.old
    for stage in ordering.stages:
        assert stage.proof.verdict is Verdict.PROVED, stage.proof.witness
        assert stage.entries == int((stage.routes.group != before.group).sum())
        if brute and len(list_pieces(before, stage.routes, 64)) <= MOST_PIECES:
            assert is_safe(fabric, ordering.old, ordering.new, (before, stage.routes, off), 64)
        before = stage.routes
    if ordering.stages:
        assert np.array_equal(before.group, ordering.new.group)
        assert np.array_equal(lane_column(before), lane_column(ordering.new))
    assert (ordering.verdict is Verdict.PROVED) == (bool(ordering.stages) and ordering.drain is None)


def root(switch: int) -> tuple[str, ...]:
    return (f"leaf-{switch + 1:03d}",)


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 6), st.data())
def test_stages_over_rings_hold_against_every_interleaving(switches: int, data: st.DataObject) -> None:
    """Up and down with two roots: each is free of cycles, and together they often are not."""
    fabric = ring(switches)
    old, new = (
        compute_routes(fabric, "updown", to_switches=False, roots=root(data.draw(st.integers(0, switches - 1))))
        for _ in range(2)
    )
    hold(fabric, order_change(fabric, old, new))


@settings(max_examples=20, deadline=None)
@given(graphs(), st.data())
def test_stages_over_any_graph_are_proved_and_end_at_the_new_tables(fabric: Fabric, data: st.DataObject) -> None:
    names = [fabric.node_name[int(node)] for node in fabric.switch_node]
    old, new = (
        compute_routes(fabric, "updown", to_switches=True, roots=(data.draw(st.sampled_from(names)),)) for _ in range(2)
    )
    ordering = order_change(fabric, old, new)
    hold(fabric, ordering, brute=False)
    again = order_change(fabric, old, new)
    assert [one.routes.group.tolist() for one in again.stages] == [one.routes.group.tolist() for one in ordering.stages]
    assert order_change(fabric, old, old).why == "every mixture of old and new is safe"


def test_a_ring_of_four_changes_its_root_in_two_stages() -> None:
    """At once the two would wait in a circle; in two stages they never do."""
    fabric = ring(4)
    old, new = (compute_routes(fabric, "updown", to_switches=False, roots=root(at)) for at in (1, 2))
    ordering = order_change(fabric, old, new)
    assert (ordering.verdict, len(ordering.stages), ordering.drain) == (Verdict.PROVED, 2, None)
    assert ordering.direct.verdict is Verdict.REFUTED
    assert ordering.direct.witness is not None
    assert len(ordering.direct.witness.detail["cycle"]) == 4
    hold(fabric, ordering)


def test_tables_that_hold_a_cycle_are_left_by_draining() -> None:
    """Shortest ways all around a ring can stop already, so that no order helps; one drained destination does."""
    fabric = ring(5)
    old = clockwise_routes(fabric, 5, ties="clockwise")
    new = compute_routes(fabric, "updown", to_switches=False)
    ordering = order_change(fabric, old, new)
    assert ordering.verdict is Verdict.UNKNOWN
    assert ordering.drain is not None
    assert len(ordering.drain.destinations) == 1
    assert ordering.drain.links == ("leaf-001/2~leaf-002/2", "leaf-001/3~leaf-005/3")
    hold(fabric, ordering)
    without = prove_stage(Ground(fabric, unite_tables(old, new)), ordering.old, ordering.stages[0].routes)
    assert without.verdict is Verdict.REFUTED
    backwards = order_change(fabric, new, old)
    assert (backwards.verdict, backwards.stages) == (Verdict.REFUTED, ())
    assert "the new tables by themselves" in backwards.why


def test_links_that_are_named_break_every_cycle() -> None:
    fabric = ring(5)
    old, new = (clockwise_routes(fabric, 5, ties="clockwise"), compute_routes(fabric, "updown", to_switches=False))
    ordering = order_change(fabric, old, new)
    assert ordering.drain is not None
    assert ordering.drain.links
    named = {port for port in range(fabric.port_count)
             if fabric.port_peer[port] != NIL and fabric.link_name(port) in ordering.drain.links}  # fmt: skip
    waits = {
        (a, b)
        for mixture in (ordering.old, ordering.new)
        for _, _, _, taken in walk_pairs(fabric, mixture, set())
        for walk in taken
        for a, b in itertools.pairwise(walk)
        if not {a, b} & named
    }
    assert nx.is_directed_acyclic_graph(nx.DiGraph(waits))


@pytest.mark.parametrize("budget", [0, 20, 60])
def test_a_budget_that_is_used_up_drains_all_that_changes(budget: int) -> None:
    fabric = ring(4)
    old, new = (compute_routes(fabric, "updown", to_switches=False, roots=root(at)) for at in (1, 2))
    ordering = order_change(fabric, old, new, budget=budget)
    assert (ordering.verdict, len(ordering.stages)) == (Verdict.UNKNOWN, 1)
    assert "within" in ordering.why
    assert ordering.drain is not None
    assert set(ordering.drain.destinations.tolist()) == set(np.flatnonzero((old.group != new.group).any(axis=0)))
    hold(fabric, ordering)


def test_a_loop_between_old_and_new_is_avoided_from_the_end_outwards() -> None:
    """The old way goes by b, the new one by a: who is next to the destination changes first, and nothing is dropped."""
    fabric = from_links(["a", "b", "c"], {"h": "c", "g": "a", "k": "b"}, [("a", "b"), ("a", "c"), ("b", "c")])
    base = compute_routes(fabric, "updown", to_switches=False, roots=("c",))

    def lead(**ways: str) -> Routes:
        table = base.group.copy()
        for name, other in ways.items():
            row = int(fabric.switch_row[fabric.node_name.index(name)])
            entries = range(int(base.group_ptr[row]), int(base.group_ptr[row + 1]))
            ports = [int(base.member_port[base.member_ptr[entry]]) for entry in entries]
            far = [fabric.node_name[fabric.port_node[fabric.port_peer[port]]] for port in ports]
            table[row, 0] = far.index(other)
        return replace(base, group=table)

    old, new = lead(a="b", b="c"), lead(a="c", b="a")
    ordering = order_change(fabric, old, new)
    assert ordering.direct.witness is not None
    assert ordering.direct.witness.kind == "loop"
    assert (ordering.verdict, len(ordering.stages)) == (Verdict.PROVED, 2)
    first = ordering.stages[0].routes.group != ordering.old.group
    assert [fabric.node_name[fabric.switch_node[row]] for row in np.flatnonzero(first.any(axis=1))] == ["a"]
    hold(fabric, ordering)


def test_destinations_come_and_go() -> None:
    """What only one of both serves is owed nothing; the others are served all the while."""
    fabric = ring(5)
    old, new = (compute_routes(fabric, "updown", to_switches=False, roots=root(at)) for at in (0, 2))
    sides = [
        replace(routes, destination_node=routes.destination_node[kept], destination_port=routes.destination_port[kept],
                group=routes.group[:, kept])
        for kept, routes in ((np.arange(4), old), (np.arange(1, 5), new))
    ]  # fmt: skip
    ordering = order_change(fabric, sides[0], sides[1])
    assert len(ordering.new.destination_port) == 5
    hold(fabric, ordering)


def test_a_switch_that_goes_takes_nothing_with_it() -> None:
    """The new tables avoid a spine that is to be taken out: its own entries go last, when nobody comes by it."""
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    spine = int(fabric.switch_node[-1])
    ports = range(int(fabric.port_ptr[spine]), int(fabric.port_ptr[spine + 1]))
    old = compute_routes(fabric, "fat-tree", to_switches=False)
    left = cut(fabric, ports)
    new = replace(compute_routes(left, "updown", to_switches=False), fabric_digest=fabric.digest)
    ordering = order_change(fabric, old, new)
    assert (ordering.verdict, len(ordering.stages)) == (Verdict.PROVED, 2)
    assert ordering.direct.witness is not None
    assert ordering.direct.witness.kind == "lost"
    last = ordering.stages[0].routes.group != ordering.stages[1].routes.group
    assert np.flatnonzero(last.any(axis=1)).tolist() == [int(fabric.switch_row[spine])]
    hold(fabric, ordering, brute=False)
    assert find_served(fabric, ordering.old) == find_served(fabric, ordering.new)


def test_ports_that_are_chosen_among_count_all() -> None:
    """From single ports to ECMP groups: the groups of both are told by the same numbers, and every member counts."""
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    old, new = (compute_routes(fabric, engine, to_switches=False) for engine in ("fat-tree", "ecmp"))
    ordering = order_change(fabric, old, new)
    assert ordering.verdict is Verdict.PROVED
    assert np.array_equal(ordering.old.member_port, ordering.new.member_port)
    hold(fabric, ordering, brute=False)
    ground = Ground(fabric, unite_tables(new, old))
    assert prove_stage(ground, ground.united.old, ground.united.new).verdict is Verdict.PROVED


def test_a_lane_of_its_own_parts_what_would_wait() -> None:
    """Two lanes: the destinations that close the circle of a ring move to the second, and none waits meanwhile."""
    fabric = ring(4)
    old = compute_routes(fabric, "updown", to_switches=False, roots=root(0))
    new = compute_routes(fabric, "layered", to_switches=False)
    for sides in ((old, new), (new, old), (new, new)):
        hold(fabric, order_change(fabric, sides[0], sides[1]))
    moved = replace(old, lanes=Lanes(2, np.array([0, 1, 0, 1], dtype=np.int8), with_answers=False))
    ordering = order_change(fabric, old, moved)
    assert (ordering.verdict, [one.entries for one in ordering.stages]) == (Verdict.PROVED, [0])
    hold(fabric, ordering)


def test_pieces_are_counted_by_address() -> None:
    """A block of 64 addresses of one switch is one write, however many of its entries change."""
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    old, new = (compute_routes(fabric, engine, to_switches=False) for engine in ("fat-tree", "updown"))
    (single,) = order_change(fabric, old, new).stages
    assert single.writes == single.entries
    rows, goals = np.nonzero(old.group != new.group)
    address = 60 + np.arange(16, dtype=np.int64)
    (blocks,) = order_change(fabric, old, new, Pieces(64, lambda _routes: address)).stages
    pairs = {(row, int(address[goal]) // 64) for row, goal in zip(rows.tolist(), goals.tolist(), strict=True)}
    assert (blocks.entries, blocks.writes) == (single.entries, len(pairs))
    assert len(pairs) < single.entries
