"""Balance as pictures: bars add up to all links, the curve ends at the worst pattern, and few or many patterns fit."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.app.report.page import show_spread
from weftline.app.report.spread import MAX_STEPS, draw_classes, draw_worst
from weftline.model.spread import LOAD_EDGES, Family, LoadSpread

CLASSES = len(LOAD_EDGES) + 1
SVG = "{http://www.w3.org/2000/svg}"


def family(worst: list[float], count: list[int] | None = None, name: str = "shifts", of: int = 0) -> Family:
    loads, each = np.array(worst), len(worst)
    return Family(
        name=name,
        pattern=np.arange(each),
        of=of,
        worst=loads,
        optimum=np.minimum(loads, 1.0),
        share_mean=np.full(each, 0.5),
        share_least=np.full(each, 0.25),
        load_count=np.array(count or [1] * CLASSES),
        lost=0,
        worst_pattern=0,
        worst_link="a/1~b/2",
    )


def read(svg: str) -> ET.Element:
    return ET.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))  # noqa: S314  (our own)


def test_bars_say_the_share_of_links_and_are_red_above_the_rate() -> None:
    svg = read(draw_classes(family([2.0], [10, 0, 80, 0, 10, 0, 0, 0, 0, 0])))
    bars = svg.findall(f"{SVG}rect")
    titles = [bar.findtext(f"{SVG}title") for bar in bars]
    assert titles[0] == "idle: 10.00% of links"
    assert titles[2] == "up to 1: 80.00% of links"
    assert titles[-1] == "over 8: 0.00% of links"
    heights = [float(bar.attrib["height"]) for bar in bars]
    assert heights[2] == pytest.approx(8 * heights[0], rel=0.01)
    assert [bar.attrib["class"] for bar in bars] == ["load-0", "load-3", "load-5", *["load-6"] * 7]
    (line,) = svg.findall(f"{SVG}line[@class='optimum']")
    assert line.findtext(f"{SVG}title") == "optimum 1"
    # it stands behind the bar of loads up to 1
    assert float(line.attrib["x1"]) > float(bars[2].attrib["x"]) + float(bars[2].attrib["width"])
    assert float(line.attrib["x1"]) < float(bars[3].attrib["x"])


@given(st.lists(st.floats(0.0, 2000.0), min_size=1, max_size=600))
def test_a_curve_rises_from_the_best_to_the_worst_within_its_frame(worst: list[float]) -> None:
    svg = read(draw_worst(family(worst)))
    curve, optimum = svg.findall(f"{SVG}path")
    points = re.findall(r"([\d.]+) (-?[\d.]+)", curve.attrib["d"])
    assert len(points) <= 2 * (MAX_STEPS + 1)
    heights = [float(y) for _, y in points]
    assert heights == sorted(heights, reverse=True)
    assert min(heights) >= 22 - 0.1
    assert max(heights) <= 190 + 0.1
    assert optimum.attrib["class"] == "optimum"
    assert f"busiest {max(worst):.3g}," in draw_worst(family(worst))


def test_titles_say_how_many_of_how_many() -> None:
    five = [1.0] * 5
    families = (family(five, of=5), family(five, of=9), family([1.0], name="permutations"), family([1.0], name="job a"))
    told = show_spread(LoadSpread("x", 6, 7, is_single=True, is_rated=True, families=families))
    assert [one["title"] for one in told] == ["All 5 shifts", "5 of 9 shifts", "1 random permutations (seed 7)"]
