"""The documented cases: each symptom's fault in the files of a leaf and a host, and the same files with it right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.oracle.real_cases import (
    CAPTURE,
    EDGE,
    HOST,
    LEAF,
    LIBRARY,
    PATCH,
    PHYSICAL,
    ROUTING,
    SYSTEM,
    VALUES,
    Edit,
    Files,
    both,
    drop,
    make_files,
    make_tunnelled,
    put,
    swap,
    turn_patch,
)
from weftline.app.lint import LintedPlace, LintOptions, lint
from weftline.model.finding import FindingSeverity


@dataclass(frozen=True)
class Case:
    """What somebody met, the fault behind it, and the rule that must name it."""

    symptom: str
    source: str
    """Words of the source that the finding's case must hold."""
    rule: str
    edit: Edit
    file: str
    severity: FindingSeverity = "critical"
    base: Callable[[], Files] = make_files


CASES = {
    1: Case("RoCE dropped, no pause counted", "DSCP 26", "classes.dscp-lossy",
            put("DSCP_TO_TC_MAP", "ROCE", "26", "1"), LEAF),
    2: Case("retry exceeded: the host sends DSCP 0", "ucx issue 2434", "nic.default-lossy",
            swap(HOST, "Global tclass=106", "Global tclass=0"), HOST),
    4: Case("queue pairs of the GPU hang under load", "nccl issue 2383", "nic.byte-lossy",
            swap(LIBRARY, "NCCL_IB_TC=106", "NCCL_IB_TC=0"), LIBRARY),
    5: Case("ibv_modify_qp times out", "nccl issues 769", "nic.gid",
            swap(LIBRARY, "NCCL_IB_GID_INDEX=3", "NCCL_IB_GID_INDEX=1"), LIBRARY),
    6: Case("drops in a lossless queue with ECN on", "sonic-buildimage issue 27606", "queue.drops-unmarked",
            swap(HOST, "Global tclass=106", "Global tclass=104"), LEAF),
    7: Case("drops with pauses on: no headroom", "SONiC issue 480", "buffers.no-headroom",
            both(put("BUFFER_PROFILE", "pg_lossless_400000_40m_profile", "xoff", "0")), LEAF),
    9: Case("wrong headroom after recabling", "sonic-swss pull request 4004", "buffers.stale-profile",
            put("CABLE_LENGTH", "AZURE", "Ethernet0", "300m"), LEAF),
    11: Case("ECN cannot be set", "sonic-buildimage issue 21891", "queue.not-marked",
             put("QUEUE", "Ethernet0|3", "wred_profile", None), LEAF, "warning"),
    12: Case("the watchdog watches other queues", "sonic-swss issue 842", "watchdog.other-queues",
             put("PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable", "4"), LEAF),
    13: Case("the watchdog does not start, or runs unconfigured", "sonic-buildimage issue 24577", "change.order",
             turn_patch, PATCH),
    16: Case("308 of 400 Gb/s and no drop counted", "daqiri issue 250", "pauses.whole-link",
             swap(HOST, "RX:             off", "RX:             on"), HOST),
    17: Case("path MTU 4096 over 1500", "2135", "mtu.path",
             put("PORT", "Ethernet0", "mtu", "1500"), LEAF),
    18: Case("one uplink carries all", "nvshmem issue 27", "nic.one-source-port",
             swap(CAPTURE, ".60001 ", ".49152 "), CAPTURE),
    20: Case("lossy across VXLAN", "sonic-buildimage issues 8525", "tunnel.loses-dscp",
             swap(EDGE, "action: copy", "action: pipe"), EDGE, base=make_tunnelled),
    22: Case("RDMA of a virtual function in priority 0", "network-operator issues 269", "nic.virtual-function",
             both(swap(SYSTEM, VALUES, VALUES + PHYSICAL), swap(HOST, "tclass=106", "tclass=0")), SYSTEM,
             "warning"),
    23: Case("0.x GB/s: no flow control at the switch", "nccl issue 378", "pauses.missing",
             drop("PORT_QOS_MAP", "PFC_WD"), LEAF),
    24: Case("ECMP at half after a flap", "issues 12239", "routing.kernel-groups",
             swap(ROUTING, "no zebra nexthop kernel enable\n", ""), ROUTING, "warning"),
}  # fmt: skip


def judge(folder: Path, files: Files) -> LintedPlace:
    """Write files and judge their folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return lint([folder], LintOptions())


def list_words(linted: LintedPlace, severities: Iterable[FindingSeverity]) -> list[str]:
    """Write findings in short."""
    return [f"{one.rule} {one.subject}: {one.message}" for one in linted.findings if one.severity in severities]


def test_files_with_every_case_right_have_no_error_and_no_warning(tmp_path: Path) -> None:
    linted = judge(tmp_path, make_files())
    assert list_words(linted, ("critical", "warning")) == []
    assert {device.name for device in linted.devices} == {"leaf-001", "host-1"}


@pytest.mark.parametrize("number", sorted(CASES))
def test_each_documented_case_is_named_with_its_source(number: int, tmp_path: Path) -> None:
    case = CASES[number]
    files = case.base()
    right = judge(tmp_path / "right", files)
    assert (case.rule, case.severity) not in {(one.rule, one.severity) for one in right.findings}
    case.edit(files)
    linted = judge(tmp_path / "wrong", files)
    found = [one for one in linted.findings if one.rule == case.rule]
    assert found, list_words(linted, ("critical", "warning", "note"))
    assert {one.severity for one in found} == {case.severity}
    assert any(one.where[0].file.endswith(case.file) for one in found)
    assert case.source in found[0].case
    assert found[0].next_step


def test_every_case_of_the_collection_is_accounted_for() -> None:
    assert len(CASES) == 17
