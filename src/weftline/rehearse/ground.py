"""The whole fabric prepared for states: hops of every way as a certificate of its tables, and the loads of its jobs."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.kernels.column import F64, I32, U8


@dataclass(frozen=True, eq=False)
class Ways:
    """The graph of R switches with its order, and the hops towards each of H homes, which certify the tables.

    The edges of row ``r`` are ``edge_ptr[r]:edge_ptr[r + 1]``, the ports of edge ``e`` are
    ``link_port[link_ptr[e]:link_ptr[e + 1]]``, as in the graph of the engines.
    """

    edge_ptr: I32
    edge_row: I32
    edge_from: I32
    link_ptr: I32
    link_port: I32
    component: I32
    component_ptr: I32
    """Where each component starts in ``sequence``."""
    sequence: I32
    """The rows in the order of the tables."""
    order: I32
    """Place of each row in it."""
    divisor: I32
    slots: I32
    ordinal: I32
    """These three choose among equal ports, as the engines do."""
    goal_home: I32
    """Per destination the row that it hangs on, or is."""
    goal_port: I32
    goal_home_port: I32
    home: I32
    goal_ptr: I32
    goal_list: I32
    """The destinations of each home."""
    home_of: I32
    """Per destination the place of its home, NIL where it has none."""
    hop: U8
    falls: U8
    port_edge: I32
    group_of_port: I32
    group_port: I32
    group_row: I32
    """Per group its first port, and the switch there."""
    goal_group: I32
    """Per destination the group by which its home delivers."""
    rests: I32
    """Lit endpoints that each switch holds."""
    is_set: bool
    """Whether entries are sets of all the ports that lead on; else they are single ports."""

    @property
    def rows(self) -> int:
        """Count switches."""
        return len(self.component)


@dataclass(frozen=True, eq=False)
class Flows:
    """What each rank sends in the steady step, by ``rank * planes + plane``, and who sends to a destination."""

    goal: I32
    row: I32
    job: I32
    port: I32
    rate: F64
    in_ptr: I32
    in_flow: I32


@dataclass(frozen=True, eq=False)
class Units:
    """Flows of one job to one home together, and which of them use a port."""

    ptr: I32
    flow: I32
    home: I32
    job: I32
    of_flow: I32
    use_ptr: I32
    use_unit: I32


@dataclass(frozen=True, eq=False)
class Base:
    """The loads of the whole fabric."""

    load: F64
    order: tuple[I32, ...]
    """Per job its loaded ports by falling load over capacity."""
    worst: tuple[float, ...]
    port: tuple[int, ...]
    units: Units | None
