"""The law of every vendor: what is read from the rendered files is exactly what the intent says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import intents
from tests.designs import join_facts, render_design
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import DeviceIntent, list_facts
from weftline.model.observed import ObservedConfig
from weftline.model.spec import LosslessSection, RoutingSection
from weftline.technologies import TECHNOLOGIES
from weftline.vendors import VENDORS


def read_back(intent: DeviceIntent, vendors: tuple[str, ...]) -> tuple[ObservedConfig, ...]:
    """Render one intent and read the files."""
    artifacts = ArtifactSet("", tuple(a for name in vendors for a in VENDORS[name].render((intent,))))
    return tuple(config for name in vendors for config in VENDORS[name].observe(artifacts))


def assert_law(intent: DeviceIntent, vendors: tuple[str, ...]) -> None:
    """Hold the facts of the files against those of the intent."""
    observed = read_back(intent, vendors)
    assert [problem for config in observed for problem in config.problems] == []
    assert join_facts(observed).get(intent.device, {}) == list_facts(intent)


@given(intents.managers())
@settings(max_examples=40)
def test_managers(intent: DeviceIntent) -> None:
    assert_law(intent, ("opensm",))


@given(intents.switches())
@settings(max_examples=40)
def test_switches(intent: DeviceIntent) -> None:
    assert_law(intent, ("sonic", "frr"))


@given(intents.switches())
@settings(max_examples=30)
def test_what_two_vendors_must_both_say(intent: DeviceIntent) -> None:
    """The switch's own address and number stand in both files, and neither may rest on the other."""
    shared = {"forwarding.exchange.number", "forwarding.exchange.router_address"}
    for config in read_back(intent, ("sonic", "frr")):
        assert {path: config.values.get(path) for path in shared} == {path: list_facts(intent)[path] for path in shared}


@given(intents.hosts())
@settings(max_examples=40)
def test_hosts(intent: DeviceIntent) -> None:
    assert_law(intent, ("host",))


@pytest.mark.parametrize("technology", TECHNOLOGIES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kind": "fat-tree", "hosts": 64},
        {"kind": "rail-only", "rails": 2, "hosts": 8},
        {"planes": 2, "rails": 2, "hosts": 6},
        {"hosts": 5, "tenants": (("red", "1-2"), ("blue", "4"))},
        {"kind": "fat-tree", "hosts": 15, "extras": (("storage", 1, "auto"),)},
        {"routing": RoutingSection(lmc=1)},
        {"lossless": LosslessSection(priority=0, dscp=0, cnp_priority=1, cnp_dscp=63, mtu=9000)},
    ],
)
def test_whole_fabrics(technology: str, options: dict[str, Any]) -> None:
    made = render_design(technology, **options)
    observed = tuple(config for vendor in made.vendors for config in vendor.observe(made.artifacts))
    assert [problem for config in observed for problem in config.problems] == []
    assert join_facts(observed) == {intent.device: list_facts(intent) for intent in made.intents}


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_every_fact_has_its_place(technology: str) -> None:
    made = render_design(technology)
    paths = {artifact.path for artifact in made.artifacts.artifacts}
    for vendor in made.vendors:
        for config in vendor.observe(made.artifacts):
            assert {fact.where.file for fact in config.facts} <= paths
            assert set(config.files) <= paths
            assert config.vendor == vendor.name
            assert {fact.path for fact in config.facts} == set(config.values)


@pytest.mark.parametrize("name", VENDORS)
def test_the_table_is_by_name(name: str) -> None:
    assert VENDORS[name].name == name


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_a_technology_names_vendors_that_exist(technology: str) -> None:
    assert TECHNOLOGIES[technology].name == technology
    assert set(TECHNOLOGIES[technology].design.vendors) <= set(VENDORS)


def corrupt(content: bytes, place: int, junk: bytes) -> bytes:
    """Put junk into a file."""
    place %= max(len(content), 1)
    return content[:place] + junk + content[place + len(junk) :]


@pytest.mark.parametrize("technology", TECHNOLOGIES)
@given(which=st.integers(0, 10_000), place=st.integers(0, 10**6), junk=st.binary(min_size=1, max_size=6))
@settings(max_examples=60)
def test_a_damaged_file_never_passes_in_silence(technology: str, which: int, place: int, junk: bytes) -> None:
    """Damage is a problem or a fact that differs, unless it fell on words that say nothing."""
    made = RENDERED[technology]
    files = list(made.artifacts.artifacts)
    old = files[which % len(files)]
    content = corrupt(old.content, place, junk)
    files[which % len(files)] = Artifact(old.path, content, old.device, old.vendor)
    damaged = ArtifactSet("", tuple(files))
    after = [config for vendor in made.vendors for config in vendor.observe(damaged)]
    noticed = any(config.problems for config in after) or BEFORE[technology] != [config.values for config in after]
    if old.path.endswith((".sh", "guid2lid")) and content.split() != old.content.split():
        assert noticed
    for config in after:
        assert all(problem.where is not None and problem.where.file for problem in config.problems)


RENDERED = {name: render_design(name, hosts=2, rails=1) for name in TECHNOLOGIES}
BEFORE = {
    name: [config.values for vendor in made.vendors for config in vendor.observe(made.artifacts)]
    for name, made in RENDERED.items()
}
