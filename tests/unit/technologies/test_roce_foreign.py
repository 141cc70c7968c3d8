from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from tests.fabrics import make_design
from weftline.errors import Place
from weftline.technologies.infiniband.limits import count_problems as count_infiniband
from weftline.technologies.roce.limits import count_problems


def test_sections_of_infiniband_are_not_for_roce() -> None:
    places = {key: Place("f.yaml", 3, 1, key) for key in ("infiniband", "inventory")}
    design = replace(make_design(technology="roce"), places=MappingProxyType(places))
    problems = count_problems(design, 16, 8)
    assert [(one.code, one.is_error) for one in problems] == [
        ("spec.other-technology", True), ("capability.not-rendered", False),
    ]  # fmt: skip
    assert count_problems(make_design(technology="roce"), 16, 8) == ()


def test_the_section_of_roce_is_not_for_infiniband() -> None:
    places = {"roce": Place("f.yaml", 3, 1, "roce")}
    design = replace(make_design(), places=MappingProxyType(places))
    (problem,) = count_infiniband(design, 16, 8)
    assert (problem.code, problem.where) == ("spec.other-technology", places["roce"])
