"""Ports over time and messages by how long they took, as inline SVG without a script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from weftline.kernels.column import F64, I64
from weftline.model.packet import Series
from weftline.units import format_size

_WIDTH, _STRIP, _LEFT, _RIGHT, _FOOT = 510, 74, 60, 12, 26
_CURVE = 230
_TOP = 14
_BAR = 6
"""Height of the bar below a strip that tells when the port was paused."""
PS_PER_US = 1e6
MOST_MARKS = 40


def draw_strips(
    series: Series, ports: list[int], names: list[str], top_bytes: float, end_ps: int, marks_us: Sequence[float] = ()
) -> str:
    """Draw the queue of each port over time, and below it when the port was paused; all at one scale.

    ``top_bytes`` and ``end_ps`` are the ends of the axes, so that two runs can stand side by side. A line is drawn
    at each of ``marks_us``, when a fault begins or ends.
    """
    height = len(ports) * (_STRIP + 22) + _FOOT
    parts: list[str] = []
    for row, (port, name) in enumerate(zip(ports, names, strict=True)):
        base = row * (_STRIP + 22) + 16
        queue = series.queued_bytes[:, port].astype(np.float64)
        held = series.held_lanes[:, port] != 0
        words = f"{name}: largest queue at a moment shown {format_size(float(queue.max(initial=0.0)))}"
        words += f", paused at {held.mean() if len(held) else 0.0:.0%} of the moments"
        left, right, floor = _LEFT, _WIDTH - _RIGHT, base + _STRIP - 10
        title = f"<title>{escape(words)}</title>"
        parts += [
            f'<text class="axis" x="{left}" y="{base - 4}">{escape(name)}</text>',
            f'<line class="grid" x1="{left}" y1="{base}" x2="{right}" y2="{base}"/>',
            f'<line class="grid" x1="{left}" y1="{floor}" x2="{right}" y2="{floor}"/>',
            f'<text class="axis end" x="{left - 6}" y="{base + 4}">{format_size(top_bytes)}</text>',
            f'<path class="queue" d="{_area(series.at_ps, queue, top_bytes, end_ps, base)}"/>',
            *_bars(series.at_ps, held, end_ps, floor + 2),
            *_marks(marks_us, end_ps, base, floor),
            f'<rect class="over" x="{left}" y="{base}" width="{right - left}" height="{_STRIP}">{title}</rect>',
        ]
    parts += _time_axis(end_ps, height - _FOOT + 12)
    return _figure(parts, height, "Queue of ports over time, and when each was paused")


def draw_completions(took_us: F64, top_us: float) -> str:
    """Draw which share of messages had arrived how long after its start; NaN for those that never did."""
    known = np.sort(took_us[np.isfinite(took_us)])
    parts: list[str] = ['<text class="axis" x="4" y="10">messages that had arrived</text>']
    span = _CURVE - 2 * _TOP - _FOOT
    for share in (0.0, 0.5, 0.9, 1.0):
        y = _TOP + 8 + (1 - share) * span
        parts += [
            f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}"/>',
            f'<text class="axis end" x="{_LEFT - 6}" y="{y + 3:.1f}">{share:.0%}</text>',
        ]
    if len(known):
        at = np.unique(np.linspace(0, len(known) - 1, min(len(known), 400)).astype(np.int64))
        share = (at + 1) / max(len(took_us), 1)
        points = [
            f"{_x(float(known[index]), top_us):.1f} {_TOP + 8 + (1 - high) * span:.1f}"
            for index, high in zip(at.tolist(), share.tolist(), strict=True)
        ]
        first = f"{_x(float(known[0]), top_us):.1f} {_TOP + 8 + span:.1f}"
        parts.append(f'<path class="worst" d="M{first} L{" L".join(points)}"/>')
    parts += _time_axis(round(top_us * PS_PER_US), _CURVE - 8)
    return _figure(parts, _CURVE, "Messages by how long they took")


def _x(value: float, top: float) -> float:
    return _LEFT + float(value) / max(top, 1e-12) * (_WIDTH - _LEFT - _RIGHT)


def _area(at_ps: I64, queue: F64, top: float, end_ps: int, base: float) -> str:
    span = _STRIP - 10
    points = [
        f"{_x(float(time), float(end_ps)):.1f} {base + span - min(1.0, size / max(top, 1.0)) * span:.1f}"
        for time, size in zip(at_ps.tolist(), queue.tolist(), strict=True)
    ]
    end = _x(float(at_ps[-1]), float(end_ps)) if len(at_ps) else _LEFT
    line = " L".join([f"{_LEFT} {base + span}", *points, f"{end:.1f} {base + span}"])
    return f"M{line} Z"


def _bars(at_ps: I64, held: np.ndarray, end_ps: int, y: float) -> list[str]:
    bars: list[str] = []
    before = 0.0
    for time, is_held in zip(at_ps.tolist(), held.tolist(), strict=True):
        if is_held:
            x, end = _x(before, float(end_ps)), _x(float(time), float(end_ps))
            bars.append(f'<rect class="held" x="{x:.1f}" y="{y:.1f}" width="{max(end - x, 0.6):.1f}" height="{_BAR}"/>')
        before = float(time)
    return bars


def _marks(marks_us: Sequence[float], end_ps: int, top: float, floor: float) -> list[str]:
    places = [_x(one * PS_PER_US, float(end_ps)) for one in marks_us[:MOST_MARKS] if one * PS_PER_US <= end_ps]
    return [f'<line class="mark" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{floor}"/>' for x in places]


def _time_axis(end_ps: int, y: float) -> list[str]:
    parts: list[str] = []
    for share in (0.0, 0.5, 1.0):
        end = "end" if share == 1 else "middle"
        x = _LEFT + share * (_WIDTH - _LEFT - _RIGHT)
        parts.append(f'<text class="axis {end}" x="{x:.1f}" y="{y:.1f}">{_time(share * end_ps / PS_PER_US)}</text>')
    return parts


def _time(us: float) -> str:
    return f"{us / 1000:,.3g} ms" if us >= 1000 else f"{us:,.3g} us"


def _figure(parts: list[str], height: int, label: str) -> str:
    return (
        f'<svg class="spread" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
