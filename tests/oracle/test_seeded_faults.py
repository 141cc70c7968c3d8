"""One edit of one rendered file at a time: lint names the device, the file and the table, by the rule for it.

Both ends of links are tried: the leaf, the spine and the host.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import hold, run
from tests.oracle.seeded_hosts import HOSTS, ROUTES
from tests.oracle.seeded_switches import SWITCHES
from tests.oracle.seeding import Fault
from weftline.app import lint as app
from weftline.lint import RULES, LintSource, lint_devices
from weftline.model.finding import Finding

FABRIC = """
fabric: {name: seeded}
technology: roce
hosts: {count: 8, part: small-host, rate_gbps: 400, unit_size: 2}
topology: {kind: fat-tree, tiers: 2, oversubscription: 1.0, leaf: small-switch, spine: small-switch}
parts:
  hosts: {small-host: {base: DGX-H100, gpus: 2, rails: 2}}
  switches: {small-switch: {base: SN5600, ports: [{rate_gbps: 400, count: 8}]}}
claims: {required: [reach, deadlock]}
"""
"""Two spines, four leaves, eight hosts with two NICs."""

FAULTS = (*SWITCHES, *HOSTS, *ROUTES)
SEVERITIES = ("error", "warning", "notice")
GAPS = {
    "xon above what the group holds": "how far below the limit a pause must end is the chip's own arithmetic",
    "no bestpath as-path multipath-relax": "not read; it changes nothing where all spines have one number",
    "a UDP source port that NVSHMEM fixes": "nothing in a host's files says it; only counters of uplinks do",
}
"""What is known not to be found, and why."""


def render_files(folder: Path, text: str) -> Path:
    """Render a declaration by the command."""
    spec = folder / "fabric.yaml"
    spec.write_text(text, encoding="utf-8")
    assert run("render", spec, "--out", folder / "out").status == 0
    place = folder / "out" / "artifacts"
    (place / "manifest.json").unlink()
    return place


def lint_sound(rendered: Path) -> dict[str, Any]:
    """Lint the files as they were rendered."""
    ran = run("lint", rendered, "--json")
    assert ran.status == 0
    return hold(ran.document, "lint")


def lint_with(rendered: Path, fault: Fault) -> tuple[int, dict[str, Any]]:
    """Lint the files with one fault in them."""
    file = rendered / fault.place
    good = file.read_text(encoding="utf-8")
    try:
        file.write_text(fault.change(good), encoding="utf-8")
        ran = run("lint", rendered, "--json")
    finally:
        file.write_text(good, encoding="utf-8")
    return ran.status, ran.document


def hold_fault(fault: Fault, rendered: Path, sound: dict[str, Any]) -> None:
    """Hold what lint says of one fault against what it must say."""
    status, document = lint_with(rendered, fault)
    new = list(list_new(sound, document))
    assert any(names(finding, fault) for finding in new), new
    errors = any(finding["severity"] == "error" for finding in new)
    assert status == (2 if errors else 0)
    assert errors or fault.severity != "error"


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files as the command renders them; the tests put back what they change."""
    return render_files(tmp_path_factory.mktemp("seeded"), FABRIC)


@pytest.fixture(scope="module")
def sound(rendered: Path) -> dict[str, Any]:
    """What lint says of the files as they were rendered."""
    return lint_sound(rendered)


def test_the_fabric_as_rendered_has_no_fault(sound: dict[str, Any]) -> None:
    assert (sound["counts"]["error"], sound["counts"]["warning"]) == (0, 0)
    assert Counter(device["role"] for device in sound["devices"]) == {"switch": 6, "host": 8}


def list_new(sound: dict[str, Any], found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    known = {json.dumps(finding) for finding in sound["findings"]}
    return (finding for finding in found["findings"] if json.dumps(finding) not in known)


def names(finding: dict[str, Any], fault: Fault) -> bool:
    """Whether a finding names the device, the file and the table of a fault, and weighs enough."""
    words = " ".join(str(finding[field]) for field in ("subject", "message", "file", "where", "right"))
    return (
        finding["rule"] == fault.rule
        and SEVERITIES.index(finding["severity"]) <= SEVERITIES.index(fault.severity)
        and all(word in words for word in (fault.device, fault.place, fault.names))
    )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.device}: {fault.name}")
def test_a_fault_is_found_where_it_is(fault: Fault, rendered: Path, sound: dict[str, Any]) -> None:
    hold_fault(fault, rendered, sound)


def test_every_table_and_both_ends_are_tried() -> None:
    tables = {fault.names for fault in SWITCHES}
    assert len(FAULTS) >= 60
    assert {fault.device.partition("-")[0] for fault in FAULTS} == {"leaf", "spine", "host"}
    assert {
        "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "PORT_QOS_MAP", "BUFFER_PG", "BUFFER_PROFILE", "BUFFER_POOL",
        "BUFFER_QUEUE", "CABLE_LENGTH", "QUEUE", "SCHEDULER", "WRED_PROFILE", "PFC_WD", "PORT", "SWITCH_HASH",
    } <= tables  # fmt: skip


def test_a_fault_that_weighs_little_says_why() -> None:
    assert [fault.name for fault in FAULTS if (fault.severity == "notice") != bool(fault.why)] == []
    assert {fault.rule for fault in FAULTS} <= {rule.key for rule in RULES}
    assert all(GAPS.values())


@pytest.mark.parametrize("key", sorted({fault.rule for fault in FAULTS}))
def test_a_rule_that_is_taken_away_is_missed(
    key: str, rendered: Path, sound: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a fault counts as found by its own rule, and not by another one of the same name or place."""
    fault = next(fault for fault in FAULTS if fault.rule == key)
    left = tuple(rule for rule in RULES if rule.key != key)

    def lint_with_the_others(source: LintSource) -> tuple[Finding, ...]:
        return lint_devices(source, left)

    monkeypatch.setattr(app, "lint_devices", lint_with_the_others)
    _, found = lint_with(rendered, fault)
    assert not any(names(finding, fault) for finding in list_new(sound, found))
