from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import intents
from tests.designs import render_design
from tests.unit.vendors.damage import damage, replace
from weftline.model.intent import DeviceIntent
from weftline.model.observed_port import ObservedPort
from weftline.model.roce import ClassSection, RoceSection
from weftline.vendors.host import HOST
from weftline.vendors.host.classes import read_ranges, write_ranges
from weftline.vendors.host.columns import COLUMNS

ROCE = render_design("roce", hosts=2, rails=2)
INFINIBAND = render_design("infiniband", hosts=2, rails=2, planes=2)
FOLDER = "hosts/host-0001"


def variables(text: str) -> dict[str, str]:
    """Read NAME=value lines."""
    return dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))


@pytest.mark.parametrize(
    ("technology", "kind", "crosses"),
    [("roce", "rail-only", "0"), ("infiniband", "rail-only", "0"), ("roce", "rail-optimised", None)],
)
def test_rings_keep_to_a_rail_where_rails_are_apart(technology: str, kind: str, crosses: str | None) -> None:
    made = render_design(technology, kind, hosts=8, rails=2, unit_size=4)
    assert variables(made.text(f"{FOLDER}/nccl.conf")).get("NCCL_CROSS_NIC") == crosses


def test_nccl_uses_the_declared_class() -> None:
    assert variables(ROCE.text(f"{FOLDER}/nccl.conf")) == {
        "NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1",
        "NCCL_IB_GID_INDEX": "3",
        "NCCL_IB_TC": "106",
    }


def test_nccl_uses_the_first_key_and_every_plane() -> None:
    assert variables(INFINIBAND.text(f"{FOLDER}/nccl.conf")) == {
        "NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1",
        "NCCL_IB_SL": "0",
        "NCCL_IB_PKEY": "0",
        "NCCL_CROSS_NIC": "0",
    }


def test_ucx_and_nvshmem_are_told_the_same() -> None:
    assert variables(ROCE.text(f"{FOLDER}/collectives.env")) == {
        "UCX_IB_TRAFFIC_CLASS": "106",
        "NVSHMEM_IB_TRAFFIC_CLASS": "106",
        "UCX_IB_GID_INDEX": "3",
        "NVSHMEM_IB_GID_INDEX": "3",
        "UCX_NET_DEVICES": "mlx5_0:1,mlx5_1:1",
        "NVSHMEM_HCA_LIST": "mlx5_0:1,mlx5_1:1",
    }


def test_declared_queue_pairs_reach_the_library() -> None:
    made = render_design("roce", hosts=2, rails=2, roce=RoceSection(queue_pairs=4, split_data=True))
    found = variables(made.text(f"{FOLDER}/nccl.conf"))
    assert (found["NCCL_IB_QPS_PER_CONNECTION"], found["NCCL_IB_SPLIT_DATA_ON_QPS"]) == ("4", "1")


def test_several_lossless_classes_have_buffers_of_their_own() -> None:
    classes = (
        ClassSection(name="data", dscps=(26, 27), lossless=True, priority=3),
        ClassSection(name="storage", dscps=(34,), lossless=True, priority=4),
        ClassSection(name="control", dscps=(46,), priority=5),
    )
    made = render_design("roce", hosts=2, rails=2, roce=RoceSection(classes=classes))
    lines = [line.split() for line in made.text(f"{FOLDER}/classes.conf").splitlines() if line[:1].isdigit()]
    assert {line[0]: (line[1], line[2], line[6]) for line in lines if line[1] != "0-25,28-33,35-45,47,49-63"} == {
        "3": ("26-27", "1", "3"),
        "4": ("34", "2", "4"),
        "5": ("46", "0", "-"),
        "6": ("48", "0", "-"),
    }
    assert sorted(dscp for line in lines for dscp in read_ranges(line[1], 63) or ()) == list(range(64))


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
        ("nccl.conf", replace("NCCL_IB_TC=106", "NCCL_IB_QPS_PER_CONNECTION=0x1"), "artifact.out-of-range"),
        ("nccl.conf", replace("NCCL_IB_TC=106", "NCCL_IB_SPLIT_DATA_ON_QPS=2"), "artifact.out-of-range"),
        ("collectives.env", replace("UCX_IB_TRAFFIC_CLASS=106", "UCX_IB_TRAFFIC_CLASS=256"), "artifact.out-of-range"),
        ("collectives.env", replace("UCX_IB_GID", "UCX_IB_GUID"), "artifact.unreadable-line"),
        ("collectives.env", replace("UCX_NET_DEVICES=", "UCX_NET_DEVICES==x,"), "artifact.out-of-range"),
        ("nics.conf", replace("  os  ", "  us  "), "artifact.out-of-range"),
        ("nics.conf", replace("  off  ", "  of  "), "artifact.out-of-range"),
        ("classes.conf", replace("  26  ", "  64  "), "artifact.out-of-range"),
        ("classes.conf", replace("  26  ", "  9-3  "), "artifact.out-of-range"),
        ("classes.conf", replace("  strict  ", "  strange  "), "artifact.out-of-range"),
        ("classes.conf", replace("\n3 ", "\n0 "), "artifact.said-twice"),
        ("classes.conf", replace("\n3 ", "\n8 "), "artifact.unreadable-line"),
        ("sysctl.conf", replace(" = ", " "), "artifact.unreadable-line"),
    ],
)
def test_damage(file: str, change: Callable[[str], str], code: str) -> None:
    problems = damage(ROCE, f"{FOLDER}/{file}", change)
    assert code in {problem.code for problem in problems}
    assert all(p.where is not None and p.where.file == f"{FOLDER}/{file}" and p.where.line for p in problems)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("apply-nics.sh", replace("--trust", "--distrust")),
        ("weftline-nics.service", replace("apply-nics.sh", "apply-nick.sh")),
        ("90-weftline-nics.rules", replace("mlx5_core", "mlx4_core")),
    ],
)
def test_another_script_is_reported(file: str, change: Callable[[str], str]) -> None:
    problems = damage(ROCE, f"hosts/{file}", change)
    assert [problem.code for problem in problems] == ["artifact.unexpected"]


