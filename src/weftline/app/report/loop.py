"""A credit loop as a picture: each channel waits for the next, round in a circle."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

_MAX_DRAWN = 24
_WIDTH, _RADIUS = 760, 150


def draw_loop(cycle: Sequence[str]) -> str:
    """Draw channels named as ``leaf-1/3~spine-2/4`` on a circle, clockwise; empty where there is none to draw."""
    if not cycle or len(cycle) > _MAX_DRAWN:
        return ""
    height = 2 * _RADIUS + 90
    middle_x, middle_y = _WIDTH / 2, height / 2
    angles = 2 * np.pi * np.arange(len(cycle)) / len(cycle) - np.pi / 2
    spots = [(middle_x + _RADIUS * float(np.cos(a)), middle_y + _RADIUS * float(np.sin(a))) for a in angles]
    pieces: list[str] = []
    for index, (x, y) in enumerate(spots):
        far_x, far_y = spots[(index + 1) % len(spots)]
        pieces.append(
            f'<line class="wait" x1="{x:.1f}" y1="{y:.1f}" x2="{x + 0.9 * (far_x - x):.1f}" '
            f'y2="{y + 0.9 * (far_y - y):.1f}" marker-end="url(#arrow)"/>'
        )
    for (x, y), name in zip(spots, cycle, strict=True):
        side = "start" if x > middle_x + 1 else "end" if x < middle_x - 1 else "middle"
        shift = 10 if side == "start" else -10 if side == "end" else 0
        lift = -12 if side == "middle" and y < middle_y else 22 if side == "middle" else 4
        pieces.append(f'<circle class="channel" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        pieces.append(
            f'<text class="port" text-anchor="{side}" x="{x + shift:.1f}" y="{y + lift:.1f}">{escape(name)}</text>'
        )
    marker = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
    )
    return (
        f'<svg class="loop" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="Channels that wait for each other">{marker}{"".join(pieces)}</svg>'
    )
