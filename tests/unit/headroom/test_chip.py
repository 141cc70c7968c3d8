"""Chips by the names of platforms and SKUs, and what the formula takes of them."""

from __future__ import annotations

import pytest

from weftline.declare import load_catalog
from weftline.headroom import HALF_SMALL, find_asic, headroom_asic, list_reserved, plan_pools, switch_headroom
from weftline.model.headroom import BufferGroup, HeadroomPort, PoolDemand

CATALOG = load_catalog()


@pytest.mark.parametrize(
    ("name", "asic"),
    [
        ("x86_64-nvidia_sn5600-r0", "Spectrum-4"),
        ("x86_64-nvidia_sn5600_simx-r0", "Spectrum-4"),
        ("Mellanox-SN5600-O128", "Spectrum-4"),
        ("ACS-SN5600", "Spectrum-4"),
        ("Mellanox-SN5610N-C256S2", "Spectrum-4"),
        ("Mellanox-SN5640-C448O16", "Spectrum-5"),
        ("ACS-MSN2700", "Spectrum-1"),
        ("Mellanox-SN2700-D48C8", "Spectrum-1"),
        ("Mellanox-SN3800-D112C8", "Spectrum-2"),
        ("Mellanox-SN4600C-D112C8", "Spectrum-3"),
        ("ACS-SN6600_LD", "Spectrum-6"),
        ("Arista-7060X6-64PE-O128S2", "Tomahawk 5"),
        ("x86_64-arista_7060x6_64pe", "Tomahawk 5"),
        ("Accton-AS9736-64D", "Tomahawk 4"),
        ("Force10-S6000", None),
        ("", None),
        ("sn56000", None),
    ],
)
def test_a_platform_or_sku_names_its_chip(name: str, asic: str | None) -> None:
    assert find_asic(CATALOG.asics, name) == asic


def test_the_worked_example_comes_out_of_the_catalogue() -> None:
    figures = headroom_asic(CATALOG.asics["Spectrum-4"])
    assert figures is not None
    found = switch_headroom(HeadroomPort(400_000, 40, 9216, 4), figures, HALF_SMALL, is_pool_shared=True)
    assert found is not None
    assert found.xoff == 104_448


def test_a_chip_without_public_figures_has_no_formula() -> None:
    assert headroom_asic(CATALOG.asics["Tomahawk 5"]) is None
    assert headroom_asic(None) is None


def test_what_a_chip_reserves_is_listed_with_its_arithmetic() -> None:
    reserved = list_reserved(CATALOG.asics["Spectrum-4"], [4] * 128 + [8], 1)
    assert reserved is not None
    assert [(term.name, term.amount) for term in reserved] == [
        ("lossy groups", 130 * 19_456),
        ("management groups", 130 * 19_456),
        ("management pool", 262_144),
        ("mirrors", 129 * 10_240),
    ]


def test_spectrum_6_has_a_pool_of_descriptors_and_no_mirrors() -> None:
    reserved = list_reserved(CATALOG.asics["Spectrum-6"], [4], 1)
    assert reserved is not None
    assert [term.name for term in reserved][-1] == "descriptors"
    assert reserved[-1].amount == 32 * 2**20


def test_a_chip_without_public_figures_reserves_nobody_knows_what() -> None:
    assert list_reserved(CATALOG.asics["Tomahawk 5"], [4], 1) is None


def test_a_leaf_of_sn5600_adds_up_with_room_to_share() -> None:
    """128 ports at 400G, 64 of them over 40 m and 64 over 5 m, one lossless class, no more than half in headroom."""
    chip = CATALOG.asics["Spectrum-4"]
    buffer, private = CATALOG.switches["SN5600"].buffer_bytes, chip.port_headroom_kib
    reserved = list_reserved(chip, [4] * 128, 1)
    assert buffer is not None
    assert private is not None
    assert reserved is not None
    groups = (BufferGroup(64, 19_456, 19_456, 104_448), BufferGroup(64, 19_456, 19_456, 86_016))
    demand = PoolDemand(int(buffer), groups, reserved, 192, port_headroom=int(private * 1024), over_subscribe_ratio=2)
    plan = plan_pools(demand)
    assert plan.problems == ()
    assert plan.shared_pool > buffer / 2
    assert plan.paused_at_once == 57