def test_the_columns_are_the_shell_variables_of_the_script() -> None:
    names = [column.name for column in COLUMNS]
    assert len(set(names)) == len(names)
    assert f"read -r nic {' '.join(names)}" in ROCE.text("hosts/apply-nics.sh")


def test_a_class_has_one_line_with_all_its_numbers() -> None:
    lines = [line.split() for line in ROCE.text(f"{FOLDER}/classes.conf").splitlines() if not line.startswith("#")]
    assert lines == [
        ["priority", "dscps", "buffer", "tc", "schedule", "weight", "pause"],
        ["0", "0-25,27-47,49-63", "0", "0", "weighted", "50", "-"],
        ["3", "26", "1", "3", "weighted", "50", "3"],
        ["6", "48", "0", "6", "strict", "-", "-"],
    ]


@given(st.sets(st.integers(0, 63)))
def test_ranges_are_read_as_they_are_written(numbers: set[int]) -> None:
    text = write_ranges(numbers)
    assert (read_ranges(text, 63) if text else ()) == tuple(sorted(numbers))


@given(intents.hosts())
@settings(max_examples=40)
def test_the_neutral_form_says_what_the_intent_says(intent: DeviceIntent) -> None:
    """What lint and proofs read in the rendered files is what the host should do."""
    files = [(item.path, item.content) for item in HOST.render((intent,)) if item.device]
    assert HOST.configured is not None
    (device,) = HOST.configured(files)
    assert [problem for problem in device.problems if problem.code != "artifact.host-disagrees"] == []
    assert intent.host is not None
    for port, nic in zip(intent.ports, intent.host.nics, strict=True):
        seen = next(one for one in device.ports if one.name == nic.device)
        assert seen.nic is not None
        pairs = [
            (seen.mtu, port.mtu),
            (seen.rate_gbps, port.rate_gbps),
            (seen.length_m, port.length_m),
            (seen.is_up, port.is_up),
            (seen.pauses if seen.pauses and seen.pauses.value else None, port.pause_priorities or None),
            (seen.trust, nic.trust),
            (seen.link_pause, {True: "both", False: "off", None: None}[nic.pauses_link]),
            (seen.nic.traffic_class, nic.traffic_class),
            (seen.nic.marking_priorities, nic.mark_priorities),
            (seen.nic.reacting_priorities, nic.mark_priorities),
            (seen.nic.notify_dscp, nic.notify_dscp),
            (seen.nic.notify_priority, nic.notify_priority),
            (seen.nic.is_willing, nic.is_willing),
        ]
        assert [None if said is None else said.value for said, _ in pairs] == [value for _, value in pairs]
        assert [said.value for said in seen.addresses] == ([port.address] if port.address else [])
        _assert_classes(seen, intent, nic.buffer_bytes)


def _assert_classes(seen: ObservedPort, intent: DeviceIntent, headroom: int | None) -> None:
    classes = () if intent.queues is None else intent.queues.classes
    if not classes:  # then the list of NICs alone says where data and notifications go
        byte, pauses = seen.nic and seen.nic.traffic_class, seen.pauses
        if seen.class_of_dscp is not None:
            assert byte is not None
            notify = seen.nic.notify_dscp if seen.nic else None
            if pauses and pauses.value and (notify is None or notify.value != byte.value >> 2):
                assert seen.class_of_dscp.value[byte.value >> 2] == pauses.value[0]
        return
    assert seen.class_of_dscp is not None
    assert seen.group_of_class is not None
    assert seen.queue_of_class is not None
    assert seen.class_of_dscp.value == {dscp: one.key for one in classes for dscp in one.dscps}
    assert seen.group_of_class.value == {one.key: one.group for one in classes}
    assert seen.queue_of_class.value == {one.key: one.queue for one in classes}
    lossless = {one.group for one in classes if one.priority is not None}
    sizes = {group.key: group.size_bytes.value for group in seen.groups if group.size_bytes}
    assert sizes == ({} if headroom is None else dict.fromkeys(lossless, headroom))
