"""Split ports: InfiniBand warns that their numbers are the plan's own, RoCE refuses what it cannot lay out."""

from __future__ import annotations

import pytest

from tests.direct_designs import declare, design_of
from weftline.technologies import TECHNOLOGIES

TOPOLOGY = {"kind": "dragonfly", "groups": [{"count": 2, "leaf": 4, "hosts": 8}]}


@pytest.mark.parametrize(
    ("technology", "rates", "severity"),
    [
        ("infiniband", (200, 400.0), "warning"),
        ("roce", (400, 800.0), "error"),
        ("infiniband", (400, None), None),
        ("roce", (400, None), None),
    ],
)
def test_split_ports_are_said(technology: str, rates: tuple[int, float | None], severity: str | None) -> None:
    topology = TOPOLOGY if rates[1] is None else {**TOPOLOGY, "trunk_gbps": rates[1]}
    content = declare(topology, hosts=16, rails=2, technology=technology)
    content["hosts"]["rate_gbps"] = rates[0]
    problems = TECHNOLOGIES[technology].design.count_problems(design_of(content), 32, 8)
    found = [problem.severity for problem in problems if problem.code == "capability.split-ports"]
    assert found == ([] if severity is None else [severity])
