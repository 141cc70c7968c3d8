"""Every file of the corpus in a form of EOS, FRR or Cumulus Linux is read to its last line."""

from __future__ import annotations

from pathlib import Path

import pytest

from weftline.formats import cumulus, eos, frr_conf

EOS_LINES = {
    "avd/eos_cli": 993,
    "batfish/arista": 1629,
}
"""Lines that say something, over all files of a folder."""


def list_files(corpus: Path, folder: str) -> list[Path]:
    """List the files of a folder."""
    found = sorted((corpus / "roce" / folder).iterdir())
    if not found:
        pytest.skip("the corpus is absent")
    return found


@pytest.mark.parametrize("folder", EOS_LINES)
def test_eos(corpus: Path, folder: str) -> None:
    count = 0
    for path in list_files(corpus, folder):
        data = path.read_bytes()
        read = eos.read_eos(data, path.name)
        assert read.problems == (), path.name
        assert eos.looks_like(data[:65_536]), path.name
        assert not frr_conf.looks_like(path.name, data[:65_536]), path.name
        count += read.count
    assert count == EOS_LINES[folder]


def test_frr(corpus: Path) -> None:
    files = [path for path in list_files(corpus, "batfish/sonic") if path.name.endswith("frr.conf")]
    assert len(files) == 9
    for path in files:
        read = frr_conf.read_frr(path.read_bytes(), path.name)
        assert read.problems == ()
        assert [line.text for line in read.lines] == ["route-map TEST permit 10"]
        assert frr_conf.looks_like(path.name, path.read_bytes())


def test_cumulus(corpus: Path) -> None:
    files = [path for path in list_files(corpus, "batfish/cumulus") if not path.name.endswith(".json")]
    read = [cumulus.read_cumulus(path.read_bytes(), path.name) for path in files]
    assert len(files) == 15
    assert sum(len(file.interfaces) for file in read) == 39
    assert sum(file.routing.count for file in read) == 195
    assert [problem for file in read for problem in file.problems] == []
    assert all(cumulus.looks_like(path.read_bytes()) for path in files)
