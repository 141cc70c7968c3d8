"""Files that anybody kept of hosts: which host each is of, and what all of them say of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from weftline.errors import Place, Problem
from weftline.formats import nccl_conf
from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output, name_in_file, split_outputs
from weftline.model.observed import ObservedDevice
from weftline.vendors.host.draft import HostDraft
from weftline.vendors.host.forms import NAMES, find_form
from weftline.vendors.host.gathering import GATHERERS, At
from weftline.vendors.host.lists import gather_list, is_list, spread_classes
from weftline.vendors.host.script import is_shared
from weftline.vendors.host.system_files import gather_files

NAMELESS = frozenset({"", ".", "..", "/"})
OWN_FILES = frozenset(
    {"nics.conf", "classes.conf", "nccl.conf", "sysctl.conf", "collectives.env", "env", "environment"}
)
"""Names of files that say what they hold, not whose."""


def read_hosts(files: Sequence[tuple[str, bytes]]) -> tuple[ObservedDevice, ...]:
    """Read files of any number of hosts: (name, bytes) each; files of one host are in one folder, or one file.

    A declared list counts less than what a host printed, so lists are read first.
    """
    hosts: dict[str, HostDraft] = {}
    for name, content in files:
        if is_list(content):
            host = hosts.setdefault(_folder(name), HostDraft(_folder(name), []))
            gather_list(content, name, host)
            host.files.append(name)
    for host in hosts.values():
        spread_classes(host)
    for name, content in files:
        if not is_list(content) and not is_shared(content):
            log = ProblemLog(name)
            outputs = split_outputs(content, name, log)
            owner = name_host(name, outputs)
            host = hosts.setdefault(owner, HostDraft(owner, []))
            _gather_outputs(outputs, name, host, log)
            host.files.append(name)
            host.problems.extend(log.close())
    return tuple(host.build() for host in hosts.values())


def _folder(name: str) -> str:
    path = PurePath(name)
    return path.parent.name if path.parent.name not in NAMELESS else path.stem


def name_host(name: str, outputs: Sequence[Output]) -> str:
    """Say whose file it is: by the one host that its prompts name, else by its folder, else by its own name."""
    prompted = {output.host for output in outputs if output.host}
    if len(prompted) == 1:
        return prompted.pop()
    path = PurePath(name)
    stem = path.name.partition(".")[0]
    is_one_output = path.name in OWN_FILES or stem in NAMES or name_in_file(name, NAMES) != ""
    if is_one_output or len({output.program for output in outputs}) == 1:
        return _folder(name)
    return path.stem


def _gather_outputs(outputs: Sequence[Output], name: str, host: HostDraft, log: ProblemLog) -> None:
    named = name_in_file(name, NAMES)
    is_conf = PurePath(name).name in {"nccl.conf", ".nccl.conf"}
    for output in outputs:
        # A capture names no interface in its packets, only on its command line.
        at = At(name, output.option("-i") or named if output.program == "tcpdump" else named)
        if is_conf:
            GATHERERS["nccl"](nccl_conf.parse(output, log, is_conf=True), at, host)
            continue
        form = find_form(output)
        if form is not None and form.name == "sysfs":
            gather_files(form.parse(output, log), at, host)
        elif form is not None:
            GATHERERS[form.name](form.parse(output, log), at, host)
        elif any(line.strip() and not line.lstrip().startswith("#") for line in output.lines):
            what = output.program or "text without a command"
            host.unread[what] = host.unread.get(what, 0) + 1
            hint = "keep the command line before the output"
            where = Place(name, output.first, 1)
            message = f"nobody here reads the output of {what}"
            host.problems.append(Problem("artifact.host-unread", message, hint, where, "warning"))
