"""Any numbers in a declaration without a tree: it is refused with place, hint and arithmetic, or built as counted."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.direct_designs import declare, resolve
from weftline.compile import build_fabric, count_fabric, plan_counts
from weftline.errors import Problem
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind

AUTO = st.just("auto")
FEW = st.integers(0, 90)


@st.composite
def topologies(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what a hurried person writes, sensible or not."""
    kind = draw(st.sampled_from(["dragonfly", "dragonfly-plus", "torus"]))
    if kind == "torus":
        sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
        topology: dict[str, Any] = {"kind": kind, "sizes": sizes, "endpoints": draw(st.integers(1, 70) | AUTO)}
        if draw(st.booleans()):
            topology["dimension_links"] = draw(st.lists(st.integers(1, 20), min_size=len(sizes), max_size=len(sizes)))
        return topology
    groups = [
        {
            "name": f"kind-{index}",
            "count": draw(st.integers(1, 6)),
            "leaf": draw(st.integers(1, 40)),
            "spine": draw(st.integers(1, 40)) if kind == "dragonfly-plus" else 0,
            "endpoints": draw(FEW | AUTO),
            "hosts": draw(FEW | AUTO),
            "others": draw(st.sampled_from([0, 0, 1, 30])),
            "global_links": draw(FEW | AUTO),
        }
        for index in range(draw(st.integers(1, 3)))
    ]
    return {
        "kind": kind,
        "groups": groups,
        "local_links": draw(st.integers(1, 5) | AUTO),
        "global_links": draw(FEW | AUTO),
    }


@settings(max_examples=120, deadline=None)
@given(topologies(), st.integers(1, 120), st.integers(1, 9))
def test_a_declaration_is_refused_in_words_or_built_as_counted(
    topology: dict[str, Any], hosts: int, rails: int
) -> None:
    design = resolve(declare(topology, hosts=hosts, rails=rails))
    found = design if isinstance(design, tuple) else plan_counts(design)
    if isinstance(found, tuple):
        assert found
        for problem in found:
            assert isinstance(problem, Problem)
            assert problem.hint
            assert problem.where is not None
            assert problem.where.line is not None
        assert isinstance(design, tuple) or isinstance(build_fabric(design), tuple)
        return
    assert not isinstance(design, tuple)
    fabric = build_fabric(design)
    assert isinstance(fabric, Fabric)
    assert count_fabric(fabric, design) == found
    peer = fabric.port_peer
    lit = peer != NIL
    assert (peer[peer[lit]] == lit.nonzero()[0]).all()
    ends = fabric.node_kind[fabric.port_node] != NodeKind.SWITCH
    assert lit[ends].all()
    assert not ends[peer[ends]].any()
