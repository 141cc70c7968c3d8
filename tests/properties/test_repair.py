"""Laws of repair: what is left is delivered, what was not touched stays, and no mixture of tables loops or waits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.brute import channel_pairs, ports_to, walk_all
from tests.fabrics import from_links, make_fabric
from tests.kernels.reference.updown import next_rows
from tests.properties.test_routes import SHAPES, check_law, graphs
from tests.tables import cut
from tests.unit.route.walks import named_tables, reorder_nodes, switch_links
from weftline.enact import order_tables
from weftline.errors import CapabilityError
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes, local_delivery, no_route
from weftline.prove.transient import join_tables, prove_mixture, prove_rest
from weftline.route import compute_routes
from weftline.route.repair import Standing, cut_fabric, prepare_repair, repair_routes

ROOMY = ProofRules(max_hops=60)
trees = st.sampled_from(SHAPES).map(lambda shape: make_fabric(shape[0], **shape[1]))


def stand(fabric: Fabric, engine: str = "updown") -> Standing:
    return prepare_repair(fabric, compute_routes(fabric, engine, to_switches=True))


def draw_lost(data: st.DataObject, fabric: Fabric, most: int = 4) -> I32:
    """Draw ports of links of all kinds, hosts' too."""
    lit = np.flatnonzero(fabric.port_peer != NIL).tolist()
    picked = data.draw(st.lists(st.sampled_from(lit), max_size=most, unique=True)) if lit else []
    return np.array(picked, dtype=np.int32)


@settings(max_examples=25, deadline=None)
@given(st.one_of(graphs(), trees), st.data())
def test_every_pair_that_cables_join_is_delivered_and_nothing_waits(fabric: Fabric, data: st.DataObject) -> None:
    standing = stand(fabric)
    repair = repair_routes(standing, draw_lost(data, fabric))
    check_law(repair.fabric, repair.routes)
    proof = prove_rest(repair.fabric, repair.routes, ROOMY)
    assert proof.verdict is Verdict.PROVED, proof.witness
    assert prove_mixture(repair.fabric, (repair.routes,)).proof.verdict is Verdict.PROVED


@settings(max_examples=25, deadline=None)
@given(st.one_of(graphs(), trees), st.data())
def test_repair_is_the_rule_applied_to_every_entry(fabric: Fabric, data: st.DataObject) -> None:
    """By the definition, column by column and without any memory: so what is not computed again is right as it is."""
    standing = stand(fabric)
    lost = draw_lost(data, fabric)
    repair = repair_routes(standing, lost)
    if repair.is_anew:
        return
    left, declared, order = repair.fabric, standing.routes.group, standing.placed.order.tolist()
    row_of = fabric.switch_row[fabric.port_node]
    lit = [p for p in range(fabric.port_count) if left.port_peer[p] != NIL and row_of[p] != NIL]
    ahead = {p: int(row_of[left.port_peer[p]]) for p in lit if row_of[left.port_peer[p]] != NIL}
    edges = {(int(row_of[p]), other) for p, other in ahead.items() if other != row_of[p]}
    joined: Any = nx.Graph(edges)
    joined.add_nodes_from(range(len(order)))
    part = {row: at for at, rows in enumerate(nx.connected_components(joined)) for row in rows}
    gone = {int(p) for port in lost for p in (port, fabric.port_peer[port])}
    for goal, home in enumerate(standing.goals.home.tolist()):
        inside = [row for row in part if home != NIL and part[row] == part[home]]
        ways = {row: entry_port(standing, declared, row, goal) for row in inside}
        is_touched = any(port in gone and row_of[fabric.port_peer[port]] != NIL for port in ways.values())
        for row in range(len(order)):
            now = entry_port(standing, repair.routes.group, row, goal)
            if not is_touched or row not in inside or row == home:
                assert repair.routes.group[row, goal] == declared[row, goal]
                continue
            wanted = next_rows(order, edges, home, row)
            if ways[row] in ahead and ahead[ways[row]] in wanted:
                assert now == ways[row]
            else:
                assert (now in ahead and ahead[now] in wanted) if wanted else now == NIL


