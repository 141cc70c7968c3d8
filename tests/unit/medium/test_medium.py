from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fabrics import make_design, make_fabric
from weftline.errors import Place, SpecError, UsageError
from weftline.kernels.column import I64
from weftline.medium import (
    Entry,
    Kind,
    NodeDefaults,
    Note,
    Profiles,
    cite,
    find_lengths,
    lay_columns,
    list_parameters,
    make_carriage,
)  # fmt: skip
from weftline.model.design import TierPart
from weftline.model.packet import FlowControl, LaneProfile
from weftline.model.parameters import CarriageChoice, Figure, PacketSource
from weftline.model.parts import NicPart, Source, SwitchPart
from weftline.route import compute_routes

KIND = Kind(80, 20, 84, 96, 84, (1024, 4096), "made up", "made up")
DEFAULTS = NodeDefaults(
    "answer after", 500.0, "a guess", 10.0, 20.0, "a guess", is_cut_through=True, cut_through_source=""
)
MTU = Figure(4096, "file", "", Place("nics.conf", 4))
NO_PACING = (None, Figure("none", "default", ""))


def make_source(**options: Any) -> PacketSource:
    fabric = make_fabric(**options)
    return PacketSource(make_design(**options), fabric, compute_routes(fabric, "updown", to_switches=False))


def respond(_part: SwitchPart | NicPart, _name: str, tier: TierPart | None, rate_gbps: float) -> Figure:
    return Figure(rate_gbps if tier is None else 2500.0, "default", "made up")


def indices(*numbers: int) -> I64:
    return np.array(numbers, dtype=np.int64)


def test_columns_are_exact_in_picoseconds() -> None:
    source = make_source(hosts=8, tiers=3, ports=4)
    columns = lay_columns(source, DEFAULTS, respond)
    fabric = source.fabric
    joined = fabric.port_peer >= 0
    assert set(columns.rate_mbps[joined].tolist()) == {400_000}
    # 3, 30 and 100 m at 198,000 km/s.
    assert set(columns.propagation_ps[joined].tolist()) == {15_152, 151_515, 505_051}
    assert (columns.propagation_ps[joined] == columns.propagation_ps[fabric.port_peer[joined]]).all()
    is_switch = np.isin(np.arange(fabric.node_count), fabric.switch_node)
    assert (columns.latency_ps == np.where(is_switch, 500_000, 0)).all()
    assert (columns.receive_ps == np.where(is_switch, 0, 30_000)).all()
    assert (columns.is_cut_through == is_switch).all()
    own = is_switch[fabric.port_node]
    assert (columns.response_ps[joined & own] == 2_500_000).all()
    assert (columns.response_ps[joined & ~own] == 400_000).all()
    assert columns.assumptions == ()


def test_lengths_may_be_given_and_are_guessed_where_unknown() -> None:
    source = make_source(hosts=8, tiers=3, ports=4)
    given_ = np.arange(1, len(source.fabric.cable_part) + 1, dtype=np.float64)
    own = replace(source, lengths_m=given_)
    length, assumptions = find_lengths(own)
    joined = np.flatnonzero(source.fabric.port_peer >= 0)
    assert (length[joined] == given_[source.fabric.port_cable[joined]]).all()
    assert not assumptions
    nothing = replace(source, lengths_m=np.full(len(given_), np.nan))
    assert (find_lengths(nothing)[0][joined] == find_lengths(source)[0][joined]).all()
    assert f"{len(joined) // 2:,} links have no length" in find_lengths(nothing)[1][0]


def test_a_link_without_a_rate_is_refused() -> None:
    source = make_source(hosts=4)
    for rate in (np.nan, 0.0, 10_001.0):
        rates = source.fabric.port_rate_gbps.copy()
        rates[:] = rate
        with pytest.raises(SpecError) as refused:
            lay_columns(replace(source, fabric=replace(source.fabric, port_rate_gbps=rates)), DEFAULTS, respond)
        assert refused.value.code == "spec.link-rate"


def test_a_link_is_as_fast_as_its_slower_end() -> None:
    source = make_source(hosts=4)
    rates = source.fabric.port_rate_gbps.copy()
    rates[0] = 100.0
    columns = lay_columns(replace(source, fabric=replace(source.fabric, port_rate_gbps=rates)), DEFAULTS, respond)
    assert columns.rate_mbps[0] == columns.rate_mbps[source.fabric.port_peer[0]] == 100_000


