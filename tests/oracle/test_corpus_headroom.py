"""The headroom formula and its floor against the tables that switch vendors ship.

The corpus holds 2,283 of the 3,607 rows that the figures in the documentation were counted over, so counts are lower
here: 4 of 11 places where headroom falls with length, 19 of 22 where it falls with speed, 19 of 31 below the floor.
"""

from __future__ import annotations

import csv
import dataclasses
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from weftline.headroom import HALF_SMALL, ONLY_SMALL, find_floor, judge_rows, plan_pools, switch_headroom
from weftline.model.headroom import BufferGroup, HeadroomAsic, HeadroomPort, HeadroomRow, LosslessTraffic, PoolDemand

SPECTRUM_4 = HeadroomAsic(cell_bytes=192, pipeline_kib=19, mac_phy_kib=0.8, is_tiled=True)
SPECTRUM_6 = HeadroomAsic(cell_bytes=256, pipeline_kib=42, mac_phy_kib=0.8, pause_quanta=((800_000, 1810),))

Row = dict[str, str]


@pytest.fixture(scope="module")
def tables(corpus: Path) -> dict[str, list[Row]]:
    """The shipped tables by the path of their file."""
    file = corpus / "roce" / "pg_profile_lookup.csv"
    if not file.is_file():
        pytest.skip("the headroom tables are absent")
    found: dict[str, list[Row]] = defaultdict(list)
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            found[row["path"]].append(row)
    return dict(found)


def metres(row: Row) -> float:
    return float(row["cable"].removesuffix("m"))


FIT = [
    # (SKU, chip, traffic, older formula, rows, rows that are met to the byte)
    ("x86_64-nvidia_sn5600-r0/Mellanox-SN5600-V256", SPECTRUM_4, HALF_SMALL, True, 24, 24),
    ("x86_64-nvidia_sn5600-r0/ACS-SN5600", SPECTRUM_4, ONLY_SMALL, False, 24, 24),
    ("x86_64-nvidia_sn5600_simx-r0/ACS-SN5600", SPECTRUM_4, ONLY_SMALL, False, 24, 24),
    # The 250 m and 1,000 m rows lie 8 to 9 KiB below the formula, at 10G and 25G also below their own 40 m rows.
    ("x86_64-nvidia_sn5610n-r0/Mellanox-SN5610N-C224O8", SPECTRUM_4, HALF_SMALL, False, 32, 16),
    ("x86_64-nvidia_sn5610n-r0/Mellanox-SN5610N-C256S2", SPECTRUM_4, HALF_SMALL, False, 32, 16),
    # With twice the response time at 800G; with the script's 905 quanta it would be 11 of 14.
    ("x86_64-nvidia_sn6600_ld-r0/ACS-SN6600_LD", SPECTRUM_6, HALF_SMALL, False, 14, 14),
    ("x86_64-nvidia_sn6600_ld-r0/Mellanox-SN6600_LD-P128C2", SPECTRUM_6, HALF_SMALL, False, 14, 14),
    ("x86_64-nvidia_sn6600_simx-r0/ACS-SN6600", SPECTRUM_6, HALF_SMALL, False, 14, 14),
    ("x86_64-nvidia_sn6810_ld_simx-r0/ACS-SN6810_LD", SPECTRUM_6, HALF_SMALL, False, 14, 14),
]


@pytest.mark.parametrize(("sku", "asic", "traffic", "counts_packets", "count", "exact"), FIT, ids=[f[0] for f in FIT])
def test_the_formula_meets_shipped_tables(
    tables: dict[str, list[Row]],
    sku: str,
    asic: HeadroomAsic,
    traffic: LosslessTraffic,
    counts_packets: bool,
    count: int,
    exact: int,
) -> None:
    rows = [row for table in tables.values() for row in table if row["platform_hwsku"] == sku]
    assert len(rows) == count
    differ: list[tuple[str, str, int, int]] = []
    for row in rows:
        port = HeadroomPort(
            speed_mbps=int(row["speed"]),
            cable_m=metres(row),
            mtu=9216,
            lanes=8 if row["speed"] == "800000" and asic is SPECTRUM_4 else 4,
        )
        found = switch_headroom(port, asic, traffic, is_pool_shared=True, counts_packets=counts_packets)
        assert found is not None
        assert found.xon == int(row["xon"])
        if found.xoff != int(row["xoff"]):
            differ.append((row["speed"], row["cable"], int(row["xoff"]), found.xoff))
    assert len(rows) - len(differ) == exact, differ
    assert {cable for _, cable, _, _ in differ} <= {"250m", "1000m"}
    assert all(0 < formula - table <= 9216 for _, _, table, formula in differ)


