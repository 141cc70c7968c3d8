"""Balance drawn: how many links are how loaded, and the busiest link of every pattern beside the optimum."""

from __future__ import annotations

from html import escape

import numpy as np

from weftline.app.report.figures import BUCKETS, load_bucket
from weftline.kernels.column import F64
from weftline.model.spread import LOAD_EDGES, Family

_WIDTH, _HEIGHT = 510, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 22, 40
MAX_STEPS = 240
"""Points of a curve; of more patterns every so many are drawn, the worst always."""
ROUNDING = 1e-9
_TOPS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)


def draw_classes(family: Family) -> str:
    """Draw the share of links in each class of load as bars; the dashed line is the highest optimum of a pattern."""
    total = max(int(family.load_count.sum()), 1)
    shares = family.load_count / total
    top = _ceiling(float(shares.max(initial=0.0)), (0.05, 0.1, 0.25, 0.5, 1.0))
    width = (_WIDTH - _LEFT - _RIGHT) / len(shares)
    parts = [*_grid(top, "{:.0%}"), '<text class="axis" x="4" y="10">share of links</text>']
    for index, share in enumerate(shares.tolist()):
        height = max(share / top * _span(), 1.0 if share else 0.0)
        x, y = _LEFT + index * width, _HEIGHT - _BOTTOM - height
        words = f"{_name_class(index)}: {share:.2%} of links"
        parts.append(
            f'<rect class="load-{_colour(index)}" x="{x + 3:.1f}" y="{y:.1f}" width="{width - 6:.1f}" '
            f'height="{height:.1f}" rx="2"><title>{escape(words)}</title></rect>'
        )
        if share:
            told = f"{share:.0%}" if share >= 0.01 else "<1%"
            parts.append(_text(x + width / 2, y - 4, told))
        parts.append(_text(x + width / 2, _HEIGHT - _BOTTOM + 14, _name_class(index).removeprefix("up to ")))
    parts.append(_text(_LEFT + (_WIDTH - _LEFT - _RIGHT) / 2, _HEIGHT - 6, "load of a link, times its rate: up to"))
    best = float(family.optimum.max(initial=0.0))
    parts.append(_optimum_at(_LEFT + width * _place(best), best))
    return _figure(parts, f"Links by load under {family.name}")


def draw_worst(family: Family) -> str:
    """Draw the busiest link of every pattern, sorted, over what no routes could better (dashed)."""
    order = np.lexsort((family.optimum, family.worst))
    count = len(order)
    if count > MAX_STEPS:
        order = order[np.unique(np.append(np.arange(0, count, -(-count // MAX_STEPS)), count - 1))]
    worst, optimum = family.worst[order], family.optimum[order]
    top = _ceiling(
        1.05 * float(worst.max(initial=0.0)), (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)
    )
    parts = [*_grid(top, "{:g}"), '<text class="axis" x="4" y="10">busiest link, times its rate</text>']
    for name, load in (("worst", worst), ("optimum", optimum)):
        parts.append(f'<path class="{name}" d="{_steps(load, top)}"/>')
    words = f"busiest {float(worst[-1]):.3g}, median {float(np.median(family.worst)):.3g} times the rate"
    parts.append(
        f'<rect class="over" x="{_LEFT}" y="{_TOP}" width="{_WIDTH - _LEFT - _RIGHT}" height="{_span()}">'
        f"<title>{escape(words)}</title></rect>"
    )
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = _LEFT + share * (_WIDTH - _LEFT - _RIGHT)
        parts.append(_text(x, _HEIGHT - _BOTTOM + 14, f"{share:.0%}", "end" if share == 1 else ""))
    middle = _LEFT + (_WIDTH - _LEFT - _RIGHT) / 2
    parts.append(_text(middle, _HEIGHT - 6, f"{family.name}, from the best to the worst"))
    return _figure(parts, f"Busiest link of each of the {family.name}")


def _steps(load: F64, top: float) -> str:
    """Make a step for every pattern, so that a single one is a line too."""
    width = (_WIDTH - _LEFT - _RIGHT) / max(len(load), 1)
    y = _HEIGHT - _BOTTOM - load / top * _span()
    points = [f"{_LEFT + (at + side) * width:.1f} {y[at]:.1f}" for at in range(len(load)) for side in (0, 1)]
    return f"M{' L'.join(points)}"


def _span() -> int:
    return _HEIGHT - _TOP - _BOTTOM


def _ceiling(value: float, steps: tuple[float, ...]) -> float:
    """Take the first step that is no less; the value itself beyond the last."""
    return next((step for step in steps if step >= value - ROUNDING), value)


def _name_class(index: int) -> str:
    if index == 0:
        return "idle"
    return f"up to {LOAD_EDGES[index]:g}" if index < len(LOAD_EDGES) else f"over {LOAD_EDGES[-1]:g}"


def _colour(index: int) -> int:
    """Colour a class as a link of its highest load."""
    return load_bucket(LOAD_EDGES[index]) if index < len(LOAD_EDGES) else BUCKETS - 1


def _place(load: float) -> float:
    """Say where a load stands on the axis of classes, in bars from the left."""
    edges = np.append(np.array(LOAD_EDGES), 2 * LOAD_EDGES[-1])
    return float(np.interp(load, edges, np.arange(1, len(edges) + 1)))


def _grid(top: float, form: str) -> list[str]:
    parts: list[str] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _HEIGHT - _BOTTOM - share * _span()
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}"/>')
        if share in {0.0, 0.5, 1.0}:
            parts.append(f'<text class="axis end" x="{_LEFT - 6}" y="{y + 3:.1f}">{form.format(share * top)}</text>')
    return parts


def _optimum_at(x: float, load: float) -> str:
    words = f"optimum {load:.3g}"
    return (
        f'<line class="optimum" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_HEIGHT - _BOTTOM}">'
        f"<title>{escape(words)}</title></line>"
        f'<text class="axis optimum" x="{x + 4:.1f}" y="{_TOP + 8}">{escape(words)}</text>'
    )


def _text(x: float, y: float, words: str, end: str = "") -> str:
    return f'<text class="axis {end or "middle"}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def _figure(parts: list[str], label: str) -> str:
    return (
        f'<svg class="spread" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
