"""A fabric of EOS or NVUE switches is right as rendered, and each fault put into one file is named with its switch."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.designs import Rendered, render_design
from weftline.lint import LintSource, lint_devices
from weftline.model.finding import Finding
from weftline.model.observed import ObservedDevice
from weftline.model.roce import RoceSection
from weftline.vendors import VENDORS

LEAF = "leaf-001"
SYSTEMS = ("eos", "nvue")


@cache
def make(system: str) -> Rendered:
    """Render a small fabric."""
    return render_design("roce", hosts=4, rails=2, roce=RoceSection.model_validate({"platform": {"system": system}}))


def read(system: str, old: str = "", new: str = "", count: int = 1) -> tuple[ObservedDevice, ...]:
    """Read all files, those of one leaf with something replaced in them."""
    files: dict[str, list[tuple[str, bytes]]] = {}
    for artifact in make(system).artifacts.artifacts:
        content = artifact.content
        if old and artifact.device == LEAF:
            text, done = re.subn(old, new, content.decode(), count=count, flags=re.MULTILINE)
            assert done, old
            content = text.encode()
        recognise = VENDORS[artifact.vendor].recognise
        if recognise is not None and recognise(artifact.path, content[:65_536]):
            files.setdefault(artifact.vendor, []).append((artifact.path, content))
    devices: list[ObservedDevice] = []
    for name, own in files.items():
        configured = VENDORS[name].configured
        assert configured is not None
        devices += configured(own)
    return tuple(devices)


def lint(system: str, old: str = "", new: str = "", count: int = 1) -> tuple[Finding, ...]:
    """Lint a fabric with at most one fault."""
    return lint_devices(LintSource(read(system, old, new, count)))


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_rendered_is_right(system: str) -> None:
    assert [finding for finding in lint(system) if finding.severity != "note"] == []


FAULTS = [
    ("eos", r"^   priority-flow-control priority 3 no-drop\n", ""),
    ("eos", r"^   priority-flow-control on\n", ""),
    ("eos", r"^   priority-flow-control priority 3 no-drop", "   priority-flow-control priority 4 no-drop"),
    ("eos", r"^   qos trust dscp\n", "   qos trust cos\n"),
    ("eos", r"^qos map dscp 26 to traffic-class 3", "qos map dscp 26 to traffic-class 0"),
    ("eos", r"^qos map traffic-class 3 to tx-queue 3", "qos map traffic-class 3 to tx-queue 0"),
    ("eos", r"^      random-detect ecn .*\n", ""),
    ("eos", r"minimum-threshold 150000 bytes", "minimum-threshold 9000000 bytes"),
    ("eos", r"^   mtu 9216", "   mtu 1500"),
    ("eos", r"^   service-profile FABRIC", "   service-profile GONE"),
    ("eos", r"^   no switchport\n", "   no switchport\n   flowcontrol receive on\n"),
    ("eos", r"^      priority strict\n", "      no priority\n"),
    ("eos", r"^   priority-flow-control pause watchdog\n", "   no priority-flow-control pause watchdog\n"),
    ("eos", r"^priority-flow-control pause watchdog default timeout .*\n", ""),
    (
        "eos",
        r"^priority-flow-control pause watchdog default timeout .*\n",
        "priority-flow-control pause watchdog default timeout 0.01\n",
    ),
    ("eos", r"^   neighbor interface Ethernet5/1 .*remote-as \d+", "   neighbor interface Ethernet5/1 peer-group GONE"),
    ("eos", r"^qos map dscp 26 to traffic-class 3", "qos rewrite dscp\nqos map dscp 26 to traffic-class 3"),
    ("eos", r"^interface Ethernet1/1$", "priority-flow-control all off\ninterface Ethernet1/1"),
    ("nvue", r"^( +)ecn: enable\n", r"\1ecn: disable\n"),
    ("nvue", r"^( +)mtu: 9216", r"\1mtu: 1500"),
    ("nvue", r"^( +)trust: l3", r"\1trust: l2"),
    ("nvue", r"^( +)'26':\n +switch-priority: 3", r"\1'26':\n\1  switch-priority: 0"),
    ("nvue", r"^( +)'3':\n +traffic-class: 3", r"\1'3':\n\1  traffic-class: 0"),
    ("nvue", r"^( +)'3': \{\}\n( +)tx: enable", r"\1'4': {}\n\2tx: enable"),
    ("nvue", r"^( +)tx: enable", r"\1tx: disable"),
    ("nvue", r"^( +)mode: strict", r"\1mode: dwrr"),
    ("nvue", r"^( +)min-threshold: 150000", r"\1min-threshold: 9000000"),
    ("nvue", r"^( +)state: enable\n", r"\1state: disable\n"),
    ("nvue", r"^( +)'26':\n", r"\1'64':\n"),
    ("nvue", r"^( +)polling-interval: 200\n", ""),
    ("nvue", r"^( +)trust: l3", r"\1trust: some"),
    ("nvue", r"^( +)profile: fabric-2", r"\1profile: gone"),
    ("nvue", r"^( +)probability: 100", r"\1probability: 101"),
]


@pytest.mark.parametrize(("system", "old", "new"), FAULTS)
def test_a_fault_is_named_with_its_switch(system: str, old: str, new: str) -> None:
    known = {(finding.rule, finding.subject) for finding in lint(system)}
    found = [one for one in lint(system, old, new) if (one.rule, one.subject) not in known and one.severity != "note"]
    assert found
    assert any(LEAF in f"{one.subject} {one.message}" for one in found), found