def test_sizes_without_a_shared_pool_are_met_but_for_three_rows(tables: dict[str, list[Row]]) -> None:
    """Three rows of ACS-SN5600 are one KiB below xon + xoff (+ a frame on eight lanes): rounded in another order."""
    differ: list[tuple[str, str, int]] = []
    rows = tables["device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/pg_profile_lookup.ini"]
    for row in rows:
        lanes = 8 if row["speed"] == "800000" else 4
        port = HeadroomPort(speed_mbps=int(row["speed"]), cable_m=metres(row), mtu=9216, lanes=lanes)
        found = switch_headroom(port, SPECTRUM_4, ONLY_SMALL, is_pool_shared=False)
        assert found is not None
        if found.size != int(row["size"]):
            differ.append((row["speed"], row["cable"], found.size - int(row["size"])))
    assert differ == [("40000", "5m", 1024), ("800000", "5m", 1024), ("800000", "300m", 1024)]


def test_the_suspicious_rows_of_shipped_tables(tables: dict[str, list[Row]]) -> None:
    doubts = {
        path: judge_rows([HeadroomRow(int(row["speed"]), metres(row), int(row["xoff"])) for row in rows], 9216)
        for path, rows in tables.items()
    }
    kinds = Counter(doubt.kind for found in doubts.values() for doubt in found)
    assert kinds == {"falls-with-length": 4, "falls-with-speed": 19, "below-floor": 19}
    falls = {path.split("/")[3] for path, found in doubts.items() if any(d.kind == "falls-with-length" for d in found)}
    assert falls == {"Mellanox-SN5610N-C224O8", "Mellanox-SN5610N-C256S2"}
    low = {path.split("/")[3] for path, found in doubts.items() if any(d.kind == "below-floor" for d in found)}
    assert low == {
        "Mellanox-SN2700-D48C8",
        "Mellanox-SN3800-D112C8",
        "Mellanox-SN4600C-D112C8",
        "Mellanox-SN4280-O28",
        "Mellanox-SN4280-O8V40",
    }


def test_most_shipped_rows_hold_a_peer_that_takes_all_of_the_standards_time(tables: dict[str, list[Row]]) -> None:
    short = total = 0
    for rows in tables.values():
        for row in rows:
            floor = find_floor(int(row["speed"]), metres(row), 9216)
            assert floor is not None
            if floor.standard is not None:
                total += 1
                short += int(row["xoff"]) < floor.standard
    assert (short, total) == (144, 2283)


def test_the_shared_headroom_of_a_shipped_platform_is_half_of_all_headroom(
    tables: dict[str, list[Row]], corpus: Path
) -> None:
    """SN5600-V256: 256 ports at 200G with two lossless classes, all taken for 300 m, and 10 KiB of each port's own."""
    with (corpus / "roce" / "buffer_pools.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    pools = [row for row in rows if row["platform_hwsku"] == "x86_64-nvidia_sn5600-r0/Mellanox-SN5600-V256"]
    table = tables["device/mellanox/x86_64-nvidia_sn5600-r0/Mellanox-SN5600-V256/pg_profile_lookup.ini"]
    (profile,) = [row for row in table if (row["speed"], row["cable"]) == ("200000", "300m")]
    group = BufferGroup(512, int(profile["size"]), int(profile["xon"]), int(profile["xoff"]), per_port=2)
    assert pools
    for row in pools:
        total = int(row["egress_lossless_size"])
        demand = PoolDemand(total, (group,), port_headroom=10 * 1024, over_subscribe_ratio=2, egress_bytes=total)
        plan = plan_pools(dataclasses.replace(demand, pool_bytes=int(row["ingress_lossless_size"])))
        assert plan.shared_headroom == int(row["ingress_lossless_xoff"])
        assert (plan.paused_at_once, plan.group_count) == (256, 512)
        assert plan.problems == ()
