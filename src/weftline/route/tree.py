"""Recover complete fat trees from a graph of switches: pods, positions, and cables in a canonical order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Fabric
from weftline.route.blocks import Block, count_per_block, join_blocks, refuse_uneven
from weftline.route.graph import SwitchGraph, Whole, count_to_ptr, rank_within


@dataclass(frozen=True, eq=False)
class Trees:
    """Every connected component of switches as a complete fat tree of one, two or three levels; columns over rows.

    A pod is a complete bipartite block of leaves and spines; a position is a complete bipartite block of cores and of
    one spine per pod. ``up_port[up_ptr[row] + cable]`` counts the cables of a leaf by position, then by parallel
    link, and those of a spine by core, then by parallel link; ``down_port`` counts those of a spine by leaf and those
    of a core by pod. A parallel link has the same place at both of its ends. The order follows port numbers, never
    names.
    """

    tree: I32
    level: I32
    """0 leaf, 1 spine, 2 core."""
    pod: I32
    """Pod within the tree, NIL for cores."""
    position: I32
    """Position of a spine or core within the tree, NIL for leaves."""
    index: I32
    """Leaf within its pod, or core within its position; 0 for spines."""
    leaf_parallel: I32
    """Links between a leaf and a spine; per tree, 0 where there are none."""
    core_parallel: I32
    """Links between a spine and a core; per tree, 0 where there are none."""
    pod_leaves: I32
    """Leaves of the largest pod; per tree."""
    up_ptr: I32
    up_port: I32
    down_ptr: I32
    down_port: I32


def recover_trees(fabric: Fabric, graph: SwitchGraph) -> Trees:
    """Recover the trees, or raise ``capability.engine-needs-tree`` with what is in the way; O(links log links)."""
    tree = graph.component
    trees = int(tree.max()) + 1 if len(tree) else 0
    lowest = np.full(trees, np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(lowest, tree, graph.tier)
    level = graph.tier - lowest[tree] if trees else graph.tier
    row = fabric.switch_row[fabric.port_node]
    port = graph.link_port
    rise = level[row[fabric.port_peer[port]]] - level[row[port]]
    strange = np.flatnonzero(np.abs(rise) != 1)
    if len(strange):
        raise not_a_tree(f"link {fabric.link_name(int(port[strange[0]]))} does not join neighbouring tiers")
    if np.any(level > 2):
        raise not_a_tree("there are more than three tiers of switches")
    lower = port[rise == 1]
    from_leaf = lower[level[row[lower]] == 0]
    from_spine = lower[level[row[lower]] == 1]
    pods = join_blocks(fabric, from_leaf)
    positions = join_blocks(fabric, from_spine)
    _check_pods(fabric, tree, level, pods)
    _check_positions(fabric, tree, level, pods, positions)
    return _order_trees(fabric, (tree, level, trees), pods, positions)


def not_a_tree(reason: str) -> CapabilityError:
    """Say why the position rule does not apply."""
    return CapabilityError(
        "capability.engine-needs-tree", f"engine fat-tree needs a complete fat tree, but {reason}", "use engine updown"
    )


def _check_pods(fabric: Fabric, tree: I32, level: I32, pods: Block) -> None:
    """Check what the leaves and spines of a tree must share: parallel links, and the spines of a pod."""
    if pods.reason:
        raise not_a_tree(pods.reason)
    spines = np.flatnonzero(level == 1)
    bare = spines[pods.of_row[spines] == NIL]
    if len(bare):
        raise not_a_tree(f"{_name(fabric, int(bare[0]))} has no link to a leaf")
    members = count_per_block(pods, spines)
    for counts, what in ((members, "spines in its pod"), (pods.parallel, "links to each spine")):
        reason = refuse_uneven(fabric, tree, pods, counts, what)
        if reason:
            raise not_a_tree(reason)


def _check_positions(fabric: Fabric, tree: I32, level: I32, pods: Block, positions: Block) -> None:
    """Check that every core joins one spine of every pod, and that all positions have the same cores."""
    if positions.reason:
        raise not_a_tree(positions.reason)
    has_cores = np.zeros(len(tree), dtype=bool)
    has_cores[tree[level == 2]] = True
    spines = np.flatnonzero((level == 1) & has_cores[tree])
    bare = spines[positions.of_row[spines] == NIL]
    if len(bare):
        raise not_a_tree(f"{_name(fabric, int(bare[0]))} has no link to a core")
    block, pod = positions.of_row[spines], pods.of_row[spines]
    order = np.lexsort((pod, block))
    twice = np.flatnonzero((np.diff(block[order]) == 0) & (np.diff(pod[order]) == 0))
    if len(twice):
        a, b = (_name(fabric, int(spines[order[twice[0] + step]])) for step in (0, 1))
        raise not_a_tree(f"{a} and {b} of one pod share a core")
    members = count_per_block(positions, spines)
    cores = count_per_block(positions, np.flatnonzero(level == 2))
    pod_tree = np.full(pods.count, NIL, dtype=np.int32)
    pod_tree[pods.of_row[spines]] = tree[spines]
    wanted = np.bincount(pod_tree[pod_tree != NIL], minlength=len(tree))
    short = spines[members[block] != wanted[tree[spines]]]
    if len(short):
        reached = members[positions.of_row[short[0]]]
        name = _name(fabric, int(short[0]))
        raise not_a_tree(f"the cores of {name} reach {reached} of {wanted[tree[short[0]]]} pods")
    for counts, what in ((cores, "cores at its position"), (positions.parallel, "links to each core")):
        reason = refuse_uneven(fabric, tree, positions, counts, what)
        if reason:
            raise not_a_tree(reason)


def _order_trees(fabric: Fabric, shape: tuple[I32, I32, int], pods: Block, positions: Block) -> Trees:
    """Put pods, positions, leaves, cores and cables into the order of the port numbers that lead to them."""
    tree, level, trees = shape
    rows = len(tree)
    all_rows = np.arange(rows, dtype=np.int32)
    peer = fabric.port_peer
    row = fabric.switch_row[fabric.port_node]
    spine_ports, core_ports = pods.port, positions.port
    is_spine = level == 1
    # Two tiers have no cores: there each spine is a position of its own.
    place = np.where(is_spine & (positions.of_row == NIL), positions.count + all_rows, positions.of_row)
    pod = np.where((level == 0) & (pods.of_row == NIL), pods.count + all_rows, pods.of_row)
    seen_by_leaf = _sum_numbers(fabric, spine_ports, place[row[peer[spine_ports]]], positions.count + rows)
    seen_by_core = _sum_numbers(fabric, peer[core_ports], pod[row[core_ports]], pods.count + rows)
    seen_by_spine = _sum_numbers(fabric, peer[spine_ports], row[spine_ports], rows)
    seen_by_spine += _sum_numbers(fabric, core_ports, row[peer[core_ports]], rows)
    place_rank = _rank_blocks(tree, place, seen_by_leaf)
    pod_rank = _rank_blocks(tree, pod, seen_by_core)
    index = np.zeros(rows, dtype=np.int32)
    for of_level, block in ((0, pod), (2, place)):
        some = np.flatnonzero(level == of_level)
        index[some] = rank_within(block[some], seen_by_spine[some], some)
    up = np.concatenate((spine_ports, core_ports))
    up_key = np.concatenate((place_rank[row[peer[spine_ports]]], index[row[peer[core_ports]]]))
    down_key = np.concatenate((index[row[spine_ports]], pod_rank[row[core_ports]]))
    up_order = np.lexsort((up, up_key, row[up]))
    down_order = np.lexsort((up, down_key, row[peer[up]]))
    leaves = np.flatnonzero(level == 0)
    pod_leaves = np.zeros(trees, dtype=np.int32)
    np.maximum.at(pod_leaves, tree[leaves], index[leaves] + 1)
    return Trees(
        tree=tree,
        level=level.astype(np.int32),
        pod=pod_rank,
        position=place_rank,
        index=index,
        leaf_parallel=_per_tree(tree, trees, pods),
        core_parallel=_per_tree(tree, trees, positions),
        pod_leaves=pod_leaves,
        up_ptr=count_to_ptr(row[up], rows),
        up_port=up[up_order],
        down_ptr=count_to_ptr(row[peer[up]], rows),
        down_port=peer[up[down_order]],
    )


def _sum_numbers(fabric: Fabric, ports: I32, key: I32, size: int) -> I64:
    """Add up the numbers of the ports that lead to each key."""
    return np.bincount(key, weights=fabric.port_number[ports], minlength=size).astype(np.int64)


def _rank_blocks(tree: I32, block: Whole, weight: Whole) -> I32:
    """Rank the block of each row among the blocks of its tree, by weight and then by first row; NIL stays NIL."""
    rank = np.full(len(block), NIL, dtype=np.int32)
    known = np.flatnonzero(block != NIL)
    if len(known):
        blocks, first, inverse = np.unique(block[known], return_index=True, return_inverse=True)
        first_row = known[first]
        rank[known] = rank_within(tree[first_row], weight[blocks], first_row)[inverse]
    return rank


def _per_tree(tree: I32, trees: int, block: Block) -> I32:
    """Spread a number that all blocks of a tree share to their tree; 0 where it has none."""
    column = np.zeros(trees, dtype=np.int32)
    known = np.flatnonzero(block.of_row != NIL)
    column[tree[known]] = block.parallel[block.of_row[known]]
    return column


def _name(fabric: Fabric, row: int) -> str:
    return fabric.node_name[int(fabric.switch_node[row])]
