"""What an entry means, told slowly: the switches that it leads to."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def leads_to(
    row: int, entry: int, group_ptr: Array, member_ptr: Array, next_row: Array, local: int
) -> tuple[int, ...] | str:
    """List the next rows in order; a word where the entry is no group, or delivers or breaks somewhere."""
    if entry == local and entry >= group_ptr[row + 1] - group_ptr[row]:
        return f"delivered at {row}"
    if entry >= group_ptr[row + 1] - group_ptr[row]:
        return "nowhere"
    at = int(group_ptr[row]) + entry
    steps = tuple(int(step) for step in next_row[member_ptr[at] : member_ptr[at + 1]])
    return f"entry {entry} of {row}" if any(step < 0 for step in steps) else steps
