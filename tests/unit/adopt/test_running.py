"""Tables as devices hold them become the routes that they were made from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.designs import Rendered, render_design
from weftline.adopt import place_states
from weftline.kernels.column import NIL
from weftline.model.adoption import Tables
from weftline.model.driver import NodeState, PortState, SubnetState
from weftline.model.fabric import NodeKind
from weftline.model.intent import NO_PORT

MADE = render_design("infiniband", "fat-tree", hosts=8, unit_size=4)
PLANES = render_design("infiniband", "fat-tree", hosts=8, unit_size=4, planes=2)


def run(made: Rendered, plane: int, lids: dict[int, int] | None = None) -> SubnetState:
    """Hold in devices what was meant for one plane, its LIDs exchanged for others."""
    fabric, addresses, lids = made.fabric, made.addresses, lids or {}
    forwarding = made.intent(f"subnet-{plane + 1}").forwarding
    assert forwarding is not None
    assert forwarding.table is not None
    table = forwarding.table
    ends = [port for port in fabric.endpoint_port.tolist() if fabric.port_plane[port] == plane]
    endpoints = {int(addresses.port_id[port]): (int(addresses.port_id[port]) - 1, 1) for port in ends}

    def port_of(lid: int) -> PortState:
        return PortState(lids.get(lid, lid), 0, 4)

    ports = {endpoints[int(addresses.port_id[port])]: port_of(int(addresses.port_address[port])) for port in ends}
    tables: dict[int, np.ndarray] = {}  # type: ignore[type-arg]
    for row, guid in enumerate(table.switch_id.tolist()):
        ports[guid, 0] = port_of(int(table.switch_address[row]))
        held = np.full(64 * 4, NO_PORT, dtype=np.uint8)
        for lid, port in zip(table.address.tolist(), table.port[row].tolist(), strict=True):
            held[lids.get(lid, lid)] = port
        tables[guid] = held
    nodes = {guid: NodeState(is_switch=True, ports=8) for guid in tables}
    return SubnetState("s", nodes, ports, endpoints, {}, {}, tables, {}, {}, ())


def ways(tables: Tables, made: Rendered) -> list[list[int]]:
    """List the port number that each switch sends each endpoint of its plane out of."""
    fabric, routes = made.fabric, tables.routes
    found: list[list[int]] = []
    for row, node in enumerate(fabric.switch_node.tolist()):
        own = [c for c, port in enumerate(routes.destination_port.tolist()) if port != NIL]
        own = [c for c in own if fabric.port_plane[routes.destination_port[c]] == fabric.node_plane[node]]
        groups = routes.group_ptr[row] + routes.group[row, own].astype(np.int64)
        found.append(fabric.port_number[routes.member_port[groups]].tolist())
    return found


def meant(made: Rendered) -> list[list[int]]:
    found: list[list[int]] = []
    for node in made.fabric.switch_node.tolist():
        plane = int(made.fabric.node_plane[node])
        forwarding = made.intent(f"subnet-{plane + 1}").forwarding
        assert forwarding is not None
        table = forwarding.table
        assert table is not None
        row = table.switch_id.tolist().index(int(made.addresses.node_id[node]))
        held = dict(zip(table.address.tolist(), table.port[row].tolist(), strict=True))
        ends = [port for port in made.fabric.endpoint_port.tolist() if made.fabric.port_plane[port] == plane]
        found.append([held[int(made.addresses.port_address[port])] for port in ends])
    return found


@given(st.permutations(range(1, 30)))
def test_any_addresses_that_a_manager_gave_are_taken(order: list[int]) -> None:
    lids = dict(zip(range(1, 30), order, strict=True))
    found = place_states((run(MADE, 0, lids),), MADE.fabric, MADE.addresses)
    assert isinstance(found, Tables)
    assert found.problems == ()
    assert ways(found, MADE) == meant(MADE)


def test_planes_that_use_the_same_addresses_are_kept_apart() -> None:
    found = place_states((run(PLANES, 0), run(PLANES, 1)), PLANES.fabric, PLANES.addresses)
    assert isinstance(found, Tables)
    assert found.problems == ()
    assert ways(found, PLANES) == meant(PLANES)


def test_a_switch_without_a_table_is_named() -> None:
    state = run(MADE, 0)
    guid = next(iter(state.tables))
    without = replace(state, tables={key: held for key, held in state.tables.items() if key != guid})
    found = place_states((without,), MADE.fabric, MADE.addresses)
    assert isinstance(found, Tables)
    (problem,) = found.problems
    node = MADE.addresses.node_id.tolist().index(guid)
    assert problem.code == "artifact.table-missing"
    assert MADE.fabric.node_kind[node] == NodeKind.SWITCH
    assert MADE.fabric.node_name[node] in problem.message
    assert place_states((), MADE.fabric, MADE.addresses) != ()
    nobody = replace(state, tables={1: next(iter(state.tables.values()))})
    refused = place_states((nobody,), MADE.fabric, MADE.addresses)
    assert isinstance(refused, tuple)
    assert refused[-1].code == "artifact.table-unknown-switch"
