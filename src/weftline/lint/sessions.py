"""Rules on routing sessions: both ends of a link speak to each other, by the right numbers, and say something."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.lint.links import list_networked
from weftline.lint.pairing import End
from weftline.lint.paths import find_process
from weftline.lint.rule import Hit, LintSource, Rule, is_used, show_place
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import DEFAULT_VRF, ObservedNeighbour, ObservedRouter
from weftline.model.said import Said


def _find_session(end: End, far: End) -> tuple[ObservedRouter, ObservedNeighbour] | None:
    """Find what a device says of its neighbour at the other end of a link: by its port, or by the far address."""
    device, port = end
    names = {port.name, *(said.value.partition("/")[0] for said in far[1].addresses)}
    for router in device.routers:
        for neighbour in router.neighbours:
            if neighbour.name in names:
                return router, neighbour
    return None


def _judge_missing(source: LintSource) -> Iterator[Hit]:
    for link in list_networked(source.links):
        for end, far in link.ways:
            (device, port), (other, other_port) = end, far
            if _find_session(end, far) is not None or not is_used(port):
                continue
            theirs = _find_session(far, end)
            if theirs is not None:
                words = (
                    f"no neighbour is named at {port.name}, and {other.name} waits for one at {other_port.name} "
                    f"({show_place(theirs[1].where)})"
                )
                yield Hit(device.name, words, find_process(device).where, f"a neighbour at {port.name}")


def _judge_number(source: LintSource) -> Iterator[Hit]:
    """A session with another number than the neighbour's own never comes up."""
    for link in list_networked(source.links):
        for end, far in link.ways:
            mine, theirs = _find_session(end, far), _find_session(far, end)
            if mine is None or theirs is None or mine[1].number is None or theirs[0].number is None:
                continue
            if mine[1].number.value != theirs[0].number.value:
                words = (
                    f"{far[0].name} is expected at {mine[1].name} with number {mine[1].number.value}, and has "
                    f"{theirs[0].number.value} ({show_place(theirs[0].number.where)})"
                )
                yield Hit(end[0].name, words, mine[1].number.where, "the neighbour's own number")


def _judge_ids(source: LintSource) -> Iterator[Hit]:
    first: dict[tuple[str, str], tuple[ObservedDevice, Said[str]]] = {}
    for device in source.switches:
        for router in device.routers:
            if router.router_id is not None:
                key = (router.vrf, router.router_id.value)
                other, theirs = first.setdefault(key, (device, router.router_id))
                if other is not device:
                    at = show_place(theirs.where)
                    words = f"router id {key[1]} is that of {other.name} too ({at}): they refuse each other"
                    yield Hit(device.name, words, router.router_id.where, "a router id for each device")


def _judge_silent(source: LintSource) -> Iterator[Hit]:
    """A switch that announces nothing of its own, while the others do, has hosts that nobody reaches."""
    routers = [(d, r) for d in source.switches for r in d.routers if r.vrf == DEFAULT_VRF and r.neighbours]
    speaking = [device.name for device, router in routers if router.redistributed]
    for device, router in routers:
        if not router.redistributed and len(speaking) > len(routers) / 2:
            words = f"it redistributes nothing, and {len(speaking):,} others of {len(routers):,} do"
            yield Hit(device.name, words, router.where, "redistribute connected, sifted by a route map")


RULES = (
    Rule("routing.no-neighbour", "warning", _judge_missing, "a link without a session is a way less"),
    Rule("routing.wrong-number", "critical", _judge_number, "RFC 4271, 6.2: Bad Peer AS"),
    Rule("routing.same-id", "warning", _judge_ids, "RFC 6286: an identifier is unique"),
    Rule("routing.announces-nothing", "warning", _judge_silent, "hosts behind it have no route"),
)
