"""A subnet kept in view: a probe that stays, and what stands at which port of the switches, asked again where told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, cast

from weftline.drivers.opensm import probe
from weftline.errors import SourceError
from weftline.model.driver import Access, FarEnd, SubnetState

WINDOW = 40
TIMEOUT_MS = 60
"""How long nothing may be heard before what is asked counts as silent; a simulator answers within a millisecond."""
ENTRY_TRIES = 3
"""A busy machine may answer late; a port that is taken for down costs a reading of the whole subnet."""
DETOURS = 3
"""Ways that are tried to a switch that is silent."""
MOST_CORRECTIONS = 20
"""Cables that changed hands without a word and are found in one look; the next finds more."""
MANY = 2
ACTIVE = 4
Place = tuple[int, int]


class Asker:
    """The probe as a process that stays, so that a question costs no start of a program."""

    def __init__(self, access: Access) -> None:
        environment = {**os.environ, **access.environment}
        if access.preload:
            environment["LD_PRELOAD"] = access.preload
        command = [sys.executable, "-I", str(Path(probe.__file__)), str(WINDOW), "serve"]
        self.subnet = access.subnet
        self.process = subprocess.Popen(  # noqa: S603  (our own program)
            command, env=environment, cwd=access.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        key = access.key_file.read_bytes().strip() if access.key_file is not None else b"0"
        cast("IO[bytes]", self.process.stdin).write(key + b"\n")

    def ask(self, questions: Sequence[tuple[int, int, bytes]]) -> list[bytes | None]:
        """Ask (attribute, modifier, path) each; None where nobody answers.

        Raises:
            SourceError: ``source.no-answer`` when the probe is gone.
        """
        if not questions:
            return []
        asked = [probe.ASKED.pack(attribute, modifier, len(path), path) for attribute, modifier, path in questions]
        entry, out = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        size = probe.ANSWER.size * len(questions)
        try:
            entry.write(probe.BATCH.pack(len(questions), TIMEOUT_MS) + b"".join(asked))
            entry.flush()
            raw = out.read(size)
        except OSError as error:
            raise self._gone() from error
        if len(raw) < size:
            raise self._gone()
        return [data if is_there else None for is_there, data in probe.ANSWER.iter_unpack(raw)]

    def _gone(self) -> SourceError:
        return SourceError(
            "source.no-answer", f"{self.subnet} cannot be asked: the probe has ended", "see whether the lab runs"
        )

    def close(self) -> None:
        """End the probe."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        try:
            self.process.wait(2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class LinkWatch:
    """What stands at which port of the switches of a subnet."""

    def __init__(self, access: Access, state: SubnetState) -> None:
        self.asker = Asker(access)
        ids = {place: port_id for port_id, place in state.endpoints.items()}
        self.ports = {guid: node.ports for guid, node in state.nodes.items() if node.is_switch}
        self.links: dict[Place, FarEnd] = {}
        self.near: dict[int, dict[int, int]] = {}
        """The switch behind each port of each switch, for the ways."""
        self.root = b"", 0
        self.entry = state.endpoints.get(access.entry, (0, 1))[1]
        for place, (node, number) in state.links.items():
            far = FarEnd(node, number, ids.get((node, number), node), is_active=_is_active(state, place))
            if place[0] in self.ports:
                self._set(place, far)
            else:
                self.root = bytes([place[1]]), node
        self.ways = self._find_ways(set(), set())
        self.asked: Collection[int] = frozenset()
        """Switches that the last look asked."""

    def is_entered(self) -> bool:
        """Say whether the port by which the subnet is entered is up; it is asked again where nothing is heard."""
        for _ in range(ENTRY_TRIES):
            (data,) = self.asker.ask([(probe.PORT_INFO, self.entry, b"")])
            if data is not None:
                return probe.is_up(data)
        return False

    def _set(self, place: Place, far: FarEnd) -> None:
        self.links[place] = far
        ports = self.near.setdefault(place[0], {})
        if far.node in self.ports:
            ports[place[1]] = far.node
        else:
            ports.pop(place[1], None)

    def _drop(self, place: Place) -> bool:
        self.near.get(place[0], {}).pop(place[1], None)
        return self.links.pop(place, None) is not None

    @property
    def reached(self) -> Collection[int]:
        """List the switches that can be asked."""
        return self.ways.keys()

    def look(self, suspects: Collection[int] | None) -> bool:
        """Ask switches for their ports, from the entry outwards, so that no way leads over what is not asked yet.

        What stands at the other end of a link that changed is asked too, and around a switch that cannot be reached
        any more all its neighbours: not every one tells of a change, and what it tells can be lost.
        """
        before = dict(self.links)
        pending = set(self.ports if suspects is None else suspects)
        asked: set[int] = set()
        affected = set[int]() if suspects is None else self._guess(pending)
        given_up: set[int] = set()
        while pending:
            unreached = self._ask_around(pending, asked, affected)
            affected |= unreached
            given_up |= unreached
            near = {guid for (guid, _), far in self.links.items() if far.node in unreached}
            pending = near - asked - given_up
        self.ways = self._find_ways(set(), set())
        for place in [place for place in self.links if place[0] not in self.ways]:
            self._drop(place)
        self.asked = frozenset(asked)
        return before != self.links

    def _guess(self, suspects: set[int]) -> set[int]:
        """Guess where the links lead that several switches tell of: to each other, or to a neighbour of all of them."""
        if len(suspects) < MANY:
            return set()
        common = set[int].intersection(*(set(self.near.get(guid, {}).values()) for guid in suspects))
        return suspects | common

    def _ask_around(self, pending: set[int], asked: set[int], affected: set[int]) -> set[int]:
        """Ask what is pending and what that leads to; returns what could not be reached."""
        silent: set[Place] = set()
        tries: dict[int, int] = {}
        unreached: set[int] = set()
        explained: set[int] = set()
        corrections = 0
        while ready := sorted(pending & (ways := self._find_ways(pending, silent)).keys()):
            if not affected:
                ready = ready[:1]  # what one tells of most often is what all the others told of
            if corrections < MOST_CORRECTIONS and self._correct(ready, ways):
                corrections += 1
                continue
            fallen = self._check_last(ready, ways, asked, affected, silent)
            if fallen:
                explained |= fallen
                pending |= fallen - asked
                continue
            known = dict(self.links)
            for guid, is_heard in zip(ready, self._ask_switches(ready, ways, affected, explained), strict=True):
                tries[guid] = tries.get(guid, 0) + 1
                if is_heard or not ways[guid][1:] or tries[guid] == DETOURS:
                    pending.discard(guid)
                    (asked if is_heard else unreached).add(guid)
                else:
                    silent.add(self._last_link(ways[guid]))
            both = known | self.links
            met = {both[place].node for place in known.keys() ^ self.links.keys()} & self.ports.keys()
            affected |= met
            pending |= met - asked - unreached
        return unreached | pending

    def _correct(self, guids: Collection[int], ways: dict[int, bytes]) -> bool:
        """Ask whoever stands at the end of each way who it is, and correct the link that led to somebody else.

        A cable that changed hands without a word would else let one switch answer in the name of another. True where
        something was corrected, so that ways have to be found again.
        """
        asked = [guid for guid in guids if len(ways[guid]) > 1]
        answers = self.asker.ask([(probe.NODE_INFO, 0, ways[guid]) for guid in asked])
        astray = [
            guid
            for guid, data in zip(asked, answers, strict=True)
            if data is not None and int.from_bytes(data[12:20], "big") != guid
        ]
        for guid in astray:
            self._correct_way(ways[guid])
        return bool(astray)

    def _correct_way(self, path: bytes) -> None:
        """Correct the first link of a way that leads to somebody else than was known."""
        at = self.root[1]
        hops = range(2, len(path) + 1)
        for hop, data in zip(hops, self.asker.ask([(probe.NODE_INFO, 0, path[:hop]) for hop in hops]), strict=True):
            known = self.links.get((at, path[hop - 1]))
            if data is None or known is None:
                self._drop((at, path[hop - 1]))
                return
            met = _read_end(data, is_active=known.is_active)
            if (met.node, met.number) != (known.node, known.number):
                self._check_ports(at, path[: hop - 1])
                return
            at = met.node

    def _check_ports(self, guid: int, path: bytes) -> bool:
        """Ask again what stands behind each port of a switch that is up; says whether something changed."""
        places = [place for place in self.links if place[0] == guid]
        answers = self.asker.ask([(probe.NODE_INFO, 0, path + bytes([number])) for _, number in places])
        changed = False
        for place, data in zip(places, answers, strict=True):
            if data is None:
                continue
            known, met = self.links[place], _read_end(data, is_active=self.links[place].is_active)
            if (met.node, met.number) != (known.node, known.number):
                self._put(place, met, data)
                changed = True
        return changed

    def _put(self, place: Place, far: FarEnd, data: bytes) -> None:
        """Keep what stands behind a port, and how many ports it has where it is a switch."""
        if data[2] == probe.SWITCH:
            self.ports.setdefault(far.node, data[3])
        self._set(place, far)

    def _check_last(
        self, guids: Sequence[int], ways: dict[int, bytes], asked: set[int], affected: set[int], silent: set[Place]
    ) -> set[int]:
        """Ask the last switch before each whether the link to it is up; returns those whose link is not.

        A switch that went away is told of by all its neighbours, so where one link to it is down the others are asked
        in one round: one at a time took as many rounds as it had neighbours.
        """
        last = [self._last_link(ways[guid]) for guid in guids if len(ways[guid]) > 1]
        fallen, behind = self._drop_down([place for place in last if place[0] not in asked and place[0] in ways], ways)
        if fallen:
            around = self._find_ways(behind, silent)
            others = self._list_links_to(behind, around.keys() - asked - fallen)
            if not self._correct({guid for guid, _ in others}, around):
                fallen |= self._drop_down(others, around)[0]
        affected |= behind
        return fallen

    def _list_links_to(self, lost: set[int], guids: Collection[int]) -> list[Place]:
        """List the links of switches to others, one link to which was lost: most often all are."""
        near = ((guid, self.near.get(guid, {})) for guid in sorted(set(guids) - lost))
        return [(guid, number) for guid, ports in near for number, other in ports.items() if other in lost]

    def _drop_down(self, places: Sequence[Place], ways: dict[int, bytes]) -> tuple[set[int], set[int]]:
        """Ask ports and forget the links that are down; returns the switches at which, and those behind them."""
        answers = self.asker.ask([(probe.PORT_INFO, number, ways[guid]) for guid, number in places])
        fallen: set[int] = set()
        behind: set[int] = set()
        for place, data in zip(places, answers, strict=True):
            if data is not None and not probe.is_up(data):
                behind.add(self.links[place].node)
                self._drop(place)
                fallen.add(place[0])
        return fallen, behind

    def _ask_switches(
        self, guids: Sequence[int], ways: dict[int, bytes], affected: set[int], explained: set[int]
    ) -> list[bool]:
        """Ask each switch for its ports, and what is new behind them; says which switches answered.

        Where a switch lost or won a link to one that is ``affected``, that is why it was told of: its other ports are
        asked when the manager is quiet, since datagrams are dear while it sweeps.
        """
        toward = {
            guid: [number for number, other in self.near.get(guid, {}).items() if other in affected] for guid in guids
        }
        first = [(guid, number) for guid in guids for number in toward.get(guid, ())]
        changed, heard = self._ask_ports(first, ways)
        changed |= explained
        heard |= explained
        rest = [
            (guid, number)
            for guid in guids
            if guid not in changed
            for number in range(1, self.ports[guid] + 1)
            if number not in toward.get(guid, ())
        ]
        heard |= self._ask_ports(rest, ways)[1]
        return [guid in heard for guid in guids]

    def _ask_ports(self, places: Sequence[Place], ways: dict[int, bytes]) -> tuple[set[int], set[int]]:
        """Ask ports; returns the switches at which one changed, and those that answered."""
        answers = self.asker.ask([(probe.PORT_INFO, number, ways[guid]) for guid, number in places])
        changed: set[int] = set()
        heard: set[int] = set()
        risen: list[tuple[Place, bytes, bool]] = []
        for place, data in zip(places, answers, strict=True):
            if data is None:
                continue
            heard.add(place[0])
            is_active = data[32] & 0x0F == ACTIVE
            known = self.links.get(place)
            if not probe.is_up(data):
                if self._drop(place):
                    changed.add(place[0])
            elif known is None:
                changed.add(place[0])
                risen.append((place, ways[place[0]] + bytes([place[1]]), is_active))
            elif known.is_active != is_active:
                self._set(place, FarEnd(known.node, known.number, known.port_id, is_active=is_active))
        self._meet(risen)
        return changed, heard

    def _meet(self, risen: Sequence[tuple[Place, bytes, bool]]) -> None:
        """Ask what stands behind ports that came up."""
        answers = self.asker.ask([(probe.NODE_INFO, 0, path) for _, path, _ in risen])
        for (place, _, is_active), data in zip(risen, answers, strict=True):
            if data is None:
                continue
            self._put(place, _read_end(data, is_active=is_active), data)

    def check_ends(self, suspects: Collection[int]) -> bool:
        """Ask again what stands behind the ports of switches: a cable can change hands between two looks."""
        changed = self._correct([guid for guid in suspects if guid in self.ways], self.ways)
        ways = self.ways = self._find_ways(set(), set())
        return sum(self._check_ports(guid, ways[guid]) for guid in suspects if guid in ways) > 0 or changed

    def _find_ways(self, closed: set[int], silent: set[Place]) -> dict[int, bytes]:
        """Find a shortest way to each switch that passes no switch of ``closed`` and no link of ``silent``."""
        path, root = self.root
        ways = {root: path}
        queue = deque([root] if root in self.ports else [])
        while queue:
            guid = queue.popleft()
            if guid in closed or len(ways[guid]) >= probe.MAX_HOPS:
                continue
            way = ways[guid]
            for number, other in self.near.get(guid, {}).items():
                if other not in ways and (guid, number) not in silent:
                    ways[other] = way + bytes([number])
                    queue.append(other)
        return ways

    def _last_link(self, path: bytes) -> Place:
        guid = self.root[1]
        for number in path[1:-1]:
            guid = self.links[guid, number].node
        return guid, path[-1]

    def read_blocks(self, blocks: Sequence[tuple[int, int]]) -> list[bytes | None]:
        """Read blocks of forwarding tables; a block that nobody answers for is None."""
        guids = {guid for guid, _ in blocks}
        for _ in range(DETOURS):
            if not self._correct(sorted(guids & self.ways.keys()), self.ways):
                break
            self.ways = self._find_ways(set(), set())
        reached = [guid in self.ways for guid, _ in blocks]
        asked = [(probe.FORWARDING, block, self.ways[guid]) for guid, block in blocks if guid in self.ways]
        answers = iter(self.asker.ask(asked))
        return [next(answers) if is_reached else None for is_reached in reached]

    def close(self) -> None:
        """End the probe."""
        self.asker.close()


def _is_active(state: SubnetState, place: Place) -> bool:
    port = state.ports.get(place)
    return port is not None and port.state == ACTIVE


def _read_end(data: bytes, *, is_active: bool) -> FarEnd:
    """Read who answered. IBTA vol 1, 14.2.5.3."""
    guid = int.from_bytes(data[12:20], "big")
    port_id = guid if data[2] == probe.SWITCH else int.from_bytes(data[20:28], "big")
    return FarEnd(guid, data[36], port_id, is_active)


def watch(access: Access, state: SubnetState) -> LinkWatch:
    """Keep a subnet in view that was read just now."""
    return LinkWatch(access, state)
