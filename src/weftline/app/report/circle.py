"""A circle of groups: a dragonfly or dragonfly+ drawn as boxes and the global links between every two of them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from weftline.app.report.figures import HeatMap, load_bucket
from weftline.kernels.column import F64, I64, NIL
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind

MAX_SPOTS = 40
"""Boxes on the circle; more groups are gathered into runs of neighbours."""
_WIDTH, _HEIGHT, _ACROSS, _UP = 1040, 760, 410, 315
_BOX = (112, 40)


@dataclass(frozen=True, slots=True)
class Circle:
    """Groups, or runs of them, and what joins them; loads are the worst of both directions."""

    labels: tuple[str, ...]
    details: tuple[str, ...]
    inside: F64
    """Worst load of a link inside each box; NaN where there is none."""
    links: I64
    """Links between each two boxes."""
    load: F64
    """Worst load between each two boxes."""


def gather_circle(fabric: Fabric, port_load: F64) -> Circle:
    """Gather groups into at most ``MAX_SPOTS`` boxes and links into bundles; O(nodes + ports)."""
    groups = int(fabric.node_group.max(initial=NIL)) + 1
    step = -(-groups // MAX_SPOTS)
    spots = -(-groups // step)
    port = np.flatnonzero((fabric.port_peer != NIL) & (fabric.node_group[fabric.port_node] != NIL))
    port = port[fabric.node_group[fabric.port_node[fabric.port_peer[port]]] != NIL]
    near = fabric.node_group[fabric.port_node[port]] // step
    far = fabric.node_group[fabric.port_node[fabric.port_peer[port]]] // step
    same = near == far
    inside = np.full(spots, -1.0)
    np.maximum.at(inside, near[same], port_load[port[same]])
    inside[inside < 0] = np.nan
    links = np.zeros((spots, spots), dtype=np.int64)
    load = np.zeros((spots, spots))
    a, b = near[~same], far[~same]
    np.add.at(links, (a, b), 1)
    np.maximum.at(load, (a, b), port_load[port[~same]])
    told = [_tell_spot(fabric, spot * step, min(groups, (spot + 1) * step)) for spot in range(spots)]
    labels, details = tuple(label for label, _ in told), tuple(detail for _, detail in told)
    return Circle(labels, details, inside, links, np.maximum(load, load.T))


def _tell_spot(fabric: Fabric, first: int, end: int) -> tuple[str, str]:
    chosen = (fabric.node_group >= first) & (fabric.node_group < end)
    members = np.flatnonzero(chosen)
    tiers = [(TIER_NAMES[tier], int(np.count_nonzero(fabric.node_tier[members] == tier))) for tier in (1, 2)]
    switches = " and ".join(f"{count} {tier}" for tier, count in tiers if count)
    homed = chosen[fabric.port_node] & (fabric.port_peer != NIL)
    far = fabric.port_node[fabric.port_peer[np.flatnonzero(homed)]]
    ends = fabric.node_kind[far]
    hosts = len(np.unique(far[ends == NodeKind.HOST]))
    others = int(np.count_nonzero(ends == NodeKind.EXTRA))
    extra = f", {others:,} other endpoints" if others else ""
    label = f"group {first + 1}" if end - first == 1 else f"groups {first + 1}-{end}"
    names = f"{fabric.node_name[int(members[0])]} to {fabric.node_name[int(members[-1])]}"
    return label, f"{label}: {switches} switches, {names}, {hosts:,} hosts{extra}"


def draw_circle(circle: Circle) -> str:
    """Draw every group with a bar in the colour of its busiest link inside, and the links between groups."""
    count = len(circle.labels)
    angle = 2 * np.pi * np.arange(count) / count - np.pi / 2
    x = _WIDTH / 2 + _ACROSS * np.cos(angle)
    y = _HEIGHT / 2 + _UP * np.sin(angle)
    lines: list[str] = []
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count) if circle.links[i, j]]
    for i, j in sorted(pairs, key=lambda pair: (float(circle.load[pair]), pair)):
        number, share = int(circle.links[i, j]), float(circle.load[i, j])
        width = min(4.0, 0.6 + 0.35 * float(np.log2(number))) * min(1.0, 14 / count)
        words = f"{circle.labels[i]} to {circle.labels[j]}: {number} link{'s' * (number > 1)}; worst load {share:.0%}"
        lines.append(
            f'<line class="load-{load_bucket(share)}" x1="{x[i]:.1f}" y1="{y[i]:.1f}" x2="{x[j]:.1f}" y2="{y[j]:.1f}" '
            f'stroke-width="{width:.1f}"><title>{escape(words)}</title></line>'
        )
    boxes = [_draw_spot(circle, i, float(x[i]), float(y[i])) for i in range(count)]
    return (
        f'<svg class="topology" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Groups of the fabric">'
        f"<g>{''.join(lines)}</g><g>{''.join(boxes)}</g></svg>"
    )


def _draw_spot(circle: Circle, index: int, x: float, y: float) -> str:
    count = len(circle.labels)
    width = min(_BOX[0], max(52.0, 2.3 * _UP * np.pi / count))
    height = _BOX[1] if count <= 24 else 30
    share = float(circle.inside[index])
    left, top = x - width / 2, y - height / 2
    words = circle.details[index]
    bar = ""
    if not np.isnan(share):
        words += f"; worst load of a link inside {share:.0%}"
        bar = (
            f'<rect class="load-{load_bucket(share)}" x="{left + 5:.1f}" y="{top + height - 9:.1f}" '
            f'width="{width - 10:.1f}" height="5" rx="2"/>'
        )
    label = circle.labels[index] if width > 66 else circle.labels[index].split(" ")[1]
    return (
        f'<g><title>{escape(words)}</title><rect class="row-0" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
        f'height="{height}" rx="6"/>{bar}<text class="name" x="{x:.1f}" y="{top + height / 2:.1f}">'
        f"{escape(label)}</text></g>"
    )


def map_groups(circle: Circle) -> HeatMap:
    """Show the load from group to group; the diagonal is the busiest link inside."""
    load = np.where(circle.links > 0, circle.load, np.nan)
    np.fill_diagonal(load, circle.inside)
    names = circle.labels
    return HeatMap("group to group, inside on the diagonal", names, names, load, (1, 1))
