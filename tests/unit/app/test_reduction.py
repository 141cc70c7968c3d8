"""Reduction in the network as it is asked for: trees and limits that are shown, and the ring where a switch cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from weftline.app.packets import PacketChoice
from weftline.app.pipeline import Routed, run_to_routes
from weftline.app.report.packets import Side, render_packets
from weftline.app.simulate import LoadChoice, Simulated, simulate_routed, tell_reductions
from weftline.app.views.load import view_simulation
from weftline.errors import SpecError

DECLARATION = """
fabric: {{name: reduced}}
technology: {technology}
hosts: {{count: 8, gpus: 2, rails: 2, rate_gbps: {rate}, unit_size: 4}}
topology: {{leaf: mine, spine: {spine}}}
parts:
  switches:
    mine: {{base: {base}, ports: [{{rate_gbps: {rate}, count: 8}}]{more}}}
    plain: {{base: {base}, ports: [{{rate_gbps: {rate}, count: 8}}], reduces: false}}
"""
CHOICE = LoadChoice(collective="all-reduce", algorithm="in-network", size="1MiB")


def route(folder: Path, base: str = "QM9700", more: str = "", spine: str = "mine", rate: int = 400) -> Routed:
    technology = "roce" if base.startswith("SN") else "infiniband"
    place = folder / "reduced.yaml"
    text = DECLARATION.format(technology=technology, base=base, more=more, spine=spine, rate=rate)
    place.write_text(text, encoding="utf-8")
    return run_to_routes(place)


def view_reduction(simulated: Simulated) -> dict[str, Any]:
    return cast("Any", view_simulation(simulated)["loads"])[0]["reduction"]


def test_trees_limits_and_their_source_are_shown(tmp_path: Path) -> None:
    simulated = simulate_routed(route(tmp_path), CHOICE)
    shown = view_reduction(simulated)
    assert shown["algorithm"] == "in-network"
    assert shown["reason"] is None
    assert [(tree["rail"], len(tree["members"])) for tree in shown["trees"]] == [(1, 8), (2, 8)]
    assert len({tree["root"] for tree in shown["trees"]}) == 2
    (limit,) = shown["limits"]
    assert (limit["part"], limit["trees_per_port"], limit["trees_in_fabric"]) == ("mine", 1, 511)
    assert "SHARP" in limit["source"]
    assert any("reduction_window_bytes" in text for text in simulated.result.assumptions)


@pytest.mark.parametrize(
    ("base", "more", "spine", "rate", "reason"),
    [
        ("SN5600", "", "mine", 400, "switch leaf-001 (mine) does not reduce, as far as its part says"),
        ("QM9700", "", "plain", 400, "switch spine-01 (plain) does not reduce, as far as its part says"),
        (
            "QM9700", ", reduction_children: 2", "mine", 400,
            "switch leaf-001 (mine) gathers from 2 ports at most, and 4 are needed",
        ),
    ],
)  # fmt: skip
def test_where_a_switch_cannot_the_ring_runs_and_the_reason_is_told(
    tmp_path: Path, base: str, more: str, spine: str, rate: int, reason: str
) -> None:
    routed = route(tmp_path, base, more, spine, rate)
    simulated = simulate_routed(routed, CHOICE)
    shown = view_reduction(simulated)
    assert (shown["algorithm"], shown["reason"], shown["trees"]) == ("ring", reason, [])
    assert any(reason in text for text in simulated.result.assumptions)
    assert tell_reductions(simulated) == (f"none, ring instead: {reason}",)
    ring = simulate_routed(routed, LoadChoice(collective="all-reduce", algorithm="ring", size="1MiB"))
    assert simulated.result.total_us == ring.result.total_us


def test_a_load_beside_others_has_trees_and_the_page_shows_them(tmp_path: Path) -> None:
    loads = ("all-reduce:algorithm=in-network,size=1MiB", "incast:senders=3,size=256KiB")
    simulated = simulate_routed(route(tmp_path), LoadChoice(loads=loads, packets=PacketChoice()))
    assert simulated.sent is not None
    assert simulated.loads[0].reduction is not None
    assert simulated.loads[1].reduction is None
    sent, told = simulated.sent, tell_reductions(simulated)
    assert told[0].startswith("2 trees of 2 levels")
    page = render_packets(sent.fabric, [Side("first", "title", sent.packets, None, (), told)])
    assert "Reduction in the network" in page
    assert told[0] in page


def test_switches_do_no_other_collective(tmp_path: Path) -> None:
    choice = LoadChoice(collective="all-gather", algorithm="in-network")
    with pytest.raises(SpecError, match="all-gather is not done by in-network") as caught:
        simulate_routed(route(tmp_path), choice)
    assert caught.value.code == "spec.collective"
