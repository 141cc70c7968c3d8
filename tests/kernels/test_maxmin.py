"""Max-min rates against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import maxmin as reference
from weftline.kernels.column import F64, I32, NIL
from weftline.kernels.maxmin import fill_rates


def maxmin_rates(path_ptr: I32, path_resource: I32, path_cap: F64, capacity: F64) -> tuple[F64, I32]:
    """Share all resources among all flows, each on a path of its own."""
    flows, resources = len(path_ptr) - 1, len(capacity)
    rate, bind = np.zeros(flows), np.full(flows, NIL, dtype=np.int32)
    open_count = np.bincount(path_resource, minlength=resources).astype(np.int32)
    own = np.arange(flows, dtype=np.int32)
    tight = np.arange(resources, dtype=np.int32)
    fill_rates(
        own.copy(), flows, own, path_ptr, path_resource, path_cap, tight, resources, capacity.copy(), open_count,
        rate, bind,
    )  # fmt: skip
    assert not open_count.any()
    return rate, bind


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    """Draw paths, caps and capacities."""
    resources = draw(st.integers(1, 6))
    capacity = draw(st.lists(st.integers(1, 40), min_size=resources, max_size=resources))
    paths = draw(
        st.lists(st.lists(st.integers(0, resources - 1), min_size=1, max_size=4, unique=True), min_size=1, max_size=10)
    )
    caps = [min(*(capacity[r] for r in path), draw(st.integers(1, 40))) for path in paths]
    return paths, caps, capacity


@given(networks())
def test_rates_are_those_of_exact_fractions(network: tuple[list[list[int]], list[int], list[int]]) -> None:
    paths, caps, capacity = network
    rates, bind = maxmin_rates(
        np.cumsum([0, *map(len, paths)]).astype(np.int32),
        np.array([r for path in paths for r in path], dtype=np.int32),
        np.array(caps, dtype=np.float64),
        np.array(capacity, dtype=np.float64),
    )
    wanted = reference.maxmin_rates(paths, [Fraction(c) for c in caps], [Fraction(c) for c in capacity])
    np.testing.assert_allclose(rates, [float(rate) for rate in wanted], rtol=1e-12)
    for flow, resource in enumerate(bind):
        if resource == NIL:
            assert rates[flow] == caps[flow]
        else:
            used = math.fsum(float(rates[other]) for other in range(len(paths)) if resource in paths[other])
            assert math.isclose(used, capacity[int(resource)], rel_tol=1e-12)
            assert all(
                rates[other] <= rates[flow] * (1 + 1e-9) for other in range(len(paths)) if resource in paths[other]
            )


def test_one_flow_has_its_cap_and_no_flow_is_no_rate() -> None:
    one = maxmin_rates(np.array([0, 1], np.int32), np.array([0], np.int32), np.array([3.0]), np.array([5.0]))
    assert one[0].tolist() == [3.0]
    none = maxmin_rates(np.array([0], np.int32), np.array([], np.int32), np.array([]), np.array([5.0]))
    assert none[0].tolist() == []
