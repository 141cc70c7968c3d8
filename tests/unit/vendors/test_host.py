from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.designs import render_design
from tests.unit.vendors.damage import damage, replace
from weftline.model.spec import LosslessSection
from weftline.vendors.host.columns import COLUMNS

ROCE = render_design("roce", hosts=2, rails=2)
INFINIBAND = render_design("infiniband", hosts=2, rails=2, planes=2)
FOLDER = "hosts/host-0001"


def settings(text: str) -> dict[str, str]:
    """Read NAME=value lines."""
    return dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))


@pytest.mark.parametrize(
    ("technology", "kind", "crosses"),
    [("roce", "rail-only", "0"), ("infiniband", "rail-only", "0"), ("roce", "rail-optimised", None)],
)
def test_rings_keep_to_a_rail_where_rails_are_apart(technology: str, kind: str, crosses: str | None) -> None:
    made = render_design(technology, kind, hosts=8, rails=2, unit_size=4)
    assert settings(made.text(f"{FOLDER}/nccl.conf")).get("NCCL_CROSS_NIC") == crosses


def test_nccl_uses_the_declared_class() -> None:
    assert settings(ROCE.text(f"{FOLDER}/nccl.conf")) == {
        "NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1",
        "NCCL_IB_GID_INDEX": "3",
        "NCCL_IB_TC": "106",
    }


def test_nccl_uses_the_first_key_and_every_plane() -> None:
    assert settings(INFINIBAND.text(f"{FOLDER}/nccl.conf")) == {
        "NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1",
        "NCCL_IB_SL": "0",
        "NCCL_IB_PKEY": "0",
        "NCCL_CROSS_NIC": "0",
    }


def test_only_roce_hosts_set_their_nics() -> None:
    assert {item.path for item in INFINIBAND.artifacts.artifacts if item.path.endswith(".sh")} == set()
    assert "hosts/apply-nics.sh" in {item.path for item in ROCE.artifacts.artifacts}


@pytest.mark.parametrize(
    ("file", "change", "code"),
    [
        ("nics.conf", replace("  106  ", "  256  "), "artifact.out-of-range"),
        ("nics.conf", replace("  up  ", "  on  "), "artifact.out-of-range"),
        ("nics.conf", replace("  400  ", "  -40  "), "artifact.out-of-range"),
        ("nics.conf", replace("  400  ", "  nan  "), "artifact.out-of-range"),
        ("nics.conf", replace("  400  ", "  4x0  "), "artifact.out-of-range"),
        ("nics.conf", replace("\n1    mlx5_0", "\n1    $(id)"), "artifact.out-of-range"),
        ("nics.conf", replace("\n2  ", "\n1  "), "artifact.said-twice"),
        ("nics.conf", replace("\n2  ", "\nx  "), "artifact.unreadable-line"),
        ("nics.conf", replace("  dscp", "  dscp  dscp"), "artifact.unreadable-line"),
        ("nccl.conf", replace("NCCL_IB_TC=106", "NCCL_IB_TC=300"), "artifact.out-of-range"),
        ("nccl.conf", replace("NCCL_IB_HCA==", "NCCL_IB_HCA="), "artifact.out-of-range"),
        ("nccl.conf", replace("NCCL_IB_TC", "NCCL_IB_GID_INDEX"), "artifact.said-twice"),
        ("nccl.conf", replace("NCCL_IB_TC", "NCCL_IB_TCC"), "artifact.unreadable-line"),
        ("nccl.conf", replace("NCCL_IB_TC=106", "NCCL_CROSS_NIC=2"), "artifact.out-of-range"),
        ("sysctl.conf", replace(" = ", " "), "artifact.unreadable-line"),
    ],
)
def test_damage(file: str, change: Callable[[str], str], code: str) -> None:
    problems = damage(ROCE, f"{FOLDER}/{file}", change)
    assert code in {problem.code for problem in problems}
    assert all(p.where is not None and p.where.file == f"{FOLDER}/{file}" and p.where.line for p in problems)


def test_another_script_is_reported() -> None:
    problems = damage(ROCE, "hosts/apply-nics.sh", replace("--trust", "--distrust"))
    assert [problem.code for problem in problems] == ["artifact.unexpected"]


FAKE = '#!/bin/bash\necho "$(basename "$0") $*" >>"$LOG"\n'


def run_script(text: str, nics: str, folder: Path) -> list[str]:
    """Run the script with programs that only write down how they were called."""
    programs, device = folder / "bin", folder / "sys"
    programs.mkdir()
    for name in ("ethtool", "mlnx_qos", "cma_roce_tos", "ip"):
        (programs / name).write_text(FAKE)
        (programs / name).chmod(0o755)
    for number in range(2):
        (device / f"class/infiniband/mlx5_{number}/device/net/eth{number}").mkdir(parents=True)
        (device / f"class/infiniband/mlx5_{number}/tc/1").mkdir(parents=True)
        for part in ("roce_np", "roce_rp"):
            (device / f"class/net/eth{number}/ecn/{part}/enable").mkdir(parents=True)
    (folder / "apply.sh").write_text(text.replace("/sys/", f"{device}/"))
    (folder / "nics.conf").write_text(nics)
    log = folder / "log"
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "LOG": str(log)}
    command = ["bash", str(folder / "apply.sh"), str(folder / "nics.conf")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return log.read_text().splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_script_sets_what_the_list_says(tmp_path: Path) -> None:
    made = render_design("roce", hosts=2, rails=2, lossless=LosslessSection(priority=4, dscp=30, cnp_dscp=50))
    calls = run_script(made.text("hosts/apply-nics.sh"), made.text(f"{FOLDER}/nics.conf"), tmp_path)
    assert calls[:10] == [
        "ethtool -A eth0 rx off tx off",
        "mlnx_qos -i eth0 --trust dscp",
        "mlnx_qos -i eth0 --pfc 0,0,0,0,1,0,0,0",
        "mlnx_qos -i eth0 --dscp2prio set,30,4",
        "mlnx_qos -i eth0 --dscp2prio set,50,6",
        "mlnx_qos -i eth0 --cable_len 3",
        "cma_roce_tos -d mlx5_0 -t 122",
        "ip link set eth0 mtu 4200 up",
        "ip address replace 10.128.0.1/31 dev eth0",
        "ip route replace default via 10.128.0.0 dev eth0 table 101",
    ]
    assert len(calls) == 24
    net = tmp_path / "sys/class/net/eth1/ecn"
    assert [(net / part / "enable/4").read_text() for part in ("roce_np", "roce_rp")] == ["1\n", "1\n"]
    assert (net / "roce_np/cnp_dscp").read_text() == "50\n"
    assert (net / "roce_np/cnp_802p_prio").read_text() == "6\n"
    assert (tmp_path / "sys/class/infiniband/mlx5_1/tc/1/traffic_class").read_text() == "122\n"


def test_the_columns_are_the_shell_variables_of_the_script() -> None:
    names = [column.name for column in COLUMNS]
    assert len(set(names)) == len(names)
    assert f"read -r nic {' '.join(names)}" in ROCE.text("hosts/apply-nics.sh")
