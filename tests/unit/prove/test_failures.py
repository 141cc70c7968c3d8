"""Deadlock in any failure: the plan of numbers decides, held against every route that can ever be taken."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.lint.good import at, said
from weftline.kernels.column import NIL, digest_parts
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import ObservedNeighbour, ObservedRouter
from weftline.model.proof import Verdict
from weftline.prove.failures import CLAIM, RoutingGraph, check_failures, list_dependencies, prove_failures


def make_graph(links: list[tuple[str, str]], origins: list[str]) -> RoutingGraph:
    """Make a graph of named switches."""
    names = tuple(sorted({name for link in links for name in link} | set(origins)))
    place = {name: number for number, name in enumerate(names)}
    pairs = [(place[a], place[b]) for a, b in links] + [(place[b], place[a]) for a, b in links]
    return RoutingGraph(
        names,
        np.array(sorted(set(pairs)), dtype=np.int32).reshape(-1, 2),
        np.array(sorted(place[name] for name in origins), dtype=np.int32),
        "digest",
    )


def make_devices(numbers: dict[str, int], **fields: Any) -> dict[str, ObservedDevice]:
    """Make switches that route by these numbers."""
    return {
        name: ObservedDevice(
            name, "switch", "v", (name,), routers=(ObservedRouter("default", at(name), number=said(number), **fields),)
        )
        for name, number in numbers.items()
    }


LEAVES = ["l1", "l2", "l3"]
SPINES = ["s1", "s2"]
LINKS = [(leaf, spine) for leaf in LEAVES for spine in SPINES]
OWN = {"l1": 1, "l2": 2, "l3": 3}
THREE = [
    *((leaf, spine) for pod in "ab" for leaf in (f"l{pod}1", f"l{pod}2") for spine in (f"s{pod}1", f"s{pod}2")),
    *((f"s{pod}{n}", f"c{m}") for pod in "ab" for n in (1, 2) for m in (1, 2)),
]
PLAN = {"la1": 1, "la2": 2, "lb1": 3, "lb2": 4, "sa1": 10, "sa2": 10, "sb1": 11, "sb2": 11, "c1": 20, "c2": 20}


def test_spines_of_one_number_can_never_be_a_valley() -> None:
    graph, devices = make_graph(LINKS, LEAVES), make_devices({**OWN, "s1": 9, "s2": 9})
    proof = prove_failures(graph, devices, required=True)
    assert proof.verdict is Verdict.PROVED
    assert check_failures(proof)
    assert not check_failures(replace(proof, claim="deadlock"))
    certificate = proof.certificate
    assert certificate is not None
    for name in ("rank", "number"):
        changed = {**certificate.columns, name: certificate.columns[name][::-1].copy()}
        assert not check_failures(replace(proof, certificate=replace(certificate, columns=changed)))
        forged = replace(certificate, columns=changed, digest=digest_parts((CLAIM, *changed.values())))
        assert not check_failures(replace(proof, certificate=forged)) or name == "number"
    other = make_devices({**OWN, "s1": 9, "s2": 8})
    assert not check_failures(prove_failures(graph, other, required=True))


def test_spines_of_two_numbers_can_be_one_after_failures() -> None:
    proof = prove_failures(make_graph(LINKS, LEAVES), make_devices({**OWN, "s1": 8, "s2": 9}), required=True)
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    assert "packets can wait in a circle" in proof.witness.summary
    cycle = proof.witness.detail["cycle"]
    assert proof.bound == len(cycle) > 1
    assert {step["channel"].partition("~")[2] for step in cycle} == {
        step["channel"].partition("~")[0] for step in cycle
    }
    assert {step["number"] for step in cycle} & {8, 9}


def test_three_tiers_with_the_plan_of_rfc_7938() -> None:
    graph = make_graph(THREE, ["la1", "la2", "lb1", "lb2"])
    assert prove_failures(graph, make_devices(PLAN), required=True).verdict is Verdict.PROVED
    for broken in ({"c1": 20, "c2": 21}, {"sa1": 10, "sa2": 12}):
        assert prove_failures(graph, make_devices({**PLAN, **broken}), required=True).verdict is Verdict.REFUTED


def test_who_takes_routes_with_its_own_number_opens_the_valley() -> None:
    neighbours = (ObservedNeighbour("e1", at(), allows_own_number=said(True)),)
    devices = make_devices({**OWN, "s1": 9, "s2": 9}, neighbours=neighbours)
    assert prove_failures(make_graph(LINKS, LEAVES), devices, required=True).verdict is Verdict.REFUTED


@pytest.mark.parametrize("what", ["no file", "no number", "another protocol", "no router"])
def test_what_is_not_known_is_unknown(what: str) -> None:
    devices = make_devices({**OWN, "s1": 9, "s2": 9})
    spine = devices.pop("s1")
    if what != "no file":
        changes: dict[str, dict[str, Any]] = {
            "no number": {"routers": (ObservedRouter("default", at()),)},
            "another protocol": {"unread": (("router ospf", 3),)},
            "no router": {"routers": ()},
        }
        devices["s1"] = replace(spine, **changes[what])
    proof = prove_failures(make_graph(LINKS, LEAVES), devices, required=True)
    assert proof.verdict is Verdict.UNKNOWN
    assert "Not decided" in proof.statement
    assert not check_failures(proof)


def walk_paths(graph: RoutingGraph, numbers: list[int]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """List which channel can wait on which by every path that any router can ever take: the slow twin.

    A path is taken hop by hop as its announcement goes: nobody takes one that holds its own number.
    """
    near: dict[int, set[int]] = {}
    for a, b in graph.pairs.tolist():
        near.setdefault(a, set()).add(b)
    uses: dict[tuple[int, int], set[int]] = {}
    for origin in graph.origins.tolist():
        heads: list[tuple[int, ...]] = [(origin,)]
        while heads:
            path = heads.pop()
            for other in near.get(path[0], ()):
                if numbers[other] not in {numbers[node] for node in path}:
                    uses.setdefault((other, path[0]), set()).add(origin)
                    heads.append((other, *path))
    return {
        ((u, v), (v2, w)) for (u, v), into in uses.items() for (v2, w), out in uses.items() if v == v2 and into & out
    }


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_all_ways_that_can_ever_be_taken_are_among_the_dependencies(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 6))
    names = [f"n{number}" for number in range(size)]
    links = data.draw(st.lists(st.sampled_from(list(itertools.combinations(names, 2))), min_size=1, unique=True))
    origins = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    graph = make_graph(links, origins)
    numbers = {name: data.draw(st.integers(1, 4)) for name in graph.names}
    plain = [numbers[name] for name in graph.names]
    found = list_dependencies(graph, np.array(plain, dtype=np.int32))
    assert found is not None
    ptr, after = found
    rows = [tuple(row) for row in graph.pairs.tolist()]
    ours = {(rows[head], rows[int(tail)]) for head in range(len(rows)) for tail in after[ptr[head] : ptr[head + 1]]}
    real = walk_paths(graph, plain)
    assert real <= ours
    proof = prove_failures(graph, make_devices(numbers), required=True)
    if proof.verdict is Verdict.PROVED:
        assert nx.is_directed_acyclic_graph(nx.DiGraph(list(real)))
    assert (proof.verdict is Verdict.PROVED) == nx.is_directed_acyclic_graph(nx.DiGraph(list(ours)))
    assert NIL not in plain


@pytest.mark.parametrize(
    "links",
    [
        [(f"r{at}", f"r{(at + 1) % 6}") for at in range(6)],
        [(f"t{a}{b}", f"t{x}{y}") for a in range(3) for b in range(3) for x, y in (((a + 1) % 3, b), (a, (b + 1) % 3))],
        [(f"g{g}{a}", f"g{g}{b}") for g in range(3) for a, b in itertools.combinations(range(3), 2)]
        + [("g00", "g10"), ("g11", "g20"), ("g21", "g01")],
    ],
    ids=["ring", "torus", "dragonfly"],
)
def test_the_circle_of_a_direct_topology_replays_and_says_what_to_do(links: list[tuple[str, str]]) -> None:
    """Each step of the circle is walked: a destination exists to which both hops lead by paths that numbers allow."""
    names = sorted({name for link in links for name in link})
    numbers = {name: 100 + at for at, name in enumerate(names)}
    proof = prove_failures(make_graph(links, names), make_devices(numbers), required=True)
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    assert "one number" in proof.witness.summary
    channels = [tuple(step["channel"].split("~")) for step in proof.witness.detail["cycle"]]
    whole: Any = nx.Graph(links)
    for (holder, middle), (again, beyond) in zip(channels, channels[1:] + channels[:1], strict=True):
        assert middle == again
        assert whole.has_edge(holder, middle)
        assert whole.has_edge(middle, beyond)
        without_holder, without_middle = whole.copy(), whole.copy()
        without_holder.remove_node(holder)
        without_middle.remove_node(middle)
        there: set[str] = nx.node_connected_component(without_holder, middle)
        assert there & set(nx.node_connected_component(without_middle, beyond))
