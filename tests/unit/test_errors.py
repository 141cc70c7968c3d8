from __future__ import annotations

import pytest

from weftline import errors
from weftline.errors import Place, Problem, WeftlineError

FAMILIES: list[tuple[type[WeftlineError], str, int]] = [
    (errors.SpecError, "spec", 1),
    (errors.CapabilityError, "capability", 1),
    (errors.ArtifactError, "artifact", 1),
    (errors.UsageError, "usage", 64),
    (errors.RefusedError, "refused", 3),
    (errors.SourceError, "source", 4),
    (errors.EnactError, "enact", 5),
    (errors.InternalError, "internal", 70),
]


@pytest.mark.parametrize(("kind", "family", "status"), FAMILIES)
def test_a_family_has_one_exit_status(kind: type[WeftlineError], family: str, status: int) -> None:
    assert (kind.family, kind.exit_status) == (family, status)


def test_every_family_is_listed() -> None:
    assert set(WeftlineError.__subclasses__()) == {kind for kind, _, _ in FAMILIES}


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place("a.yaml"), "a.yaml"),
        (Place("a.yaml", 3), "a.yaml:3"),
        (Place("a.yaml", 3, 7, "hosts.count"), "a.yaml:3:7"),
        (Place("a.yaml", None, 7), "a.yaml"),
    ],
)
def test_a_place_reads_as_editors_write_it(place: Place, text: str) -> None:
    assert str(place) == text


def test_an_error_keeps_the_problems_behind_it() -> None:
    problem = Problem("spec.unknown-key", "unknown key 'x'")
    error = errors.SpecError("spec.unknown-key", "one problem", "look there", Place("a.yaml"), (problem,))
    assert str(error) == "one problem"
    assert error.problems == (problem,)
    assert problem.severity == "error"
