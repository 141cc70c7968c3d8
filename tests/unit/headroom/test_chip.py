"""Chips by the names of platforms and SKUs, and what the formula takes of them."""

from __future__ import annotations

import pytest

from weftline.declare import load_catalog
from weftline.headroom import HALF_SMALL, find_asic, headroom_asic, switch_headroom
from weftline.model.headroom import HeadroomPort

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
