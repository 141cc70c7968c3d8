"""The table of routing engines, and the routes that they compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from weftline.errors import SpecError
from weftline.kernels.column import I32
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.route.canonical import fill_in_order
from weftline.route.dragonfly import route_dragonfly, route_dragonfly_plus
from weftline.route.fattree import route_fat_tree
from weftline.route.graph import Destinations, SwitchGraph, read_destinations
from weftline.route.layered import route_layered
from weftline.route.names import find_roots, suggest
from weftline.route.table import Tables, check_size
from weftline.route.torus import route_torus
from weftline.route.updown import route_ecmp, route_updown
from weftline.route.weighted import GUARANTEE as WEIGHTED
from weftline.route.weighted import route_weighted


@dataclass(frozen=True, eq=False)
class Wishes:
    """What a declaration may choose."""

    roots: I32
    """Rows of the switches that are roots; none: the engine's own choice."""
    lanes: int | None
    """Data lanes at most; None: as many as devices usually have."""


@dataclass(frozen=True, slots=True)
class Engine:
    """How tables are computed, and what they promise."""

    name: str
    guarantee: str
    takes_roots: bool
    function: Callable[[Fabric, SwitchGraph, Destinations, Wishes], Tables]
    takes_lanes: bool = False


_ENGINES = (
    Engine(
        "fat-tree",
        "Each destination owns one cable per tier: a full 1:1 tree carries every shift of its hosts with one flow per "
        "link, and every path goes up and then down, so it is free of deadlock on one lane.",
        takes_roots=False,
        function=lambda fabric, graph, goals, _wishes: route_fat_tree(fabric, graph, goals),
    ),
    Engine(
        "updown",
        "Every path goes up and then down in one total order of the switches, so it is free of deadlock on one lane, "
        "and all endpoints that cables connect reach each other.",
        takes_roots=True,
        function=lambda fabric, graph, goals, wishes: route_updown(fabric, graph, goals, wishes.roots),
    ),
    Engine(
        "ecmp",
        "Every port of a set leads up and then down in one total order of the switches by the same number of hops, so "
        "whichever is taken the fabric is free of deadlock on one lane.",
        takes_roots=True,
        function=lambda fabric, graph, goals, wishes: route_ecmp(fabric, graph, goals, wishes.roots),
    ),
    Engine(
        "weighted-ecmp",
        WEIGHTED,
        takes_roots=True,
        function=lambda fabric, graph, goals, wishes: route_weighted(fabric, graph, goals, wishes.roots),
    ),
    Engine(
        "layered",
        "Every path is a shortest one, and each destination has a lane in which no channels wait for each other in a "
        "cycle, so it is free of deadlock for traffic that asks the subnet manager for its lane.",
        takes_roots=False,
        takes_lanes=True,
        function=lambda fabric, graph, goals, wishes: route_layered(fabric, graph, goals, wishes.lanes),
    ),
    Engine(
        "dragonfly",
        "Every path takes at most one local link, one global link and one local link, and holds lane 0 up to the "
        "global link and lane 1 behind it, so it is free of deadlock.",
        takes_roots=False,
        function=lambda fabric, graph, goals, _wishes: route_dragonfly(fabric, graph, goals, detours=False),
    ),
    Engine(
        "dragonfly-adaptive",
        "Every path is one of engine dragonfly or goes round by one third group; groups are passed upwards and then "
        "downwards in lanes 0 and 1, or downwards and then upwards in lanes 1 and 2, so whichever port of a set is "
        "taken it is free of deadlock.",
        takes_roots=False,
        function=lambda fabric, graph, goals, _wishes: route_dragonfly(fabric, graph, goals, detours=True),
    ),
    Engine(
        "dragonfly-plus",
        "Every path between endpoints goes up, by at most one global link, and down, so it is free of deadlock on one "
        "lane; what goes to a spine itself may take a second lane.",
        takes_roots=False,
        function=lambda fabric, graph, goals, _wishes: route_dragonfly_plus(fabric, graph, goals, detours=False),
    ),
    Engine(
        "dragonfly-plus-adaptive",
        "Every path goes up, by one global link in lane 0 or by a second one in lane 1 round by a third group, and "
        "down in lane 1, so whichever port of a set is taken it is free of deadlock.",
        takes_roots=False,
        function=lambda fabric, graph, goals, _wishes: route_dragonfly_plus(fabric, graph, goals, detours=True),
    ),
    Engine(
        "torus",
        "Every path goes along one dimension after another, and holds lane 1 in a ring whose dateline it crosses and "
        "lane 0 in others, so it is free of deadlock; past a dead switch it holds one lane more for one hop.",
        takes_roots=False,
        function=lambda fabric, graph, goals, _wishes: route_torus(fabric, graph, goals),
    ),
)
ENGINES: Mapping[str, Engine] = MappingProxyType({engine.name: engine for engine in _ENGINES})


def compute_routes(
    fabric: Fabric,
    engine: str,
    *,
    to_switches: bool,
    roots: tuple[str, ...] = (),
    lanes: int | None = None,
    paths: int = 1,
) -> Routes:
    """Compute the tables of every switch towards every endpoint port, and towards every switch where asked.

    ``roots`` are names of switches, for the engines that take roots; empty: the top tier. ``lanes`` are the data lanes
    that an engine which takes several may use; None: as many as devices usually have. ``paths`` are the addresses that
    each endpoint answers to; they lead over different uplinks as far as there are any. Raises ``SpecError`` for an
    unknown engine or root, ``CapabilityError`` where the engine does not suit the fabric.
    """
    record = ENGINES.get(engine)
    if record is None:
        raise SpecError("spec.unknown-engine", f"there is no routing engine {engine[:80]!r}", suggest(engine, ENGINES))
    rows = find_roots(fabric, roots)
    if len(rows) and not record.takes_roots:
        raise SpecError("spec.roots-not-used", f"engine {engine} takes no roots", "leave out the roots, or use updown")
    if lanes is not None and not record.takes_lanes:
        raise SpecError("spec.lanes-not-used", f"engine {engine} uses one lane", "leave out the lanes, or use layered")
    switches = len(fabric.switch_node)
    check_size(switches, len(fabric.endpoint_port) * paths + (switches if to_switches else 0))
    goals = read_destinations(fabric, to_switches=to_switches, paths=paths)
    tables = fill_in_order(
        fabric, goals, rows, lambda world, graph, ends, tops: record.function(world, graph, ends, Wishes(tops, lanes))
    )
    return Routes(
        fabric_digest=fabric.digest,
        engine=engine,
        guarantee=tables.guarantee or record.guarantee,
        destination_node=goals.node,
        destination_port=goals.port,
        group=tables.group,
        group_ptr=tables.group_ptr,
        member_ptr=tables.member_ptr,
        member_port=tables.member_port,
        lanes=tables.lanes,
        destination_path=goals.path if paths > 1 else None,
        member_weight=tables.member_weight,
    )
