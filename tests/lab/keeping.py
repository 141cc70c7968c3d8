"""A lab with something that keeps it, and an independent look at whether endpoints are delivered."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from tests.cli.running import COMMAND, environment, hold
from tests.lab.conftest import Place
from weftline.app.lab import lab_folder
from weftline.drivers.opensm.reading import read_state
from weftline.labs.ibsim import running
from weftline.model.driver import SubnetState

LIMIT_S = 30.0
TREE = """\
fabric:
  name: kept
technology: infiniband
hosts:
  count: {hosts}
  gpus: 1
  rails: 1
  rate_gbps: 200
  unit_size: {unit}
topology:
  kind: fat-tree
  leaf: QM8700
claims:
  required: [reach, deadlock]
"""


class Keeper:
    """`lab keep` in a process of its own, its events read as they come."""

    def __init__(self, place: Place, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "lab", "keep", str(place.path), "--json", *arguments],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self.seen: list[dict[str, Any]] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.start = self.next()
        assert self.start["kind"] == "start"

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith('{"'):  # an error is written over several lines
                self.lines.put(json.loads(line))

    def next(self) -> dict[str, Any]:
        """Wait for the next event."""
        try:
            document = self.lines.get(timeout=LIMIT_S)
        except queue.Empty:
            self.process.kill()
            raise AssertionError(self.seen) from None
        self.seen.append(document)
        return hold(document, "lab-keep" if document["schema"] == "weftline/lab-keep/1" else "lab-kept-event")

    def until(self, **wanted: list[str]) -> dict[str, Any]:
        """Wait for the event after which exactly these are down, and what was sent was read back."""
        while True:
            event = self.next()
            assert event["kind"] == "change", event
            if event["down"] == wanted["down"] and not event["told_more"]:
                return event

    def end(self) -> dict[str, Any]:
        """End it as a person does; returns what the run came to, with its exit status."""
        self.process.send_signal(signal.SIGINT)
        while (document := self.next())["schema"] != "weftline/lab-keep/1":
            pass
        return {**document, "status": self.wait()}

    def kill(self) -> None:
        """Kill it without a word."""
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """Wait until it is gone; returns its exit status."""
        status = self.process.wait(LIMIT_S)
        self.reader.join(LIMIT_S)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        if not self.process.stderr.closed:
            assert "Traceback" not in self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return status


def read(place: Place) -> SubnetState:
    """Read the one subnet of a lab by the probe."""
    (access,) = running.verify(lab_folder(place.path)).accesses
    return read_state(access, False)


def count_lost(state: SubnetState) -> tuple[int, int]:
    """Walk the tables over the links as they are: pairs that are delivered, and pairs that are not.

    Only endpoints that are there are asked; a walk that passes more switches than there are is a loop, and fails.
    """
    by_lid = {state.ports[place].address: place for place in state.endpoints.values()}
    homes = {far: near for near, far in state.links.items() if near[0] in state.tables}
    good = bad = 0
    for source in by_lid.values():
        for lid, target in by_lid.items():
            if source == target or source not in homes or target not in homes:
                continue
            at = homes[source][0]
            for _ in range(len(state.tables) + 1):
                table = state.tables[at]
                far = state.links.get((at, int(table[lid]) if lid < len(table) else 255))
                if far is None or far[0] not in state.tables:
                    break
                at = far[0]
            else:
                raise AssertionError(f"packets to LID {lid} loop")
            good, bad = (good + 1, bad) if far == target else (good, bad + 1)
    return good, bad


def wait_delivered(place: Place, pairs: int) -> None:
    """Wait until all of so many pairs are delivered, and no other pair is lost."""
    end = time.monotonic() + LIMIT_S
    while (found := count_lost(read(place))) != (pairs, 0):
        assert time.monotonic() < end, found
        time.sleep(0.05)


def trace(place: Place, source: int, target: int) -> str:
    """Trace a path between two LIDs with ibtracert."""
    return place.ask("ibtracert", str(source), str(target))


def make_tree(folder: Path, hosts: int = 48, unit: int = 16) -> Place:
    """Write a small fabric of two tiers."""
    path = folder / "kept.yaml"
    path.write_text(TREE.format(hosts=hosts, unit=unit), encoding="utf-8")
    return Place(path)
