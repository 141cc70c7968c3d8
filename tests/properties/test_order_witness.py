"""Witnesses against a stage are replayed: in some mixture of its tables a packet does what they say."""

from __future__ import annotations

import random
from itertools import pairwise, product
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.fabrics import from_links
from tests.mixtures import Packet, find_lane, interleave, list_packets, list_pieces
from tests.properties.test_order_steps import two_worlds
from tests.tables import make_routes, random_world
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.prove.stage import Ground, prove_stage
from weftline.prove.unite import unite_tables
from weftline.prove.witness import name_destination

MOST_PIECES = 7
SEEDS = st.integers(0, 2**32)


def list_all(fabric: Fabric, sides: tuple[Routes, Routes]) -> list[Packet]:
    """List the packets of every mixture."""
    return [packet for mixture in interleave(*sides) for packet in list_packets(fabric, mixture, sides, set())]


def replay(fabric: Fabric, sides: tuple[Routes, Routes], witness: Any) -> bool:
    """Look among the packets of every mixture for what a witness says."""
    packets, told = list_all(fabric, sides), witness.detail
    if witness.kind == "cycle":
        waits: set[tuple[str, str]] = set()
        for packet in packets:
            held = [{(find_lane(side, (packet.path_class, *hop)), hop[1]) for side in sides} for hop in packet.hops]
            for first, then in pairwise(held):
                waits |= {(tell(fabric, a, told), tell(fabric, b, told)) for a, b in product(first, then)}
        cycle = told["cycle"]
        return all(pair in waits for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    goal = next(at for at in range(len(sides[0].destination_port))
                if name_destination(fabric, sides[0], at) == told["destination"])  # fmt: skip
    row = int(fabric.switch_row[fabric.node_name.index(told["switch"])])
    own = [packet for packet in packets if packet.goal == goal]
    if "path_class" in told:
        return any(packet.path_class == told["path_class"] and starts_at(fabric, packet, row) for packet in own)
    if witness.kind == "loop":
        return any(packet.how == "loop" and comes_by(fabric, packet, row) for packet in own)
    return any(packet.how != "delivered" and starts_at(fabric, packet, row) for packet in own)


def tell(fabric: Fabric, channel: tuple[int | None, int], told: dict[str, Any]) -> str:
    """Name a channel as the witness does: with its lane where lanes change, else it is the lane of the whole cycle."""
    name = fabric.link_name(channel[1])
    if "lane" in told:
        return name if channel[0] == told["lane"] else ""
    return f"{name} lane {channel[0]}"


def starts_at(fabric: Fabric, packet: Packet, row: int) -> bool:
    return int(fabric.switch_row[fabric.port_node[fabric.port_peer[packet.source]]]) == row


def comes_by(fabric: Fabric, packet: Packet, row: int) -> bool:
    passed = {int(fabric.switch_row[fabric.port_node[out]]) for _, out in packet.hops}
    return row in passed or starts_at(fabric, packet, row)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(SEEDS, st.booleans())
def test_what_is_refuted_happens_in_some_mixture(seed: int, is_laned: bool) -> None:
    """Tables of groups and of single ports, good and broken ones, with lanes kept or changed on the way."""
    if is_laned:
        fabric, old, new = two_worlds(seed)
        lanes = old.lanes, new.lanes
    else:
        fabric, old = random_world(seed, sane=True)
        new = spoil(fabric, old, random.Random(seed))
        lanes = None, None
    ground = Ground(fabric, unite_tables(old, new))
    sides = ground.united.old, ground.united.new
    assume(len(list_pieces(*sides)) <= MOST_PIECES)
    proof = prove_stage(ground, *sides)
    assume(proof.verdict is Verdict.REFUTED)
    assert proof.witness is not None
    assert lanes[0] is not None or proof.witness.kind in {"loop", "lost", "cycle"}
    assert replay(fabric, sides, proof.witness), proof.witness


def spoil(fabric: Fabric, routes: Routes, rng: random.Random) -> Routes:
    """Point a few entries at other groups of the same switch."""
    table = routes.group.copy()
    for _ in range(rng.randint(1, 3)):
        row, goal = rng.randrange(table.shape[0]), rng.randrange(table.shape[1])
        count = int(routes.group_ptr[row + 1] - routes.group_ptr[row])
        table[row, goal] = rng.randrange(count) if count else table[row, goal]
    return make_routes(fabric, lambda row, goal: list_ports(routes, row, int(table[row, goal])),
                       to_switches=bool(np.any(routes.destination_port == NIL)))  # fmt: skip


def list_ports(routes: Routes, row: int, entry: int) -> list[int] | str | None:
    if entry >= 254:
        return "local" if entry == 254 else None
    group = int(routes.group_ptr[row]) + entry
    return routes.member_port[routes.member_ptr[group] : routes.member_ptr[group + 1]].tolist()


def test_a_pair_that_one_member_of_a_group_loses_in_a_mixture_is_lost() -> None:
    """Both tables deliver; the old group of a leads by b and c, and in between c has no way on: half of it is lost."""
    fabric = from_links(["a", "b", "c", "d"], {"h": "d", "g": "a"}, [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    place = {name: fabric.node_name.index(name) for name in "abcd"}

    def port(here: str, there: str) -> int:
        ports = range(int(fabric.port_ptr[place[here]]), int(fabric.port_ptr[place[here] + 1]))
        return next(p for p in ports if fabric.node_name[fabric.port_node[fabric.port_peer[p]]] == there)

    def table(**ways: str | None) -> Routes:
        def choose(row: int, goal: int) -> list[int] | None:
            name = fabric.node_name[int(fabric.switch_node[row])]
            target = fabric.node_name[int(fabric.port_node[fabric.endpoint_port[goal]])]
            if target != "h":
                return [port("a", "g")] if name == "a" else [port(name, "a" if name != "d" else "b")]
            there = ways[name]
            return None if there is None else [port(name, one) for one in there]

        return make_routes(fabric, choose)

    old, new = table(a="bc", b="d", c="d", d="h"), table(a="b", b="d", c=None, d="h")
    ground = Ground(fabric, unite_tables(old, new))
    sides = ground.united.old, ground.united.new
    assert all(prove_stage(ground, side, side).verdict is Verdict.PROVED for side in sides)
    proof = prove_stage(ground, *sides)
    assert proof.witness is not None
    assert (proof.witness.kind, proof.witness.detail) == ("lost", {"destination": "h/nic1", "switch": "a"})
    assert replay(fabric, sides, proof.witness)
