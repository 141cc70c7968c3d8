"""Tables with faults that somebody might program, judged by the proofs and by networkx; no certificate moves over."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.oracle.walks import draw_waits, judge_reach, load_flows, members_of, pairs_of
from tests.tables import LOCAL, Entry, cut, make_routes, minimal_routes, ports_of
from tests.unit.prove.cases import replay
from weftline.adopt import build_fabric, read_discovery
from weftline.kernels.column import NIL, digest_parts
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof, ProofRules, Verdict
from weftline.model.routes import Routes, local_delivery, no_route
from weftline.prove import check_certificate, prove
from weftline.prove.reach import measure_distances
from weftline.prove.tables import read_tables
from weftline.route import compute_routes

Patch = dict[tuple[int, int], Entry]
Fault = Callable[[Fabric, Routes, random.Random], Patch]

RULES = ProofRules(max_hops=9, all_shifts_up_to=1, sample_shifts=2)


def patch_routes(fabric: Fabric, routes: Routes, patch: Mapping[tuple[int, int], Entry]) -> Routes:
    """Make the same tables anew, but for some entries."""
    is_local, is_absent = local_delivery(routes.group), no_route(routes.group)

    def choose(row: int, d: int) -> Entry:
        if (row, d) in patch:
            return patch[row, d]
        entry = int(routes.group[row, d])
        return LOCAL if entry == is_local else None if entry == is_absent else members_of(routes, row, d)

    return make_routes(fabric, choose, to_switches=bool((routes.destination_port == NIL).any()))


def next_row(fabric: Fabric, port: int) -> int:
    """Find the row at the other end of a port."""
    peer = int(fabric.port_peer[port])
    return NIL if peer == NIL else int(fabric.switch_row[fabric.port_node[peer]])


def wander(fabric: Fabric, rng: random.Random, steps: int) -> list[tuple[int, int]]:
    """Wander over links between switches: rows and the ports they leave by, no row twice."""
    row, taken = rng.randrange(len(fabric.switch_node)), list[tuple[int, int]]()
    for _ in range(steps):
        seen = {r for r, _ in taken} | {row}
        ports = [p for p in ports_of(fabric, row) if next_row(fabric, p) not in {NIL, *seen}]
        if not ports:
            break
        port = rng.choice(ports)
        taken.append((row, port))
        row = next_row(fabric, port)
    return taken


def any_goal(routes: Routes, rng: random.Random) -> int:
    return rng.randrange(len(routes.destination_port))


def bounce(fabric: Fabric, routes: Routes, rng: random.Random) -> Patch:
    """Loop between two switches."""
    d = any_goal(routes, rng)
    return {(row, d): [port] for here, out in wander(fabric, rng, 1)
            for row, port in ((here, out), (next_row(fabric, out), int(fabric.port_peer[out])))}  # fmt: skip


def circle(fabric: Fabric, routes: Routes, rng: random.Random) -> Patch:
    """Loop over four or more switches, or three where there are triangles."""
    d = any_goal(routes, rng)
    for _ in range(50):
        taken = wander(fabric, rng, rng.choice((2, 3, 3, 5)))
        if not taken:
            continue
        last = next_row(fabric, taken[-1][1])
        back = [p for p in ports_of(fabric, last) if next_row(fabric, p) == taken[0][0]]
        if back:
            return {(row, d): [port] for row, port in (*taken, (last, back[0]))}
    return {}


def detour(fabric: Fabric, routes: Routes, rng: random.Random) -> Patch:
    """Lead one destination down and up again over a few switches; then the old way."""
    d = any_goal(routes, rng)
    return {(row, d): [port] for row, port in wander(fabric, rng, rng.randint(1, 3))}


def hole(fabric: Fabric, routes: Routes, rng: random.Random) -> Patch:
    return {(rng.randrange(len(fabric.switch_node)), any_goal(routes, rng)): rng.choice((None, [], LOCAL))}


def misdeliver(fabric: Fabric, routes: Routes, rng: random.Random) -> Patch:
    row = rng.randrange(len(fabric.switch_node))
    return {(row, any_goal(routes, rng)): [rng.choice(ports_of(fabric, row))]}


def swap(fabric: Fabric, routes: Routes, rng: random.Random) -> Patch:
    row = rng.randrange(len(fabric.switch_node))
    a, b = any_goal(routes, rng), any_goal(routes, rng)
    return {(row, a): members_of(routes, row, b), (row, b): members_of(routes, row, a)}


def widen(fabric: Fabric, routes: Routes, rng: random.Random) -> Patch:
    """Add a member to a port set."""
    row, d = rng.randrange(len(fabric.switch_node)), any_goal(routes, rng)
    return {(row, d): [*members_of(routes, row, d), rng.choice(ports_of(fabric, row))]}


def stranger(fabric: Fabric, routes: Routes, rng: random.Random) -> Patch:
    """Name a port that the switch does not have."""
    row, d = rng.randrange(len(fabric.switch_node)), any_goal(routes, rng)
    port = rng.choice((-1, -7, fabric.port_count, rng.randrange(fabric.port_count)))
    return {(row, d): rng.choice(([port], [*members_of(routes, row, d), port]))}


FAULTS: Sequence[Fault] = (bounce, circle, detour, detour, hole, misdeliver, swap, widen, stranger)


@cache
def world(name: str) -> tuple[Fabric, Routes]:
    """Make a sound fabric and its routes."""
    kind, engine, *more = name.split()
    if kind == "triangles":
        fabric = from_links(5, 2, [(a, b) for a in range(5) for b in range(a)])
        return fabric, minimal_routes(fabric)
    options = {
        "two": {"hosts": 12, "ports": 6},
        "three": {"hosts": 12, "ports": 4, "tiers": 3},
        "rails": {"kind": "rail-optimised", "hosts": 6, "rails": 2, "ports": 6, "unit_size": 3},
        "separate": {"kind": "rail-only", "hosts": 6, "rails": 2, "ports": 6, "unit_size": 2},
        "top": {"hosts": 9, "ports": 8, "unit_size": 3, "extras": (("ufm", 1, "spine"), ("agg", 2, "spine"))},
    }[kind]
    fabric = make_fabric(**options)  # type: ignore[arg-type]
    return fabric, compute_routes(fabric, engine, to_switches="switches" in more)


WORLDS = (
    "two fat-tree", "two ecmp switches", "three fat-tree switches", "three ecmp", "rails fat-tree", "rails updown",
    "separate fat-tree", "separate ecmp switches", "top updown switches", "top ecmp", "triangles minimal",
)  # fmt: skip


def hold_against_graphs(fabric: Fabric, routes: Routes, proofs: Sequence[Proof]) -> None:
    """Compare the verdicts on reach and deadlock, their bounds, witnesses and certificates."""
    good, most = judge_reach(fabric, routes)
    assert (proofs[0].verdict is Verdict.PROVED) == (good and most <= RULES.max_hops)
    if proofs[0].verdict is Verdict.PROVED:
        assert proofs[0].bound == most
    waits = draw_waits(fabric, routes)
    assert (proofs[1].verdict is Verdict.PROVED) == nx.is_directed_acyclic_graph(waits)
    for proof in proofs:
        assert check_certificate(fabric, routes, proof) == (proof.verdict is Verdict.PROVED)
    if proofs[0].witness is not None and "hops" in proofs[0].witness.detail:
        replay(fabric, routes, proofs[0].witness)


@pytest.mark.parametrize("name", WORLDS)
def test_faulty_tables_are_judged_as_their_graphs_say(name: str) -> None:
    fabric, sound = world(name)
    report = prove(fabric, sound, RULES)
    hold_against_graphs(fabric, sound, report.proofs)
    seen: set[tuple[Verdict, Verdict]] = set()
    for seed in range(40):
        rng = random.Random(f"{name} {seed}")
        patch: Patch = {}
        for fault in rng.choices(FAULTS, k=rng.choice((1, 1, 2, 4))):
            patch |= fault(fabric, sound, rng)
        faulty = patch_routes(fabric, sound, patch)
        proofs = prove(fabric, faulty, RULES).proofs
        hold_against_graphs(fabric, faulty, proofs)
        seen.add((proofs[0].verdict, proofs[1].verdict))
        for one, moved in zip(proofs[:2], report.proofs[:2], strict=True):
            forged = replace(moved, of=faulty.digest)
            assert one.verdict is Verdict.PROVED or not check_certificate(fabric, faulty, forged)
    assert len(seen) > 1


SMALL = (
    "ibsim/net-examples_net", "ibsim/net-examples_net.2sw2path4hca2port", "junousi_ibtopotool/tests_1.topo",
    "treydock_infiniband_exporter/ibnetdiscover/test2.out",
)  # fmt: skip
LARGE = "topograph/tests_output_ibnetdiscover_example.out"
"""582 adapters on 40 switches, with aggregation nodes on the spines."""


@pytest.mark.parametrize(
    ("dump", "engine", "faults"),
    [*((dump, engine, range(12)) for dump in SMALL for engine in ("updown", "ecmp")), (LARGE, "ecmp", (2,))],
)
def test_faults_on_adopted_fabrics_are_judged_as_their_graphs_say(
    corpus: Path, dump: str, engine: str, faults: Sequence[int]
) -> None:
    file = corpus / "infiniband" / dump
    discovery = read_discovery(file.read_bytes(), file.name)
    assert isinstance(discovery, Discovery)
    adoption = build_fabric(discovery)
    assert isinstance(adoption, Adoption)
    fabric = adoption.fabric
    sound = compute_routes(fabric, engine, to_switches=True)
    for count in faults:
        rng = random.Random(f"{dump} {engine} {count}")
        patch: Patch = {}
        for fault in rng.choices(FAULTS, k=count):
            patch |= fault(fabric, sound, rng)
        faulty = patch_routes(fabric, sound, patch)
        hold_against_graphs(fabric, faulty, prove(fabric, faulty, RULES).proofs)


def seal(proof: Proof, name: str, column: np.ndarray[Any, Any]) -> Proof:
    """Put another column into a certificate, under a digest that fits."""
    assert proof.certificate is not None
    digest = digest_parts((proof.claim, column))
    return replace(proof, certificate=replace(proof.certificate, columns={name: column}, digest=digest))


@pytest.mark.parametrize("name", ["two ecmp switches", "separate fat-tree", "top ecmp", "triangles minimal"])
def test_no_invented_certificate_holds_for_what_is_false(name: str) -> None:
    """Distances and ranks made up in every way, for faulty tables: none is accepted where the graphs say no."""
    fabric, sound = world(name)
    told = prove(fabric, sound, RULES).proofs
    tried = 0
    for seed in range(12):
        rng, draw = random.Random(seed), np.random.default_rng(seed)
        patch: Patch = {}
        for fault in rng.choices(FAULTS, k=2):
            patch |= fault(fabric, sound, rng)
        faulty = patch_routes(fabric, sound, patch)
        good, _ = judge_reach(fabric, faulty)
        is_free = nx.is_directed_acyclic_graph(draw_waits(fabric, faulty))
        reach, deadlock = (replace(proof, of=faulty.digest) for proof in told[:2])
        tables = read_tables(fabric, faulty)
        true = measure_distances(tables, RULES)
        for _ in range(0 if good else 30):
            distance = true.copy()
            places = draw.integers(0, distance.size, 4)
            distance.flat[places] = draw.choice([0, 1, 2, 3, 4, 250, 251, 254, 255], 4)
            which = true >= draw.choice([251, 254, 255])
            distance[which] = draw.choice([1, 2, 3, 250, 254, 255], int(which.sum()))
            bound = int(draw.choice([1, 2, 3, 5, 9]))
            tried += 1
            assert not check_certificate(fabric, faulty, seal(replace(reach, bound=bound), "distance", distance))
        for _ in range(0 if is_free else 30):
            rank = draw.integers(-1, 40, fabric.port_count).astype(np.int32)
            tried += 1
            assert not check_certificate(fabric, faulty, seal(deadlock, "rank", rank))
    assert tried > 100


@pytest.mark.parametrize("name", ["two fat-tree", "two ecmp switches", "three ecmp", "rails fat-tree"])
def test_loads_of_every_shift_are_those_of_single_flows(name: str) -> None:
    """The worst load over all shifts against fractions carried flow by flow, on tables that still deliver."""
    fabric, sound = world(name)
    judged = 0
    for seed in range(8):
        rng = random.Random(seed)
        fault = rng.choice((detour, swap, widen))
        tables = patch_routes(fabric, sound, fault(fabric, sound, rng)) if seed else sound
        if not judge_reach(fabric, tables)[0]:
            continue
        rules = ProofRules(max_hops=9, balance_threshold=100.0)
        proof = prove(fabric, tables, rules).proofs[2]
        assert proof.certificate is not None
        ends = [int(p) for p in fabric.endpoint_port]
        worst = [
            max(load_flows(fabric, tables, [(a, (i + s) % len(ends)) for i, a in enumerate(ends)]).values())
            for s in range(1, len(ends))
        ]
        assert proof.certificate.columns["worst"].tolist() == pytest.approx([float(w) for w in worst])
        assert proof.bound == pytest.approx(float(max(worst)))
        judged += 1
    assert judged > 1


def by_name(fabric: Fabric, *names: str) -> list[int]:
    """Find the ports of links ``node~node`` by the names of both ends."""
    found: list[int] = []
    for name in names:
        near, far = name.split("~")
        ends = [(p, int(q)) for p, q in enumerate(fabric.port_peer) if q != NIL]
        node = fabric.node_name
        found.append(next(p for p, q in ends if (node[fabric.port_node[p]], node[fabric.port_node[q]]) == (near, far)))
    return found


def lead(fabric: Fabric, d: int, *names: str) -> Patch:
    """Lead a destination over links by the names of both ends."""
    return {(int(fabric.switch_row[fabric.port_node[p]]), d): [p] for p in by_name(fabric, *names)}


def test_two_valleys_lock_although_each_alone_is_free() -> None:
    """A credit loop that needs two destinations: down and up through leaf-002, and through leaf-003."""
    fabric, sound = world("two fat-tree")
    d_one, d_two = 0, 1
    one = lead(fabric, d_one, "leaf-003~spine-01", "spine-01~leaf-002", "leaf-002~spine-02", "spine-02~leaf-001")
    two = lead(fabric, d_two, "leaf-002~spine-02", "spine-02~leaf-003", "leaf-003~spine-01", "spine-01~leaf-001")
    verdicts: list[Verdict] = []
    for patch in ({}, one, two, one | two):
        proofs = prove(fabric, patch_routes(fabric, sound, patch), RULES).proofs
        assert proofs[0].verdict is Verdict.PROVED
        hold_against_graphs(fabric, patch_routes(fabric, sound, patch), proofs)
        verdicts.append(proofs[1].verdict)
    assert verdicts == [Verdict.PROVED] * 3 + [Verdict.REFUTED]
    proof = prove(fabric, patch_routes(fabric, sound, one | two), RULES).proofs[1]
    assert proof.witness is not None
    assert proof.bound == 4
    assert {step["destination"] for step in proof.witness.detail["steps"]} == {"host-0001/nic1", "host-0002/nic1"}


def test_aggregation_nodes_lock_what_hosts_do_not() -> None:
    """Nodes on two spines that send to each other down and up by different leaves close a loop; hosts never turn so."""
    homes = {"host-0001": "leaf-001", "host-0002": "leaf-002", "host-0003": "spine-01", "host-0004": "spine-02"}
    names = ["leaf-001", "leaf-002", "spine-01", "spine-02"]
    fabric = from_links(names, homes, [(leaf, spine) for leaf in (0, 1) for spine in (2, 3)])
    crossed = {
        **lead(fabric, 1, "leaf-001~spine-02", "spine-02~leaf-002"),
        **lead(fabric, 0, "leaf-002~spine-01", "spine-01~leaf-001"),
        **lead(fabric, 3, "spine-01~leaf-001", "leaf-001~spine-02"),
    }
    by_one_leaf = lead(fabric, 2, "spine-02~leaf-001", "leaf-001~spine-01")
    by_two_leaves = lead(fabric, 2, "spine-02~leaf-002", "leaf-002~spine-01")
    for way, verdict in ((by_one_leaf, Verdict.PROVED), (by_two_leaves, Verdict.REFUTED)):
        routes = patch_routes(fabric, minimal_routes(fabric), {**crossed, **way})
        proofs = prove(fabric, routes, RULES).proofs
        hold_against_graphs(fabric, routes, proofs)
        assert (proofs[0].verdict, proofs[1].verdict) == (Verdict.PROVED, verdict)
    hosts_only = cut(fabric, [2, 3])
    routes = replace(routes, fabric_digest=hosts_only.digest)
    proofs = prove(hosts_only, routes, RULES).proofs
    hold_against_graphs(hosts_only, routes, proofs)
    assert proofs[1].verdict is Verdict.PROVED


def test_only_packets_that_somebody_sends_can_lock() -> None:
    """A ring of entries towards the only endpoint of a leaf harms nobody while nobody else reaches it."""
    fabric = from_links(4, {"host-0001": "leaf-001", "host-0002": "leaf-004"}, [(0, 1), (1, 2), (2, 0), (3, 1)])
    ring = lead(fabric, 0, "leaf-001~leaf-002", "leaf-002~leaf-003", "leaf-003~leaf-001")
    for extra, verdict in (({(3, 0): None}, Verdict.PROVED), ({}, Verdict.REFUTED)):
        routes = patch_routes(fabric, minimal_routes(fabric), {**ring, **extra})
        proofs = prove(fabric, routes, RULES).proofs
        hold_against_graphs(fabric, routes, proofs)
        assert proofs[0].verdict is Verdict.REFUTED
        assert proofs[1].verdict is verdict


def test_packets_for_the_switch_of_the_only_endpoint_can_lock() -> None:
    """What the one endpoint of a leaf sends to that leaf, and the leaf sends on in a ring, counts."""
    fabric = from_links(3, {"host-0001": "leaf-001"}, [(0, 1), (1, 2), (2, 0)])
    sound = minimal_routes(fabric, to_switches=True)
    ring = lead(fabric, 1, "leaf-001~leaf-002", "leaf-002~leaf-003", "leaf-003~leaf-001")
    routes = patch_routes(fabric, sound, ring)
    proofs = prove(fabric, routes, RULES).proofs
    hold_against_graphs(fabric, routes, proofs)
    assert (proofs[0].verdict, proofs[1].verdict) == (Verdict.REFUTED, Verdict.REFUTED)


def test_one_member_of_a_set_that_turns_back_is_enough() -> None:
    fabric, sound = world("two ecmp switches")
    d = 0
    back = by_name(fabric, "spine-01~leaf-003")
    row = int(fabric.switch_row[fabric.node_name.index("spine-01")])
    routes = patch_routes(fabric, sound, {(row, d): [*members_of(sound, row, d), *back]})
    proofs = prove(fabric, routes, RULES).proofs
    hold_against_graphs(fabric, routes, proofs)
    assert proofs[0].verdict is Verdict.REFUTED
    assert proofs[0].witness is not None
    assert proofs[0].witness.kind == "loop"


@pytest.mark.parametrize("name", ["two ecmp switches", "separate fat-tree"])
def test_entries_of_two_bytes_are_judged_alike(name: str) -> None:
    fabric, sound = world(name)
    for seed in range(10):
        rng = random.Random(seed)
        patch: Patch = {}
        for fault in rng.choices(FAULTS, k=seed % 3):
            patch |= fault(fabric, sound, rng)
        one = patch_routes(fabric, sound, patch)
        wide = one.group.astype(np.uint16)
        wide[wide >= 254] += 65_535 - 255
        two = replace(one, group=wide)
        proofs = prove(fabric, two, RULES).proofs
        hold_against_graphs(fabric, two, proofs)
        told = [(p.verdict, p.bound, p.statement) for p in prove(fabric, one, RULES).proofs]
        assert [(p.verdict, p.bound, p.statement) for p in proofs] == told


def test_every_pair_is_listed_once() -> None:
    fabric, sound = world("two fat-tree")
    pairs = list(pairs_of(fabric, sound))
    assert len(pairs) == len(set(pairs)) == 12 * 11
