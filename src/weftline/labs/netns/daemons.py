"""The daemons of FRR: where they are, how they are started, and how they get their configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from weftline.labs.netns.timers import Timers
from weftline.labs.processes import MARK

FOLDERS = ("/usr/lib/frr", "/usr/libexec/frr", "/usr/sbin")
USER = "frr"
ZEBRA, BFDD, BGPD = "zebra", "bfdd", "bgpd"
STAGES = ((ZEBRA,), (BFDD, BGPD))
"""What is started side by side; the others look for zebra's socket only now and then, so zebra goes first."""
SOCKETS = "/run/frr"
CONFIGS = "/run/lab"
VRFS = "/run/vrf"
OWN_VRFS = 'mount --rbind "$0" /run/netns && exec "$@"'


def find_daemon(name: str) -> str | None:
    """Find a daemon of FRR, which stands on no path."""
    for folder in FOLDERS:
        if os.access(Path(folder) / name, os.X_OK):
            return f"{folder}/{name}"
    return None


def list_missing() -> list[str]:
    """Name the daemons that are not installed."""
    return [name for stage in STAGES for name in stage if find_daemon(name) is None]


def plan_daemon(name: str, space: str, key: str, *, has_vrfs: bool = False) -> dict[str, Any]:
    """Say how one daemon of one switch is started: in the foreground, without a configuration yet.

    Where the switch has VRFs, ``/run/netns`` holds its own alone: ``zebra -n`` makes a VRF of whatever stands there.
    """
    place = f"{SOCKETS}/{space}"
    user = USER if os.geteuid() == 0 else "root"
    words = [find_daemon(name) or name, "-u", user, "-g", user, "-P", "0", "-i", f"{place}/{name}.pid"]
    words += ["--vty_socket", place, "-z", f"{place}/zserv.api", "--log", "stdout", "--log-level", "informational"]
    if name == BFDD:
        words += ["--bfdctl", f"{place}/bfdd.sock"]
    if has_vrfs:
        words += ["-n"] if name == ZEBRA else []
        words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", OWN_VRFS, f"{VRFS}/{space}", *words]
    return {
        "name": name,
        "namespace": space,
        "arguments": words,
        "environment": {MARK: f"{key}/{space}/{name}"},
        "sockets": place,
        "socket": f"{place}/{'zserv.api' if name == ZEBRA else name + '.vty'}",
        "log": f"{space}/{name}.log",
    }


def plan_loads(space: str, timers: Timers) -> list[dict[str, Any]]:
    """Say how a switch gets its configuration: one file for all daemons, split by vtysh as on a switch that boots."""
    shell = ["vtysh", "--vty_socket", f"{SOCKETS}/{space}", "--config_dir", f"{CONFIGS}/{space}"]
    loads = [{"namespace": space, "arguments": [*shell, "-b"]}]
    if timers.rendered_ms is not None:
        lines = ["configure terminal", "bfd", f"profile {timers.profile}"]
        lines += [f"{way}-interval {timers.interval_ms}" for way in ("receive", "transmit")]
        loads.append({"namespace": space, "arguments": [*shell, *(word for line in lines for word in ("-c", line))]})
    return loads
