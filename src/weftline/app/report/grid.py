"""A grid of switches: a torus drawn as its last two dimensions, one grid for every place in the others."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from weftline.app.report.figures import load_bucket
from weftline.kernels.column import F64, I32, NIL
from weftline.model.fabric import Fabric

MAX_CELLS = 4096
_WIDTH = 1040


def draw_grid(fabric: Fabric, port_load: F64) -> str:
    """Draw switches as dots and links as lines, coloured by the busiest; empty where there are too many to see.

    Links across the edge are stubs. A dot has the colour of its busiest link to another grid.
    """
    place = fabric.node_place
    if place is None or len(fabric.switch_node) > MAX_CELLS:
        return ""
    if fabric.planes > 1:  # the planes stand side by side
        place = np.column_stack((fabric.node_plane, place))
    spots, height = _spots(place[fabric.switch_node])
    load, links = _gather_links(fabric, port_load)
    lines: list[str] = []
    out = np.full(len(spots), -1.0)
    for (a, b), share in sorted(load.items(), key=lambda item: (item[1], item[0])):
        across = _dimensions(place, int(fabric.switch_node[a]), int(fabric.switch_node[b]))
        if len(across) != 1 or across[0] < place.shape[1] - 2:
            out[[a, b]] = np.maximum(out[[a, b]], share)
            continue
        words = f"{fabric.node_name[int(fabric.switch_node[a])]} to {fabric.node_name[int(fabric.switch_node[b])]}: "
        words += f"{links[a, b]} link{'s' * (links[a, b] > 1)}; worst load {share:.0%}"
        for start, end in _strokes(spots[a], spots[b], _pitch(spots)):
            lines.append(
                f'<line class="load-{load_bucket(share)}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" '
                f'y2="{end[1]:.1f}" stroke-width="2.2"><title>{escape(words)}</title></line>'
            )
    dots = [_draw_dot(fabric, place, row, spots[row], float(out[row])) for row in range(len(spots))]
    return (
        f'<svg class="topology" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="Switches of the torus">'
        f"<g>{''.join(lines)}</g><g>{''.join(dots)}</g></svg>"
    )


def _spots(place: I32) -> tuple[F64, float]:
    """Give every switch its place on the page: grids from left to right and down, as many as fit."""
    sizes = [int(place[:, d].max()) + 1 for d in range(place.shape[1])]
    rows, columns = (sizes[-2] if len(sizes) > 1 else 1), sizes[-1]
    grids = math.prod(sizes[:-2])
    square = math.ceil(math.sqrt(grids * (rows + 1) / (columns + 1) * 1.6))
    wide = min(grids, max(square, int((_WIDTH - 20) // (40 * (columns + 1))), 1))
    pitch = min(46.0, (_WIDTH - 20) / (wide * (columns + 1)))
    grid = np.zeros(len(place), dtype=np.int64)
    for dimension in range(len(sizes) - 2):
        grid = grid * sizes[dimension] + place[:, dimension]
    x = (grid % wide * (columns + 1) + place[:, -1] + 1) * pitch
    y = (grid // wide * (rows + 1) + (place[:, -2] if len(sizes) > 1 else 0) + 1) * pitch
    used = wide * (columns + 1) * pitch
    spots: F64 = np.stack((x + (_WIDTH - used) / 2 - pitch / 4, y), axis=1).astype(np.float64)
    return spots, float(y.max() + pitch)


def _pitch(spots: F64) -> float:
    """Find the distance of neighbours on the page."""
    x, y = np.unique(spots[:, 0].round(3)), np.unique(spots[:, 1].round(3))
    steps = [*np.diff(x).tolist(), *np.diff(y).tolist()]
    return min(steps, default=30.0)


def _gather_links(fabric: Fabric, port_load: F64) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], int]]:
    row = fabric.switch_row[fabric.port_node]
    port = np.flatnonzero((row != NIL) & (fabric.port_peer != NIL))
    port = port[row[fabric.port_peer[port]] != NIL]
    load: dict[tuple[int, int], float] = {}
    links: dict[tuple[int, int], int] = {}
    for p in port.tolist():
        a, b = int(row[p]), int(row[fabric.port_peer[p]])
        key = (min(a, b), max(a, b))
        load[key] = max(load.get(key, 0.0), float(port_load[p]))
        links[key] = links.get(key, 0) + (a < b)
    return load, links


def _strokes(a: F64, b: F64, pitch: float) -> list[tuple[F64, F64]]:
    """Draw neighbours as one line, and what goes across the edge as two stubs."""
    step = b - a
    if float(np.abs(step).max()) < 1.5 * pitch:
        return [(a, b)]
    stub = np.sign(step) * 0.42 * pitch
    return [(a, a - stub), (b, b + stub)]


def _draw_dot(fabric: Fabric, place: I32, row: int, spot: F64, share: float) -> str:
    node = int(fabric.switch_node[row])
    at = ", ".join(str(int(value)) for value in place[node])
    words = f"{fabric.node_name[node]} at ({at})"
    kind = "row-0"
    if share >= 0:
        words += f"; worst load to another grid {share:.0%}"
        kind = f"load-{load_bucket(share)}"
    return (
        f'<rect class="{kind}" x="{spot[0] - 6:.1f}" y="{spot[1] - 6:.1f}" width="12" height="12" rx="3">'
        f"<title>{escape(words)}</title></rect>"
    )


def _dimensions(place: I32, a: int, b: int) -> list[int]:
    """List the dimensions in which two switches differ."""
    return [d for d in range(place.shape[1]) if place[a, d] != place[b, d]]
