"""Lane steps are not rendered for OpenSM, and no part of a RoCE fabric takes them: both say what to do instead."""

from __future__ import annotations

import pytest

from tests.fabrics import make_design
from weftline.app.check import engine_problems
from weftline.compile.direct import build_dragonfly, build_dragonfly_plus, build_torus
from weftline.errors import CapabilityError
from weftline.model.fabric import Fabric
from weftline.model.spec import RoutingSection
from weftline.route import compute_routes
from weftline.technologies.infiniband import INFINIBAND
from weftline.technologies.roce import ROCE


@pytest.mark.parametrize(
    ("fabric", "engine"), [(build_torus([4, 4]), "torus"), (build_dragonfly(1, 4, 2, 5), "dragonfly")]
)
def test_steps_are_refused_when_files_are_written(fabric: Fabric, engine: str) -> None:
    design = make_design()
    routes = compute_routes(fabric, engine, to_switches=True)
    with pytest.raises(CapabilityError, match="OpenSM writes one for all ports") as caught:
        INFINIBAND.design.intents(design, fabric, INFINIBAND.design.assign(design, fabric), routes)
    assert caught.value.code == "capability.lane-steps"
    assert "layered" in caught.value.hint


def test_sets_are_refused_when_files_are_written() -> None:
    fabric, design = build_dragonfly_plus(1, 3, 3, 2, 4), make_design()
    routes = compute_routes(fabric, "ecmp", to_switches=True)
    with pytest.raises(CapabilityError) as caught:
        INFINIBAND.design.intents(design, fabric, INFINIBAND.design.assign(design, fabric), routes)
    assert caught.value.code == "capability.several-ports"


@pytest.mark.parametrize(
    ("engine", "words"),
    [("torus", "no switch changes the priority"), ("layered", "the sender's DSCP"), ("updown", "by the tables of")],
)
def test_roce_says_why_it_takes_no_lanes(engine: str, words: str) -> None:
    design = make_design(technology="roce", routing=RoutingSection(engine=engine))  # type: ignore[arg-type]
    (problem,) = engine_problems(design, ROCE)
    assert problem.code == "capability.engine-not-held"
    assert words in problem.message
    assert "ecmp" in problem.hint
