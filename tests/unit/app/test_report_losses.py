"""The map of losses: nothing lost, something lost and what is not known never look the same."""

from __future__ import annotations

import math

import numpy as np

from weftline.app.report.figures import HeatMap, draw_heat_map


def test_nothing_something_and_not_known_differ() -> None:
    loss = np.array([[0.0, 0.5, math.inf, math.nan]])
    drawn = draw_heat_map(HeatMap("leaf to spine", ("leaf-001",), ("a", "b", "c", "d"), loss, (1, 1)), "Loss")
    assert 'class="load-0"' in drawn
    assert "leaf-001 → a: 0.0%" in drawn
    assert 'class="load-3"' in drawn
    assert "leaf-001 → b: 50.0%" in drawn
    assert 'class="load-unknown"' in drawn
    assert "leaf-001 → c: not known" in drawn
    assert "→ d" not in drawn  # no link there
    assert 'aria-label="Loss leaf to spine"' in drawn