@settings(max_examples=40, deadline=None)
@given(st.one_of(graphs(), trees), st.data())
def test_quick_repair_is_the_same_and_names_what_it_changed(fabric: Fabric, data: st.DataObject) -> None:
    engine = data.draw(st.sampled_from(("updown", "fat-tree")))
    try:
        slow = stand(fabric, engine)
    except CapabilityError:
        slow = stand(fabric)
    quick = replace(slow, is_quick=True)
    for _ in range(2):
        lost = draw_lost(data, fabric)
        one, other = repair_routes(slow, lost), repair_routes(quick, lost)
        assert np.array_equal(one.routes.group, other.routes.group)
        assert (one.routes.digest, one.is_anew) == (other.routes.digest, other.is_anew)
        assert one.touched.tolist() == other.touched.tolist()
        cells = set(zip(other.changed_row.tolist(), other.changed_goal.tolist(), strict=True))
        differing = zip(*np.nonzero(other.routes.group != slow.routes.group), strict=True)
        assert {(int(row), int(goal)) for row, goal in differing} <= cells


@settings(max_examples=40, deadline=None)
@given(st.one_of(graphs(), trees), st.data())
def test_the_order_of_nodes_changes_no_repair(fabric: Fabric, data: st.DataObject) -> None:
    """The same names have the same tables, in whatever order nodes stand, also where many repairs are to come."""
    moved = reorder_nodes(fabric, data.draw(st.permutations(range(fabric.node_count))))
    one, other = stand(fabric), stand(moved)
    if data.draw(st.booleans()):
        one, other = replace(one, is_quick=True), replace(other, is_quick=True)
    port = {moved.port_name(at): at for at in range(moved.port_count)}
    for _ in range(2):
        lost, wrong = draw_lost(data, fabric), draw_lost(data, fabric, 1)
        there = [np.array([port[fabric.port_name(at)] for at in some], dtype=np.int32) for some in (lost, wrong)]
        first, again = repair_routes(one, lost, wrong), repair_routes(other, *there)
        assert first.is_anew == again.is_anew
        assert named_tables(moved, again.routes) == named_tables(fabric, first.routes)


def entry_port(standing: Standing, table: Any, row: int, goal: int) -> int:
    """Name the port of an entry; NIL where it is none."""
    first, last = (int(at) for at in standing.groups.group_ptr[row : row + 2])
    entry = int(table[row, goal])
    return int(standing.groups.member_port[first + entry]) if entry < last - first else NIL


@settings(max_examples=20, deadline=None)
@given(st.one_of(graphs(), trees), st.data())
def test_the_way_to_a_state_does_not_matter_and_the_return_is_the_declaration(
    fabric: Fabric, data: st.DataObject
) -> None:
    standing = stand(fabric)
    lost = draw_lost(data, fabric)
    far = fabric.port_peer[lost]
    repair = repair_routes(standing, lost)
    assert np.array_equal(repair.routes.group, repair_routes(standing, far[::-1].copy()).routes.group)
    assert repair.routes.digest == repair_routes(standing, lost).routes.digest
    none = repair_routes(standing, np.zeros(0, dtype=np.int32))
    assert np.array_equal(none.routes.group, standing.routes.group)
    assert none.fabric.port_peer.tolist() == fabric.port_peer.tolist()


@settings(max_examples=20, deadline=None)
@given(st.one_of(graphs(), trees), st.data())
def test_a_change_goes_out_in_stages_none_of_which_loops_or_waits(fabric: Fabric, data: st.DataObject) -> None:
    """From any state to any other; mixtures are held against every walk of every pair."""
    standing = stand(fabric)
    before, after = (repair_routes(standing, draw_lost(data, fabric)) for _ in range(2))
    stages = order_tables(after.fabric, (before.routes,), after.routes)
    assert all(stage.proof.verdict is Verdict.PROVED for stage in stages)
    assert np.array_equal(stages[-1].routes.group, after.routes.group)
    olds = [before.routes]
    for stage in stages:
        check_mixture(after.fabric, (*olds, stage.routes), is_good=True)
        olds = [stage.routes]


