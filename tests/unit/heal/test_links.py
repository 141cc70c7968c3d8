from __future__ import annotations

import numpy as np
import pytest

from tests.fabrics import make_design
from weftline.compile import build_fabric
from weftline.heal import (
    Ground,
    blank_rows,
    count_unlike,
    judge_links,
    list_blocks,
    list_ports,
    name_links,
    read_running,
)
from weftline.kernels.column import NIL
from weftline.model.driver import FarEnd
from weftline.model.fabric import Fabric
from weftline.model.routes import no_route
from weftline.route import compute_routes
from weftline.route.repair import prepare_repair
from weftline.technologies.infiniband import INFINIBAND
from weftline.technologies.infiniband.tables import make_table

DESIGN = make_design("fat-tree", hosts=16, ports=8)
_built = build_fabric(DESIGN)
assert isinstance(_built, Fabric)
FABRIC = _built
ADDRESSES = INFINIBAND.design.assign(DESIGN, FABRIC)
GROUND = Ground(FABRIC, ADDRESSES, np.arange(FABRIC.port_count, dtype=np.int32))


def see() -> dict[tuple[int, int], FarEnd]:
    """See everything as declared."""
    seen: dict[tuple[int, int], FarEnd] = {}
    for place, port in GROUND.of_switch.items():
        peer = int(FABRIC.port_peer[port])
        if peer != NIL:
            node = int(FABRIC.port_node[peer])
            is_switch = FABRIC.switch_row[node] != NIL
            port_id = 0 if is_switch else int(ADDRESSES.port_id[peer])
            seen[place] = FarEnd(int(ADDRESSES.node_id[node]), int(FABRIC.port_number[peer]), port_id)
    return seen


def place_of(name: str) -> tuple[int, int]:
    (place,) = (place for place, port in GROUND.of_switch.items() if FABRIC.port_name(port) == name)
    return place


def test_what_is_as_declared_is_neither_lost_nor_wrong() -> None:
    state = judge_links(GROUND, see())
    assert (state.lost, dict(state.wrong), state.waiting) == (frozenset(), {}, frozenset())


def test_a_link_is_lost_where_either_end_says_so() -> None:
    for name in ("leaf-001/5", "spine-01/1"):
        seen = see()
        del seen[place_of(name)]
        state = judge_links(GROUND, seen)
        assert name_links(FABRIC, state.lost) == ("leaf-001/5~spine-01/1",)
    assert list_ports(state)[0].dtype == np.int32


def test_a_node_without_links_is_named_alone() -> None:
    seen = {place: far for place, far in see().items() if place not in {place_of(f"spine-01/{n}") for n in range(1, 9)}}
    assert name_links(FABRIC, judge_links(GROUND, seen).lost) == ("spine-01",)


def test_what_stands_elsewhere_is_named() -> None:
    seen = see()
    a, b = place_of("leaf-001/1"), place_of("leaf-002/1")
    seen[a], seen[b] = seen[b], seen[a]
    seen[place_of("leaf-003/1")] = FarEnd(0xBEEF, 1, 0xBEF0)
    state = judge_links(GROUND, seen)
    told = {FABRIC.port_name(port): met for port, met in state.wrong.items()}
    assert told == {
        "leaf-001/1": "host-0005/nic1",
        "leaf-002/1": "host-0001/nic1",
        "leaf-003/1": "0x000000000000bef0 port 1",
    }
    assert len(state.lost) == 3


def test_a_link_that_carries_no_data_yet_waits() -> None:
    seen = see()
    far = seen[place_of("leaf-001/5")]
    seen[place_of("leaf-001/5")] = FarEnd(far.node, far.number, far.port_id, is_active=False)
    assert len(judge_links(GROUND, seen).waiting) == 1


@pytest.mark.parametrize("engine", ["fat-tree", "updown"])
def test_tables_read_back_are_the_routes_that_were_sent(engine: str) -> None:
    routes = compute_routes(FABRIC, engine, to_switches=True)
    standing = prepare_repair(FABRIC, routes)
    table = make_table(FABRIC, ADDRESSES, routes, 0)
    held: dict[int, np.ndarray] = {}  # type: ignore[type-arg]
    for row, guid in enumerate(table.switch_id.tolist()):
        held[guid] = np.full(-(-(int(table.address.max()) + 1) // 64) * 64, 255, dtype=np.uint8)
        held[guid][table.address] = table.port[row]
    running = read_running(standing, ADDRESSES, held)
    assert np.array_equal(running.group, routes.group)
    blank = blank_rows(running, np.arange(len(FABRIC.switch_node)) == 0)
    assert (blank.group[0] == no_route(blank.group)).all()
    blocks = list_blocks(standing, ADDRESSES, blank.group, routes.group)
    assert {guid for guid, _ in blocks} == {int(table.switch_id[0])}
    answers = [(block, bytes(held[block[0]][64 * block[1] : 64 * block[1] + 64])) for block in blocks]
    assert count_unlike(standing, ADDRESSES, routes.group, answers) == 0
    assert count_unlike(standing, ADDRESSES, routes.group, [(blocks[0], None)]) == 64
    spoiled = [(block, bytes([data[0], data[1] ^ 1]) + data[2:]) for block, data in answers[:1]]
    assert count_unlike(standing, ADDRESSES, routes.group, spoiled) == 1
    del held[int(table.switch_id[1])]
    assert (read_running(standing, ADDRESSES, held).group[1] == no_route(running.group)).all()
