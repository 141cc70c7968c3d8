"""Parts of a graph: which nodes hang together, and what their neighbours agree on."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import I32, NIL


def connected_parts(count: int, a: I32, b: I32) -> I32:
    """Label each of ``count`` nodes with the smallest node that links ``a[i]``-``b[i]`` join it to."""
    label = np.arange(count, dtype=np.int32)
    while True:
        low, high = np.minimum(label[a], label[b]), np.maximum(label[a], label[b])
        if not (low < high).any():
            return label
        np.minimum.at(label, high, low)
        while (label[label] != label).any():
            label = label[label]


def uniform_value(count: int, node: I32, value: I32) -> I32:
    """Give each of ``count`` nodes the value that all its entries share; NIL where they differ or there are none."""
    low = np.full(count, np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full(count, NIL, dtype=np.int32)
    np.minimum.at(low, node, value)
    np.maximum.at(high, node, value)
    return np.where(low == high, high, NIL).astype(np.int32)