def check_mixture(fabric: Fabric, tables: tuple[Routes, ...], *, is_good: bool) -> None:
    joined = join_tables(fabric, tables)
    is_looping = any(
        how == "loop"
        for row in range(len(fabric.switch_node))
        for goal in range(joined.group.shape[1])
        for how, _ in walk_all(fabric, joined, row, goal)
    )
    waits = nx.is_directed_acyclic_graph(nx.DiGraph(channel_pairs(fabric, joined)))
    if is_good:
        assert not is_looping
        assert waits
    else:
        assert is_looping or not waits


@settings(max_examples=15, deadline=None)
@given(st.one_of(graphs(), trees), st.data())
def test_joined_entries_name_the_ports_of_each_table_and_no_others(fabric: Fabric, data: st.DataObject) -> None:
    standing = stand(fabric)
    tables = [repair_routes(standing, draw_lost(data, fabric)).routes for _ in range(2)]
    for some in (tables[:1], tables, [*tables, standing.routes]):
        joined = join_tables(fabric, some)
        for row, goal in np.ndindex(*joined.group.shape):
            ports = {port for routes in some for port in ports_to(routes, row, goal)}
            assert set(ports_to(joined, row, goal)) == ports
            handed = [routes.group[row, goal] == local_delivery(routes.group) for routes in some]
            if all(handed):
                assert joined.group[row, goal] == local_delivery(joined.group)
            elif all(routes.group[row, goal] == no_route(routes.group) for routes in some):
                assert joined.group[row, goal] == no_route(joined.group)
            elif not ports:
                assert joined.group[row, goal] != local_delivery(joined.group)


def test_an_entry_that_does_not_change_can_close_a_loop() -> None:
    fabric = from_links(["a", "b", "c"], {"h": "c", "g": "a"}, [("a", "b"), ("a", "c"), ("b", "c")])
    standing = stand(fabric)
    ab, bc, ba = (ports_between(fabric, name) for name in ("ab", "bc", "ba"))
    old = set_entry(standing, standing.routes, {("a", 0): ab, ("b", 0): bc})
    new = set_entry(standing, old, {("b", 0): ba})
    assert prove_mixture(fabric, (old,)).proof.verdict is Verdict.PROVED
    for tables in ((new,), (old, new), (new, old), (new, new)):
        mixed = prove_mixture(fabric, tables)
        assert (mixed.proof.verdict, mixed.looping.tolist()) == (Verdict.REFUTED, [0])


def test_turns_that_do_not_change_can_close_a_circle() -> None:
    fabric = from_links(4, 1, [(0, 1), (1, 2), (2, 3), (3, 0)])
    standing = stand(fabric)
    names = [f"leaf-{at + 1:03d}" for at in range(4)]
    entries: dict[tuple[str, int], int] = {}
    for at in range(4):
        a, b, goal = names[at], names[(at + 1) % 4], (at + 2) % 4
        entries[a, goal] = ports_between(fabric, "", (a, b))
        entries[b, goal] = ports_between(fabric, "", (b, names[goal]))
    round_ = set_entry(standing, replace(standing.routes, group=keep_delivery(standing)), entries)
    first = int(fabric.switch_row[fabric.node_name.index(names[0])])
    shorter = round_.group.copy()
    shorter[first, 2] = no_route(shorter)
    less = replace(round_, group=shorter)
    assert prove_mixture(fabric, (less,)).proof.verdict is Verdict.PROVED
    for tables in ((round_,), (round_, round_), (less, round_), (round_, less)):
        mixed = prove_mixture(fabric, tables)
        assert mixed.proof.verdict is Verdict.REFUTED
        assert mixed.proof.witness is not None
        assert len(mixed.proof.witness.detail["cycle"]) == 4
        assert mixed.proof.witness.detail["destinations"]
    (stage,) = order_tables(fabric, (round_,), round_)
    assert stage.proof.verdict is Verdict.REFUTED


