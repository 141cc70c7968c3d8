"""What the switches of a lab hold: their sessions, the routes that FRR chose, and those that the kernel has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

from weftline.labs.netns import entering
from weftline.labs.netns.daemons import BFDD, BGPD, ZEBRA
from weftline.labs.netns.entering import World

AT_ONCE = 4
MAIN = "default"

Hops = frozenset[str]
"""Interfaces over which a network is reached."""


@dataclass(frozen=True, slots=True)
class SwitchState:
    """One switch as its daemons and its kernel have it."""

    sessions: Mapping[str, str]
    """State of each BGP session by its interface."""
    watches: Mapping[str, str]
    """State of each BFD session by its interface."""
    routes: Mapping[str, Hops]
    """What zebra chose and says that it installed, by network."""
    kernel: Mapping[str, Hops]
    """What the kernel forwards by."""


def read_switches(world: World, namespaces: Mapping[str, str]) -> dict[str, SwitchState]:
    """Read all switches, some at a time; by the name of the device."""
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        states = [pool.submit(_read_switch, world, space) for space in namespaces.values()]
        return {name: state.result() for name, state in zip(namespaces, states, strict=True)}


def _read_switch(world: World, space: str) -> SwitchState:
    kernel = entering.run(world, ["ip", "-n", space, "-j", "-4", "route", "show", "table", "main"])
    return SwitchState(
        sessions=read_sessions(entering.ask(world, space, BGPD, "show bgp ipv4 unicast summary json")),
        watches=read_watches(entering.ask(world, space, BFDD, "show bfd peers json")),
        routes=read_routes(entering.ask(world, space, ZEBRA, "show ip route json")),
        kernel=read_kernel(json.loads(kernel or "[]")),
    )


def read_sessions(answer: Any) -> dict[str, str]:
    """Read ``show bgp ipv4 unicast summary json``."""
    peers = _object(_object(answer).get("ipv4Unicast", answer)).get("peers")
    return {name: str(_object(row).get("state", "unknown")) for name, row in _object(peers).items()}


def read_watches(answer: Any) -> dict[str, str]:
    """Read ``show bfd peers json``."""
    rows = [_object(row) for row in _list(answer)]
    return {str(row.get("interface", "")): str(row.get("status", "unknown")) for row in rows}


def read_routes(answer: Any) -> dict[str, Hops]:
    """Read ``show ip route json``: the selected route of each network, with the next hops that it marks as used."""
    found: dict[str, Hops] = {}
    for network, rows in _object(answer).items():
        for row in _list(rows):
            route = _object(row)
            if route.get("selected") and route.get("installed"):
                hops = [_object(hop) for hop in _list(route.get("nexthops"))]
                found[network] = frozenset(
                    str(hop["interfaceName"]) for hop in hops if hop.get("fib") and "interfaceName" in hop
                )
    return found


def read_kernel(answer: Any) -> dict[str, Hops]:
    """Read ``ip -j route``: next hops that are dead or have lost their carrier do not count."""
    found: dict[str, Hops] = {}
    for row in _list(answer):
        route = _object(row)
        hops = [_object(hop) for hop in _list(route.get("nexthops"))] or [route]
        network = str(route.get("dst", ""))
        network = "0.0.0.0/0" if network == "default" else network
        name = network if "/" in network else f"{network}/32"
        found[name] = frozenset(str(hop["dev"]) for hop in hops if "dev" in hop and not _is_dead(hop))
    return found


def _is_dead(hop: Mapping[str, Any]) -> bool:
    return bool({"dead", "linkdown"} & {str(word) for word in _list(hop.get("flags"))})


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
