"""Tables of one fabric laid over another that holds all of its cables: the same switches under their own numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weftline.adopt.match import match_nodes
from weftline.kernels.column import I32, I64, NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes
from weftline.model.routes import Routes, no_route


@dataclass(frozen=True, eq=False)
class Overlay:
    """Where the nodes and ports of one fabric stand in a larger one."""

    wide: Fabric
    narrow: Fabric
    node: I32
    """Per node of the narrow one that of the wide one."""
    port: I32
    """Per port likewise; NIL for ports that are dark and not there."""


def find_overlay(wide: Fabric, narrow: Fabric, wide_addresses: Addresses, narrow_addresses: Addresses) -> Overlay | str:
    """Find the fabric ``narrow`` inside ``wide``; else say what is not there.

    Ports of endpoints are matched by what they are cabled to, since two discoveries may count the NICs of a host anew.
    """
    matched = {there: here for here, there in match_nodes(wide, narrow, wide_addresses, narrow_addresses).items()}
    lit = narrow.port_peer != NIL
    used = np.unique(narrow.port_node[lit])
    missing = [node for node in used.tolist() if node not in matched]
    if missing:
        return f"{narrow.node_name[missing[0]]} has no counterpart"
    node = np.array([matched.get(one, NIL) for one in range(narrow.node_count)], dtype=np.int32)
    place = {ref: port for port, ref in enumerate(zip(wide.port_node.tolist(), wide.port_number.tolist(), strict=True))}
    refs = zip(node[narrow.port_node].tolist(), narrow.port_number.tolist(), strict=True)
    port = np.array([place.get(ref, NIL) for ref in refs], dtype=np.int32)
    is_end = lit & (narrow.switch_row[narrow.port_node] == NIL)
    far = port[narrow.port_peer[is_end]]
    port[is_end] = np.where(far == NIL, NIL, wide.port_peer[np.maximum(far, 0)])
    peer = np.where(port == NIL, NIL, wide.port_peer[np.maximum(port, 0)])
    wrong = np.flatnonzero(lit & ((peer == NIL) | (peer != port[np.maximum(narrow.port_peer, 0)])))
    if len(wrong):
        return f"no link {narrow.link_name(int(wrong[0]))} is there"
    if (wide.port_node[port[is_end]] != node[narrow.port_node[is_end]]).any():
        return "an endpoint hangs on another switch"
    return Overlay(wide, narrow, node, port)


def lay_over(overlay: Overlay, routes: Routes) -> Routes:
    """Tell tables of the narrow fabric as tables of the wide one; what it does not have gets no entry."""
    wide = overlay.wide
    goal_port = np.where(
        routes.destination_port == NIL, NIL, overlay.port[np.maximum(routes.destination_port, 0)]
    ).astype(np.int32)
    goal_node = overlay.node[routes.destination_node]
    kept = (goal_node != NIL) & ((goal_port != NIL) | (routes.destination_port == NIL))
    row = wide.switch_row[overlay.node[overlay.narrow.switch_node]]
    sizes = np.zeros(len(wide.switch_node), dtype=np.int64)
    there = np.flatnonzero(row != NIL)
    sizes[row[there]] = np.diff(routes.group_ptr)[there]
    first = np.full(len(wide.switch_node), NIL, dtype=np.int64)
    first[row[there]] = there
    table = np.full_like(routes.group, no_route(routes.group), shape=(len(wide.switch_node), int(kept.sum())))
    table[row[there]] = routes.group[np.ix_(there, np.flatnonzero(kept))]
    rows = [int(one) for one in first if one != NIL]
    groups: list[I64] = [np.arange(routes.group_ptr[one], routes.group_ptr[one + 1], dtype=np.int64) for one in rows]
    order: I64 = np.concatenate(groups) if groups else np.zeros(0, dtype=np.int64)
    lengths = np.diff(routes.member_ptr)[order]
    inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    members = np.repeat(routes.member_ptr[order], lengths) + inside
    return replace(
        routes,
        fabric_digest=wide.digest,
        destination_node=goal_node[kept],
        destination_port=goal_port[kept],
        destination_path=None if routes.destination_path is None else routes.destination_path[kept],
        group=table,
        group_ptr=np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        member_ptr=np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
        member_port=overlay.port[routes.member_port[members]].astype(np.int32),
        member_weight=None if routes.member_weight is None else routes.member_weight[members],
        lanes=None if routes.lanes is None else _lay_lanes(overlay, routes.lanes, kept, row),
    )


def _lay_lanes(overlay: Overlay, lanes: Lanes, kept: NDArray[np.bool_], row: I32) -> Lanes:
    """Tell lanes by the destinations, switches and ports of the wide fabric."""
    steps = lanes.steps
    if steps is not None:
        path_class = steps.path_class[:, kept]
        if len(path_class) > 1:
            spread = np.zeros((len(overlay.wide.switch_node), path_class.shape[1]), dtype=np.int8)
            spread[row[row != NIL]] = path_class[row != NIL]
            path_class = spread
        more = None
        if steps.more is not None:
            more = np.zeros((len(overlay.wide.switch_node), int(kept.sum())), dtype=np.uint16)
            more[row[row != NIL]] = steps.more[row != NIL][:, kept]
        port_class = np.zeros(overlay.wide.port_count, dtype=np.int8)
        is_there = overlay.port != NIL
        port_class[overlay.port[is_there]] = steps.port_class[is_there]
        steps = replace(steps, path_class=path_class, port_class=port_class, more=more)
    return replace(lanes, of_destination=lanes.of_destination[kept], steps=steps)
