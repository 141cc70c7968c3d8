"""What runs in a lab held against what was rendered: sessions, routes in FRR and in the kernel, and real packets."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from weftline.errors import SourceError
from weftline.labs import holding
from weftline.labs.netns import entering, intruding, state
from weftline.labs.netns.entering import World
from weftline.labs.netns.expecting import Expected, Pairs, choose_pairs, list_expected
from weftline.labs.netns.intruding import choose_intrusions, compare_intrusions
from weftline.labs.netns.layout import Layout, describe_endpoint, lay_out
from weftline.labs.netns.reading import Hops, SwitchState, read_switches
from weftline.labs.netns.spreading import Spread, choose_spreads, compare_spreads, describe_spreads, write_order
from weftline.labs.netns.timers import Timers
from weftline.model.driver import MAX_LISTED, Readback, StateDifference, StateKind
from weftline.model.lab import LabDesign, Progress

PROBER = Path(__file__).with_name("prober.py")
SETTLE_S = 20.0
SETTLE_S_PER_SWITCH = 0.5
LOOK_AGAIN_S = 0.3
QUIET_S = 4.0
"""Time without a change after which a fabric that still differs counts as settled: sessions retry every second."""
MOST_PAIRS = 50_000
"""Pairs of each kind that are tried; of a larger fabric evenly spread ones are."""
UP, WATCHED = "Established", "up"


def read_back(design: LabDesign, folder: Path, progress: Progress) -> tuple[Readback, ...]:
    """Wait until nothing moves any more, then compare all of it and send packets."""
    layout = lay_out(design)
    with holding.held(folder):
        world = entering.find_world(folder)
    expected = list_expected(design, layout)
    states = settle(world, layout, expected, progress, QUIET_S)
    pairs = choose_pairs(design, layout, MOST_PAIRS)
    spreads = choose_spreads(design, layout, pairs)
    intrusions, ends = choose_intrusions(design, layout, pairs)
    tries = intruding.write_order(intrusions, ends, layout, pairs)
    answer = _probe(design, layout, world, (pairs, spreads, tries), progress)
    compared: dict[StateKind, int] = {
        "session": sum(len(one.sessions) for one in expected.values()),
        "watch": sum(len(one.sessions) for one in expected.values() if one.is_watched),
        "route": sum(len(one.routes) for one in expected.values()),
        "kernel": sum(len(one.routes) for one in expected.values()),
        "pair": len(pairs.together),
        "mark": len(answer["marks"]),
        "spread": len(spreads),
    }
    if pairs.total_apart:
        compared["apart"] = len(pairs.apart)
    if intrusions:
        compared["edge"] = sum(1 + len(one.ends) for one in intrusions)
    found = [*_compare_switches(expected, states), *_compare_pairs(design, layout, pairs, answer)]
    found += compare_spreads(spreads, answer["spread"])
    names = [design.fabric.port_name(port) for port in pairs.ports]
    found += compare_intrusions(intrusions, ends, answer["edge"], names)
    differing: dict[StateKind, int] = {
        kind: many for kind in compared if (many := sum(one.kind == kind for one in found))
    }
    listed = tuple(one for kind in compared for one in [d for d in found if d.kind == kind][:MAX_LISTED])
    notes = (*_list_notes(pairs, state.read(folder).timers), *describe_spreads(spreads, answer["spread"]))
    return (Readback(design.fabric.name, compared, differing, listed, notes),)


def _list_notes(pairs: Pairs, timers: Timers) -> Iterator[str]:
    if timers.rendered_ms is not None:
        yield (
            f"BFD runs with {timers.interval_ms:,} ms in place of the rendered {timers.rendered_ms:,} ms: this machine "
            "has too few processors for so many sessions"
        )
    if len(pairs.together) < pairs.total_together:
        yield f"{len(pairs.together):,} of {pairs.total_together:,} pairs within tenants were tried, evenly spread"
    if len(pairs.apart) < pairs.total_apart:
        yield f"{len(pairs.apart):,} of {pairs.total_apart:,} pairs across tenants were tried, evenly spread"


def settle(
    world: World, layout: Layout, expected: Mapping[str, Expected], progress: Progress, quiet_s: float
) -> dict[str, SwitchState]:
    """Read the switches until they are as expected, have not changed for a while, or the time is over."""
    spaces = {name: space.name for name, space in layout.namespaces.items() if space.is_switch}
    changed = time.monotonic()
    end = changed + SETTLE_S + SETTLE_S_PER_SWITCH * len(spaces)
    states: dict[str, SwitchState] = {}
    while True:
        earlier = states
        states = {**states, **read_switches(world, {name: spaces[name] for name in _list_unlike(expected, states)})}
        left = _list_unlike(expected, states)
        progress("waiting for the routes", 1 - len(left) / max(len(spaces), 1))
        now = time.monotonic()
        changed = changed if states == earlier else now
        if not left or now - changed > quiet_s or now > end:
            return read_switches(world, spaces)  # all at one time
        time.sleep(LOOK_AGAIN_S)


def _list_unlike(expected: Mapping[str, Expected], states: Mapping[str, SwitchState]) -> list[str]:
    return [
        name
        for name, one in expected.items()
        if name not in states or next(_compare_switches({name: one}, states), None) is not None
    ]


def _compare_switches(expected: Mapping[str, Expected], states: Mapping[str, SwitchState]) -> Iterator[StateDifference]:
    for name, one in expected.items():
        held = states[name]
        for interface in sorted(one.sessions):
            running = held.sessions.get(interface, "none")
            if running != UP:
                yield StateDifference("session", f"{name} {interface}", UP, running)
            watched = held.watches.get(interface, "none")
            if one.is_watched and watched != WATCHED:
                yield StateDifference("watch", f"{name} {interface}", WATCHED, watched)
        for interface in sorted(held.sessions.keys() - one.sessions):
            yield StateDifference("session", f"{name} {interface}", "none", held.sessions[interface])
        for network, hops in sorted(one.routes.items()):
            for kind, ways in (("route", held.routes), ("kernel", held.kernel)):
                running = ways.get(network, frozenset())
                if running != hops:
                    yield StateDifference(cast("StateKind", kind), f"{name} {network}", _write(hops), _write(running))


def _write(hops: Hops) -> str:
    return f"{len(hops)} ways ({', '.join(sorted(hops))})" if hops else "no way"


def _probe(
    design: LabDesign, layout: Layout, world: World, wanted: tuple[Pairs, Sequence[Spread], Any], progress: Progress
) -> dict[str, Any]:
    """Send packets between all pairs, and flows over all ways, from one process inside the lab."""
    pairs, spreads, tries = wanted
    progress("sending packets", None)
    order = {
        "endpoints": [describe_endpoint(design, layout, port) for port in pairs.ports],
        "together": pairs.together,
        "apart": pairs.apart,
        "spread": write_order(spreads),
        "edge": tries,
    }
    said = entering.run(world, [sys.executable, "-I", str(PROBER)], json.dumps(order) + "\n")
    try:
        return cast("dict[str, Any]", json.loads(said))
    except ValueError as error:
        raise SourceError("source.no-answer", "what sends packets in the lab said nothing", "run it again") from error


def _compare_pairs(
    design: LabDesign, layout: Layout, pairs: Pairs, answer: Mapping[str, Any]
) -> Iterator[StateDifference]:
    names = [design.fabric.port_name(port) for port in pairs.ports]
    for source, target in answer["lost"]:
        yield StateDifference("pair", f"{names[source]} to {names[target]}", "reached", "not reached")
    for source, target, mark in answer["marks"]:
        sent = layout.ends[pairs.ports[source]].mark
        if mark >> 2 != sent >> 2:
            subject = f"{names[source]} to {names[target]}"
            yield StateDifference("mark", subject, f"DSCP {sent >> 2}", f"DSCP {mark >> 2}" if mark >= 0 else "unknown")
    for source, target in answer["crossed"]:
        yield StateDifference("apart", f"{names[source]} to {names[target]}", "not reached", "reached")
