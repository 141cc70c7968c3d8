"""A subnet kept in view, against devices that answer by directed routes over cables that change behind its back."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weftline.drivers.opensm import probe, watching
from weftline.model.driver import Access, FarEnd, NodeState, PortState, SubnetState

SWITCHES, HOSTS = 5, 4
MANAGER = 1
Place = tuple[int, int]


class Devices:
    """Switches 101..., endpoints 1...; the manager is endpoint 1, at port 1 of switch 101."""

    def __init__(self, links: Sequence[tuple[Place, Place]]) -> None:
        self.cables: dict[Place, Place] = {}
        for a, b in links:
            self.join(a, b)

    def join(self, a: Place, b: Place) -> None:
        self.cables[a], self.cables[b] = b, a

    def cut(self, a: Place) -> None:
        b = self.cables.pop(a, None)
        if b is not None:
            del self.cables[b]

    def ask(self, questions: Sequence[tuple[int, int, bytes]]) -> list[bytes | None]:
        return [self._answer(*question) for question in questions]

    def _answer(self, attribute: int, modifier: int, path: bytes) -> bytes | None:
        place = (MANAGER, 0)
        for number in path:
            if place != (MANAGER, 0) and place[0] < 100:
                return None
            far = self.cables.get((place[0], number))
            if far is None:
                return None
            place = far
        if attribute == probe.NODE_INFO:
            is_switch = place[0] > 100
            head = struct.pack(">BBBB8xQQ", 1, 1, 2 if is_switch else 1, 8 if is_switch else 1, place[0], place[0])
            return (head.ljust(36, b"\0") + bytes([place[1]])).ljust(64, b"\0")
        state = 4 if (place[0], modifier) in self.cables else 1
        return (bytes(32) + bytes([state])).ljust(64, b"\0")

    def close(self) -> None:
        pass


def reachable(devices: Devices) -> set[int]:
    found: set[int] = {devices.cables[MANAGER, 1][0]} if (MANAGER, 1) in devices.cables else set()
    more = True
    while more:
        near = {far[0] for place, far in devices.cables.items() if place[0] in found and far[0] > 100}
        more = not near <= found
        found |= near
    return found


def truth(devices: Devices) -> dict[Place, Place]:
    seen = reachable(devices)
    return {place: far for place, far in devices.cables.items() if place[0] in seen}


def keep_in_view(devices: Devices, monkeypatch: pytest.MonkeyPatch) -> watching.LinkWatch:
    def ask(_access: Access) -> Devices:
        return devices

    monkeypatch.setattr(watching, "Asker", ask)
    state = SubnetState(
        subnet="subnet-1",
        nodes={guid: NodeState(is_switch=guid > 100, ports=8) for guid in (*range(1, 5), *range(101, 106))},
        ports={place: PortState(0, 0, 4) for place in devices.cables},
        endpoints={guid: (guid, 1) for guid in range(1, 5)},
        links={place: far for place, far in devices.cables.items() if place[0] > 100 or place[0] == MANAGER},
        keys={}, tables={}, lanes={}, arbitration={}, silences=(),
    )  # fmt: skip
    return watching.watch(Access("subnet-1", {}, "", __file__, 1), state)  # type: ignore[arg-type]


def shown(watch: watching.LinkWatch) -> dict[Place, Place]:
    return {place: (far.node, far.number) for place, far in watch.links.items()}


def make_devices() -> Devices:
    """Two spines (104, 105) over three leaves, two links each, and an endpoint or two per leaf."""
    links = [((1, 1), (101, 1)), ((2, 1), (101, 2)), ((3, 1), (102, 1)), ((4, 1), (103, 1))]
    for leaf in (101, 102, 103):
        links += [((leaf, 5), (104, leaf - 100)), ((leaf, 6), (105, leaf - 100)), ((leaf, 7), (104, leaf - 97))]
    return Devices(links)


Change = tuple[str, int, int]
changes = st.lists(st.tuples(st.sampled_from(["cut", "swap"]), st.integers(0, 12), st.integers(0, 12)), max_size=5)


@settings(max_examples=80, deadline=None)
@given(changes)
def test_two_looks_everywhere_find_every_cable_as_it_is(done: list[Change]) -> None:
    """Cut and exchanged without a word, the one that leads to the manager too."""
    with pytest.MonkeyPatch.context() as patch:
        devices = make_devices()
        watch = keep_in_view(devices, patch)
        assert shown(watch) == truth(devices)
        places = sorted(devices.cables)
        told: set[int] = set()
        for word, first, second in done:
            a, b = places[first], places[second]
            if word == "cut":
                told |= {place[0] for place in (a, devices.cables.get(a, a))}
                devices.cut(a)
            elif a in devices.cables and b in devices.cables and MANAGER not in (a[0], b[0]):
                far, other = devices.cables[a], devices.cables[b]
                if len({a, b, far, other}) == 4 and MANAGER not in (far[0], other[0]):
                    devices.join(a, other)
                    devices.join(b, far)
        watch.look({guid for guid in told if guid > 100} & watch.ports.keys())
        for _ in range(2):
            watch.look(None)
            watch.check_ends(watch.reached)
        if (MANAGER, 1) in devices.cables:
            assert shown(watch) == truth(devices)
            assert set(watch.reached) == reachable(devices)


def test_a_lost_switch_is_found_where_one_neighbour_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = make_devices()
    watch = keep_in_view(devices, monkeypatch)
    for number in range(1, 9):
        devices.cut((104, number))
    assert watch.look({102})
    assert shown(watch) == truth(devices)
    assert 104 not in watch.reached
    for leaf in (101, 102, 103):
        devices.join((leaf, 5), (104, leaf - 100))
    assert watch.look({103})
    assert 104 in watch.reached
    watch.look(None)
    assert shown(watch) == truth(devices)
    assert watch.links[101, 5] == FarEnd(104, 1, 104)


def test_a_switch_behind_an_exchanged_cable_does_not_answer_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = make_devices()
    watch = keep_in_view(devices, monkeypatch)
    for leaf in (101, 102, 103):  # one way only to each
        devices.cut((leaf, 6))
        devices.cut((leaf, 7))
    watch.look(None)
    devices.join((104, 2), (103, 5))
    devices.join((104, 3), (102, 5))
    assert watch.read_blocks([(102, 0)]) == [devices.ask([(probe.FORWARDING, 0, bytes([1, 5, 3]))])[0]]
    assert shown(watch)[104, 3] == (102, 5)
