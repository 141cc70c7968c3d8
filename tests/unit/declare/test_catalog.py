from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.architecture import source
from weftline.declare import load_catalog
from weftline.errors import ArtifactError
from weftline.model.parts import AsicPart, Part, PlatformPart

CATALOG = load_catalog()
FOLDER = source.PACKAGE / "catalog"
PARTS = [
    pytest.param(part, id=f"{kind}-{name}")
    for kind, parts in (
        ("switch", CATALOG.switches), ("nic", CATALOG.nics), ("host", CATALOG.hosts), ("cable", CATALOG.cables),
        ("asic", CATALOG.asics), ("platform", CATALOG.platforms),
    )
    for name, part in parts.items()
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_each_figure_has_a_source(part: Part | AsicPart | PlatformPart) -> None:
    figures = part.model_fields_set - {"title", "sources"}
    assert {figure for one in part.sources for figure in one.figures} == figures
    assert all(len(one.text) > 20 for one in part.sources)


def test_preferences_name_parts_that_can_be_used() -> None:
    defaults = CATALOG.defaults
    for preference in defaults.hosts:
        assert set(preference.parts) <= set(CATALOG.hosts)
    for preference in defaults.switches:
        for name in preference.parts:
            part = CATALOG.switches[name]
            assert set(preference.technologies) <= set(part.technologies)
            assert preference.rate_gbps in {ports.rate_gbps for ports in part.ports}
    for preference in defaults.cables:
        for name in preference.parts:
            assert (CATALOG.cables[name].rate_gbps, CATALOG.cables[name].links) == (
                preference.rate_gbps,
                preference.links,
            )


def test_hosts_name_nics_that_are_there() -> None:
    assert {host.nic for host in CATALOG.hosts.values()} <= set(CATALOG.nics)


def test_published_port_counts() -> None:
    counts = {
        (name, ports.rate_gbps): (ports.count, ports.per_cage)
        for name, part in CATALOG.switches.items()
        for ports in part.ports
    }
    assert counts["QM9700", 400] == counts["QM9790", 400] == (64, 2)
    assert counts["QM8700", 200] == (40, 1)
    assert counts["Q3400-RA", 800] == (144, 2)
    assert counts["SN5600", 800] == (64, 1)
    assert counts["SN5600", 400] == (128, 2)


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "catalog")
    assert load_catalog(tmp_path / "catalog") == CATALOG


@pytest.mark.parametrize("text", [None, "not [toml", "[X]\ntitle = 3\n", "\udcff"])
def test_refuses_a_catalogue_that_is_not_whole(tmp_path: Path, text: str | None) -> None:
    folder = tmp_path / "catalog"
    shutil.copytree(FOLDER, folder)
    (folder / "nics.toml").unlink()
    if text is not None:
        (folder / "nics.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ArtifactError) as caught:
        load_catalog(folder)
    assert caught.value.code == "artifact.catalog"


def test_lengths_with_headroom_ascend() -> None:
    lengths = [ports.headroom_lengths_m for part in load_catalog().switches.values() for ports in part.ports]
    assert any(lengths)
    assert all(list(steps) == sorted(set(steps)) for steps in lengths)


def test_every_switch_of_roce_has_a_chip_that_is_described() -> None:
    chips = {part.asic for part in CATALOG.switches.values() if "roce" in part.technologies}
    assert chips <= set(CATALOG.asics)


@pytest.mark.parametrize("name", ["7060X6-64PE", "AS9736-64D"])
def test_lanes_of_cages_are_each_there_once(name: str) -> None:
    assert sorted(CATALOG.switches[name].cage_lanes) == list(range(1, 512, 8))


def test_a_switch_of_roce_has_lanes_by_its_chip_or_by_its_cages_or_nobody_says() -> None:
    for part in CATALOG.switches.values():
        chip = CATALOG.asics.get(part.asic or "")
        assert not (part.cage_lanes and chip and chip.has_sequential_lanes)


def test_a_folder_of_ones_own_may_leave_out_chips_and_platforms(tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    shutil.copytree(FOLDER, folder)
    (folder / "asics.toml").unlink()
    (folder / "platforms.toml").write_text("", encoding="utf-8")
    found = load_catalog(folder)
    assert found.asics == CATALOG.asics
    assert found.platforms == {}
