"""Leaves with fewer uplinks than most: the first thing to look for where no plan says what should be there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind, Tier
from weftline.model.finding import Finding
from weftline.technologies.infiniband.audit.verdicts import join


def find_few(fabric: Fabric) -> list[Finding]:
    """Name each leaf that lacks uplinks which most leaves have, and the switches to which it has fewer."""
    ups = _count_uplinks(fabric)
    totals = {leaf: sum(above.values()) for leaf, above in ups.items()}
    if not totals:
        return []
    usual, times = max(sorted(Counter(totals.values()).items()), key=lambda pair: pair[1])
    if 2 * times <= len(totals):
        return []
    switches = sorted({node for above in ups.values() for node in above})
    wanted = {
        node: _most(above.get(node, 0) for leaf, above in ups.items() if totals[leaf] == usual) for node in switches
    }
    findings: list[Finding] = []
    for leaf, total in totals.items():
        if total >= usual:
            continue
        lacking = [
            f"{fabric.node_name[node]} ({ups[leaf].get(node, 0)} of {wanted[node]})"
            for node in switches
            if ups[leaf].get(node, 0) < wanted[node]
        ]
        where = f"; fewer than most to {join(lacking)}" if lacking else ""
        findings.append(
            Finding(
                rule="fabric.few-uplinks",
                severity="warning",
                subject=fabric.node_name[leaf],
                message=f"{total} uplinks are there, and most leaves have {usual}{where}",
                next_step="look for cables that are missing, and for links that are down or disabled; a dump shows no "
                "link that is down, and a plan or a declaration says whether one belongs there",
            )
        )
    return findings


def _count_uplinks(fabric: Fabric) -> dict[int, Counter[int]]:
    """Count the links of each leaf to each switch above it."""
    ports = np.flatnonzero(fabric.port_peer != NIL)
    near, far = fabric.port_node[ports], fabric.port_node[fabric.port_peer[ports]]
    are_switches = (fabric.node_kind[near] == NodeKind.SWITCH) & (fabric.node_kind[far] == NodeKind.SWITCH)
    chosen = are_switches & (fabric.node_tier[near] == Tier.LEAF) & (fabric.node_tier[far] > Tier.LEAF)
    leaves = np.flatnonzero((fabric.node_kind == NodeKind.SWITCH) & (fabric.node_tier == Tier.LEAF)).tolist()
    ups: dict[int, Counter[int]] = {leaf: Counter() for leaf in leaves}
    for leaf, above in zip(near[chosen].tolist(), far[chosen].tolist(), strict=True):
        ups[leaf][above] += 1
    return ups


def _most(numbers: Iterable[int]) -> int:
    return max(sorted(Counter(numbers).items()), key=lambda pair: pair[1])[0]
