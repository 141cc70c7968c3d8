"""Figures: the topology and the heat maps of link load, as inline SVG without a script."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from weftline.app.report.bundles import Box, Picture
from weftline.kernels.column import F64, NIL
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind

BUCKETS = 7
"""Colour steps; the classes ``load-0`` (idle) to ``load-5`` (full) and ``load-6`` (over) are in the page's style."""
OVER = 1.0 + 1e-6
MAX_CELLS = 64
"""Rows and columns of a heat map; a larger one shows the worst link of each block."""
_WIDTH, _ROW, _BOX_HEIGHT, _EDGE = 1040, 130, 30, 64


def load_bucket(share: float) -> int:
    """Sort a load, as a share of capacity, into a colour step; anything above zero is not idle."""
    if share <= 0:
        return 0
    return BUCKETS - 1 if share > OVER else min(BUCKETS - 2, 1 + int(share * (BUCKETS - 2) - 1e-9))


def draw_topology(picture: Picture) -> str:
    """Draw boxes by tier and the bundles between them, coloured by the worse direction."""
    height = _ROW * (len(picture.rows) - 1) + _BOX_HEIGHT + 40
    spots = {index: _spot(picture, box, height) for index, box in enumerate(picture.boxes)}
    lines: list[str] = []
    for bundle in sorted(picture.bundles, key=lambda b: (max(b.load_up, b.load_down), b.lower, b.upper)):
        (x1, y1), (x2, y2) = spots[bundle.lower], spots[bundle.upper]
        bucket = load_bucket(max(bundle.load_up, bundle.load_down))
        width = min(4.0, 0.8 + 0.4 * float(np.log2(bundle.links)))
        lower, upper = picture.boxes[bundle.lower], picture.boxes[bundle.upper]
        words = (
            f"{lower.label} to {upper.label}: {bundle.links} link{'s' if bundle.links > 1 else ''}; "
            f"worst load up {bundle.load_up:.0%}, down {bundle.load_down:.0%}"
        )
        lines.append(
            f'<line class="load-{bucket}" x1="{x1:.1f}" y1="{y1 - _BOX_HEIGHT / 2:.1f}" x2="{x2:.1f}" '
            f'y2="{y2 + _BOX_HEIGHT / 2:.1f}" stroke-width="{width:.1f}"><title>{escape(words)}</title></line>'
        )
    boxes = [_draw_box(picture, box, spots[index]) for index, box in enumerate(picture.boxes)]
    names = [
        f'<text class="tier" x="8" y="{_row_y(row, height) + 4:.1f}">{escape(name)}</text>'
        for row, name in enumerate(picture.rows)
    ]
    return (
        f'<svg class="topology" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Topology of the fabric">'
        f"<g>{''.join(lines)}</g><g>{''.join(boxes)}</g><g>{''.join(names)}</g></svg>"
    )


def _row_y(row: int, height: int) -> float:
    return height - 20 - _BOX_HEIGHT / 2 - row * _ROW


def _spot(picture: Picture, box: Box, height: int) -> tuple[float, float]:
    count = sum(1 for other in picture.boxes if other.row == box.row)
    step = (_WIDTH - 2 * _EDGE) / count
    return _EDGE + step * (box.column + 0.5), _row_y(box.row, height)


def _draw_box(picture: Picture, box: Box, spot: tuple[float, float]) -> str:
    count = sum(1 for other in picture.boxes if other.row == box.row)
    width = min(170.0, (_WIDTH - 2 * _EDGE) / count - 4)
    x, y = spot[0] - width / 2, spot[1] - _BOX_HEIGHT / 2
    fits = max(1, int(width / 6.6))
    label = box.label if len(box.label) <= fits else box.label.split("-")[-1]
    if box.row == 0 and width > 120:
        label = f"{box.label} · {box.nodes} hosts" if box.nodes > 1 else box.label
    label = label if len(label) <= fits else ""
    return (
        f'<g><rect class="row-{box.row}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BOX_HEIGHT}" rx="4">'
        f"<title>{escape(box.detail)}</title></rect>"
        f'<text class="name" x="{spot[0]:.1f}" y="{spot[1] + 4:.1f}">{escape(label)}</text></g>'
    )


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The load from one tier to the next: rows send, columns receive; NaN where there is no link."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    load: F64
    block: tuple[int, int]
    """Switches behind one row and one column."""