def test_two_safe_tables_whose_mixture_loops_go_in_stages() -> None:
    """Three switches in a line of two ways: the old goes left to a host, the new right."""
    fabric = from_links(["a", "b", "c"], {"h": "c", "g": "a"}, [("a", "b"), ("a", "c"), ("b", "c")])
    standing = stand(fabric)
    base = standing.routes
    goal = 0
    ports = {name: ports_between(fabric, name) for name in ("ab", "ac", "bc", "ba")}
    old = set_entry(standing, base, {("a", goal): ports["ab"], ("b", goal): ports["bc"]})
    new = set_entry(standing, base, {("b", goal): ports["ba"], ("a", goal): ports["ac"]})
    mixed = prove_mixture(fabric, (old, new))
    assert mixed.proof.verdict is Verdict.REFUTED
    assert mixed.proof.witness is not None
    assert mixed.proof.witness.kind == "loop"
    assert mixed.looping.tolist() == [goal]
    check_mixture(fabric, (old, new), is_good=False)
    drop, final = order_tables(fabric, (old,), new)
    assert drop.words.startswith("drop what changes towards 1 ")
    assert drop.proof.verdict is final.proof.verdict is Verdict.PROVED
    dropped = drop.routes.group == no_route(drop.routes.group)
    assert int((dropped & (new.group != no_route(new.group))).sum()) == 2
    assert np.array_equal(final.routes.group, new.group)


def test_two_safe_tables_whose_mixture_waits_in_a_circle_go_in_stages() -> None:
    """A square: the old turns left at two corners, the new at the other two; together that is a circle."""
    fabric = from_links(4, 1, [(0, 1), (1, 2), (2, 3), (3, 0)])
    standing = stand(fabric)

    def over(first: tuple[int, int, int], second: tuple[int, int, int]) -> Routes:
        entries: dict[tuple[str, int], int] = {}
        for a, b, c in (first, second):
            names = [f"leaf-{at + 1:03d}" for at in (a, b, c)]
            entries[names[0], c] = ports_between(fabric, "", (names[0], names[1]))
            entries[names[1], c] = ports_between(fabric, "", (names[1], names[2]))
        return set_entry(standing, quiet, entries)

    quiet = replace(standing.routes, group=keep_delivery(standing))
    old, new = over((0, 1, 2), (1, 2, 3)), over((2, 3, 0), (3, 0, 1))
    assert prove_mixture(fabric, (old,)).proof.verdict is Verdict.PROVED
    assert prove_mixture(fabric, (new,)).proof.verdict is Verdict.PROVED
    mixed = prove_mixture(fabric, (old, new))
    assert mixed.proof.verdict is Verdict.REFUTED
    assert mixed.proof.witness is not None
    assert mixed.proof.witness.kind == "cycle"
    assert len(mixed.proof.witness.detail["cycle"]) == 4
    check_mixture(fabric, (old, new), is_good=False)
    stages = order_tables(fabric, (old,), new)
    assert len(stages) == 2
    assert all(stage.proof.verdict is Verdict.PROVED for stage in stages)


def test_tables_that_loop_themselves_never_go_out() -> None:
    fabric = from_links(["a", "b", "c"], {"h": "c", "g": "a"}, [("a", "b"), ("a", "c"), ("b", "c")])
    standing = stand(fabric)
    ab, ba = (ports_between(fabric, name) for name in ("ab", "ba"))
    bad = set_entry(standing, standing.routes, {("a", 0): ab, ("b", 0): ba})
    (stage,) = order_tables(fabric, (standing.routes,), bad)
    assert stage.proof.verdict is Verdict.REFUTED


def keep_delivery(standing: Standing) -> Any:
    """Keep only what each switch hands over itself."""
    table = np.full_like(standing.routes.group, no_route(standing.routes.group))
    for goal, home in enumerate(standing.goals.home.tolist()):
        table[home, goal] = standing.routes.group[home, goal]
    return table


def ports_between(fabric: Fabric, pair: str, names: tuple[str, str] | None = None) -> int:
    a, b = names or (pair[0], pair[1])
    (port,) = (
        port
        for link in switch_links(fabric)
        for port in (link, int(fabric.port_peer[link]))
        if fabric.node_name[fabric.port_node[port]] == a
        and fabric.node_name[fabric.port_node[fabric.port_peer[port]]] == b
    )
    return port


def set_entry(standing: Standing, routes: Routes, entries: dict[tuple[str, int], int]) -> Routes:
    table = routes.group.copy()
    for (name, goal), port in entries.items():
        row = int(standing.fabric.switch_row[standing.fabric.node_name.index(name)])
        table[row, goal] = standing.groups.of_port[port]
    return replace(routes, group=table)


