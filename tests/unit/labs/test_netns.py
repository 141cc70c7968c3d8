"""The lab of namespaces where nothing is started: what it makes and expects, and what it reads of foreign answers."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.running import refused, run
from tests.lab.netns.conftest import SMALL, make_place
from weftline.app.lab import lab_folder
from weftline.errors import CapabilityError, SourceError
from weftline.labs import processes
from weftline.labs.netns import daemons, expecting, reading, running, state
from weftline.labs.netns.layout import lay_out, link_local
from weftline.model.lab import LabDesign


def design_of(folder: Path, text: str = SMALL) -> LabDesign:
    """Render a declaration as the lab is given it."""
    from weftline.app import lab as app_lab
    from weftline.app.pipeline import run_to_proofs, silent
    from weftline.labs import LABS

    place = make_place(folder, text)
    proved = run_to_proofs(place.path, silent)
    artifacts = app_lab._render_unproved(proved, silent)  # pyright: ignore[reportPrivateUsage]
    return app_lab._design(proved.routed, artifacts, LABS["netns"])  # pyright: ignore[reportPrivateUsage]


def test_what_is_made(tmp_path: Path) -> None:
    layout = lay_out(design_of(tmp_path))
    assert len(layout.namespaces) == 4 + 4 + 2
    assert len(layout.links) == 8 + 8
    ends = {(end.namespace, end.interface, end.mtu) for link in layout.links for end in (link.near, link.far)}
    assert {("leaf-001", "Ethernet0", 9216), ("host-0001", "mlx5_1", 4200), ("spine-02", "Ethernet24", 9216)} <= ends
    host = layout.namespaces["host-0001"]
    assert "address add 10.128.0.3/31 dev mlx5_1" in host.commands
    assert "route add default via 10.128.0.2 dev mlx5_1 table 102" in host.commands
    assert "rule add from 10.128.0.3 table 102" in host.commands
    assert host.settings["net.ipv4.conf.all.arp_ignore"] == "1"
    assert layout.namespaces["leaf-001"].settings["net.ipv4.fib_multipath_hash_policy"] == "1"
    assert not any("neigh" in line for line in host.commands)


def test_many_links_name_their_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel keeps few neighbours of all namespaces together."""
    monkeypatch.setattr("weftline.labs.netns.layout.MOST_RESOLVED", 8)
    layout = lay_out(design_of(tmp_path))
    (line,) = [one for one in layout.namespaces["host-0001"].commands if "dev mlx5_1" in one and "neigh" in one]
    assert line.startswith("neigh replace 10.128.0.2 lladdr 02:57:")
    assert sum("neigh replace fe80::" in one for one in layout.namespaces["spine-01"].commands) == 4


def test_the_address_that_the_kernel_gives_itself() -> None:
    assert link_local("34:56:78:9a:bc:de") == "fe80::3656:78ff:fe9a:bcde"  # RFC 4291, appendix A


def test_files_that_name_no_interface(tmp_path: Path) -> None:
    design = design_of(tmp_path)
    blind = [replace(device, files={}) if device.name == "leaf-002" else device for device in design.devices]
    with pytest.raises(CapabilityError) as caught:
        lay_out(replace(design, devices=tuple(blind)))
    assert caught.value.code == "capability.lab-files"
    assert "leaf-002" in caught.value.message


def test_what_is_expected(tmp_path: Path) -> None:
    design = design_of(tmp_path)
    expected = expecting.list_expected(design, lay_out(design))
    both = frozenset({"Ethernet16", "Ethernet24"})
    assert expected["leaf-001"].sessions == both
    networks = ("10.128.0.4/30", "10.128.0.8/30", "10.128.0.12/30", "10.0.0.2/32", "10.0.0.3/32", "10.0.0.4/32")
    assert dict(expected["leaf-001"].routes) == dict.fromkeys(networks, both)
    assert expected["spine-01"].routes["10.128.0.12/30"] == frozenset({"Ethernet24"})