def gather_heat_maps(fabric: Fabric, port_load: F64) -> tuple[HeatMap, ...]:
    """Gather one map for each direction between neighbouring tiers of switches; O(ports)."""
    tiers = fabric.node_tier.astype(np.int64)
    tiers[fabric.node_kind != NodeKind.SWITCH] = NIL
    maps: list[HeatMap] = []
    for low in range(1, int(tiers.max(initial=0))):
        for source, target in ((low, low + 1), (low + 1, low)):
            found = _gather_map(fabric, port_load, tiers, source, target)
            if found is not None:
                maps.append(found)
    return tuple(maps)


def _gather_map(fabric: Fabric, port_load: F64, tiers: np.ndarray, source: int, target: int) -> HeatMap | None:
    ports = np.flatnonzero(fabric.port_peer != NIL)
    here, there = fabric.port_node[ports], fabric.port_node[fabric.port_peer[ports]]
    chosen = (tiers[here] == source) & (tiers[there] == target)
    if not chosen.any():
        return None
    senders, receivers = np.flatnonzero(tiers == source), np.flatnonzero(tiers == target)
    block = (-(-len(senders) // MAX_CELLS), -(-len(receivers) // MAX_CELLS))
    row = np.searchsorted(senders, here[chosen]) // block[0]
    column = np.searchsorted(receivers, there[chosen]) // block[1]
    load = np.full((-(-len(senders) // block[0]), -(-len(receivers) // block[1])), -1.0)
    np.maximum.at(load, (row, column), port_load[ports[chosen]])
    load[load < 0] = np.nan
    return HeatMap(
        f"{TIER_NAMES[source]} to {TIER_NAMES[target]}",
        tuple(fabric.node_name[int(node)] for node in senders[:: block[0]]),
        tuple(fabric.node_name[int(node)] for node in receivers[:: block[1]]),
        load,
        block,
    )


def draw_heat_map(heat: HeatMap, what: str = "Load") -> str:
    """Draw one map; each cell names its link and its load, or what else is shown; what is not known is hollow."""
    rows, columns = heat.load.shape
    cell = max(7, min(22, 560 // max(columns, 1)))
    left, top = 74, 62
    width, height = left + columns * cell + 12, top + rows * cell + 12
    parts: list[str] = []
    for row in range(rows):
        for column in range(columns):
            share = float(heat.load[row, column])
            if np.isnan(share):
                continue
            is_known = bool(np.isfinite(share))
            words = f"{heat.rows[row]} → {heat.columns[column]}: {f'{share:.1%}' if is_known else 'not known'}"
            step = f"load-{load_bucket(share)}" if is_known else "load-unknown"
            parts.append(
                f'<rect class="{step}" x="{left + column * cell}" y="{top + row * cell}" '
                f'width="{cell - 1}" height="{cell - 1}"><title>{escape(words)}</title></rect>'
            )
    apart = max(1, -(-14 // cell))
    for row in range(0, rows, apart):
        y = top + row * cell + cell / 2 + 3
        parts.append(f'<text class="axis end" x="{left - 6}" y="{y:.1f}">{escape(heat.rows[row])}</text>')
    for column in range(0, columns, apart):
        x = left + column * cell + cell / 2 + 3
        parts.append(
            f'<text class="axis" x="{x:.1f}" y="{top - 6}" transform="rotate(-60 {x:.1f} {top - 6})">'
            f"{escape(heat.columns[column])}</text>"
        )
    return (
        f'<svg class="heat" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{what} {escape(heat.title)}">{"".join(parts)}</svg>'
    )
