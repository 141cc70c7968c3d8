"""An indexed binary heap: items with keys that may change while they wait."""

from __future__ import annotations

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I32, NIL


@kernel
def sift_up(heap: I32, place: I32, key: F64, at: int) -> None:
    """Move the item at ``at`` towards the top until its parent's key is no larger."""
    item = heap[at]
    while at > 0:
        parent = (at - 1) >> 1
        other = heap[parent]
        if key[other] <= key[item]:
            break
        heap[at] = other
        place[other] = at
        at = parent
    heap[at] = item
    place[item] = at


@kernel
def sift_down(heap: I32, place: I32, key: F64, at: int, count: int) -> None:
    """Move the item at ``at`` towards the bottom until both children's keys are no smaller."""
    item = heap[at]
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        other = heap[child]
        if key[item] <= key[other]:
            break
        heap[at] = other
        place[other] = at
        at = child
    heap[at] = item
    place[item] = at


@kernel
def put_item(heap: I32, place: I32, key: F64, item: int, count: int) -> int:
    """Insert an item, or restore the order after its key changed; returns the new count."""
    if place[item] == NIL:
        heap[count] = item
        place[item] = count
        sift_up(heap, place, key, count)
        return count + 1
    at = place[item]
    if at > 0 and key[heap[(at - 1) >> 1]] > key[item]:
        sift_up(heap, place, key, at)
    else:
        sift_down(heap, place, key, at, count)
    return count


@kernel
def pop_item(heap: I32, place: I32, key: F64, count: int) -> int:
    """Remove the item with the least key and return it; the heap then holds ``count - 1``."""
    item = heap[0]
    place[item] = NIL
    if count > 1:
        heap[0] = heap[count - 1]
        place[heap[0]] = 0
        sift_down(heap, place, key, 0, count - 1)
    return int(item)
