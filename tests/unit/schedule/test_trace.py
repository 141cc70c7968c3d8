from __future__ import annotations

import pytest

from tests.fabrics import from_links
from weftline.errors import ArtifactError
from weftline.formats.flow_trace import parse
from weftline.route import compute_routes
from weftline.schedule.trace import trace_flows
from weftline.simulate import SimOptions, simulate

TEXT = b"""source,target,bytes,start_us,after,name
host-0001/nic1,host-0002,5e5B,,,one
host-0002/nic1,host-0003/nic1,500000,,one,two
host-0003,host-0001,0,100,one;two,
"""


def test_flows_of_a_trace_wait_for_their_time_and_for_each_other() -> None:
    fabric = from_links(1, 3, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    flows = trace_flows(parse(TEXT.replace(b"5e5B", b"500000"), "t.csv"), fabric)
    result = simulate(flows, fabric, routes, SimOptions(2.0))
    assert result.start_us.tolist() == pytest.approx([0, 12, 100])
    assert result.finish_us.tolist() == pytest.approx([12, 24, 102])


def test_every_problem_of_a_trace_is_told_and_nothing_is_made_of_it() -> None:
    fabric = from_links(1, 3, [])
    text = b"source,target,bytes\nhost-0001/nic1,host-0009/nic1,1\nleaf-001/1,host-0001,x\n"
    with pytest.raises(ArtifactError) as caught:
        trace_flows(parse(text, "t.csv"), fabric)
    problems = caught.value.problems
    assert [problem.code for problem in problems] == ["artifact.trace-row", *["artifact.trace-end"] * 2]
    assert [(p.where.line, p.where.column) for p in problems if p.where] == [(3, 22), (2, 16), (3, 1)]
    assert "did you mean host-000" in problems[1].hint
    assert caught.value.where == problems[0].where
    assert "and 2 more problems" in caught.value.message


def test_an_empty_trace_sends_nothing() -> None:
    fabric = from_links(1, 3, [])
    assert trace_flows(parse(b"source,target,bytes\n", "t.csv"), fabric).count == 0
