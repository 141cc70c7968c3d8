from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.fabrics import make_design
from weftline.compile import check_expect, plan_counts
from weftline.errors import Problem
from weftline.model.counts import FabricCounts


def check(expect: Mapping[str, int], **options: Any) -> tuple[Problem, ...]:
    whole: dict[str, Any] = {"kind": "rail-optimised", "hosts": 128, "rails": 8, "ports": 64, **options}
    design = make_design(**whole, expect=expect)
    counts = plan_counts(design)
    assert isinstance(counts, FabricCounts)
    return check_expect(design, counts)


TRUE = {
    "hosts": 128, "gpus": 1024, "units": 4, "leaf": 32, "spine": 16, "core": 0, "host_leaf": 1024,
    "leaf_spine": 1024, "spine_core": 0,
}  # fmt: skip


def test_true_counts_pass() -> None:
    assert check(TRUE) == ()
    assert check({}) == ()


@pytest.mark.parametrize("key", list(TRUE))
def test_every_false_count_is_a_problem_of_its_own(key: str) -> None:
    (problem,) = check({**TRUE, key: TRUE[key] + 1})
    assert problem.code == "spec.expect"
    assert problem.message.startswith(f"expect.{key} says {TRUE[key] + 1:,}, but it is {TRUE[key]:,}: ")
    assert problem.hint.endswith(f"{key}: {TRUE[key]}")
    assert problem.where is not None
    assert problem.where.path == f"expect.{key}"


def test_all_differences_come_at_once() -> None:
    assert len(check({key: count + 7 for key, count in TRUE.items()})) == len(TRUE)


@pytest.mark.parametrize(
    ("options", "key", "reason"),
    [
        ({"hosts": 512}, "spine", "16 in each of 8 pods"),
        ({"hosts": 512}, "core", "4 for each of 16 spine positions"),
        ({"hosts": 512}, "spine_core", "128 spines x 32 uplinks = 4,096 links"),
        ({"kind": "fat-tree", "rails": 1, "hosts": 32}, "spine", "one leaf needs no spine"),
        ({"planes": 2, "cable_links": 2}, "leaf_spine", "64 leaves x 32 uplinks = 2,048 links, 2 per cable"),
        ({"planes": 2}, "leaf", "4 units x 8 rails x 2 planes"),
        ({"planes": 2}, "spine", "in each of 2 components"),
    ],
)
def test_the_reason_shows_the_arithmetic(options: dict[str, Any], key: str, reason: str) -> None:
    (problem,) = check({key: 999_999}, **options)
    assert reason in problem.message


def test_cables_of_extra_endpoints_are_apart() -> None:
    (problem,) = check({"host_leaf": 1020}, hosts=127, extras=[("ufm", 4, "auto")])
    assert "the 4 cables of extra endpoints are counted apart" in problem.hint


def test_a_cabling_list_is_compared_only_once_it_is_read() -> None:
    design = make_design("cabling", hosts=4, rails=2, ports=8, expect={"leaf": 3, "gpus": 9})
    counts = plan_counts(design)
    assert isinstance(counts, FabricCounts)
    assert not counts.is_complete
    assert [problem.where.path for problem in check_expect(design, counts) if problem.where] == ["expect.gpus"]
