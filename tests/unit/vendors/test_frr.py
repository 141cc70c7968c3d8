from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.designs import join_facts, render_design
from tests.unit.vendors.damage import damage, replace

MADE = render_design("roce", hosts=4, rails=2)
THREE_TIERS = render_design("roce", "fat-tree", hosts=64)
WEIGHED = render_design("roce", hosts=4, rails=2, engine="weighted-ecmp")
PATH = "switches/leaf-001/frr.conf"


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        (replace("maximum-paths 4", "maximum-pths 4"), "artifact.unreadable-line", None),
        (replace("maximum-paths 4", "maximum-paths 9999"), "artifact.out-of-range", None),
        (replace("router bgp 4200000000", "router bgp 4294967296"), "artifact.out-of-range", None),
        (replace("router-id 10.0.0.1", "router-id 10.0.0.256"), "artifact.out-of-range", None),
        (replace("no zebra nexthop kernel enable", "!"), "artifact.unexpected", None),
        (replace(" bgp bestpath as-path multipath-relax\n", ""), "artifact.unexpected", None),
        (replace(" neighbor FABRIC bfd profile FABRIC\n", ""), "artifact.unexpected", None),
        (replace("  receive-interval 300\n", ""), "artifact.unexpected", None),
        (replace("  detect-multiplier 3\n", "  detect-multiplier 9\n"), "artifact.unreadable-line", None),
        (replace("aggregate-address 10.", "aggregate-address 11."), "artifact.dangling", None),
        (replace("neighbor Ethernet32 interface", "neighbor Ethernet33 interface"), "artifact.dangling", None),
        (replace("neighbor Ethernet32 peer-group", "neighbor Ethernet33 peer-group"), "artifact.dangling", None),
        (replace("hostname leaf-001", "hostname leaf 001"), "artifact.unreadable-line", 3),
    ],
)
def test_damage(change: Callable[[str], str], code: str, line: int | None) -> None:
    problems = damage(MADE, PATH, change)
    assert code in {problem.code for problem in problems}
    place = problems[0].where
    assert place is not None
    assert place.file == PATH
    assert line in {None, place.line}


BOUND = "  neighbor Ethernet32 route-map TELL-1 out\n"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (replace(" set extcommunity bandwidth 1\n", ""), "artifact.unexpected"),
        (replace(" match ip address prefix-list OWN\n set", " set"), "artifact.unexpected"),
        (replace("route-map TELL-1 permit 20\nexit\n", ""), "artifact.unexpected"),
        (replace("permit 20\n", "permit 20\n set extcommunity bandwidth 5\n"), "artifact.unexpected"),
        (replace("bandwidth 1\n", "bandwidth 1\n match tag 3\n"), "artifact.unexpected"),
        (replace("bandwidth 1\n", "bandwidth 25601\n"), "artifact.out-of-range"),
        (replace("Ethernet32 route-map TELL-1 out", "Ethernet32 route-map TELL-2 out"), "artifact.unexpected"),
        (replace("neighbor Ethernet32 route-map", "neighbor Ethernet33 route-map"), "artifact.dangling"),
        (replace("Ethernet32 route-map TELL-1 out", "Ethernet32 route-map TELL-1 in"), "artifact.unreadable-line"),
    ],
)  # fmt: skip
def test_damaged_weights(change: Callable[[str], str], code: str) -> None:
    assert code in {problem.code for problem in damage(WEIGHED, PATH, change)}


def test_every_link_between_switches_tells_its_rate() -> None:
    text = WEIGHED.text(PATH)
    assert text.count("route-map TELL-1 out") == text.count("remote-as")
    facts = join_facts(tuple(one for vendor in WEIGHED.vendors for one in vendor.observe(WEIGHED.artifacts)))
    told = {path: value for path, value in facts["leaf-001"].items() if path.endswith(".told_units")}
    assert set(told.values()) == {1}
    assert len(told) == text.count("remote-as")
    assert "TELL" not in MADE.text(PATH)
    # one neighbour that is told nothing is seen: FRR would weigh none of the paths by it
    less = text.replace(BOUND, "")
    assert less != text
    assert not damage(WEIGHED, PATH, replace(BOUND, ""))


def test_only_links_between_switches_have_sessions() -> None:
    text = MADE.text(PATH)
    assert text.count("remote-as") == 4
    assert "host-" not in text


def test_a_spine_announces_itself_only() -> None:
    text = MADE.text("switches/spine-01/frr.conf")
    assert text.count("ip prefix-list OWN") == 1
    assert "aggregate-address" not in text


def accepts(text: str, folder: Path) -> tuple[bool, str]:
    """Ask FRR's own shell whether it knows every line; no daemon runs."""
    path = folder / "frr.conf"
    path.write_text(text)
    done = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, timeout=30, check=False)
    return done.returncode == 0, done.stdout + done.stderr


needs_frr = pytest.mark.skipif(shutil.which("vtysh") is None, reason="frr is not installed")


@needs_frr
@pytest.mark.lab
@pytest.mark.parametrize("device", ["leaf-001", "spine-01", "core-01"])
def test_frr_knows_every_line(device: str, tmp_path: Path) -> None:
    is_accepted, said = accepts(THREE_TIERS.text(f"switches/{device}/frr.conf"), tmp_path)
    assert is_accepted, said


@needs_frr
@pytest.mark.lab
def test_frr_refuses_a_broken_line(tmp_path: Path) -> None:
    is_accepted, _ = accepts(MADE.text(PATH).replace("maximum-paths", "maximum-pths"), tmp_path)
    assert not is_accepted


BGPD = Path("/usr/lib/frr/bgpd")
ELSEWHERE = ("no zebra", "service integrated", " ipv6 nd", " no ipv6 nd", "hostname")
"""Lines of the integrated file that are for the other daemons."""


@pytest.mark.lab
@pytest.mark.skipif(not BGPD.exists() or os.geteuid() != 0, reason="frr is not installed, or this is not root")
@pytest.mark.parametrize(
    ("path", "is_damaged"), [(PATH, False), (PATH, True), ("switches/spine-01/frr.conf", False), ("weighed", False)]
)
def test_bgpd_carries_out_every_line(path: str, is_damaged: bool) -> None:
    """The daemon reads its file and ends; unlike the shell it refuses what makes no sense."""
    folder = Path(tempfile.mkdtemp(prefix="weftline-frr-"))
    try:
        text = WEIGHED.text(PATH) if path == "weighed" else MADE.text(path)
        before, _, rest = text.partition("\nbfd\n")
        shared = before + rest.partition("\n!")[2]  # what stands below bfd is for bfdd
        lines = [line for line in shared.splitlines() if not line.startswith(ELSEWHERE)]
        text = "\n".join(lines) + "\n"
        (folder / "bgpd.conf").write_text(text.replace("remote-as 4", "remote-as 44") if is_damaged else text)
        shutil.chown(folder, "frr", "frr")
        sockets = ["--vty_socket", str(folder), "-z", str(folder / "zserv.api"), "-i", str(folder / "pid"), "-p", "0"]
        command = [str(BGPD), "-C", "-f", str(folder / "bgpd.conf"), "-u", "frr", "-g", "frr", *sockets]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        said = done.stdout + done.stderr
        assert ("Config Failed" in said) is is_damaged, said
    finally:
        shutil.rmtree(folder)
