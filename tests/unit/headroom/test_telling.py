"""The lines that reports print: the worked example of the documentation, floors, doubts, pools and NICs."""

from __future__ import annotations

from pathlib import Path

from weftline.headroom import HALF_SMALL, find_floor, judge_rows, nic_headroom, plan_pools, switch_headroom
from weftline.headroom.telling import tell_doubt, tell_floor, tell_nic, tell_pools, tell_switch
from weftline.model.headroom import BufferGroup, HeadroomAsic, HeadroomPort, HeadroomRow, PoolDemand

ASIC = HeadroomAsic(cell_bytes=192, pipeline_kib=19, mac_phy_kib=0.8, is_tiled=True)


def test_the_documentation_quotes_the_worked_example(root: Path) -> None:
    found = switch_headroom(HeadroomPort(400_000, 40, 9216, 4), ASIC, HALF_SMALL, is_pool_shared=True)
    assert found is not None
    page = (root / "docs" / "concepts" / "headroom.md").read_text(encoding="utf-8")
    assert "```text\n" + "\n".join(tell_switch(found)) + "\n```" in page


def test_a_floor_is_told_as_a_sum() -> None:
    floor = find_floor(400_000, 40, 9216)
    assert floor is not None
    assert tell_floor(floor) == "20,202 B on the cable there and back + a frame of 9,216 B = 29,418 B"


def test_doubts_are_told_in_one_sentence() -> None:
    rows = [
        HeadroomRow(10_000, 40, 20_480), HeadroomRow(10_000, 250, 14_336), HeadroomRow(25_000, 40, 20_000),
        HeadroomRow(10_000, 40, 21_504), HeadroomRow(100_000, 2000, 234_496),
    ]  # fmt: skip
    assert [tell_doubt(doubt) for doubt in judge_rows(rows, 9216)] == [
        "10G at 40 m: 21,504 B, and 20,480 B in another row",
        "100G at 2000 m: 234,496 B is below 252,525 B on the cable there and back + a frame of 9,216 B = 261,741 B",
        "10G at 250 m: 14,336 B is less than the 20,480 B for a shorter cable (10G at 40 m)",
        "25G at 40 m: 20,000 B is less than the 20,480 B at a lower speed (10G at 40 m)",
    ]


def test_a_nic_is_told() -> None:
    found = nic_headroom(400, 30, 4200)
    assert found is not None
    assert tell_nic(found) == (
        "base 120,400 B (301 B per Gb/s * 400 Gb/s)",
        "cable 25,920 B (2.16 B per m and Gb/s * 30 m * 400 Gb/s)",
        "frames 11,424 B (2.72 * 4200 B)",
        "headroom 157,744 B, buffer at least 166,768 B",
    )


def test_pools_are_told_with_the_groups_that_may_pause_at_once() -> None:
    groups = (BufferGroup(count=512, size=19_456, xon=19_456, xoff=240_640, per_port=2),)
    demand = PoolDemand(total_bytes=158_229_504, groups=groups, over_subscribe_ratio=2, port_headroom=10_240)
    plan = plan_pools(demand)
    assert tell_pools(plan) == (
        "buffer 158,229,504 B",
        "reserved by lossless groups -9,961,472 B (512 * 19,456 B)",
        "headroom of ports -2,621,440 B (256 * 10,240 B)",
        "shared headroom -60,293,120 B (120,586,240 B / 2)",
        "left to share 85,353,472 B",
        "lossless for up to 256 of 512 groups pausing at once",
    )
    own = (BufferGroup(count=2, size=300_000, xon=19_456, xoff=235_520),)
    assert tell_pools(plan_pools(PoolDemand(10**8, own)))[-1] == "lossless for all 2 groups pausing at once"
