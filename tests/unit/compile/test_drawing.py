"""The drawing in the documentation shows a fabric that is really built like that."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np

from tests.fabrics import make_fabric
from weftline.model.fabric import Fabric

BOX = re.compile(r'<rect class="box [^"]*" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"')
NAME = re.compile(r'<text class="name"[^>]*>([a-z]+-\d+)</text>')
LINE = re.compile(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)")


def drawn_links(svg: str) -> list[frozenset[str]]:
    """The pairs of boxes that lines join."""
    boxes = [tuple(float(n) for n in box) for box in BOX.findall(svg)]
    names: list[str] = NAME.findall(svg)
    assert len(boxes) == len(names)

    def at(x: float, y: float) -> str:
        near = [n for n, (bx, by, w, h) in zip(names, boxes, strict=True) if bx <= x <= bx + w and by <= y <= by + h]
        assert len(near) == 1, (x, y)
        return near[0]

    lines = [[float(n) for n in line] for line in LINE.findall(svg)]
    return [frozenset((at(x1, y1), at(x2, y2))) for x1, y1, x2, y2 in lines]


def real_links(fabric: Fabric) -> list[frozenset[str]]:
    ports = np.flatnonzero(fabric.port_peer > np.arange(fabric.port_count))
    near, far = fabric.port_node[ports], fabric.port_node[fabric.port_peer[ports]]
    return [frozenset((fabric.node_name[int(a)], fabric.node_name[int(b)])) for a, b in zip(near, far, strict=True)]


def test_the_drawing_of_three_tiers_is_the_fabric(root: Path) -> None:
    svg = (root / "docs" / "images" / "three-tiers.svg").read_text(encoding="utf-8")
    fabric = make_fabric("rail-optimised", hosts=8, rails=2, ports=4, unit_size=2)
    assert Counter(drawn_links(svg)) == Counter(real_links(fabric))
