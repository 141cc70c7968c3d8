from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.fabrics import make_design
from weftline.declare import load_catalog
from weftline.errors import CapabilityError
from weftline.formats import pg_profile_lookup
from weftline.model.buffers import BufferIntent
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.roce import RoceSection
from weftline.render import check_needs
from weftline.technologies.roce.buffers import plan_buffers
from weftline.technologies.roce.classes import number_classes
from weftline.technologies.roce.platform import list_lanes, list_needs
from weftline.technologies.roce.queues import find_mark_bound, plan_queues

CATALOG = load_catalog()
TOTAL = 158_229_504
BROADCOM = b"400000 5m 18796 0 612140 0 3556\n400000 150m 18796 0 612140 0 3556\n"


def tier_of(name: str, rate: float = 400.0) -> TierPart:
    part = CATALOG.switches[name]
    ports = next(one for one in part.ports if one.rate_gbps == rate)
    return TierPart(name, part, ports.count, rate, ports.per_cage, CATALOG.asics.get(part.asic or ""))


def design_of(name: str = "SN5600", **roce: Any) -> ResolvedSpec:
    design = make_design(technology="roce", roce=RoceSection.model_validate(roce))
    tier = tier_of(name)
    return replace(design, leaf=tier, spine=tier, core=tier)


def divide(design: ResolvedSpec, lengths: list[int | None]) -> BufferIntent:
    made = plan_buffers(design, design.leaf, number_classes(design.spec)).make(lengths)
    assert made is not None
    return made


def test_pools_and_reservations_add_up_to_the_buffer() -> None:
    made = divide(design_of(), [5] * 64 + [40] * 64 + [None])
    pools = {pool.key: pool for pool in made.pools}
    reserved = 64 * (19_456 + 86_016) + 64 * (19_456 + 104_448)
    assert made.model == "traditional"
    assert pools["ingress_lossless_pool"].size_bytes == TOTAL - reserved
    assert pools["ingress_lossless_pool"].headroom_bytes is None
    assert pools["egress_lossless_pool"].size_bytes == TOTAL


def test_shared_headroom_is_a_pool_of_its_own() -> None:
    made = divide(design_of(buffers={"shared_headroom": True, "over_subscribe_ratio": 4}), [40] * 128)
    pools = {pool.key: pool for pool in made.pools}
    assert pools["ingress_lossless_pool"].headroom_bytes == 128 * 104_448 // 4
    assert pools["ingress_lossless_pool"].size_bytes == TOTAL - 128 * 19_456 - 128 * 104_448 // 4


def test_headroom_follows_the_cable() -> None:
    plan = plan_buffers(design_of(), design_of().leaf, number_classes(design_of().spec))
    found = {length: plan.list_groups(length)[1].xoff_bytes for length in (5, 40, 300)}
    # Rows of Mellanox-SN5600-C256S1/pg_profile_lookup.ini, which are made for lossless packets of 4096 B; 300 m is
    # sized for 4200 B here and rounds up to the same KiB.
    assert found == {5: 86_016, 40: 104_448, 300: 243_712}
    assert [group.key for group in plan.list_groups(None)] == [0]


def test_the_switch_may_compute_it_all() -> None:
    made = divide(design_of(buffers={"model": "dynamic"}), [40])
    assert made.model == "dynamic"
    assert {pool.key: pool.size_bytes for pool in made.pools} == {
        "egress_lossless_pool": TOTAL, "egress_lossy_pool": None, "ingress_lossless_pool": None,
    }  # fmt: skip
    assert (made.lossless_mtu, made.small_packet_percent, made.over_subscribe_ratio) == (4200, 50, 0)


def test_a_table_of_the_platform_goes_before_the_formula() -> None:
    rows, _ = pg_profile_lookup.parse(BROADCOM, "pg_profile_lookup.ini")
    design = replace(design_of("7060X6-64PE", headroom_table="pg_profile_lookup.ini"), headroom_rows=rows)
    plan = plan_buffers(design, design.leaf, number_classes(design.spec))
    (_, group) = plan.list_groups(30)
    assert (group.size_bytes, group.xoff_bytes, group.xon_offset_bytes) == (18_796, 612_140, 3_556)
    # What a group does not reserve comes from a pool, large enough for all at once unless it is shared.
    pools = {pool.key: pool for pool in divide(design, [30] * 128).pools}
    assert pools["ingress_lossless_pool"].headroom_bytes == 128 * (612_140 - 18_796)


def test_a_buffer_that_is_too_small_is_refused() -> None:
    design = design_of(buffers={"total_bytes": 10_000_000})
    with pytest.raises(CapabilityError) as refused:
        divide(design, [40] * 128)
    assert refused.value.code == "capability.pool-overdrawn"
    assert "10,000,000 B" in refused.value.message


def test_marks_come_before_pauses_in_the_worst_case() -> None:
    design = design_of()
    plan = plan_buffers(design, design.leaf, number_classes(design.spec))
    bound = find_mark_bound(design, design.leaf, plan)
    assert bound is not None
    # alpha * pool / (n * (1 + alpha)) with alpha 1 and 128 ports, in whole KiB
    assert bound == int((TOTAL - 128 * 123_904) / (128 * 2)) // 1024 * 1024
    small = design_of(buffers={"total_bytes": 40_000_000})
    (one,) = [
        item
        for item in plan_queues(small, small.leaf, plan_buffers(small, small.leaf, number_classes(small.spec))).classes
        if item.priority is not None
    ]
    assert one.mark_min_bytes is not None
    assert one.mark_min_bytes < 150_000
    assert one.mark_max_bytes == 10 * one.mark_min_bytes


@pytest.mark.parametrize(
    ("roce", "able"),
    [
        ({"hashing": {"leaf_seed": 5}}, "nvue"),
        ({"hashing": {"fields": ["queue-pair"]}, "platform": {"system": "nvue"}}, "sonic"),
    ],
)
def test_a_platform_that_cannot_names_those_that_can(roce: dict[str, Any], able: str) -> None:
    name, needs = list_needs(design_of(**roce))
    refused = [one for one in check_needs(name, needs, CATALOG.platforms) if one.is_error]
    assert [one.code for one in refused] == ["capability.platform"]
    assert able in refused[0].hint


def test_what_is_not_asked_for_is_not_refused() -> None:
    name, needs = list_needs(design_of())
    assert check_needs(name, needs, CATALOG.platforms) == ()


def test_lanes_are_those_of_the_platform() -> None:
    assert list_lanes(tier_of("SN5600"), 3) == (8, 9, 10, 11)
    assert list_lanes(tier_of("7060X6-64PE"), 2) == (21, 22, 23, 24)
    assert list_lanes(make_design(technology="roce").leaf, 2) is None
