"""Outages measured: flows over what is about to break, watched while it does."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from weftline.errors import SourceError
from weftline.kernels.column import NIL
from weftline.labs.netns import entering
from weftline.labs.netns.entering import World
from weftline.labs.netns.expecting import list_hops
from weftline.labs.netns.layout import Layout, describe_endpoint
from weftline.model.lab import LabDesign, Outage
from weftline.model.routes import Routes

PROBER = Path(__file__).with_name("prober.py")
MOST_FLOWS = 96
PORTS_PER_PAIR = 4
FIRST_PORT = 49_152
"""Source ports that RoCE senders choose from. RFC 6335, 6."""
READY_S = 15.0
AFTER_S = 4.0
"""How long after the foretold end is waited for flows that are still lost."""
MOST_WALKS = 4000


def choose_flows(design: LabDesign, layout: Layout, broken: set[int]) -> dict[str, Any]:
    """Choose flows that may pass what is about to break and have another way then, as the prober reads them."""
    routes = design.routes
    assert routes is not None  # noqa: S101
    chosen: list[tuple[int, int]] = []
    for source, target, column in _list_candidates(design, layout):
        row = int(design.fabric.switch_row[design.fabric.port_node[design.fabric.port_peer[source]]])
        passed, is_joined = _walk(design, routes, row, column, broken)
        if passed & broken and is_joined:
            chosen.append((source, target))
            if len(chosen) * PORTS_PER_PAIR >= MOST_FLOWS:
                break
    ports = sorted({port for pair in chosen for port in pair})
    place = {port: number for number, port in enumerate(ports)}
    flows = [
        (place[source], place[target], FIRST_PORT + PORTS_PER_PAIR * number + turn)
        for number, (source, target) in enumerate(chosen)
        for turn in range(PORTS_PER_PAIR)
    ]
    return {"endpoints": [describe_endpoint(design, layout, port) for port in ports], "flows": flows}


def _list_candidates(design: LabDesign, layout: Layout) -> Iterator[tuple[int, int, int]]:
    """List pairs of endpoints, evenly spread: by ever another distance in the order of their switches."""
    routes, fabric = design.routes, design.fabric
    assert routes is not None  # noqa: S101
    columns = {port: place for place, port in enumerate(routes.destination_port.tolist()) if port != NIL}
    ports = [
        port
        for port in columns
        if port in layout.ends and fabric.switch_row[fabric.port_node[fabric.port_peer[port]]] != NIL
    ]
    tenant = fabric.node_tenant[fabric.port_node]
    count = len(ports)
    walks = 0
    for shift in sorted(range(1, count), key=lambda number: (-(number & -number), number)):
        for place, source in enumerate(ports):
            target = ports[(place + shift) % count]
            if tenant[source] == tenant[target] and fabric.port_node[source] != fabric.port_node[target]:
                walks += 1
                yield source, target, columns[target]
            if walks > MOST_WALKS:
                return


def _walk(design: LabDesign, routes: Routes, row: int, column: int, broken: set[int]) -> tuple[set[int], bool]:
    """Follow all ways from a switch to a destination: the ports passed, and whether a way is left without some."""
    fabric = design.fabric
    passed: set[int] = set()
    left = {row}
    seen = {row}
    queue = [row]
    is_joined = False
    while queue:
        here = queue.pop(0)
        hops = list_hops(routes, here, column)
        passed.update(hops)
        passed.update(int(fabric.port_peer[port]) for port in hops)
        is_joined = is_joined or (here in left and not hops)
        for port in hops:
            there = int(fabric.switch_row[fabric.port_node[fabric.port_peer[port]]])
            if there == NIL:
                is_joined = is_joined or (here in left and port not in broken)
                continue
            if here in left and not {port, int(fabric.port_peer[port])} & broken:
                left.add(there)
            if there not in seen:
                seen.add(there)
                queue.append(there)
    return passed, is_joined


def measure(
    world: World,
    order: Mapping[str, Any],
    foretold: tuple[float, str],
    act: Callable[[], None],
    *,
    least_s: float = 0.0,
) -> Outage:
    """Do something while flows are watched, and say what they lost."""
    predicted, arithmetic = foretold
    if not order["flows"]:
        act()
        return Outage(0, 0, None, None, 0, predicted, arithmetic)
    words = [*entering.list_entry(world), sys.executable, "-I", str(PROBER)]
    whole = {**order, "least_s": max(predicted, least_s), "most_s": max(predicted, least_s) + AFTER_S}
    with subprocess.Popen(  # noqa: S603  (our own program)
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018
        try:
            process.stdin.write(json.dumps(whole) + "\n")
            process.stdin.flush()
            is_ready = bool(select.select([process.stdout], [], [], READY_S)[0]) and process.stdout.readline()
            act()
            if not is_ready:
                raise _silent()
            process.stdin.write("\n")
            said = process.communicate(timeout=max(predicted, least_s) + AFTER_S + READY_S)[0]
            return _sum_up(cast("dict[str, Any]", json.loads(said)), predicted, arithmetic)
        except (subprocess.TimeoutExpired, ValueError, BrokenPipeError) as error:
            raise _silent() from error
        finally:
            process.kill()


def _silent() -> SourceError:
    return SourceError("source.no-answer", "what sends packets in the lab said nothing", "the fault is in all the same")


def _sum_up(said: Mapping[str, Any], predicted: float, arithmetic: str) -> Outage:
    gaps = np.array(said["gaps"])
    lasting = np.array(said["lasting"], dtype=bool)
    hit = gaps[(gaps > 0) & ~lasting]
    return Outage(
        flows=len(gaps),
        hit=len(hit) + int(lasting.sum()),
        longest_s=round(float(hit.max()), 3) if len(hit) else None,
        median_s=round(float(np.median(hit)), 3) if len(hit) else None,
        lasting=int(lasting.sum()),
        predicted_s=predicted,
        arithmetic=arithmetic,
    )
