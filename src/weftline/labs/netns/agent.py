"""Process 1 of a lab: makes the namespaces, starts the programs, and takes all of them with it when it ends.

It runs by its path under a bare Python, inside mount, process and network namespaces of its own, so it imports nothing
of Weftline. What it makes is nowhere else: without it there are no namespaces, no links and no sockets to clean up.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pwd
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of setns(2)."""
LAB = "/run/lab"
SOCKETS = "/run/frr"
VRFS = "/run/vrf"
TRACES = ("/var/tmp/frr", "/var/tmp")  # noqa: S108  (nothing is written there)
"""Where FRR leaves a folder per daemon for good; the first that is there is covered, too."""
WAIT_S = 30.0
POLL_S = 0.02
AT_ONCE = 4
"""Configurations that are loaded at a time."""
MAX_LOG_BYTES = 64 * 2**20
SETTLED_S = 0.0

Plan = dict[str, Any]


def say(**words: object) -> None:
    """Tell the command that waits, one JSON document per line."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def fail(message: str) -> NoReturn:
    """Say why it does not work, and end; the kernel ends everything else."""
    say(error=message[:2000])
    os._exit(1)


def run(arguments: list[str], text: str = "", fds: tuple[int, ...] = ()) -> None:
    """Run one program to its end."""
    done = subprocess.run(  # noqa: S603  (the plan is ours)
        arguments, input=text, capture_output=True, text=True, check=False, pass_fds=fds
    )
    if done.returncode:
        fail(f"{' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")


def enter(name: str) -> None:
    """Move this process into a named network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(handle, NEW_NETWORK):
            fail(f"setns {name}: {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(handle)


def prepare(folder: Path) -> None:
    """Cover ``/run`` by one that nobody else sees, with the folder of the lab in it under a short name."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"])
    for path in ("/run/netns", LAB, SOCKETS, VRFS):
        Path(path).mkdir(mode=0o755, parents=True)
    run(["mount", "--bind", f"/proc/self/fd/{handle}", LAB], fds=(handle,))
    run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", next(path for path in TRACES if Path(path).is_dir())])
    os.close(handle)


def make_namespaces(plan: Plan) -> None:
    """Make every namespace with its kernel settings, before a link is there that would take the defaults."""
    names: list[str] = [one["name"] for one in plan["namespaces"]]
    for place, one in enumerate(plan["namespaces"]):
        say(stage="making namespaces", share=place / len(names))
        run(["ip", "netns", "add", one["name"]])
        enter(one["name"])
        for key, value in one["settings"].items():
            try:
                Path(f"/proc/sys/{key.replace('.', '/')}").write_text(value, encoding="ascii")
            except OSError as error:
                fail(f"sysctl {key}={value} in {one['name']}: {error.strerror}")


def show_vrfs(plan: Plan) -> None:
    """Show each switch its VRFs under their own names."""
    for one in plan["namespaces"]:
        for name, space in one["vrfs"].items():
            file = Path(f"{VRFS}/{one['name']}/{name}")
            file.parent.mkdir(mode=0o755, exist_ok=True)
            file.touch()
            run(["mount", "--bind", f"/run/netns/{space}", str(file)])


def make_links(plan: Plan) -> None:
    """Make every link in one go, then bring up what is in each namespace."""
    say(stage="making links", share=0.0)
    run(["ip", "-batch", "-"], plan["links"])
    for place, one in enumerate(plan["namespaces"]):
        say(stage="making links", share=place / len(plan["namespaces"]))
        run(["ip", "-n", one["name"], "-batch", "-"], one["commands"])
        if one["filters"]:
            run(["ip", "netns", "exec", one["name"], "nft", "-f", "-"], one["filters"])


def start_programs(programs: list[Plan], user: str) -> None:
    """Start programs side by side, each in its namespace, and wait until each listens."""
    started: list[tuple[Plan, subprocess.Popen[bytes]]] = []
    for program in programs:
        Path(program["sockets"]).mkdir(mode=0o755, exist_ok=True)
        if user:
            entry = pwd.getpwnam(user)
            os.chown(program["sockets"], entry.pw_uid, entry.pw_gid)
        enter(program["namespace"])
        with Path(f"{LAB}/{program['log']}").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603
                program["arguments"],
                env={**os.environ, **program["environment"]},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )
        started.append((program, process))
    end = time.monotonic() + WAIT_S
    waiting = list(started)
    while waiting:
        for program, process in waiting:
            if process.poll() is not None:
                fail(f"{program['name']} of {program['namespace']} ended at once, see {program['log']}")
        if time.monotonic() > end:
            program = waiting[0][0]
            fail(f"{program['name']} of {program['namespace']} does not listen after {WAIT_S:.0f} s")
        waiting = [(program, process) for program, process in waiting if not Path(program["socket"]).exists()]
        say(stage="starting " + programs[0]["name"], share=1 - len(waiting) / len(started))
        time.sleep(POLL_S)


def load(loads: list[Plan]) -> None:
    """Give each switch its configuration, some at a time, and keep what it says of lines that it does not take."""

    def begin(one: Plan) -> tuple[Plan, subprocess.Popen[str]]:
        process = subprocess.Popen(  # noqa: S603
            one["arguments"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return one, process

    for place, (one, process) in enumerate(_at_once(loads, begin)):
        said = process.communicate()[0].strip()
        say(stage="loading configurations", share=place / len(loads))
        if said or process.returncode:
            say(refused=one["namespace"], text=said[:4000])


def _at_once(items: Iterable[Plan], begin: Any) -> Iterator[tuple[Plan, subprocess.Popen[str]]]:
    running: list[tuple[Plan, subprocess.Popen[str]]] = []
    for item in items:
        running.append(begin(item))
        if len(running) == AT_ONCE:
            yield running.pop(0)
    yield from running


def _end(_number: int, _frame: object) -> NoReturn:
    os._exit(0)


def hold() -> NoReturn:
    """Stay, and bury children that end."""
    signal.signal(signal.SIGTERM, _end)
    while True:
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        signal.pause()


def main(path: str) -> NoReturn:
    """Do what the plan says, then stay."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_LOG_BYTES, MAX_LOG_BYTES))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    plan: Plan = json.loads(Path(path).read_text(encoding="utf-8"))
    prepare(Path(path).parent)
    make_namespaces(plan)
    make_links(plan)
    show_vrfs(plan)
    for programs in plan["programs"]:
        start_programs(programs, plan["user"])
    for loads in plan["loads"]:
        load(loads)
    say(up=True)
    hold()


if __name__ == "__main__":
    main(sys.argv[1])
