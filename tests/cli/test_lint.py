"""weftline lint, as somebody uses it who has a partition file of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import hold, refused, run

GOOD = "Default=0x7fff : ALL=limited, ALL_SWITCHES=full, SELF=full ;\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A partition file in order."""
    path = tmp_path / "partitions.conf"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_a_file_in_order(file: Path) -> None:
    ran = run("lint", file)
    assert ran.status == 0
    assert ran.out.startswith("OpenSM takes the file")
    document = hold(run("lint", file, "--json").document, "lint")
    assert (document["counts"]["error"], document["predicted"]) == (0, None)


def test_a_file_that_opens_everything(file: Path) -> None:
    file.write_text(GOOD + "broken\n", encoding="utf-8")
    ran = run("lint", file)
    assert ran.status == 2
    assert "every port becomes a full member" in ran.out
    assert "partition.syntax-error" in ran.out
    assert f"{file}:2:1" in ran.out
    assert run("lint", file, "--fail-on", "never").status == 0


def test_files_of_a_manager_are_weighed_in_the_words_of_lint(file: Path) -> None:
    """Glossary: the audit says critical, warning and note of the same three steps."""
    file.write_text(GOOD + "broken\n", encoding="utf-8")
    (file.parent / "opensm.conf").write_text("part_enforce off\nsm_key 5\nm_key 0x1\n", encoding="utf-8")
    found = hold(run("lint", file.parent, "--json").document, "lint")
    assert {one["severity"] for one in found["findings"]} <= set(found["counts"]) == {"error", "warning", "notice"}
    said = run("lint", file.parent).out
    assert "error: partition.syntax-error" in said
    assert not any(line.startswith(("critical", "note:")) for line in said.splitlines())


def test_tables_against_a_declaration(file: Path, root: Path) -> None:
    declaration = root / "examples" / "two-tenants.yaml"
    ran = run("lint", file, "--fabric", declaration, "--predict", "--sm", "0x1")
    assert ran.status == 0
    assert "(enforces in and out): 0x7fff" in ran.out
    document = hold(run("lint", file, "--fabric", declaration, "--json").document, "lint")
    assert {"host-0001/nic1", "ufm/1"} <= {one["port"] for one in document["predicted"]}


def test_tables_against_a_dump(file: Path, root: Path) -> None:
    file.write_text(GOOD + "a=0x1, indx0 : 0x5=full ;\n", encoding="utf-8")
    ran = run("lint", file.parent, "--fabric", root / "examples" / "lab-8.topo")
    assert ran.status == 2
    assert "partition.unknown-guid" in ran.out


def test_options_and_folders(file: Path, tmp_path: Path) -> None:
    options = tmp_path / "opensm.conf"
    options.write_text("m_key 0x1234\nm_key_protection_level 2\npart_enforce off\nsm_key 5\n", encoding="utf-8")
    for arguments in ((tmp_path,), (file, "--options", options), (options,)):
        ran = run("lint", *arguments)
        assert ran.status == 2
        assert "partition.enforcement-off" in ran.out
        assert "1234" not in ran.out
    assert "There is no partition file" in run("lint", options).out


