"""Ways up and down by kin, told slowly: every switch for itself, and sets of edges as sets."""

from __future__ import annotations

from collections.abc import Sequence

from tests.kernels.reference.updown import next_rows


def upper_rows(order: Sequence[int], edges: set[tuple[int, int]], row: int) -> tuple[int, ...]:
    """List the upper neighbours of a switch."""
    return tuple(sorted(b for a, b in edges if a == row and order[b] < order[a]))


def collect_sets(
    order: Sequence[int], edges: set[tuple[int, int]], homes: Sequence[int]
) -> tuple[list[list[int]], list[list[set[int]]]]:
    """Number the sets of neighbours that lead on, per switch by first use: per switch the numbers, and the sets."""
    numbers: list[list[int]] = []
    sets: list[list[set[int]]] = []
    for row in range(len(order)):
        own: list[set[int]] = []
        line: list[int] = []
        for home in homes:
            wanted = next_rows(order, edges, home, row)
            if wanted and wanted not in own:
                own.append(wanted)
            line.append(own.index(wanted) if wanted else -1)
        numbers.append(line)
        sets.append(own)
    return numbers, sets


def spread_choice(
    choice: Sequence[Sequence[int]], home_of: Sequence[int], home: Sequence[int], home_group: Sequence[int], blank: int
) -> list[list[int]]:
    """Copy what each switch chose towards each home to the destinations there."""
    return [
        [
            blank
            if at < 0
            else home_group[goal]
            if home[at] == row
            else blank
            if choice[row][at] < 0
            else choice[row][at]
            for goal, at in enumerate(home_of)
        ]
        for row in range(len(choice))
    ]
