"""Lanes as service levels: a level per lane, handed out with the path to each destination."""

from __future__ import annotations

from weftline.errors import CapabilityError
from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.levels import (
    DEFAULT_LEVEL,
    LEVELS,
    NO_LANE,
    GroupIntent,
    LevelIntent,
    MatchIntent,
    ServiceIntent,
    WeightIntent,
)
from weftline.model.routes import Routes
from weftline.technologies.infiniband.levels import make_service

WEIGHT = 64
NOTE_LEVELS = (
    "these tables need a lane per destination: they are free of deadlock for traffic that takes the service level of "
    "its path record; NCCL takes NCCL_IB_SL for all, on one lane, where they can deadlock"
)
NOTE_ANSWERS = (
    "answers are not covered: connections whose passive end keeps the service level of the request, as those of "
    "rdma_cm do, can deadlock; each end must ask for the path to the other"
)


def list_service(
    design: ResolvedSpec, fabric: Fabric, addresses: Addresses, routes: Routes, plane: int
) -> ServiceIntent | None:
    """Say lane ``n`` by service level ``n``, for the destinations of the lane; what classes say where one lane does.

    Levels beyond the lanes are dropped: on any lane they would make waits that nobody judged. All lanes weigh alike.

    Raises:
        CapabilityError: ``capability.lanes-and-classes`` where both the tables and declared classes need the levels,
            ``capability.lane-steps`` where packets change lanes on their way.
    """
    lanes = routes.lanes
    if lanes is None:
        return make_service(design, fabric, addresses, plane)
    if lanes.steps is not None:
        raise CapabilityError(
            "capability.lane-steps",
            f"packets of engine {routes.engine} change lanes on their way: each pair of ports needs its own table from "
            f"{len(lanes.steps.lane)} service level(s) to {lanes.count} lanes, and OpenSM writes one for all ports",
            "choose engine layered, whose lanes follow from the destination, or updown, which needs one lane",
            design.places.get("routing.engine"),
        )
    if design.spec.infiniband.qos.classes:
        raise CapabilityError(
            "capability.lanes-and-classes",
            f"the tables of engine {routes.engine} need {lanes.count} lanes to be free of deadlock, each told by a "
            "service level, and infiniband.qos.classes gives the levels to traffic classes",
            "leave out the classes, or use engine updown, which needs one lane",
            design.places.get("infiniband.qos.classes"),
        )
    groups = [
        GroupIntent(f"lane-{lane}", members)
        for lane in range(1, lanes.count)
        if (members := _list_members(fabric, addresses, routes, plane, lane))
    ]
    return ServiceIntent(
        lanes=lanes.count,
        lane_of_level=tuple(level if level < lanes.count else NO_LANE for level in range(LEVELS)),
        high_limit=0,
        weights=tuple(WeightIntent(lane, 0, WEIGHT) for lane in range(lanes.count)),
        levels=(
            LevelIntent(DEFAULT_LEVEL, 0),
            *(LevelIntent(group.key, int(group.key.removeprefix("lane-"))) for group in groups),
        ),
        groups=tuple(groups),
        matches=tuple(MatchIntent(at, group.key, destination=group.key) for at, group in enumerate(groups, start=1)),
    )


def list_notes(routes: Routes) -> tuple[str, ...]:
    """Say what traffic has to do to be safe on several lanes."""
    if routes.lanes is None:
        return ()
    return (NOTE_LEVELS,) if routes.lanes.with_answers else (NOTE_LEVELS, NOTE_ANSWERS)


def _list_members(fabric: Fabric, addresses: Addresses, routes: Routes, plane: int, lane: int) -> tuple[str, ...]:
    """List the port ids of the destinations of one lane in one plane; port 0 of a switch has the id of its node."""
    ids: list[int] = []
    for destination in range(len(routes.destination_node)):
        port, node = int(routes.destination_port[destination]), int(routes.destination_node[destination])
        own = int(fabric.node_plane[node]) if port == NIL else int(fabric.port_plane[port])
        if own == plane and routes.lane_of(destination) == lane:
            ids.append(int(addresses.node_id[node]) if port == NIL else int(addresses.port_id[port]))
    return tuple(format_guid(one) for one in sorted(ids))
