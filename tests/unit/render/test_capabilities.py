"""Needs against platforms: what cannot be carried names the platforms that can."""

from __future__ import annotations

import pytest

from weftline.declare import load_catalog
from weftline.errors import Place
from weftline.model.capability import Need, Wanted
from weftline.render.capabilities import carries, check_needs

PLATFORMS = load_catalog().platforms


def test_what_a_platform_carries_is_no_problem() -> None:
    needs = [
        Need("has_pauses", wanted=True, what="priority flow control"),
        Need("pause_priorities", (3, 4), "pauses on priorities 3 and 4"),
        Need("watchdog_actions", "forward", "a watchdog that forwards"),
        Need("watchdog_detect_ms", 200, "a watchdog after 200 ms"),
        Need("mtu_max", 9216, "frames of 9216 bytes"),
        Need("hash_fields", ("src-port", "rdma-queue-pair"), "paths by queue pair"),
    ]
    assert check_needs("sonic", needs, PLATFORMS) == ()


def test_what_it_cannot_carry_names_the_platforms_that_can() -> None:
    place = Place("a.yaml", 3, 1)
    (problem,) = check_needs("frr", [Need("has_pauses", wanted=True, what="pauses", where=place)], PLATFORMS)
    assert (problem.code, problem.severity, problem.where) == ("capability.platform", "error", place)
    assert problem.message == "frr cannot carry pauses"
    assert problem.hint == "platforms that can: eos, nvue, sonic"


def test_what_nobody_carries_says_so() -> None:
    (problem,) = check_needs("sonic", [Need("mtu_max", 16_000, "frames of 16,000 bytes")], PLATFORMS)
    assert problem.hint == "no platform of the catalogue is known to carry it"


def test_what_no_source_says_is_a_warning() -> None:
    (problem,) = check_needs("eos", [Need("has_hash_seed", wanted=True, what="a hash seed")], PLATFORMS)
    assert (problem.code, problem.severity) == ("capability.platform-unknown", "warning")
    assert problem.message == "no source says that eos carries a hash seed"
    assert problem.hint == "platforms that can: nvue"


def test_a_platform_that_nobody_knows_is_unknown() -> None:
    (problem,) = check_needs("onyx", [Need("has_pauses", wanted=True, what="pauses")], PLATFORMS)
    assert problem.code == "capability.platform-unknown"


@pytest.mark.parametrize(
    ("field", "wanted", "expected"),
    [
        ("watchdog_detect_ms", 99, False),
        ("watchdog_detect_ms", 5000, True),
        ("watchdog_detect_ms", "soon", False),
        ("has_hash_seed", False, True),
        ("pause_priorities", 8, False),
        ("hash_fields", "gtp-teid", False),
    ],
)
def test_edges(field: str, wanted: Wanted, expected: bool) -> None:
    assert carries(PLATFORMS["sonic"], Need(field, wanted, "it")) is expected


def test_a_need_must_name_a_field_that_there_is() -> None:
    with pytest.raises(AttributeError):
        carries(PLATFORMS["sonic"], Need("has_wings", wanted=True, what="flight"))
