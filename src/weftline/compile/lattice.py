"""Lattices: torus and HyperX, whose switches stand at coordinates, as graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weftline.compile.switches import SwitchGraph
from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Tier


def torus_graph(sizes: Sequence[int], cables: Sequence[int], endpoints: int, ports: int) -> SwitchGraph:
    """Join every switch to the next one in each dimension, and the last to the first.

    A dimension of two has one run of links, not two between the same switches; one of a single switch has none. The
    first dimension counts slowest. In dimension d the ports upwards come before the ports downwards.
    """
    place = _coordinates(sizes)
    index = np.arange(len(place), dtype=np.int64)
    a: list[I64] = []
    b: list[I64] = []
    up: list[I64] = []
    stride = _strides(sizes)
    for dimension, (size, count) in enumerate(zip(sizes, cables, strict=True)):
        if size < 2:
            continue
        at = place[:, dimension].astype(np.int64)
        chosen = index if size > 2 else index[at == 0]
        step = np.where(at[chosen] + 1 == size, 1 - size, 1) * stride[dimension]
        a.append(np.repeat(chosen, count))
        b.append(np.repeat(chosen + step, count))
        up.append(np.full(len(chosen) * count, 2 * dimension, dtype=np.int64))
    return _lattice("torus", place, (a, b, up, 1), endpoints, ports)


def hyperx_graph(sizes: Sequence[int], cables: Sequence[int], endpoints: int, ports: int) -> SwitchGraph:
    """Join every switch to every other one that differs in one coordinate only, by ``cables[d]`` links in dimension d.

    Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC 2009.
    """
    place = _coordinates(sizes)
    index = np.arange(len(place), dtype=np.int64)
    a: list[I64] = []
    b: list[I64] = []
    kind: list[I64] = []
    stride = _strides(sizes)
    for dimension, (size, count) in enumerate(zip(sizes, cables, strict=True)):
        at = place[:, dimension]
        for offset in range(1, size):
            chosen = index[at + offset < size]
            a.append(np.repeat(chosen, count))
            b.append(np.repeat(chosen + offset * stride[dimension], count))
            kind.append(np.full(len(chosen) * count, dimension, dtype=np.int64))
    return _lattice("hyperx", place, (a, b, kind, 0), endpoints, ports)


def _coordinates(sizes: Sequence[int]) -> I32:
    grids = np.indices(tuple(sizes)).reshape(len(sizes), -1)
    return np.ascontiguousarray(grids.T.astype(np.int32))


def _strides(sizes: Sequence[int]) -> list[int]:
    return [int(np.prod(sizes[d + 1 :], dtype=np.int64)) for d in range(len(sizes))]


def _lattice(
    shape: str, place: I32, runs: tuple[list[I64], list[I64], list[I64], int], endpoints: int, ports: int
) -> SwitchGraph:
    none = [np.zeros(0, dtype=np.int64)]
    a, b, kind = (np.concatenate(columns or none).astype(np.int32) for columns in runs[:3])
    count = len(place)
    return SwitchGraph(
        shape=shape,
        tier=np.full(count, Tier.LEAF, dtype=np.int8),
        group=np.full(count, NIL, dtype=np.int32),
        place=place,
        endpoints=np.full(count, endpoints, dtype=np.int32),
        radix=np.full(count, ports, dtype=np.int32),
        a=a,
        b=b,
        a_class=kind,
        b_class=kind + np.int32(runs[3]),
    )
