"""One subnet of a lab that is kept: its manager listened to, its links in view, its tables sent and read back."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from weftline.app.pipeline import Routed
from weftline.drivers import DRIVERS
from weftline.errors import CapabilityError
from weftline.heal import Ground, LinkState, count_unlike, judge_links, list_blocks
from weftline.kernels.column import NIL, U8
from weftline.model.driver import Access, Driver, Watch
from weftline.model.fabric import Fabric
from weftline.model.intent import ForwardingTable
from weftline.model.lab import Lab, LabStatus, Manager
from weftline.model.routes import Routes
from weftline.model.vendor import TablesFile
from weftline.route.repair import Standing
from weftline.vendors import VENDORS

POLL_S = 0.002
PATIENCE_S = 0.5
PATIENCE_S_PER_NODE = 0.003
"""How long a sweep may say nothing before it is taken for over or never begun."""
MOST_SWEEPS = 3
"""Sweeps that may end without the tables of the file; one that says nothing for long is asked for again."""
FOREVER_S = 120.0

Sweep = Literal["idle", "before", "after"]
"""Of the sweep that is under way, whether tables are still to be read from the file."""
Sent = Literal["equal", "told", "differs", "gone"]


NOTHING = LinkState(frozenset(), {}, frozenset())


@dataclass(slots=True)
class Subnet:
    """One subnet, and what is known of its manager."""

    access: Access
    enter: Callable[[Access], tuple[Watch, dict[int, U8]]]
    """Reads the subnet anew from an access, with its tables by node id."""
    manager: Manager
    watch: Watch
    ground: Ground
    plane: int
    file: TablesFile
    tables: dict[int, U8]
    """By node id, as they were read at the start."""
    content: bytes
    """The file with tables as it stands."""
    patience_s: float
    written: ForwardingTable | None = None
    """The tables of that file, once we wrote it."""
    sweep: Sweep = "idle"
    heard: float = 0.0
    """When the manager said something of its sweep."""
    stale_ends: int = 0
    """Ends of sweeps to come that are past the tables already."""
    suspects: set[int] = field(default_factory=set[int])
    looked: set[int] = field(default_factory=set[int])
    """Switches that were looked at, and whose far ends are still to be asked."""
    since: float | None = None
    """When the first switch told of a change that is not looked at yet."""
    is_fresh: bool = False
    is_cut_off: bool = False
    """Whether the port of the manager is down, by which the subnet is entered: nobody sees it then."""
    known: LinkState = NOTHING
    """The links when they were judged last."""
    is_revived: bool = False
    """Whether the manager hung since this was asked last, and was started again."""

    def listen(self) -> set[str]:
        """Take what the manager says; returns the kinds of it."""
        kinds: set[str] = set()
        for event in self.manager.listen():
            now = time.monotonic()
            kinds.add(event.kind)
            self.heard = now
            self.is_revived |= event.kind == "revived"
            if event.kind == "link":
                guid = self.ground.switch_of.get(event.address)
                if guid is None:
                    continue
                self.suspects.add(guid)
                self.is_fresh = True
                told = now - max(event.age_s, 0.0)
                self.since = told if self.since is None else min(self.since, told)
                if self.sweep != "before":
                    self._expect()
            elif event.kind == "tables":
                self.sweep = "after"
            elif event.kind in {"up", "given-up"}:
                self.sweep = "idle" if self.stale_ends == 0 else self.sweep
                self.stale_ends = 0
        if self.sweep != "idle" and time.monotonic() - self.heard > self.patience_s:
            self.sweep = "idle"
        return kinds

    def take_revived(self) -> bool:
        """Say whether the manager had to be started again since this was asked last."""
        is_revived, self.is_revived = self.is_revived, False
        return is_revived

    @property
    def reached(self) -> Collection[int]:
        """List the switches that can be asked."""
        return () if self.is_cut_off else self.watch.reached

    def check_entry(self, masters: Callable[[], Collection[Access]]) -> bool:
        """Ask whether the port of the manager is up, or that of one that took over; says whether that changed.

        Where it came back the subnet is read anew, and the manager told to sweep: it looks at its port now and then.
        """
        is_up = self.watch.is_entered()
        if is_up and not self.is_cut_off:
            return False
        other = None if is_up else next((one for one in masters() if self._is_other(one)), None)
        if not is_up and other is None:
            was_cut_off, self.is_cut_off = self.is_cut_off, True
            return not was_cut_off
        self.watch.close()
        self.access = other or self.access
        self.watch, self.tables = self.enter(self.access)
        self.is_cut_off, self.suspects, self.looked = False, set(), set()
        self._reload()
        return True

    def _is_other(self, access: Access) -> bool:
        return access.subnet == self.access.subnet and access.entry != self.access.entry

    def look(self) -> None:
        """Ask the switches that told of a change."""
        if self.is_cut_off:
            return
        suspects, self.suspects, self.since = self.suspects, set(), None
        if suspects:
            self.watch.look(suspects)
            self.looked |= suspects | set(self.watch.asked)

    def look_twice(self) -> bool:
        """Ask what stands behind the ports of switches that were looked at, once the manager is quiet."""
        if not self.looked or self.sweep != "idle" or self.is_cut_off:
            return False
        looked, self.looked = self.looked, set()
        is_new = self.watch.look(looked)
        return self.watch.check_ends(looked) or is_new

    def look_everywhere(self) -> bool:
        """Ask every switch for every port and what stands behind it."""
        if self.is_cut_off:
            return False
        is_new = self.watch.look(None)
        return self.watch.check_ends(self.watch.reached) or is_new

    def judge(self) -> LinkState:
        """Judge the links as they are known; those of a subnet that nobody sees stay as they were seen last."""
        if not self.is_cut_off:
            self.known = judge_links(self.ground, self.watch.links)
        return self.known

    def write(self, table: ForwardingTable) -> None:
        """Exchange the file with tables, where it is another."""
        content = self.file.write(table, self.content, self.written)
        self.written = table
        if content != self.content:
            self.manager.put(self.file.name, content)
            self.content = content

    def confirm(self, standing: Standing, before: list[Routes], wanted: Routes) -> Sent:
        """Wait until what the file changes reads back; ``told`` where a switch tells of more before that.

        A sweep that is under way and has not come to the tables yet reads the file as it is now. So only where none is
        does the manager have to be told.
        """
        blocks = self._list_blocks(standing, before, wanted)
        is_told, ends = False, 0
        end = time.monotonic() + FOREVER_S
        while blocks and time.monotonic() < end:
            kinds = self.listen()
            if (kinds & {"tables", "up"} or self.sweep == "idle") and self._is_equal(standing, blocks, wanted):
                return "equal"
            if self.suspects:
                return "told"
            ends += is_told and not kinds.isdisjoint({"up", "given-up"})
            if self.sweep == "idle" or (not is_told and self.sweep == "after"):
                is_told = True
                if not self.watch.is_entered():
                    return "told"
                if ends == MOST_SWEEPS or not self._reload():
                    return "differs" if self.is_running() else "gone"
            time.sleep(POLL_S)
        return "differs" if blocks else "equal"

    def _list_blocks(self, standing: Standing, before: list[Routes], wanted: Routes) -> list[tuple[int, int]]:
        """List the blocks of the switches of this subnet in which what may run differs from what shall."""
        found = {
            block
            for routes in before
            for block in list_blocks(standing, self.ground.addresses, routes.group, wanted.group)
        }
        return sorted(block for block in found if block[0] in self.ground.switches)

    def _reload(self) -> bool:
        self._expect()
        return self.manager.reload()

    def _expect(self) -> None:
        """Expect a sweep that comes to the tables after now; the end of one that is past them is not its end."""
        self.stale_ends = 1 if self.sweep == "after" else 0
        self.sweep, self.heard = "before", time.monotonic()

    def _is_equal(self, standing: Standing, blocks: list[tuple[int, int]], wanted: Routes) -> bool:
        asked = [block for block in blocks if block[0] in self.reached]  # who is cut off carries nothing
        held = list(zip(asked, self.watch.read_blocks(asked), strict=True))
        return count_unlike(standing, self.ground.addresses, wanted.group, held) == 0

    def is_running(self) -> bool:
        """Say whether its manager runs."""
        return self.manager.is_running()

    def close(self) -> None:
        """End what keeps it in view."""
        self.watch.close()
        self.manager.close()


def open_subnets(lab: Lab, status: LabStatus, routed: Routed, folder: Path) -> tuple[Subnet, ...]:
    """Read every subnet of a lab that is up, and keep it in view.

    Raises:
        CapabilityError: ``capability.no-watch`` where its driver or vendor cannot.
        ArtifactError: ``artifact.busy`` when another command keeps the lab.
    """
    if lab.driver is None or lab.attend is None:
        message = f"what runs in the lab {lab.name} routes by itself, so there are no tables to send"
        raise CapabilityError("capability.no-watch", message, "weftline lab verify holds it against the declaration")
    driver, vendor = DRIVERS[lab.driver], VENDORS[lab.driver]
    if driver.watch is None or vendor.tables is None:
        raise CapabilityError("capability.no-watch", f"lab {lab.name} cannot be kept", "choose lab ibsim")
    managers, fabric = lab.attend(folder), routed.built.fabric
    found: list[Subnet] = []
    for access, manager in zip(status.accesses, managers, strict=True):
        watch, tables = _enter(driver, access)
        ground = _find_ground(routed, access)
        path = access.folder / vendor.tables.name
        found.append(
            Subnet(
                access=access,
                enter=partial(_enter, driver),
                manager=manager,
                watch=watch,
                ground=ground,
                plane=int(fabric.port_plane[ground.within].max(initial=0)),
                file=vendor.tables,
                tables=tables,
                content=path.read_bytes() if path.is_file() else b"",
                patience_s=PATIENCE_S + PATIENCE_S_PER_NODE * len(np.unique(fabric.port_node[ground.within])),
            )
        )
    return tuple(found)


def _enter(driver: Driver, access: Access) -> tuple[Watch, dict[int, U8]]:
    """Read a subnet and keep it in view."""
    state = driver.read_state(access, False)  # noqa: FBT003  (a record of functions has no names)
    assert driver.watch is not None  # noqa: S101  (the caller looked)
    return driver.watch(access, state), dict(state.tables)


def _find_ground(routed: Routed, access: Access) -> Ground:
    """Find the ports of the part of the fabric at whose endpoint a subnet is entered."""
    fabric, addresses = routed.built.fabric, routed.addresses
    (entry,) = np.flatnonzero(addresses.port_id == access.entry).tolist() or (NIL,)
    within = _is_joined(fabric, entry)
    return Ground(fabric, addresses, np.flatnonzero(within).astype(np.int32))


def _is_joined(fabric: Fabric, entry: int) -> np.ndarray:  # type: ignore[type-arg]
    plane = int(fabric.port_plane[entry])
    in_plane = (fabric.port_plane == plane) | (fabric.node_plane[fabric.port_node] == plane)
    return in_plane & (fabric.port_component == fabric.port_component[entry])
