"""The way into a lab from outside: commands run inside it, and routing daemons asked over their own sockets."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weftline.errors import EnactError, SourceError
from weftline.labs import processes
from weftline.labs.netns import state
from weftline.model.lab import LabProcess

HOLDER = "holder"
INSIDE = "lab"
"""What stands in the place of a device in the marks of programs that serve the whole lab."""
ASK_S = 10.0
RUN_S = 120.0
MAX_ANSWER = 256 * 2**20
END = re.compile(rb"\0\0\0.\Z", re.DOTALL)
"""How a daemon ends its answer: three zero bytes, then its status. FRR lib/vty.c, vtysh_read."""


@dataclass(frozen=True, slots=True)
class World:
    """A lab that runs: the process that holds its namespaces."""

    key: str
    holder: LabProcess

    @property
    def root(self) -> Path:
        """Where its files can be seen from outside."""
        return Path(f"/proc/{self.holder.pid}/root")


def find_world(folder: Path) -> World:
    """Find the process that holds a lab.

    Raises:
        SourceError: ``source.lab-process`` when it is gone, and everything with it.
    """
    key = state.mark_of(folder)
    for process in processes.find(key):
        if (process.subnet, process.name) == (INSIDE, HOLDER):
            return World(key, process)
    message = f"the process that holds the namespaces of the lab in {folder} is gone, and the lab with it"
    raise SourceError("source.lab-process", message, "weftline lab up PLACE starts it anew")


def list_entry(world: World) -> list[str]:
    """Write the start of a command that runs in the lab."""
    words = ["nsenter", f"--target={world.holder.pid}", "--mount", "--net"]
    if is_in_users(world):
        words += ["--user", "--preserve-credentials"]
    return words


def is_in_users(world: World) -> bool:
    """Say whether the lab stands in a user namespace of its own."""
    try:
        return Path(f"/proc/{world.holder.pid}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
    except OSError:
        return False


def run(world: World, words: Sequence[str], text: str = "", limit_s: float = RUN_S) -> str:
    """Run a command in the lab and return what it printed.

    Raises:
        EnactError: ``enact.lab-command`` when it does not end well.
    """
    try:
        done = subprocess.run(  # noqa: S603  (the words are ours)
            [*list_entry(world), *words], input=text, capture_output=True, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"{' '.join(words)[:200]} did not end within {limit_s:.0f} s"
        raise EnactError("enact.lab-command", message, "the machine may be too busy") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[:500]
        raise EnactError("enact.lab-command", f"{' '.join(words)[:200]}: {said}", "weftline lab up PLACE starts anew")
    return done.stdout


def ask(world: World, namespace: str, daemon: str, command: str) -> Any:
    """Ask a daemon of FRR something that it answers in JSON.

    Raises:
        SourceError: ``source.no-answer``.
    """
    path = world.root / "run/frr" / namespace / f"{daemon}.vty"
    answer = b""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(ASK_S)
            line.connect(str(path))
            for words in ("enable", command):  # bfdd shows its sessions to those only who may change them
                line.sendall(words.encode() + b"\0")
                answer = _hear(line)
        return json.loads(answer.strip(b"\0") or b"{}")
    except OSError as error:
        raise _silent(namespace, daemon, error.strerror or str(error) or "timed out") from error
    except ValueError as error:
        raise _silent(namespace, daemon, f"said {answer[:80]!r}") from error


def _hear(line: socket.socket) -> bytes:
    """Read one answer to its end."""
    pieces: list[bytes] = []
    size = 0
    while not END.search(b"".join(pieces[-2:])[-4:]):
        piece = line.recv(1 << 18)
        size += len(piece)
        if not piece or size > MAX_ANSWER:
            raise OSError("closed its socket")
        pieces.append(piece)
    return b"".join(pieces)[:-4]


def _silent(namespace: str, daemon: str, why: str) -> SourceError:
    return SourceError("source.no-answer", f"{daemon} of {namespace} does not answer: {why}", "see its log in the lab")