def test_a_lost_host_and_a_lost_leaf_change_nothing() -> None:
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    standing = stand(fabric, "fat-tree")
    host = int(fabric.endpoint_port[3])
    leaf = int(fabric.port_node[fabric.port_peer[host]])
    whole = np.arange(fabric.port_ptr[leaf], fabric.port_ptr[leaf + 1], dtype=np.int32)
    for lost in (np.array([host], dtype=np.int32), whole[fabric.port_peer[whole] != NIL]):
        repair = repair_routes(standing, lost)
        assert np.array_equal(repair.routes.group, standing.routes.group)
        assert prove_rest(repair.fabric, repair.routes, ROOMY).verdict is Verdict.PROVED


def test_a_wrong_cable_carries_nothing() -> None:
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    standing = stand(fabric, "fat-tree")
    uplink = switch_links(fabric)[0]
    host = int(fabric.port_peer[fabric.endpoint_port[5]])
    wrong = np.array([uplink, host], dtype=np.int32)
    repair = repair_routes(standing, np.zeros(0, dtype=np.int32), wrong)
    ends = {int(port) for port in [*wrong, *fabric.port_peer[wrong]] if standing.groups.of_port[port] != NIL}
    for port in ends:
        row = int(fabric.switch_row[fabric.port_node[port]])
        assert not (repair.routes.group[row] == standing.groups.of_port[port]).any()
    assert prove_rest(repair.fabric, repair.routes, ROOMY).verdict is Verdict.PROVED


def test_leaves_that_share_no_spine_any_more_are_joined_over_a_third() -> None:
    """The order of the tree leaves them apart, so everything is computed anew."""
    fabric = make_fabric("fat-tree", hosts=12, ports=8)
    standing = stand(fabric, "fat-tree")
    by_leaf: dict[str, list[int]] = {}
    for port in switch_links(fabric):
        name = str(fabric.node_name[int(fabric.port_node[port])])
        if name.startswith("leaf"):
            by_leaf.setdefault(name, []).append(port)
    spine = {port: int(fabric.port_node[fabric.port_peer[port]]) for ports in by_leaf.values() for port in ports}
    low = min(spine.values())
    lost = [p for p in by_leaf["leaf-001"] if spine[p] == low] + [p for p in by_leaf["leaf-002"] if spine[p] != low]
    repair = repair_routes(standing, np.array(lost, dtype=np.int32))
    assert repair.is_anew
    check_law(repair.fabric, repair.routes)
    assert prove_rest(repair.fabric, repair.routes, ROOMY).verdict is Verdict.PROVED
    for olds, now in ((standing.routes, repair), (repair.routes, repair_routes(standing, np.zeros(0, dtype=np.int32)))):
        stages = order_tables(now.fabric, (olds,), now.routes)
        assert all(stage.proof.verdict is Verdict.PROVED for stage in stages)


def test_sets_of_ports_are_not_repaired() -> None:
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    with pytest.raises(CapabilityError) as refusal:
        stand(fabric, "ecmp")
    assert refusal.value.code == "capability.repair-groups"


@settings(max_examples=20, deadline=None)
@given(graphs(), st.data())
def test_components_of_what_is_left_are_those_that_cables_make(fabric: Fabric, data: st.DataObject) -> None:
    lost = draw_lost(data, fabric, 6)
    left = cut_fabric(fabric, lost)
    again = cut(fabric, lost.tolist()) if len(lost) else fabric
    assert (left.port_peer != NIL).sum() == (again.port_peer != NIL).sum()
    joined = cast("Any", nx).Graph()
    joined.add_nodes_from(fabric.switch_node.tolist())
    joined.add_edges_from(
        (int(fabric.port_node[p]), int(fabric.port_node[q])) for p, q in enumerate(left.port_peer) if q != NIL
    )
    for a in left.endpoint_port.tolist():
        for b in left.endpoint_port.tolist():
            if left.port_peer[a] == NIL or left.port_peer[b] == NIL:
                continue
            same: bool = cast("Any", nx).has_path(
                joined, int(fabric.port_node[left.port_peer[a]]), int(fabric.port_node[left.port_peer[b]])
            )
            assert (left.port_component[a] == left.port_component[b]) == same
