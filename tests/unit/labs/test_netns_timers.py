"""What the timers of a switch foretell, and outages summed up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.lab.netns.conftest import TENANTS
from tests.unit.labs.test_netns import design_of
from weftline.cli.labs import describe_outage
from weftline.labs.netns import outages
from weftline.labs.netns.layout import lay_out
from weftline.labs.netns.timers import Timers, foretell, read_timers, slow_down
from weftline.model.lab import Outage

FILE = b"""\
bfd
 profile FABRIC
  detect-multiplier 3
  receive-interval 300
  transmit-interval 400
 exit
exit
router bgp 1
 timers bgp 1 4
 neighbor FABRIC bfd profile FABRIC
"""


def test_timers_are_those_of_the_file(tmp_path: Path) -> None:
    assert read_timers(FILE) == Timers(4.0, 400, 3, None, "FABRIC")
    assert read_timers(b"") == Timers(9.0, None, 3)
    leaf = next(device for device in design_of(tmp_path).devices if device.name == "leaf-001")
    assert read_timers(leaf.files["frr.conf"]) == Timers(9.0, 300, 3, None, "FABRIC")


@pytest.mark.parametrize(
    ("timers", "links", "is_silent", "predicted"),
    [
        (Timers(9.0, 300, 3), 1, True, 0.9 + 0.7),
        (Timers(9.0, None, 3), 1, True, 9.0 + 0.7),
        (Timers(9.0, 300, 3), 1, False, 0.7),
        (Timers(9.0, 300, 3), 8, False, 0.9 + 0.7),
        (Timers(9.0, 1000, 3), 8, False, 1.0 + 0.7),
    ],
)
def test_predictions(timers: Timers, links: int, *, is_silent: bool, predicted: float) -> None:
    seconds, arithmetic = foretell(timers, links, is_silent=is_silent)
    assert seconds == pytest.approx(predicted)
    assert "0.5 s margin" in arithmetic


def test_a_machine_with_few_processors_slows_bfd_down() -> None:
    timers = read_timers(FILE)
    assert slow_down(timers, 200, 2) == timers
    assert slow_down(timers, 1024, 2) == replace(timers, interval_ms=6 * 400, rendered_ms=400)
    assert slow_down(replace(timers, interval_ms=None), 1024, 2).rendered_ms is None


def test_flows_pass_what_breaks_and_have_another_way(tmp_path: Path) -> None:
    design = design_of(tmp_path)
    layout = lay_out(design)
    ports = {design.fabric.port_name(port): port for port in range(design.fabric.port_count)}
    uplink = {ports["leaf-001/3"], ports["spine-01/1"]}
    order = outages.choose_flows(design, layout, uplink)
    assert len(order["flows"]) == 96
    assert len({port for _, _, port in order["flows"]}) == 96
    spaces = [one["namespace"] for one in order["endpoints"]]
    assert all("host-0001" in {spaces[source], spaces[target]} for source, target, _ in order["flows"])
    assert all(spaces[source] != spaces[target] for source, target, _ in order["flows"])
    both = uplink | {ports["leaf-001/4"], ports["spine-02/1"]}
    assert outages.choose_flows(design, layout, both)["flows"] == []
    nic = {ports["leaf-001/1"], ports["host-0001/nic1"]}
    assert outages.choose_flows(design, layout, nic)["flows"] == []


def test_flows_stay_within_a_tenant(tmp_path: Path) -> None:
    from tests.lab.netns.conftest import SMALL

    design = design_of(tmp_path, SMALL + TENANTS)
    layout = lay_out(design)
    uplink = {port for port in range(design.fabric.port_count) if design.fabric.port_name(port) == "leaf-001/3"}
    order = outages.choose_flows(design, layout, uplink)
    spaces = [one["namespace"] for one in order["endpoints"]]
    assert {spaces[target] for source, target, _ in order["flows"] if spaces[source] == "host-0001"} == {"host-0002"}


@pytest.mark.parametrize(
    ("outage", "words"),
    [
        (Outage(0, 0, None, None, 0, 1.6, "x"), "no pair of hosts has another way"),
        (Outage(96, 0, None, None, 0, 1.6, "x"), "none of 96 probe flows lost a packet; predicted at most 1.6 s: x"),
        (Outage(96, 9, 0.94, 0.9, 0, 1.6, "x"), "9 of 96 probe flows lost packets, for at most 0.94 s; predicted"),
        (Outage(96, 9, None, None, 9, 1.6, "x"), "9 of 96 probe flows lost packets, 9 of them for good; predicted"),
    ],
)
def test_outages_in_words(outage: Outage, words: str) -> None:
    assert words in describe_outage(outage)
