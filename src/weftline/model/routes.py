"""Routes: for each switch and destination a group of ports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, U8, Array, digest_parts, digest_rows, freeze, renew_digests
from weftline.model.lanes import Lanes, LaneSteps

GroupTable: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16]


def no_route(table: GroupTable) -> int:
    """The entry that says 'this switch has no way to that destination'."""
    return int(np.iinfo(table.dtype).max)


def local_delivery(table: GroupTable) -> int:
    """The entry that says 'the destination is this switch itself'."""
    return int(np.iinfo(table.dtype).max) - 1


@dataclass(frozen=True, eq=False)
class Routes:
    """Forwarding of S switches towards D destinations.

    ``group[s, d]`` is local to switch ``s``. Its ports are
    ``member_port[member_ptr[g]:member_ptr[g + 1]]`` with ``g = group_ptr[s] + group[s, d]``; they are transmitting
    ports of the fabric. A forwarding-table entry is a group of one, ECMP and adaptive routing are groups of many.
    Rows follow ``fabric.switch_node``. A destination is an endpoint port, or a switch itself
    (``destination_port`` NIL); endpoints come first, in the order of ``fabric.endpoint_port``. Where an endpoint
    answers to several addresses (LMC above 0) each further one is a destination of its own, after all these: the same
    port again, with its number in ``destination_path``.
    """

    fabric_digest: str
    engine: str
    guarantee: str
    """One sentence: what the engine promises. The proofs do not trust it."""
    destination_node: I32
    destination_port: I32
    group: GroupTable
    group_ptr: I32
    member_ptr: I32
    member_port: I32
    lanes: Lanes | None = None
    """None: all packets hold lane 0."""
    destination_path: I32 | None = None
    """Per destination which of its port's addresses it is, counted from the base; None where all are the base."""
    member_weight: I32 | None = None
    """Per member its part of what its group carries, 1 or more; None where all members of a group count alike."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(
            self.destination_node, self.destination_port, self.group, self.group_ptr, self.member_ptr, self.member_port
        )
        if self.destination_path is not None:
            freeze(self.destination_path)
        if self.member_weight is not None:
            freeze(self.member_weight)

    @cached_property
    def shares(self) -> tuple[I32, I32]:
        """The groups with each member as often as its weight says, as switches hold them: pointers and members.

        The pointers are those of a CSR like ``member_ptr``; the members are places in ``member_port``. Whoever splits
        what a group carries reads this; whoever asks where packets may go reads the members.
        """
        members = np.arange(len(self.member_port), dtype=np.int32)
        if self.member_weight is None:
            return self.member_ptr, members
        ends = np.concatenate(([0], np.cumsum(self.member_weight)))
        return ends[self.member_ptr].astype(np.int32), np.repeat(members, self.member_weight)

    @cached_property
    def path(self) -> I32:
        """Which of its port's addresses each destination is."""
        if self.destination_path is None:
            return np.zeros(len(self.destination_node), dtype=np.int32)
        return self.destination_path

    @property
    def paths(self) -> int:
        """Count the addresses of the endpoint that has most."""
        return int(self.path.max(initial=0)) + 1

    @property
    def entries(self) -> int:
        """Count the table entries that forward or deliver."""
        return int(np.count_nonzero(self.group != no_route(self.group)))

    @property
    def lane_count(self) -> int:
        """Count the lanes in use."""
        return 1 if self.lanes is None else self.lanes.count

    @property
    def steps(self) -> LaneSteps | None:
        """How packets change lanes on their way; None where they keep them."""
        return None if self.lanes is None else self.lanes.steps

    @property
    def destinations_by_lane(self) -> tuple[int, ...]:
        """Count the destinations of each lane; all stand on lane 0 where packets change lanes on their way."""
        if self.lanes is None:
            return (len(self.destination_node),)
        return tuple(np.bincount(self.lanes.of_destination, minlength=self.lanes.count).tolist())

    def lane_of(self, destination: int) -> int:
        """Find the lane of the packets to a destination, where they keep it."""
        return 0 if self.lanes is None else int(self.lanes.of_destination[destination])

    def lane_of_hop(self, source_row: int, destination: int, in_port: int, out_port: int) -> int:
        """Find the lane that a packet from a switch row holds behind ``out_port``, having come in by ``in_port``."""
        steps = self.steps
        if steps is None:
            return self.lane_of(destination)
        return steps.lane_of(steps.class_of(source_row, destination), in_port, out_port)

    @cached_property
    def row_digests(self) -> U8:
        """SHA-256 of every switch's row of ``group``; shape (S, 32)."""
        return digest_rows(self.group)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the rows' digests, the lanes where there are several, and the fabric that they are for."""
        parts: list[str | Array] = [
            self.fabric_digest,
            self.engine,
            self.destination_node,
            self.destination_port,
            self.group.dtype.str,
            self.row_digests,
            self.group_ptr,
            self.member_ptr,
            self.member_port,
        ]
        if self.lanes is not None:
            parts += [str(self.lanes.count), str(self.lanes.with_answers), self.lanes.of_destination]
        if self.steps is not None:
            parts += ["steps", self.steps.path_class, self.steps.port_class, self.steps.lane]
            parts += [] if self.steps.more is None else ["more", self.steps.more]
        if self.destination_path is not None:
            parts += ["paths", self.destination_path]
        if self.member_weight is not None:
            parts += ["weights", self.member_weight]
        return digest_parts(parts)


def vary_rows(routes: Routes, group: GroupTable, row: I32, *, fabric_digest: str, guarantee: str) -> Routes:
    """Routes with another table, which differs in some rows only: the digests of all others are kept.

    O(entries of these rows), where those before were digested already.
    """
    varied = replace(routes, group=group, fabric_digest=fabric_digest, guarantee=guarantee)
    if "row_digests" in routes.__dict__:
        # as if it had been asked for: it is worth more than a second of digesting at 65,536 endpoints
        varied.__dict__["row_digests"] = renew_digests(routes.row_digests, group, row)
    return varied