def test_what_is_refused(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("nothing of that\n", encoding="utf-8")
    refused(run("lint", other, "--json"), 1, "artifact.no-configuration")
    refused(run("lint", tmp_path / "absent", "--json"), 1, "artifact.no-place")
    refused(run("lint", file, "--sm", "host-1", "--json"), 64, "usage.guid")


NIC = """\
root@host-1:~# mlnx_qos -i eth2
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
\tprio:0 dscp:07,06,05,04,03,02,01,00,
\tprio:3 dscp:31,30,29,28,27,26,25,24,
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   0   0
root@host-1:~# ethtool -a eth2
Pause parameters for eth2:
Autonegotiate:  off
RX:             on
TX:             on

root@host-1:~# cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class
Global tclass=106
"""


def test_outputs_of_a_host(tmp_path: Path) -> None:
    path = tmp_path / "host-1.txt"
    path.write_text(NIC, encoding="utf-8")
    ran = run("lint", path)
    assert ran.status == 2
    assert "error: pauses.whole-link" in ran.out
    assert "case: NVIDIA/daqiri issue 250" in ran.out
    assert "whether the switches treat what the hosts send as lossless" in ran.out
    document = hold(run("lint", path, "--json").document, "lint")
    (finding,) = [one for one in document["findings"] if one["rule"] == "pauses.whole-link"]
    assert (finding["severity"], finding["file"]) == ("error", str(path))
    assert (document["files"], document["judged"], document["devices"][0]["role"]) == (1, 1, "host")
    path.write_text(NIC.replace("on\n", "off\n"), encoding="utf-8")
    assert run("lint", path).status == 0


def test_a_kernel_that_keeps_half_of_its_ways(tmp_path: Path) -> None:
    path = tmp_path / "leaf-1" / "frr.conf"
    path.parent.mkdir()
    path.write_text(
        "frr version 8.4.4\nhostname leaf-1\nzebra nexthop kernel enable\nrouter bgp 65001\n", encoding="utf-8"
    )
    ran = run("lint", tmp_path, "--fail-on", "warning")
    assert ran.status == 2
    assert "warning: routing.kernel-groups" in ran.out
    assert run("lint", tmp_path).status == 0


def test_what_lint_is_asked_wrongly(file: Path) -> None:
    refused(run("lint", file, "--dscp", "64", "--json"), 64, "usage.dscp")
    refused(run("lint", file, "--fail-on", "critical", "--json"), 64, "usage.severity")


OPTIONS = """\
m_key 0x1234
m_key_protection_level 2
sm_key 5
sa_key 6
partition_config_file /etc/opensm/partitions.conf
"""


def test_a_folder_without_the_partition_file_that_its_options_name(file: Path, root: Path) -> None:
    """OpenSM then makes every port a full member of one partition, and its log ends with SUBNET UP."""
    options = file.parent / "opensm.conf"
    options.write_text(OPTIONS, encoding="utf-8")
    assert run("lint", file.parent).status == 0
    file.unlink()
    ran = run("lint", file.parent, "--fabric", root / "examples" / "two-tenants.yaml", "--predict", "--sm", "0x1")
    assert ran.status == 2
    assert "error: partition.no-file [TEN-01, TEN-02]" in ran.out
    assert ran.out.startswith("OpenSM finds no partition file: every port becomes a full member")
    assert "host-0001/nic1: 0xffff" in ran.out
    assert f"{options}:5:1" in ran.out
    alone = run("lint", options)
    assert alone.status == 0
    assert "Without one every port would be a full member" in alone.out


def test_each_folder_is_that_of_a_manager(file: Path) -> None:
    """A file that is in order in one folder says nothing of the other."""
    for name, text in (("one", GOOD), ("two", GOOD + "broken\n")):
        folder = file.parent / name
        folder.mkdir()
        (folder / "opensm.conf").write_text(OPTIONS, encoding="utf-8")
        (folder / "partitions.conf").write_text(text, encoding="utf-8")
    file.unlink()
    ran = run("lint", file.parent)
    assert ran.status == 2
    assert f"{file.parent / 'one'}: OpenSM takes the file" in ran.out
    assert f"{file.parent / 'two'}: OpenSM gives the file up" in ran.out
    (file.parent / "two" / "partitions.conf").write_text(GOOD, encoding="utf-8")
    assert run("lint", file.parent).status == 0
    (file.parent / "two" / "partitions.conf").unlink()
    assert "partition.no-file" in run("lint", file.parent).out


def test_what_says_how_files_are_put_in_place_is_known_and_not_judged(file: Path) -> None:
    others = {
        "manifest.json": '{"schema": "weftline/manifest/1"}', "patch.json": "[]\n",
        "apply.sh": "#!/bin/sh\n", "x.service": "# one\n[Unit]\n", "x.rules": '# one\nACTION=="add"\n',
    }  # fmt: skip
    for name, text in others.items():
        (file.parent / name).write_text(text, encoding="utf-8")
    document = hold(run("lint", file.parent, "--json").document, "lint")
    forms = {Path(one["file"]).name: one["form"] for one in document["forms"]}
    assert forms.keys() == {*others, file.name}
    assert None not in forms.values()
    assert (document["files"], document["judged"], document["unknown"]) == (6, 1, [])


@pytest.mark.parametrize(
    "content", [b"", b'{"PORT": {"Ethernet0": {"speed": "400000', b"\x00\xff" * 500, b"hostname leaf-001\n!\n"]
)
def test_a_file_of_which_nothing_can_be_read_is_no_good_file(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "leaf-001").mkdir()
    (tmp_path / "leaf-001" / "config_db.json").write_bytes(content)
    ran = run("lint", tmp_path)
    assert ran.status == 2
    assert "error: files.faulty" in ran.out
    assert "nothing of their files could be read" in ran.out
