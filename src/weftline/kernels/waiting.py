"""Turns put into a graph of channels one by one, which stays without a cycle: what would close one is left out."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, I64, NIL


@kernel
def insert_turns(
    turn: I64,
    turn_row: I32,
    lanes: int,
    turn_ptr: I64,
    port_ptr: I32,
    port_peer: I32,
    switch_node: I32,
    switch_row: I32,
    port_node: I32,
    count: I32,
    place: I32,
) -> tuple[int, int]:
    """Put turns into the graph of channels, each once more than it is there, until one would close a cycle.

    ``turn_row`` is the switch of each. ``count[t]`` says how often turn ``t`` is in the graph, ``place[p]`` is the
    place of channel ``p`` in an order along which all turns go (Pearce and Kelly, 2006: only what stands between the
    two ends of a turn is put in order again). Where lanes wait for each other, a channel is ``lane * ports + port`` and
    a turn the number of its ports times the square of ``lanes``, and ``lane in * lanes + lane out``. Returns how many
    were put in, all unless one closes a cycle, and the steps that this took.
    """
    channels = len(place)
    ports = len(port_peer)
    square = np.int64(lanes * lanes)
    mark = np.zeros(channels, dtype=np.uint8)
    ahead = np.empty(channels, dtype=np.int32)
    behind = np.empty(channels, dtype=np.int32)
    steps = np.int64(0)
    for index in range(len(turn)):
        number = turn[index]
        steps += 1
        if count[number] > 0:
            count[number] += 1
            continue
        base = np.int64(port_ptr[switch_node[turn_row[index]]])
        width = np.int64(port_ptr[switch_node[turn_row[index]] + 1]) - base
        local = number // square - turn_ptr[turn_row[index]]
        first = np.int64(port_peer[base + local // width]) + number % square // lanes * ports
        last = base + local % width + number % lanes * ports
        if first == last:
            return index, int(steps)
        if place[first] > place[last]:
            # what follows the far end and stands no later than the near one
            ahead[0] = last
            mark[last] = 1
            tail = np.int64(1)
            done = np.int64(0)
            closes = False
            while done < tail and not closes:
                port = np.int64(ahead[done]) % ports
                level = np.int64(ahead[done]) // ports
                done += 1
                peer = port_peer[port]
                row = switch_row[port_node[peer]]
                start = np.int64(port_ptr[switch_node[row]])
                wide = np.int64(port_ptr[switch_node[row] + 1]) - start
                line = turn_ptr[row] + (peer - start) * wide
                for out in range(wide):
                    for then in range(lanes):
                        steps += 1
                        if count[(line + out) * square + level * lanes + then] > 0:
                            other = then * ports + start + out
                            if other == first:
                                closes = True
                                break
                            if mark[other] == 0 and place[other] < place[first]:
                                mark[other] = 1
                                ahead[tail] = other
                                tail += 1
                    if closes:
                        break
            if closes:
                for at in range(tail):
                    mark[ahead[at]] = 0
                return index, int(steps)
            # what leads to the near end and stands no earlier than the far one
            behind[0] = first
            mark[first] = 1
            late = np.int64(1)
            done = np.int64(0)
            while done < late:
                port = np.int64(behind[done]) % ports
                level = np.int64(behind[done]) // ports
                done += 1
                row = switch_row[port_node[port]]
                start = np.int64(port_ptr[switch_node[row]])
                wide = np.int64(port_ptr[switch_node[row] + 1]) - start
                for came in range(wide):
                    if port_peer[start + came] == NIL:
                        continue
                    for then in range(lanes):
                        steps += 1
                        at = turn_ptr[row] + came * wide + port - start
                        if count[at * square + then * lanes + level] > 0:
                            other = np.int64(port_peer[start + came]) + then * ports
                            if mark[other] == 0 and place[other] > place[last]:
                                mark[other] = 1
                                behind[late] = other
                                late += 1
            every = np.concatenate((behind[:late], ahead[:tail]))
            places = np.sort(place[every])
            # each part keeps its own order, and what leads to the turn comes before what follows it
            order_behind = np.argsort(place[behind[:late]])
            order_ahead = np.argsort(place[ahead[:tail]])
            for at in range(late):
                place[behind[order_behind[at]]] = places[at]
            for at in range(tail):
                place[ahead[order_ahead[at]]] = places[late + at]
            for at in range(late + tail):
                mark[every[at]] = 0
        count[number] = 1
    return len(turn), int(steps)
