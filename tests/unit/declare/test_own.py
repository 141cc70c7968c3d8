from __future__ import annotations

from pathlib import Path

import pytest

from tests.properties.broken import BASE
from weftline.declare import Declaration, load_catalog, parse_spec
from weftline.declare.own import add_own_parts
from weftline.errors import Problem
from weftline.model.parts import Catalog

CATALOG = load_catalog()


def lay(parts: str) -> Catalog | list[Problem]:
    found = parse_spec((BASE + "parts:\n" + parts).encode(), Path("f.yaml"))
    assert isinstance(found, Declaration), found
    return add_own_parts(found.spec, CATALOG, found.places)


def merged(parts: str) -> Catalog:
    found = lay(parts)
    assert isinstance(found, Catalog), found
    return found


def test_no_parts_change_nothing() -> None:
    assert merged("  switches: {}\n") == CATALOG


def test_a_figure_of_a_known_part() -> None:
    part = merged("  switches: {QM9700: {power_w: 747}}\n").switches["QM9700"]
    assert part.power_w == 747
    assert part.ports == CATALOG.switches["QM9700"].ports


def test_a_base() -> None:
    switches = merged("  switches:\n    a: {base: QM9700, power_w: 1}\n    b: {base: a, latency_ns: 2}\n").switches
    assert (switches["b"].power_w, switches["b"].latency_ns) == (1, 2)
    assert switches["b"].title == CATALOG.switches["QM9700"].title


def test_a_part_of_ones_own_needs_no_source() -> None:
    part = merged("  switches: {s: {technologies: [roce], ports: [{rate_gbps: 100, count: 4}]}}\n").switches["s"]
    assert part.title == "s"
    assert part.sources == ()


def test_a_source_does_not_stand_behind_a_replaced_figure() -> None:
    part = merged("  switches: {QM9700: {latency_ns: 1}}\n").switches["QM9700"]
    assert all("latency_ns" not in source.figures for source in part.sources)
    assert any("ports" in source.figures for source in part.sources)


def test_sources_of_ones_own_are_added() -> None:
    text = (
        "  switches: {QM9700: {latency_ns: 1, sources: [{figures: [latency_ns], text: measured, date: 2026-01-31}]}}\n"
    )
    assert merged(text).switches["QM9700"].sources[-1].text == "measured"


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ("  switches: {a: {base: a}}\n", "spec.unknown-part"),
        ("  switches: {a: {base: b}, b: {base: a}}\n", "spec.part-cycle"),
        ("  switches: {a: {base: nowhere}}\n", "spec.unknown-part"),
        ("  switches: {a: {base: 3}}\n", "spec.wrong-type"),
        ("  switches: {a: {}}\n", "spec.missing-key"),
        ("  switches: {QM9700: {watts: 3}}\n", "spec.unknown-key"),
        ("  switches: {QM9700: {power_w: -3}}\n", "spec.out-of-range"),
        ("  nics: {a: {base: QM9700}}\n", "spec.unknown-part"),
        ("  hosts: {DGX-H100: {nic: nowhere}}\n", "spec.unknown-part"),
        ("  cables: {a: {base: MMF-400G-SR4, sources: 3}}\n", "spec.wrong-type"),
    ],
)
def test_refuses(parts: str, code: str) -> None:
    found = lay(parts)
    assert isinstance(found, list)
    assert code in {problem.code for problem in found}
    assert all(problem.where is not None and problem.where.line for problem in found)


def test_a_long_chain_ends() -> None:
    chain = "".join(f"    p{n}: {{base: p{n + 1}}}\n" for n in range(150)) + "    p150: {base: QM9700}\n"
    found = lay("  switches:\n" + chain)
    assert isinstance(found, list)
    assert {problem.code for problem in found} == {"spec.part-cycle"}
