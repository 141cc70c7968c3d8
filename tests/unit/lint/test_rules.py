"""Every rule fires on a fault of its kind, names the device and the place, and is silent on a good fabric."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from tests.unit.lint.faults import FAULTS, count, mark
from tests.unit.lint.good import (
    CLASSES,
    GROUP,
    NIC,
    QUEUES,
    at,
    change,
    change_all,
    change_nic,
    change_queue,
    find,
    make_fabric,
    said,
)
from weftline.errors import Place, Problem
from weftline.lint import RULES, LintSource, lint_devices
from weftline.lint.coverage import list_unjudged
from weftline.lint.drift import find_usual
from weftline.lint.pairing import pair_ports
from weftline.lint.pauses import SHORT_MS
from weftline.model.observed import Evidence, ObservedPool, ObservedSetting, ObservedStep
from weftline.model.observed_port import ObservedWatchdog
from weftline.model.observed_routing import ObservedNeighbour, ObservedRouter, ObservedTunnel
from weftline.model.said import Said

BLAMED = {
    "mtu.path": {"host-1", "spine-1", "leaf-1", "leaf-2"},
    "mtu.ends-differ": {"leaf-1"},
    "pauses.ends-differ": {"leaf-1"},
    "link.claims-differ": {"spine-1"},
}
"""Where the device that is blamed is another than the one that was changed."""


def test_every_rule_has_a_fault() -> None:
    assert {rule.key for rule in RULES if not rule.key.startswith("tenancy.")} == set(FAULTS)
    assert len(RULES) == len({rule.key for rule in RULES})


def test_a_good_fabric_has_no_finding() -> None:
    found = lint_devices(LintSource(make_fabric()))
    assert [f"{finding.rule} {finding.subject}: {finding.message}" for finding in found] == []


@pytest.mark.parametrize("rule", sorted(FAULTS))
def test_each_rule_fires_on_its_fault_and_names_it(rule: str) -> None:
    good = {device.name: device for device in make_fabric()}
    faulty = FAULTS[rule]()
    changed = {device.name for device in faulty if good.get(device.name) != device}
    found = find(faulty, rule)
    assert found
    for finding in found:
        assert finding.subject.partition("/")[0] in changed | BLAMED.get(rule, set()), finding
        assert finding.where
        assert finding.message
        assert finding.next_step or rule == "files.not-judged"


def test_rules_of_weight_name_the_case_behind_them() -> None:
    assert [rule.key for rule in RULES if rule.severity != "note" and not rule.case] == ["files.faulty"]


def test_hosts_that_send_another_dscp_make_it_an_error() -> None:
    fabric = change_all(class_of_dscp=said({**dict.fromkeys(range(64), 1), 3: 3, 48: 6}))
    switches = tuple(device for device in fabric if device.role == "switch")
    assert find(switches, "classes.dscp-lossy") == []
    assert find(switches, "classes.usual-dscp-lossy")[0].severity == "note"
    found = find(fabric, "classes.dscp-lossy")
    assert {finding.severity for finding in found} == {"critical"}
    assert "host-1 sends so" in found[0].message
    assert find(switches, "classes.dscp-lossy", frozenset({26}))
    assert not find(switches, "classes.dscp-lossy", frozenset({3}))


def test_one_finding_stands_for_all_ports_with_the_same_fault() -> None:
    found = find(change_all(watched=said((4,))), "watchdog.other-queues")
    assert [finding.subject for finding in found] == ["leaf-1/e1, e2", "leaf-2/e1, e2", "spine-1/e1, e2"]


def test_a_port_that_is_shut_loses_nothing() -> None:
    assert find(change("leaf-1", 1, is_up=said(False), groups=()), "buffers.no-headroom") == []


def test_a_device_that_makes_its_groups_itself_is_not_blamed_and_is_said_to_be_unjudged() -> None:
    leaf = make_fabric()[0]
    bare = replace(leaf, ports=tuple(replace(port, groups=()) for port in leaf.ports))
    assert find((bare,), "buffers.no-headroom") == []
    assert any("looks up by speed and cable" in item.question for item in list_unjudged(LintSource((bare,))))
    dynamic = replace(bare, buffer_model=said("dynamic"))
    assert find((dynamic,), "buffers.no-headroom")


def test_a_shared_headroom_pool_that_the_switch_computes_is_one() -> None:
    assert find(change("leaf-1", pools=()), "buffers.size-below-headroom")
    assert find(change("leaf-1", pools=(), over_subscribe_ratio=said(0)), "buffers.size-below-headroom")
    assert find(change("leaf-1", pools=(), over_subscribe_ratio=said(2)), "buffers.size-below-headroom") == []


def test_headroom_below_the_floor_is_a_note_on_very_long_cables() -> None:
    """Shipped tables seem to count a cable of two kilometres one way only."""
    groups = (replace(GROUP, xoff_bytes=said(100_000)),)
    (finding,) = find(change("leaf-1", 1, length_m=said(2000.0), groups=groups), "buffers.below-floor")
    assert finding.severity == "note"
    assert "2000 m of cable" in finding.message


def test_headroom_that_fits_no_group_at_all_is_an_error() -> None:
    pool = ObservedPool("ingress_lossless_pool", at(), headroom_bytes=said(100))
    (finding,) = find(change("leaf-1", pools=(pool,)), "buffers.shared-headroom")
    assert finding.severity == "critical"
    assert "up to 0 groups" in finding.message


def test_a_nearly_full_headroom_is_a_warning_and_a_full_one_an_error() -> None:
    assert find(count("headroom-watermark", 3, 50_000), "evidence.headroom") == []
    assert find(count("headroom-watermark", 3, 100_000), "evidence.headroom")[0].severity == "warning"
    (finding,) = find(count("headroom-watermark", 3, 110_000), "evidence.headroom")
    assert finding.severity == "critical"
    assert finding.subject == "leaf-1/e1"


def test_a_sender_without_ecn_makes_a_dropping_queue_an_error() -> None:
    fabric = mark(drops_unmarked=said(True))
    assert find(fabric, "queue.drops-unmarked")[0].severity == "note"
    silent = change_nic("host-2", traffic_class=said(104), reacting_priorities=None)[4]
    (finding,) = find((*fabric[:4], silent), "queue.drops-unmarked")
    assert finding.severity == "critical"
    assert "host-2/eth2" in finding.message


def test_a_nic_that_reacts_to_marks_says_ect_by_itself() -> None:
    """One site runs with 236, which is DSCP 59 and no ECN bit (NVIDIA/nccl issue 2383)."""
    assert find(change_nic("host-1", traffic_class=said(104)), "nic.not-ecn-capable") == []


def test_marks_after_the_pause_of_an_incast_weigh_more_than_those_of_the_worst_case() -> None:
    assert find(mark(min_bytes=said(50_000_000)), "queue.marks-late")[0].severity == "warning"
    (finding,) = find(mark(min_bytes=said(35_000_000), max_bytes=said(36_000_000)), "queue.marks-late")
    assert finding.severity in {"warning", "note"}
    assert "60,000,000 B" in finding.message


def test_a_switch_may_carry_more_than_its_host_sends() -> None:
    assert find(make_fabric(), "mtu.ends-differ") == []


def test_a_tunnel_needs_room_for_its_headers() -> None:
    tunnel = ObservedTunnel(at(), dscp_out=said("copy"), dscp_in=said("preserve"))
    narrow = change("spine-1", 0, mtu=said(4240))
    fabric = tuple(replace(device, tunnel=tunnel) if device.name == "leaf-1" else device for device in narrow)
    assert find(narrow, "mtu.path") == []
    assert "4,250 B" in find(fabric, "mtu.path")[0].message


def test_links_are_found_by_name_and_by_number_and_not_where_two_claim_one_port() -> None:
    assert len(pair_ports(make_fabric())) == 4
    assert len(pair_ports(change("leaf-1", 1, peer=said("spine-1/1")))) == 4
    contradicted = pair_ports(change("leaf-2", 1, peer=said("spine-1/e1")))
    assert {(link.a[0].name, link.b[0].name) for link in contradicted} == {("leaf-1", "host-1"), ("leaf-2", "host-2")}


def test_what_files_do_not_cover_is_not_judged() -> None:
    queues = tuple(replace(queue, marks=None) for queue in QUEUES)
    fabric = change("leaf-1", 0, groups=(), watchdog=None, queues=queues)
    bare = tuple(replace(d, covers=frozenset({"routing"})) if d.name == "leaf-1" else d for d in fabric)
    for rule in ("buffers.no-headroom", "watchdog.none", "queue.not-marked"):
        assert find(fabric, rule)
        assert find(bare, rule) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("^mlx5_9", 0), ("mlx5_0,mlx5_1", 0), ("=mlx5_0", 0), ("mlx5", 0), ("=mlx5", 1), ("mlx5_0,mlx5_9", 1),
        ("mlx5_0:1", 0), ("", 0), ("=mlx5_9", 1),
    ],
)  # fmt: skip
def test_names_of_nics_for_nccl_in_all_their_forms(text: str, count: int) -> None:
    """A caret leaves out, an equals sign takes whole names, and else a name is the beginning of one."""
    host = next(device for device in make_fabric() if device.role == "host")
    second = replace(host.ports[0], name="eth3", nic=replace(NIC, device=said("mlx5_1")))
    setting = ObservedSetting("NCCL_IB_HCA", said(text))
    both = replace(host, ports=(*host.ports, second), settings=(*host.settings, setting))
    blamed = [one for one in lint_devices(LintSource((both,))) if "NCCL_IB_HCA names" in one.message]
    assert len(blamed) == count


@pytest.mark.parametrize(
    ("families", "count"),
    [(("ipv4", "evpn"), 1), (("ipv6",), 1), ((), 1), (("evpn",), 0)],
)
def test_neighbours_that_tell_no_routes_of_hosts_are_no_ways(families: tuple[str, ...], count: int) -> None:
    both = tuple(
        ObservedNeighbour(name, at(), number=said(65_000), families=tuple(said(word) for word in families))
        for name in ("e1", "e2")
    )
    router = ObservedRouter("default", at(), width=said(1), neighbours=both)
    assert len(find(change("leaf-1", routers=(router,)), "routing.one-way")) == count


def test_a_watchdog_that_restores_as_soon_as_it_looks_again_is_in_order() -> None:
    for detect, restore, many in ((200, 200, 0), (200, 199, 1), (SHORT_MS, 400, 0), (SHORT_MS - 1, 400, 1)):
        dog = ObservedWatchdog(at(), said(detect), said(restore))
        assert len(find(change("leaf-1", 0, watchdog=dog), "watchdog.times")) == many


def test_a_port_that_is_watched_nowhere_among_others_that_are() -> None:
    found = find(change("leaf-1", 0, watched=None), "watchdog.other-queues")
    assert [(one.subject, one.message) for one in found] == [
        ("leaf-1/e1", "the watchdog watches nothing, and other ports of the device are watched")
    ]


@pytest.mark.parametrize(
    ("values", "usual"),
    [
        ([], None),
        ([1, 1], None),
        ([1, 1, 1], 1),
        ([1, 1, 1, 2, 2], 1),
        ([1, 1, 1, 2, 2, 2], None),
        ([1] * 4 + [2] * 3, 1),
    ],
)
def test_what_most_have_is_what_more_than_half_have(values: list[int], usual: int | None) -> None:
    assert find_usual(values) == usual


def test_notifications_behind_data_are_blamed_on_the_map_or_on_the_queue() -> None:
    """Where a queue is strict, the map leads to the wrong one; where none is, the queue is served wrongly."""
    by_map = change("leaf-1", 0, class_of_dscp=Said({**CLASSES, 48: 0}, Place("map")))
    (wrong,) = [one for one in find(by_map, "queue.notifications") if one.subject == "leaf-1/e1"]
    assert wrong.where[0].file == "map"
    late: Said[Literal["strict", "weighted"]] = Said("weighted", Place("queue"))
    by_queue = change_queue("leaf-1", 0, 6, schedule=late)
    (slow,) = [one for one in find(by_queue, "queue.notifications") if one.subject == "leaf-1/e1"]
    assert slow.where[0].file == "queue"


@pytest.mark.parametrize(
    ("order", "count"),
    [
        (("A.1", "B.1"), 1), (("B.1", "A.1"), 0), (("A.1",), 0), (("A.1", "B."), 1), (("B.", "A.1"), 0),
        (("A.1", "B.2"), 0), (("A.1", "B.1", "A.1", "B.1"), 2), (("B.1", "A.1", "B.1"), 1), (("C.1",), 0),
    ],
)  # fmt: skip
def test_a_row_that_is_set_before_what_it_stands_on(order: tuple[str, ...], count: int) -> None:
    """A row of A stands on row 1 of B, and a row of C on itself."""
    needs = {"A": (("B", "1"),), "C": (("C", "1"),)}
    steps = tuple(
        ObservedStep(table, row, needs.get(table, ()), Place("patch.json", place))
        for place, (table, _, row) in enumerate((word.partition(".") for word in order), 1)
    )
    assert len(find(change("leaf-1", steps=steps), "change.order")) == count


def test_drops_that_did_not_happen_or_lose_nothing_are_no_evidence() -> None:
    for kind, key, value, many in (
        ("queue-drops", 3, 0, 0), ("queue-drops", 3, 1, 1), ("group-drops", 3, 1, 1), ("group-drops", 0, 1, 0),
    ):  # fmt: skip
        shown = Evidence(kind, "e1", key, value, at())
        found = lint_devices(LintSource(change("leaf-1", evidence=(shown,))))
        assert sum(one.rule.startswith("evidence.") for one in found) == many, (kind, key, value)


def test_a_broken_file_of_which_nothing_is_read_is_an_error_and_one_that_is_read_a_warning() -> None:
    fault = Problem("artifact.not-json", "it ends in the middle", where=Place("x.json", 3))
    for covers, severity in ((frozenset[str](), "critical"), (frozenset({"ports"}), "warning")):
        (found,) = [
            one for one in find(change("leaf-1", problems=(fault,), covers=covers), "files.faulty")
            if one.subject == "leaf-1"
        ]  # fmt: skip
        assert found.severity == severity


def test_eight_tables_that_nobody_reads_are_named_and_the_others_counted() -> None:
    for many, end in ((8, "t7 (1)"), (9, "t7 (1) and 1 more")):
        unread = tuple((f"t{place}", 1) for place in range(many))
        (found,) = find(change("leaf-1", unread=unread), "files.not-judged")
        assert found.message.endswith(end)


def test_pauses_that_did_not_come_or_are_lossless_are_no_strays() -> None:
    for key, value, many in ((4, 5, 1), (4, 0, 0), (3, 5, 0), (-1, 5, 0)):
        shown = Evidence("pause-received", "e1", key, value, at())
        assert len(find(change("leaf-1", evidence=(shown,)), "evidence.stray-pauses")) == many