def test_equal_figures_are_told_together_with_where_they_hold() -> None:
    source = make_source(hosts=8, ports=4)
    fabric = source.fabric
    joined = np.flatnonzero(fabric.port_peer >= 0)
    where = Place("a.json", 7)
    one, two = Note("xoff", "B", Figure(1, "file", "", where)), Note("xoff", "B", Figure(2, "file", ""))
    same = replace(one, figure=replace(one.figure, where=Place("b.json", 9)))
    rows = list_parameters(
        [
            Entry("lane", two, "port", joined[:1]), Entry("lane", one, "port", joined[1:3]),
            Entry("lane", same, "port", joined[3:]), Entry("adapters", two, "all", indices()),
            Entry("nodes", two, "node", fabric.switch_node.astype(np.int64)),
            Entry("links", two, "cable", indices(0)), Entry("links", one, "cable", indices(1, 2)),
        ],
        fabric,
    )  # fmt: skip
    assert [(row.group, row.value, row.count) for row in rows] == [
        ("lane", 1, len(joined) - 1), ("lane", 2, 1), ("adapters", 2, 1), ("nodes", 2, len(fabric.switch_node)),
        ("links", 1, 2), ("links", 2, 1),
    ]  # fmt: skip
    assert rows[0].where == where
    assert rows[0].holds == f"{len(joined) - 1} ports: host-0002/nic1, host-0003/nic1, host-0004/nic1 ..."
    assert rows[1].holds == "host-0001/nic1"
    assert rows[2].holds == "everywhere"
    assert rows[3].holds == f"all {len(fabric.switch_node)} switches"
    assert "~" in rows[5].holds


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["file", "default"])), min_size=1, max_size=20))
def test_profiles_that_differ_in_their_file_alone_are_one(made: list[tuple[int, str]]) -> None:
    profiles = Profiles()
    numbers = [
        profiles.add(
            LaneProfile(FlowControl.NONE, is_lossless=False, cell_bytes=1, weight=weight),
            [Note("weight", "", Figure(weight, "file" if origin == "file" else "default", "", Place("f", line)))],
        )
        for line, (weight, origin) in enumerate(made)
    ]
    assert len(profiles.profiles) == len(set(made))
    for number, (weight, origin) in zip(numbers, made, strict=True):
        assert profiles.profiles[number].weight == weight
        assert profiles.notes[number][0].figure.origin == origin


def test_a_part_is_cited_with_its_date() -> None:
    part = make_design().leaf.part
    assert cite(part, "mine", "latency_ns") == "mine"
    known = Source(figures=("latency_ns",), text="a datasheet", date=dt.date(2026, 1, 2))
    assert cite(part.model_copy(update={"sources": (known,)}), "mine", "latency_ns") == (
        "mine, a datasheet (2026-01-02)"
    )


def test_a_carriage_is_what_is_chosen_before_what_is_known() -> None:
    carriage, entries = make_carriage(KIND, CarriageChoice(), MTU, None, NO_PACING, ["told"])
    assert (carriage.mtu_bytes, carriage.overhead_bytes, carriage.unstored_bytes) == (4096, 80, 20)
    assert (carriage.recovery, carriage.ack_every, carriage.pacing) == ("go-back-n", 256, None)
    assert carriage.timeout_ps == 4_294_967_296_000
    assert carriage.assumptions == ("told",)
    assert {entry.note.name for entry in entries} >= {"recovery", "time-out", "pacing", "pause frame"}
    choice = CarriageChoice(
        recovery="selective", mtu_bytes=1024, ack_every=1, timeout_us=500.0, window_packets=64, reorder_packets=8
    )
    chosen, _ = make_carriage(KIND, choice, MTU, Figure(7.0, "file", ""), NO_PACING)
    assert (chosen.recovery, chosen.mtu_bytes, chosen.ack_every) == ("selective", 1024, 1)
    assert (chosen.timeout_ps, chosen.window_packets, chosen.reorder_packets) == (500_000_000, 64, 8)


def test_a_window_is_answered_before_it_is_full() -> None:
    choice = CarriageChoice(recovery="selective", window_packets=64, reorder_packets=8)
    carriage, entries = make_carriage(KIND, choice, MTU, None, NO_PACING)
    assert carriage.ack_every == 64
    (figure,) = [entry.note.figure for entry in entries if entry.note.name == "packets per acknowledgement"]
    assert figure.origin == "formula"
    # Without a window nothing has to be answered earlier.
    assert make_carriage(KIND, replace(choice, recovery="go-back-n"), MTU, None, NO_PACING)[0].ack_every == 256


@pytest.mark.parametrize(
    "choice",
    [
        CarriageChoice(mtu_bytes=1500),
        CarriageChoice(ack_every=0),
        CarriageChoice(timeout_us=0.0),
        CarriageChoice(timeout_us=float("nan")),
        CarriageChoice(recovery="go-back-0"),  # type: ignore[arg-type]
        CarriageChoice(recovery="selective", window_packets=8, reorder_packets=8),
        CarriageChoice(recovery="selective", window_packets=1 << 17),
        CarriageChoice(recovery="selective", window_packets=64, reorder_packets=8, ack_every=65),
    ],
)
def test_what_is_out_of_range_is_refused(choice: CarriageChoice) -> None:
    with pytest.raises(UsageError) as refused:
        make_carriage(KIND, choice, MTU, None, NO_PACING)
    assert refused.value.code == "usage.choice"
    assert refused.value.hint
