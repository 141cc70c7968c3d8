"""The life of a lab of namespaces: up, a look at it, and down."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

from weftline.errors import EnactError, Problem, SourceError
from weftline.labs import holding, processes
from weftline.labs.netns import daemons, entering, state
from weftline.labs.netns.expecting import list_expected
from weftline.labs.netns.faults import describe
from weftline.labs.netns.layout import Layout, Link, lay_out
from weftline.labs.netns.timers import Timers, read_timers, slow_down
from weftline.labs.netns.verifying import settle
from weftline.model.lab import LabDesign, LabProcess, LabStatus, Progress

AGENT = Path(__file__).with_name("agent.py")
PLAN, LOG = "plan.json", "holder.log"
LAUNCHER = "launcher"
"""The program that makes the outermost namespaces and only waits then."""
PACKAGES = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "mount": "mount",
    "ip": "iproute2",
    "nft": "nftables",
    "vtysh": "frr",
}
START_S = 60.0
START_S_PER_DEVICE = 1.0
POLL_S = 0.02
NAMESPACES = ("--mount", "--net", "--pid", "--fork", "--kill-child", "--propagation", "private")


def list_missing() -> tuple[Problem, ...]:
    """Say which programs or rights are missing, with what helps."""
    missing = [program for program in PACKAGES if processes.find_program(program) is None]
    packages = [PACKAGES[program] for program in missing]
    absent = daemons.list_missing()
    if absent:
        missing += absent
        packages.append("frr")
    if missing:
        hint = f"apt-get install -y {' '.join(dict.fromkeys(packages))}"
        return (Problem("artifact.program-missing", f"the lab needs {', '.join(missing)}", hint),)
    return _list_rights()


def _list_rights() -> tuple[Problem, ...]:
    """Say what stands in the way of namespaces, by making some that are gone at once."""
    words = [
        "unshare",
        *NAMESPACES,
        "sh",
        "-c",
        "mount -t tmpfs tmpfs /run && ip link add name a type veth peer name b",
    ]
    done = subprocess.run(  # noqa: S603  (the words are ours)
        words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode == 0:
        return ()
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    who = "root" if os.geteuid() == 0 else f"user {os.geteuid()}"
    message = f"{who} may not make network namespaces here: {said[-1] if said else 'no reason given'}"
    hint = "run as root, outside of a container or in one with --privileged"
    return (Problem("artifact.no-namespaces", message, hint),)


def up(design: LabDesign, folder: Path, progress: Progress) -> LabStatus:
    """Make the namespaces and start the daemons; whatever stood there before is stopped and cleared away first.

    When it does not come up, everything that was started is stopped; the logs stay.
    """
    key = state.mark_of(folder)
    layout = lay_out(design)
    return holding.begin_anew(folder, lambda: _stop(key), lambda: _start(design, layout, folder, progress), progress)


def _start(design: LabDesign, layout: Layout, folder: Path, progress: Progress) -> LabStatus:
    key = state.mark_of(folder)
    begin = time.monotonic()
    for device in design.devices:
        space = layout.namespaces[device.name]
        if space.is_switch:
            place = folder / space.name
            place.mkdir()
            (place / "frr.conf").write_bytes(device.files.get("frr.conf", b""))
            (place / "vtysh.conf").write_bytes(b"")
    timers = _choose_timers(design, layout)
    (folder / PLAN).write_text(json.dumps(_make_plan(layout, key, timers)), encoding="utf-8")
    words = ["unshare", *NAMESPACES, "env", f"{processes.MARK}={key}/{entering.INSIDE}/{entering.HOLDER}"]
    words += [sys.executable, "-I", str(AGENT), str((folder / PLAN).resolve())]
    log = folder / LOG
    process = processes.start(
        processes.Program(LAUNCHER, entering.INSIDE, words, {}, folder, log, folder / "holder.err"), key
    )
    refused = _wait(process, log, START_S + START_S_PER_DEVICE * len(layout.namespaces), progress)
    if refused:
        message = f"FRR does not take all of its configuration on {len(refused):,} switches, as on {refused[0]}"
        raise EnactError("enact.lab-log", message, f"see {folder}")
    programs = time.monotonic()
    expected = list_expected(design, layout)
    settle(entering.find_world(folder), layout, expected, progress, math.inf)
    seconds = {"programs": round(programs - begin, 3), "routes": round(time.monotonic() - programs, 3)}
    known = tuple(
        state.ProcessRecord(name=p.name, device=p.subnet, pid=p.pid, started=p.started)
        for p in processes.find(key)
        if p.name != LAUNCHER
    )
    note = state.State(of=design.of, timers=timers, processes=known, seconds=seconds)
    state.write(folder, note)
    return _describe(folder, note)


def _choose_timers(design: LabDesign, layout: Layout) -> Timers:
    """Choose the timers that this machine can keep; they are those of the files where it has enough processors."""
    switches = [device for device in design.devices if layout.namespaces[device.name].is_switch]
    timers = read_timers(switches[0].files.get("frr.conf", b"") if switches else b"")
    ends = sum(len(one.sessions) for one in list_expected(design, layout).values())
    return slow_down(timers, ends, len(os.sched_getaffinity(0)))


def _make_plan(layout: Layout, key: str, timers: Timers) -> dict[str, Any]:
    spaces = list(layout.namespaces.values())
    switches = {space.name: space.vrfs for space in spaces if space.is_switch}
    return {
        "namespaces": [
            {
                "name": space.name,
                "settings": space.settings,
                "commands": "\n".join(space.commands) + "\n",
                "filters": space.filters,
                "vrfs": space.vrfs,
            }
            for space in sorted(spaces, key=lambda space: not space.is_switch)
        ],
        "links": "".join(f"{_write_link(link)}\n" for link in layout.links),
        "user": daemons.USER if os.geteuid() == 0 else "",
        "programs": [
            [
                daemons.plan_daemon(name, space, key, has_vrfs=bool(own))
                for space, own in switches.items()
                for name in stage
            ]
            for stage in daemons.STAGES
        ],
        "loads": [[*loads] for loads in zip(*(daemons.plan_loads(space, timers) for space in switches), strict=True)],
    }


def _write_link(link: Link) -> str:
    near, far = link.near, link.far
    return (
        f"link add name {near.interface} address {near.mac} mtu {near.mtu} netns {near.namespace} type veth "
        f"peer name {far.interface} address {far.mac} mtu {far.mtu} netns {far.namespace}"
    )


def _wait(process: LabProcess, log: Path, limit_s: float, progress: Progress) -> list[str]:
    """Wait until the lab says that it is up; returns what switches refused."""
    end = time.monotonic() + limit_s
    refused: list[str] = []
    read = 0
    while True:
        is_alive = processes.read_start(process.pid) == process.started
        text = log.read_bytes() if log.exists() else b""
        whole = text.rfind(b"\n") + 1
        for line in text[read:whole].splitlines():
            said = cast("dict[str, Any]", json.loads(line))
            if "error" in said:
                raise _failed(str(said["error"]), log)
            if "up" in said:
                return refused
            if "refused" in said:
                refused.append(f"{said['refused']}: {said['text']}")
            elif "stage" in said:
                progress(str(said["stage"]), float(said["share"]))
        read = whole
        if not is_alive:
            told = log.with_suffix(".err").read_text("utf-8", "replace").strip().splitlines()
            raise _failed(told[-1] if told else "its process ended", log)
        if time.monotonic() > end:
            raise _failed(f"it was not up within {limit_s:.0f} s", log)
        time.sleep(POLL_S)


def _failed(why: str, log: Path) -> EnactError:
    return EnactError("enact.lab-start", f"the lab did not come up: {why}", f"see {log.parent}")


def _stop(key: str) -> tuple[LabProcess, ...]:
    """End the process that holds the lab; the kernel ends every other with it, since it is their process 1."""
    found = processes.find(key)
    for one in found:
        if one.subnet == entering.INSIDE:
            processes.signal_process(key, one, signal.SIGKILL)
    processes.stop(key, found)  # waits until they are gone, and ends what a command that was killed left outside
    return tuple(one for one in found if one.name != LAUNCHER)


def verify(folder: Path) -> LabStatus:
    """Look at the programs of a lab.

    Raises:
        SourceError: ``source.lab-down`` when no lab is up there, ``source.lab-process`` when a program is gone.
    """
    with holding.held(folder):
        note = state.read(folder)
        entering.find_world(folder)
        status = _describe(folder, note)
    gone = [process for process in status.processes if not process.is_running]
    if gone:
        problems = tuple(
            Problem("source.lab-process", f"{one.name} of {one.subnet} (process {one.pid}) does not run")
            for one in gone
        )
        names = ", ".join(f"{one.name} of {one.subnet}" for one in gone)
        hint = "see its log in the folder of the lab; weftline lab up PLACE starts it anew"
        raise SourceError("source.lab-process", f"{names} does not run", hint, problems=problems)
    return status


def _describe(folder: Path, note: state.State) -> LabStatus:
    known = tuple(
        LabProcess(p.name, p.device, p.pid, p.started, is_running=processes.read_start(p.pid) == p.started)
        for p in note.processes
    )
    faults = tuple(describe(one) for one in note.faults)
    return LabStatus(note.of, folder, known, (), faults, (), note.seconds)


def down(folder: Path) -> tuple[LabProcess, ...]:
    """Stop every program of a lab and clear its folder, whatever state it is in; returns what was stopped."""
    with holding.held(folder):
        found = _stop(state.mark_of(folder))
        shutil.rmtree(folder, ignore_errors=True)
    return found
