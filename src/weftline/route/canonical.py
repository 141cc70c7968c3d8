"""The canonical order of nodes, by kind, tier and name, so that tables do not depend on the order of any input."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes, LaneSteps
from weftline.route.graph import Destinations, SwitchGraph, read_destinations, read_graph
from weftline.route.table import Tables

_NUMBER = re.compile(r"([0-9]+)")
_ZERO, _NINE = ord("0"), ord("9")


@dataclass(frozen=True, eq=False)
class Canon:
    """A fabric whose nodes stand in the canonical order, and where each was before."""

    fabric: Fabric
    node: I64
    """Per node here, its index in the fabric as given."""
    port: I64
    """Per port here, its index in the fabric as given."""


def put_in_order(fabric: Fabric) -> Canon | None:
    """Put nodes into the canonical order; None where they stand in it, as those of every compiled fabric do.

    Hosts come before other endpoints and those before switches, then tier counts, then the name, numbers in it by
    their value. Ports stay in the order of their numbers.
    """
    if _is_canonical(fabric):
        return None
    keys = [_key(name) for name in fabric.node_name]
    order = sorted(
        range(fabric.node_count), key=lambda at: (int(fabric.node_kind[at]), int(fabric.node_tier[at]), keys[at])
    )
    node = np.array(order, dtype=np.int64)
    return Canon(*reorder(fabric, node))


def reorder(fabric: Fabric, node: I64) -> tuple[Fabric, I64, I64]:
    """Put node ``node[i]`` into place ``i``; returns also where each node and each port was."""
    sizes = np.diff(fabric.port_ptr).astype(np.int64)[node]
    ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    inside = np.arange(int(ptr[-1])) - np.repeat(ptr[:-1], sizes)
    port: I64 = np.repeat(fabric.port_ptr[node].astype(np.int64), sizes) + inside
    place = np.empty(len(port), dtype=np.int32)
    place[port] = np.arange(len(port), dtype=np.int32)
    peer = fabric.port_peer[port]
    columns: dict[str, Any] = {
        field.name: getattr(fabric, field.name)[node if field.name.startswith("node_") else port]
        for field in fields(fabric)
        if field.name.startswith(("node_", "port_"))
        and field.name not in {"node_name", "port_ptr", "port_peer"}
        and getattr(fabric, field.name) is not None
    }
    moved = replace(
        fabric,
        node_name=tuple([fabric.node_name[at] for at in cast("list[int]", node.tolist())]),
        port_ptr=ptr.astype(np.int32),
        port_peer=np.where(peer == NIL, NIL, place[np.maximum(peer, 0)]).astype(np.int32),
        **columns,
    )
    return moved, node, port


def fill_in_order(
    fabric: Fabric, goals: Destinations, roots: I32, fill: Callable[[Fabric, SwitchGraph, Destinations, I32], Tables]
) -> Tables:
    """Fill tables in the canonical order of nodes, whatever the order here: engines break ties by place."""
    canon = put_in_order(fabric)
    if canon is None:
        return fill(fabric, read_graph(fabric), goals, roots)
    moved = canon.fabric
    here = read_destinations(moved, to_switches=bool(np.any(goals.port == NIL)), paths=goals.paths)
    return put_back(fabric, canon, fill(moved, read_graph(moved), here, find_rows(fabric, canon, roots)), (goals, here))


def arrange_edges(graph: SwitchGraph, place: I32 | None) -> SwitchGraph:
    """Order the edges of each row by the ``place`` of the row at the other end; None: they stand as they should."""
    if place is None:
        return graph
    row = np.repeat(np.arange(graph.switch_count), np.diff(graph.edge_ptr))
    edges = np.lexsort((place[graph.edge_row], row))
    return replace(
        graph,
        edge_row=graph.edge_row[edges],
        link_ptr=np.concatenate(([0], np.cumsum(np.diff(graph.link_ptr)[edges]))).astype(np.int32),
        link_port=graph.link_port[_slices(graph.link_ptr, edges)],
    )


def find_rows(fabric: Fabric, canon: Canon, rows: I32) -> I32:
    """Find switch rows of the fabric as given among the rows here."""
    here = np.empty(fabric.node_count, dtype=np.int64)
    here[canon.node] = np.arange(fabric.node_count)
    return canon.fabric.switch_row[here[fabric.switch_node[rows]]].astype(np.int32)


def put_back(fabric: Fabric, canon: Canon, tables: Tables, goals: tuple[Destinations, Destinations]) -> Tables:
    """Put the rows, ports and destinations of tables made here back into the order of the fabric as given.

    ``goals`` are the destinations as given, and here.
    """
    row = fabric.switch_row[canon.node[canon.fabric.switch_node]].astype(np.int64)
    column = match_goals(canon, goals)
    group = np.empty_like(tables.group)
    group[row] = tables.group[:, column]
    back = np.argsort(row)
    sizes = np.diff(tables.group_ptr)[back]
    sets = _slices(tables.group_ptr, back)
    member_sizes = np.diff(tables.member_ptr)[sets]
    place = _slices(tables.member_ptr, sets)
    members = canon.port[tables.member_port[place]].astype(np.int32)
    member_ptr = np.concatenate(([0], np.cumsum(member_sizes))).astype(np.int32)
    ascending = _sort_members(member_ptr, members)
    weight = tables.member_weight
    return replace(
        tables,
        group=group,
        group_ptr=np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        member_ptr=member_ptr,
        member_port=members[ascending],
        member_weight=None if weight is None else weight[place[ascending]],
        lanes=None if tables.lanes is None else _put_lanes_back(canon, tables.lanes, row, column),
    )


def _put_lanes_back(canon: Canon, lanes: Lanes, row: I64, column: I64) -> Lanes:
    """Put the columns of lanes back."""
    steps = lanes.steps
    if steps is not None:
        path_class = steps.path_class[:, column]
        if len(path_class) > 1:
            wide = np.empty_like(path_class)
            wide[row] = path_class
            path_class = wide
        port_class = np.empty_like(steps.port_class)
        port_class[canon.port] = steps.port_class
        steps = LaneSteps(path_class, port_class, steps.lane)
    return Lanes(lanes.count, lanes.of_destination[column], lanes.with_answers, steps)


def match_goals(canon: Canon, goals: tuple[Destinations, Destinations]) -> I64:
    """Find for each destination as given its column here: the same node, port and address."""
    given, here = goals
    port = np.where(here.port == NIL, NIL, canon.port[np.maximum(here.port, 0)])
    found = np.lexsort((here.path, port, canon.node[here.node]))
    wanted = np.lexsort((given.path, given.port, given.node))
    column = np.empty(len(given.node), dtype=np.int64)
    column[wanted] = found
    return column


def _slices(ptr: I32, chosen: NDArray[np.int64]) -> I64:
    """List the items of some slices of a CSR, slice by slice."""
    sizes = np.diff(ptr).astype(np.int64)[chosen]
    first = np.repeat(ptr[:-1].astype(np.int64)[chosen], sizes)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return first + np.arange(int(sizes.sum())) - start


def _sort_members(ptr: I32, members: I32) -> I64:
    """Find the order that sorts the ports of every group."""
    of_group = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return np.lexsort((members, of_group))


def _is_canonical(fabric: Fabric) -> bool:
    """Judge whether nodes stand in the canonical order; quick where names have numbers of equal width."""
    nodes = fabric.node_count
    if nodes < 2:
        return True
    rank = fabric.node_kind.astype(np.int32) * 256 + fabric.node_tier
    rise = np.diff(rank)
    if np.any(rise < 0):
        return False
    names = np.array(fabric.node_name, dtype=np.str_)
    letters = names.view(np.uint32).reshape(nodes, -1)
    digits = (letters >= _ZERO) & (letters <= _NINE)
    alike = np.all((digits[1:] == digits[:-1]) & ((letters[1:] == 0) == (letters[:-1] == 0)), axis=1)
    # where digits stand in the same places, the order of letters is that of numbers
    is_fine = (rise > 0) | (alike & (names[:-1] < names[1:]))
    return all(_key(fabric.node_name[at]) < _key(fabric.node_name[at + 1]) for at in np.flatnonzero(~is_fine).tolist())


def _key(name: str) -> tuple[list[tuple[int, str]], str]:
    """Order names by their words and by the values of their numbers, equal ones by the text itself."""
    pieces = _NUMBER.split(name)
    pieces[1::2] = [piece.lstrip("0") for piece in pieces[1::2]]
    # a number with more digits is the larger one; so none is too long to be read
    return [(len(piece) if at % 2 else 0, piece) for at, piece in enumerate(pieces)], name
