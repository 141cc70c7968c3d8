"""Faults in time: their words, the ports they befall, the tables that follow, and what users see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.media import route
from weftline.app.fault_words import KEYS, read_fault, read_fault_file
from weftline.app.packets import PacketChoice, check_packets, tell_cost
from weftline.app.pipeline import Routed
from weftline.app.report.packets import Side, render_packets
from weftline.app.simulate import LoadChoice, Sent, Simulated, simulate_routed
from weftline.app.views.load import view_simulation
from weftline.errors import UsageError
from weftline.model.parameters import CarriageChoice

NO_PACE = CarriageChoice(pacing="none", recovery="selective")
RING = {"collective": "all-reduce", "algorithm": "ring", "size": "4MiB"}


def simulate(routed: Routed, *faults: str, reroute_us: float | None = None, **other: object) -> Simulated:
    packets = PacketChoice(carriage=NO_PACE, faults=faults, reroute_us=reroute_us, **other)  # type: ignore[arg-type]
    return simulate_routed(routed, LoadChoice(packets=packets, **RING))  # type: ignore[arg-type]


def sent_of(simulated: Simulated) -> Sent:
    assert simulated.sent is not None
    return simulated.sent


def uplink(routed: Routed) -> str:
    """Name a link between switches."""
    fabric = routed.built.fabric
    both = fabric.switch_row[fabric.port_node] >= 0
    at = next(p for p in range(fabric.port_count) if both[p] and fabric.port_peer[p] >= 0 and both[fabric.port_peer[p]])
    return fabric.link_name(at)


def host_port(routed: Routed) -> str:
    return routed.built.fabric.port_name(int(routed.built.fabric.endpoint_port[0]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no kind of fault"),
        ("melt:what=a", "is no kind of fault"),
        ("down", "down without what"),
        ("down:what=a,what=b", "stands twice"),
        ("down:what=a,gbps=1", "is nothing that can be said of it"),
        ("down:what=", "is nothing that can be said of it"),
        ("down:what=a,at_us=soon", "is no number"),
        ("down:what=a,at_us=-1", "is no number"),
        ("down:what=a,at_us=1e300", "is no number"),
        ("down:what=a,at_us=9,until_us=9", "it ends at 9 us and begins at 9 us"),
        ("flap:what=a,every_us=5,down_us=5,times=2", "cannot be down for as long"),
        ("flap:what=a,every_us=5,down_us=1,times=0", "is no whole number"),
        ("rate:what=a,gbps=0", "is down"),
        ("errors:what=a,ratio=1.5", "is no number from 0 to 1"),
        ("errors:what=a,ratio=0.1,retry=perhaps", "neither yes nor no"),
        ("slow:what=a,until_us=5,share=0", "is not slow"),
        ("slow:what=a,until_us=5,share=0.5", "has a period"),
    ],
)
def test_words_that_mean_nothing_are_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read_fault(text)
    assert caught.value.code == "usage.fault-words"
    assert caught.value.hint


def test_the_example_of_every_kind_can_be_read() -> None:
    for kind in KEYS:
        with pytest.raises(UsageError) as caught:
            read_fault(kind)
        assert read_fault(caught.value.hint.removeprefix("write ")).kind == kind


def test_a_file_of_faults_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "faults.txt"
    path.write_text("# of last night\n\ndown:what=leaf-001/3,at_us=1\nrate:what=leaf-001/3\n", encoding="utf-8")
    with pytest.raises(UsageError, match="rate without gbps") as caught:
        read_fault_file(path)
    assert caught.value.where is not None
    assert caught.value.where.line == 4
    path.write_text("down:what=leaf-001/3,at_us=1\n", encoding="utf-8")
    assert [one.what for one in read_fault_file(path)] == ["leaf-001/3"]


@pytest.mark.parametrize(
    ("technology", "fault", "said"),
    [
        ("roce", "down:what=leaf-999", "nothing is called"),
        ("roce", "rate:what={uplink},gbps=9999", "above the"),
        ("roce", "slow:what={uplink},until_us=9,share=1", "is no port of a host"),
        ("infiniband", "slow:what={host},until_us=9,share=1", "asks for pauses on RoCE only"),
        ("roce", "errors:what={uplink},ratio=1e-9,retry=yes", "send nothing again"),
        ("roce", "slow:what={host},until_us=1e9,every_us=0.001,share=0.5", "more than 100,000 pauses"),
    ],
)
def test_faults_that_cannot_be_are_refused(technology: str, fault: str, said: str) -> None:
    routed = route(technology)
    with pytest.raises(UsageError, match=said):
        simulate(routed, fault.format(uplink=uplink(routed), host=host_port(routed)))


def test_faults_that_contradict_each_other_are_refused() -> None:
    routed = route("roce")
    link = uplink(routed)
    with pytest.raises(UsageError, match="already has such a fault"):
        simulate(routed, f"down:what={link},at_us=1", f"flap:what={link},at_us=9,every_us=5,down_us=1,times=2")
    with pytest.raises(UsageError, match="has nothing to follow"):
        check_packets(PacketChoice(reroute_us=1.0))


def test_a_ring_runs_at_the_pace_of_its_degraded_link() -> None:
    """Each rank sends 2(N-1)/N of the array over its port, which has a quarter of its rate."""
    routed = route("roce")
    simulated = simulate(routed, f"rate:what={host_port(routed)},gbps=100")
    packets = sent_of(simulated).packets
    assert packets.calm is not None
    times = packets.result.end_ps / packets.calm.end_ps
    assert 3.4 < times < 4.1
    assert "without the faults, with them" in tell_cost(packets)


def test_new_tables_lead_around_a_dead_link_and_old_ones_do_not() -> None:
    routed = route("infiniband")
    link = uplink(routed)
    stays = sent_of(simulate(routed, f"down:what={link},at_us=10")).packets
    goes = sent_of(simulate(routed, f"down:what={link},at_us=10", reroute_us=20.0)).packets
    assert stays.result.ending == "stuck"
    assert stays.is_bad
    assert goes.result.ending == "done"
    assert any("--reroute-after US" in one for one in stays.disturbance.assumptions)  # type: ignore[union-attr]


def test_a_dead_link_that_comes_back_needs_no_new_tables() -> None:
    routed = route("roce")
    simulated = simulate(routed, f"down:what={uplink(routed)},at_us=10,until_us=30")
    assert sent_of(simulated).packets.result.ending == "done"


def test_a_fault_that_begins_as_another_ends_wins_in_any_order() -> None:
    routed = route("infiniband")
    link = uplink(routed)
    faults = (f"down:what={link},at_us=30", f"down:what={link},at_us=10,until_us=30")
    for order in (faults, faults[::-1]):
        assert sent_of(simulate(routed, *order)).packets.result.ending == "stuck"


def test_who_is_cut_off_is_named() -> None:
    routed = route("infiniband")
    host = host_port(routed)
    packets = sent_of(simulate(routed, f"down:what={host},at_us=10", until_us=50.0)).packets
    assert packets.disturbance is not None
    assert packets.disturbance.told[-1] == f"cut off for good: {host}"
    back = sent_of(simulate(routed, f"down:what={host},at_us=10,until_us=20", until_us=50.0)).packets
    assert back.disturbance is not None
    assert not any("cut off" in one for one in back.disturbance.told)


def test_a_slow_receiver_pauses_its_switch() -> None:
    routed = route("roce")
    packets = sent_of(simulate(routed, f"slow:what={host_port(routed)},until_us=1e6,every_us=20,share=0.5")).packets
    assert packets.calm is not None
    assert 1.7 < packets.result.end_ps / packets.calm.end_ps < 2.3
    assert packets.result.lanes.held_ps.sum() > 0


def test_faults_are_told_in_json_and_drawn() -> None:
    routed = route("roce")
    simulated = simulate(routed, f"rate:what={host_port(routed)},gbps=100,at_us=10,until_us=30")
    sent = sent_of(simulated)
    view = view_simulation(simulated)["packets"]
    assert isinstance(view, dict)
    assert view["faults"]["marks_us"] == [10.0, 30.0]
    assert view["faults"]["ending_without"] == "done"
    json.dumps(view, allow_nan=False)
    page = render_packets(sent.fabric, [Side("first", "title", sent.packets, None, ())])
    assert page.count('<line class="mark"') >= 2
    assert "runs at 100 Gb/s from 10.000 us until 30.000 us" in page
