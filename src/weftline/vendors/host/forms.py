"""The forms of text that come from a host: how each is told, and what reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from weftline.formats import (
    dcb,
    ethtool,
    ibv_devinfo,
    ip_json,
    mlnx_qos,
    mlxconfig,
    nccl_conf,
    rdma_devices,
    show_gids,
    sysctl,
    sysfs,
    tcpdump,
)
from weftline.formats.text import ProblemLog
from weftline.formats.transcript import COMMANDS, Output, split_outputs
from weftline.vendors.host.classes import CLASSES_HEAD
from weftline.vendors.host.columns import LIST_HEAD
from weftline.vendors.host.script import is_shared

HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Form:
    """One form of text."""

    name: str
    programs: tuple[str, ...]
    """Commands that print it."""
    looks_like: Callable[[bytes], bool] | None
    """None where only the command tells it."""
    parse: Callable[[Output, ProblemLog], Any]
    files: tuple[str, ...] = ()
    """What the names of files of it begin with, beside its programs."""


FORMS: tuple[Form, ...] = (
    Form("mlnx_qos", ("mlnx_qos",), mlnx_qos.looks_like, mlnx_qos.parse, ("qos",)),
    Form("ethtool", ("ethtool",), ethtool.looks_like, ethtool.parse, ("pause", "counters")),
    Form("show_gids", ("show_gids",), show_gids.looks_like, show_gids.parse, ("gids",)),
    Form("ibv_devinfo", ("ibv_devinfo",), ibv_devinfo.looks_like, ibv_devinfo.parse, ("devinfo",)),
    Form("ibdev2netdev", ("ibdev2netdev",), rdma_devices.looks_like, rdma_devices.parse),
    Form("cma_roce", ("cma_roce_tos", "cma_roce_mode"), None, rdma_devices.parse_mark),
    Form("mlxconfig", ("mlxconfig", "mstconfig"), mlxconfig.looks_like, mlxconfig.parse),
    Form("dcb", ("dcb",), dcb.looks_like, dcb.parse),
    Form("tcpdump", ("tcpdump",), tcpdump.looks_like, tcpdump.parse),
    Form("ip", ("ip",), ip_json.looks_like, ip_json.parse),
    Form("nccl", ("env", "printenv"), nccl_conf.looks_like, nccl_conf.parse, ("nccl", "ucx", "nvshmem")),
    Form(
        "sysfs",
        ("cat", "head", "grep"),
        sysfs.looks_like,
        sysfs.parse,
        ("sys", "hw_counters", "ecn", "tc", "traffic_class"),
    ),
    Form("sysctl", ("sysctl",), sysctl.looks_like, sysctl.parse),
)
NAMES = frozenset({*COMMANDS, *(word for form in FORMS for word in form.files)})


def find_form(output: Output) -> Form | None:
    """Tell the form of an output, by its command if that was kept, else by its content."""
    program = output.program
    for form in FORMS:
        if program in form.programs and program not in {"cat", "head", "grep"}:
            return form
    if output.path.startswith(("/sys/", "/proc/")) or any(
        word.startswith(("/sys/", "/proc/")) for word in output.command
    ):
        return next(form for form in FORMS if form.name == "sysfs")
    head = "\n".join(output.lines[:500]).encode()[:HEAD_BYTES]
    return next((form for form in FORMS if form.looks_like and form.looks_like(head)), None)


def recognise(name: str, head: bytes) -> str | None:
    """Name the form of a file of a host; None where it is none."""
    base = PurePath(name).name
    if b"\0" in head or head.startswith(b"#!"):  # a script sets what nobody knows until it ran
        return None
    if is_shared(head):
        return "weftline-script"
    if LIST_HEAD.search(head) or CLASSES_HEAD.search(head):
        return "weftline-list"
    outputs = split_outputs(head[:HEAD_BYTES], name, ProblemLog(name))
    for output in outputs:
        form = find_form(output)
        if form is not None:
            return form.name
    if base in {"nccl.conf", ".nccl.conf"}:
        return "nccl"
    return None
