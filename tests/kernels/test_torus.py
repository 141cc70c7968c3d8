"""Steps on a torus that lost links against a walk round every ring."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import torus as reference
from tests.tables import cut
from tests.unit.route.walks import switch_links
from weftline.compile.direct import build_torus
from weftline.kernels import torus
from weftline.route.graph import read_graph
from weftline.route.torus import read_lattice


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(2, 5), min_size=1, max_size=3), st.data())
def test_every_step_is_that_of_the_twin(sizes: list[int], data: st.DataObject) -> None:
    fabric = build_torus(sizes)
    links = switch_links(fabric)
    left = cut(fabric, data.draw(st.lists(st.sampled_from(links), max_size=4, unique=True)))
    lattice = read_lattice(left, read_graph(left))
    rows = len(lattice.place)
    heading = np.zeros((rows, len(sizes), max(sizes)), dtype=np.int8)
    torus.measure_rings(lattice.size, lattice.along, heading)
    places = [tuple(place) for place in lattice.place.tolist()]
    pairs = {
        (places[row], places[int(other)]) for row in range(rows) for other in lattice.along[row].ravel() if other >= 0
    }
    found = np.zeros(3, dtype=np.int32)
    for row in range(rows):
        for goal in range(rows):
            if row == goal:
                continue
            wanted = reference.next_step(places[row], places[goal], sizes, lambda a, b: (a, b) in pairs)
            there = torus.step_on(row, goal, lattice.place, lattice.size, lattice.along, heading, found)
            assert (tuple(found.tolist()) if there else None) == wanted
