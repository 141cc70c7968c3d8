from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.fabrics import make_fabric
from weftline.app import subnet
from weftline.app.kept import FILE, Kept, find_ports, name_ports, read_kept, write_kept
from weftline.drivers import DRIVERS
from weftline.errors import ArtifactError, CapabilityError
from weftline.labs import LABS


def test_what_is_written_is_read_and_nothing_else(tmp_path: Path) -> None:
    kept = Kept(of="a", stage="running", lost=("leaf-001/5",))
    write_kept(tmp_path, kept)
    assert read_kept(tmp_path, "a") == kept
    assert read_kept(tmp_path, "b") is None
    (tmp_path / FILE).write_text("{")
    assert read_kept(tmp_path, "a") is None
    assert read_kept(tmp_path / "absent", "a") is None
    with pytest.raises(ArtifactError) as caught:
        write_kept(tmp_path / "absent", kept)
    assert caught.value.code == "artifact.unwritable"


def test_ports_are_found_by_the_names_they_have() -> None:
    fabric = make_fabric("fat-tree", hosts=8, ports=8)
    ports = find_ports(fabric, ("leaf-001/2", "host-0003/nic1", "leaf-999/1"))
    assert sorted(name_ports(fabric, ports)) == ["host-0003/nic1", "leaf-001/2"]


def test_a_lab_whose_driver_cannot_watch_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lab = LABS["ibsim"]
    assert lab.driver is not None
    monkeypatch.setitem(DRIVERS.held, lab.driver, replace(DRIVERS[lab.driver], watch=None))
    with pytest.raises(CapabilityError) as caught:
        subnet.open_subnets(lab, cast("Any", None), cast("Any", None), tmp_path)
    assert caught.value.code == "capability.no-watch"
    with pytest.raises(CapabilityError) as caught:
        subnet.open_subnets(LABS["netns"], cast("Any", None), cast("Any", None), tmp_path)
    assert caught.value.code == "capability.no-watch"
