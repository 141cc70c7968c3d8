"""Spread: which leaf and which port each NIC of a group or torus takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import I64


@dataclass(frozen=True, slots=True)
class Seats:
    """Endpoints of a group in order of hosts and rails: leaf of the group (from 0) and port of it (from 1)."""

    leaf: I64
    number: I64


def set_size(leaves: int, rails: int) -> int:
    """Give the leaves that the NICs of one host go round: as many as rails where that divides the group, else all."""
    return rails if leaves % rails == 0 else leaves


def hosts_held(leaves: int, endpoints: int, rails: int) -> int:
    """Count the hosts whose NICs a group holds."""
    size = set_size(leaves, rails)
    return leaves // size * (size * endpoints // rails)


def seat_hosts(hosts: int, leaves: int, endpoints: int, rails: int) -> Seats:
    """Seat the NICs of a group's hosts: a host's NICs are on leaves that follow one another, one set after the other.

    Where the rails divide the leaves, a set has one leaf per rail and NIC r is on leaf r of it, as on LUMI, whose
    nodes have each of four NICs on another switch of their group. Else the whole group is one set, and NIC r of its
    host j takes leaf ``(j * rails + r) % leaves``. A set is filled before the next one begins.
    """
    size = set_size(leaves, rails)
    room = max(size * endpoints // rails, 1)
    host, rail = np.divmod(np.arange(hosts * rails, dtype=np.int64), rails)
    chosen, place = np.divmod(host, room)
    step = place * rails + rail
    return Seats(leaf=chosen * size + step % size, number=step // size + 1)


def seat_others(others: int, taken: Seats, leaves: int, endpoints: int) -> Seats:
    """Seat endpoints of one port on what the hosts left free: lowest port first, leaf by leaf in turn."""
    free = np.ones((endpoints, leaves), dtype=np.bool_)
    free[taken.number - 1, taken.leaf] = False
    number, leaf = np.divmod(np.flatnonzero(free.ravel())[:others], leaves)
    return Seats(leaf=leaf.astype(np.int64), number=number.astype(np.int64) + 1)
