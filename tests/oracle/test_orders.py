"""Stages against a search of all orders of single entries: found where there is one, and never where there is none."""

from __future__ import annotations

import pytest

from tests.oracle.orders import Oracle, count_least, draw
from weftline.enact import order_change
from weftline.model.proof import Verdict


@pytest.mark.parametrize("seeds", [range(at, at + 60) for at in range(0, 240, 60)])
def test_stages_are_found_where_an_order_exists_and_only_there(seeds: range) -> None:
    for drawn in filter(None, map(draw, seeds)):
        ordering = order_change(*drawn)
        assert (ordering.verdict is Verdict.PROVED) == Oracle(*drawn).exists()
        assert all(stage.proof.verdict is Verdict.PROVED for stage in ordering.stages)
        if ordering.drain is not None:
            drained = len(ordering.drain.destinations)
            assert drained <= count_least(*drawn, drained) + 1
