"""Management keys under a real OpenSM: filled in where it runs, and in no output of any command."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from tests.cli.running import refused, run
from tests.lab.conftest import SMALL, Place

VALUES = {"m_key": "0x7ea5e11ed0c0ffee", "sm_key": "0x5ec2e7abadcafe01", "sa_key": "0x0ddba115ca1ab1e5"}
GUARDED = """\
infiniband:
  sweep_interval_s: 10
  keys:
    m_key_file: keys/m_key
    sm_key_file: keys/sm_key
    sa_key_file: keys/sa_key
    lease_s: 60
    protection: 2
"""


@pytest.fixture
def guarded(place: Place) -> Place:
    """A declaration with keys in files that only their owner reads."""
    place.path.write_text(SMALL + GUARDED, encoding="utf-8")
    folder = place.path.parent / "keys"
    folder.mkdir(mode=0o700)
    for name, value in VALUES.items():
        (folder / name).write_text(value + "\n", encoding="ascii")
        (folder / name).chmod(0o600)
    return place


def find_leaks(folder: Path) -> dict[str, int]:
    """Map each file that holds the digits of a key to its rights, those of the keys themselves left out."""
    digits = [value.removeprefix("0x").encode() for value in VALUES.values()]
    found: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "keys":
            text = path.read_bytes().lower()
            if any(value in text for value in digits):
                found[path.name] = stat.S_IMODE(path.stat().st_mode)
    return found


def test_keys_are_only_where_opensm_runs(guarded: Place) -> None:
    outputs = [guarded.lab("up", "--json"), guarded.lab("verify", "--json"), guarded.lab("verify")]
    assert [ran.status for ran in outputs] == [0, 0, 0], outputs[0].out
    assert outputs[0].document["equal"]
    outputs += [
        run("render", guarded.path, "--out", guarded.path.parent / "out"),
        run("up", guarded.path, "--out", guarded.path.parent / "all"),
        run("check", guarded.path, "--json"),
    ]
    for ran in outputs:
        assert not any(value.removeprefix("0x") in (ran.out + ran.err).lower() for value in VALUES.values())
    assert find_leaks(guarded.path.parent) == {"opensm.conf": 0o600, "m_key": 0o600}
    assert stat.S_IMODE(guarded.folder.stat().st_mode) == 0o700
    options = (guarded.folder / "opensm.conf").read_text().splitlines()
    assert f"m_key {VALUES['m_key']}" in options
    assert "m_key_protection_level 2" in options


def test_the_simulator_keeps_no_key(guarded: Place) -> None:
    """A device of protection 2 answers nobody without the key; ibsim keeps none and does, so it proves no guarding."""
    assert guarded.lab("up").status == 0
    said = guarded.ask("smpquery", "-K", "-D", "portinfo", "0,1", "0")
    assert re.search(r"^Mkey:\.*0x0{16}$", said, flags=re.MULTILINE)


def test_a_key_that_others_may_read_is_refused(guarded: Place) -> None:
    (guarded.path.parent / "keys" / "m_key").chmod(0o644)
    refused(guarded.lab("up", "--json"), 1, "spec.key-file")
    assert guarded.running == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="files can be given away by root only")
def test_a_key_of_somebody_else_is_refused(guarded: Place) -> None:
    os.chown(guarded.path.parent / "keys" / "m_key", 65534, -1)
    refused(guarded.lab("up", "--json"), 1, "spec.key-file")