@pytest.mark.parametrize("most", [7, 20, 48, 1000])
def test_pairs_are_spread_evenly(tmp_path: Path, most: int) -> None:
    design = design_of(tmp_path)
    pairs = expecting.choose_pairs(design, lay_out(design), most)
    assert pairs.total_together == 8 * 6  # none within a host
    assert pairs.total_apart == 0
    assert len(set(pairs.together)) == len(pairs.together)
    assert {source for source, _ in pairs.together} == {target for _, target in pairs.together} == set(range(8))
    if most >= 48:
        assert len(pairs.together) == 48


def test_answers_of_frr() -> None:
    peers = {"Ethernet0": {"state": "Established"}, "Ethernet8": {}}
    assert reading.read_sessions({"ipv4Unicast": {"peers": peers}}) == {
        "Ethernet0": "Established",
        "Ethernet8": "unknown",
    }
    hops = [{"fib": True, "interfaceName": "a"}, {"interfaceName": "b"}, {"fib": True}]
    rows = [{"installed": True, "nexthops": hops}, {"selected": True, "installed": True, "nexthops": hops}]
    assert reading.read_routes({"10.0.0.0/8": rows, "11.0.0.0/8": [{"selected": True}]}) == {
        "10.0.0.0/8": frozenset({"a"})
    }


def test_answers_of_bfdd() -> None:
    assert reading.read_watches([{"interface": "Ethernet0", "status": "up"}, {"interface": "Ethernet8"}]) == {
        "Ethernet0": "up",
        "Ethernet8": "unknown",
    }


def test_answers_of_the_kernel() -> None:
    table: list[Mapping[str, object]] = [
        {"dst": "default", "dev": "a"},
        {"dst": "10.0.0.1", "nexthops": [{"dev": "a"}, {"dev": "b", "flags": ["dead", "linkdown"]}]},
        {"dst": "10.0.0.0/8", "type": "blackhole"},
    ]
    assert reading.read_kernel(table) == {
        "0.0.0.0/0": frozenset({"a"}),
        "10.0.0.1/32": frozenset({"a"}),
        "10.0.0.0/8": frozenset(),
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_no_answer_is_too_strange(answer: Any) -> None:
    """What is not as expected holds no session and no way."""
    reading.read_sessions(answer)
    reading.read_routes(answer)
    reading.read_kernel(answer)
    reading.read_watches(answer)


def test_programs_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(_name: str) -> None:
        """Find nothing."""

    monkeypatch.setattr(processes, "find_program", find)
    monkeypatch.setattr(daemons, "find_daemon", find)
    error = refused(run("lab", "up", make_place(tmp_path).path, "--json"), 1, "artifact.program-missing")
    assert error["hint"] == "apt-get install -y util-linux mount iproute2 nftables frr"


def test_rights_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> str:
        return name

    def refuse(*_words: object, **_rest: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess((), 1, "", "unshare: unshare failed: Operation not permitted\n")

    monkeypatch.setattr(processes, "find_program", find)
    monkeypatch.setattr(daemons, "find_daemon", find)
    monkeypatch.setattr(running.subprocess, "run", refuse)
    error = refused(run("lab", "up", make_place(tmp_path).path, "--json"), 1, "artifact.no-namespaces")
    assert error["message"].endswith(
        "may not make network namespaces here: unshare: unshare failed: Operation not permitted"
    )
    assert "root" in error["hint"]
    assert not lab_folder(make_place(tmp_path).path).exists()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b'{"schema_name": "weftline/lab-state/2"}', b"[]", b"null"]
)
def test_a_file_that_is_none_of_this_lab(tmp_path: Path, content: bytes) -> None:
    """Another kind of lab may have stood in the folder."""
    (tmp_path / state.FILE).write_bytes(content)
    with pytest.raises(SourceError) as caught:
        state.read(tmp_path)
    assert caught.value.code == "source.lab-down"
