"""One edit of one rendered file of a fabric with tenants: lint names the device, the file and the table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.seeded_tenants import TENANTS
from tests.oracle.seeding import Fault
from tests.oracle.test_seeded_faults import FABRIC, hold_fault, lint_sound, lint_with, list_new, names, render_files
from weftline.app import lint as app
from weftline.lint import RULES, LintSource, lint_devices
from weftline.model.finding import Finding

OWNERS = "tenants:\n  - {name: red, hosts: '1,3,5,7'}\n  - {name: blue, hosts: '2,4,6,8'}\n"
GAPS = {
    "a port of red in the VRF of blue": "only the declaration says whose host it is: weftline prove finds it",
    "a filter for a wider subnet of the same tenant": "lint knows no tenants: prove says it as a residual risk",
}
"""What is known not to be found by lint, and who finds it."""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files as the command renders them; the tests put back what they change."""
    return render_files(tmp_path_factory.mktemp("seeded-tenants"), FABRIC + OWNERS)


@pytest.fixture(scope="module")
def sound(rendered: Path) -> dict[str, Any]:
    """What lint says of the files as they were rendered."""
    return lint_sound(rendered)


def test_the_fabric_as_rendered_has_no_fault(sound: dict[str, Any]) -> None:
    assert (sound["counts"]["error"], sound["counts"]["warning"]) == (0, 0)
    assert not any(finding["rule"].startswith("tenancy.") for finding in sound["findings"])


@pytest.mark.parametrize("fault", TENANTS, ids=lambda fault: f"{fault.file}: {fault.name}")
def test_a_fault_is_found_where_it_is(fault: Fault, rendered: Path, sound: dict[str, Any]) -> None:
    hold_fault(fault, rendered, sound)


def test_every_rule_of_tenancy_and_every_table_is_tried() -> None:
    ours = {rule.key for rule in RULES if rule.key.startswith("tenancy.")}
    assert ours <= {fault.rule for fault in TENANTS}
    tables = {fault.names for fault in TENANTS}
    assert {"VRF", "VXLAN_TUNNEL_MAP", "VLAN_INTERFACE", "INTERFACE", "LOOPBACK_INTERFACE", "STATIC_ROUTE",
            "MIRROR_SESSION", "SFLOW", "ACL_RULE"} <= tables  # fmt: skip
    assert max(Counter((fault.file, fault.name) for fault in TENANTS).values()) == 1
    assert [fault.name for fault in TENANTS if (fault.severity == "notice") != bool(fault.why)] == []
    assert all(GAPS.values())


@pytest.mark.parametrize("key", sorted({fault.rule for fault in TENANTS}))
def test_a_rule_that_is_taken_away_is_missed(
    key: str, rendered: Path, sound: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = next(fault for fault in TENANTS if fault.rule == key)
    left = tuple(rule for rule in RULES if rule.key != key)

    def lint_with_the_others(source: LintSource) -> tuple[Finding, ...]:
        return lint_devices(source, left)

    monkeypatch.setattr(app, "lint_devices", lint_with_the_others)
    _, document = lint_with(rendered, fault)
    assert not any(names(finding, fault) for finding in list_new(sound, document))
