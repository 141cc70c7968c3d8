from __future__ import annotations

from pathlib import Path

import pytest

from tests.media import SMALL, change, files_of, medium_of, port_of, profile_of, route
from weftline.app.parameters import gather, list_parameters
from weftline.app.pipeline import Routed
from weftline.errors import ArtifactError, UsageError
from weftline.model.packet import Pacing
from weftline.model.parameters import CarriageChoice
from weftline.technologies import TECHNOLOGIES


def written(routed: Routed, folder: Path) -> Path:
    """Write the rendered files of a fabric into a folder."""
    for one in files_of(routed).artifacts:
        path = folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.content)
    return folder


@pytest.mark.parametrize("technology", ["roce", "infiniband"])
def test_files_of_a_folder_say_what_rendered_ones_say(technology: str, tmp_path: Path) -> None:
    routed = route(technology)
    mine, read = medium_of(gather(routed)), medium_of(gather(routed, written(routed, tmp_path)))
    assert mine.profiles == read.profiles
    assert (mine.profile == read.profile).all()
    assert (mine.pool_bytes == read.pool_bytes).all()
    assert mine.assumptions == read.assumptions


def test_long_cables_meet_the_files_of_short_ones(tmp_path: Path) -> None:
    """Cables of 40 m on files for 5 m: the headroom is that of the files, the delay that of the cable."""
    long = route("roce", "cables: { host_leaf: { length_m: 40 } }\n")
    source = gather(long, written(route("roce"), tmp_path))
    medium = medium_of(source)
    assert medium.propagation_ps[port_of(source, "leaf-001/1")] == 202_020
    assert profile_of(source, medium, "leaf-001/1").headroom_bytes == 86_016
    own = gather(long)
    assert profile_of(own, medium_of(own), "leaf-001/1").headroom_bytes > 86_016


def test_an_edited_file_counts(tmp_path: Path) -> None:
    routed = route("roce")
    path = written(routed, tmp_path) / "switches/leaf-001/config_db.json"
    edit = change("PORT_QOS_MAP", "Ethernet0", "pfc_enable", to="")
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    source = gather(routed, tmp_path)
    assert not profile_of(source, medium_of(source), "leaf-001/1").obeys


def test_a_file_that_ends_in_the_middle_is_named_as_that(tmp_path: Path) -> None:
    routed = route("roce")
    path = written(routed, tmp_path) / "switches/leaf-001/config_db.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: len(text) // 2], encoding="utf-8")
    with pytest.raises(ArtifactError, match="ends in the middle") as refused:
        gather(routed, tmp_path)
    assert refused.value.code == "artifact.not-json"
    assert refused.value.where is not None
    assert refused.value.where.file.endswith("leaf-001/config_db.json")


def test_options_of_planes_are_told_apart(tmp_path: Path) -> None:
    routed = route("infiniband")
    for plane in (2, 10):
        folder = tmp_path / f"subnet-{plane}"
        folder.mkdir()
        text = f"lmc 0\nsweep_interval 10\nhead_of_queue_lifetime {plane}\n"
        (folder / "opensm.conf").write_text(text, encoding="utf-8")
    source = gather(routed, tmp_path)
    assert [options[-1].value for options in source.options] == ["2", "10"]


def test_a_folder_without_configuration_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing\n", encoding="utf-8")
    with pytest.raises(ArtifactError) as refused:
        gather(route("roce"), tmp_path)
    assert refused.value.code == "artifact.packet-files"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small declaration."""
    path = tmp_path_factory.mktemp("small") / "small.yaml"
    path.write_text(SMALL.format(technology="roce", base="SN5600"), encoding="utf-8")
    return path


def test_every_figure_in_force_is_listed(place: Path) -> None:
    found = list_parameters(place, CarriageChoice(pacing="vendor"))
    by_name = {(row.group, row.name): row for row in found.parameters}
    row = by_name["lane 0, rdma (DSCP 26)", "marks from"]
    assert (row.value, row.unit, row.origin, row.holds) == (150_000, "B", "file", "all 12 switch ports")
    assert row.where is not None
    assert row.where.file.endswith("config_db.json")
    assert by_name["pacing", "additive increase"].value == 5.0 * 400 / 25
    assert by_name["nodes", "latency, port to port"].origin == "default"
    assert all(row.source or row.where is not None for row in found.parameters)
    assert {row.unit for row in found.parameters} <= {"", "B", "ns", "us", "ms", "m", "Gb/s", "Mb/s", "%", "packets"}
    assert found.assumptions


def test_pacing_is_chosen_by_name(place: Path) -> None:
    transport = TECHNOLOGIES["roce"].transport
    source = gather(route("roce"))
    for name in transport.pacings:
        pacing = transport.carriage(source, CarriageChoice(pacing=name)).pacing
        assert (pacing is None) == (name == "none")
        assert pacing is None or pacing.name == name
    usual = transport.carriage(source, CarriageChoice()).pacing
    assert isinstance(usual, Pacing)
    assert (usual.name, usual.increase_bytes, usual.stages) == ("paper", 10_000_000, 5)
    with pytest.raises(UsageError, match="not known") as refused:
        list_parameters(place, CarriageChoice(pacing="timely"))
    assert "mlx5, paper, vendor, simai, none" in refused.value.hint
    with pytest.raises(UsageError, match="not known"):
        TECHNOLOGIES["infiniband"].transport.carriage(gather(route("infiniband")), CarriageChoice(pacing="paper"))


def test_adapters_that_do_not_react_to_marks_are_not_paced() -> None:
    routed = route("roce", "roce: { ecn: { enabled: false } }\n")
    assert TECHNOLOGIES["roce"].transport.carriage(gather(routed), CarriageChoice()).pacing is None


def test_mtu_and_time_out_are_those_of_the_hosts(tmp_path: Path) -> None:
    routed = route("roce")
    folder = written(routed, tmp_path)
    for number in range(1, 5):
        path = folder / f"hosts/host-000{number}/nccl.conf"
        path.write_text(path.read_text(encoding="utf-8") + "NCCL_IB_TIMEOUT=14\n", encoding="utf-8")
    nics = folder / "hosts/host-0002/nics.conf"
    nics.write_text(nics.read_text(encoding="utf-8").replace(" 4200 ", " 1500 "), encoding="utf-8")
    carriage = TECHNOLOGIES["roce"].transport.carriage(gather(routed, folder), CarriageChoice())
    assert carriage.timeout_ps == 4_096_000 << 14
    assert carriage.mtu_bytes == 1024
    assert any("hosts differ in MTU: 1,024 B counts, of host-0002 first" in words for words in carriage.assumptions)
