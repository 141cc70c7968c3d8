"""Certificates of one design as they go to disk: what an auditor needs to check the claims without Weftline."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.kernels.column import I32, U8, freeze


@dataclass(frozen=True, eq=False)
class TableCertificates:
    """Distances and ranks for one set of tables: a subnet of InfiniBand, or all of RoCE."""

    name: str
    switches: tuple[str, ...]
    """In the order in which the tables have them."""
    classes: tuple[tuple[str, ...], ...]
    """Destinations that all switches are equally far from, by LID or by name."""
    distance: U8
    """``[switch, class]``."""
    channels: tuple[str, ...]
    """Ports of switches that lead to switches."""
    rank: I32
    """``[lane, channel]``."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.distance, self.rank)


@dataclass(frozen=True, eq=False)
class DerivedTables:
    """Forwarding tables that follow from what switches exchange; no file holds them as such."""

    columns: tuple[tuple[str, tuple[str, ...]], ...]
    """The switch that endpoints are cabled to, and those endpoints, which all other switches treat alike."""
    switches: tuple[str, ...]
    groups: tuple[tuple[tuple[int, ...], ...], ...]
    """Per switch the port numbers of each group."""
    entry: U8
    """``[switch, column]``: a group, 254 at the switch that hands over, 255 for no way."""

    def __post_init__(self) -> None:
        """Make the column read-only."""
        freeze(self.entry)


@dataclass(frozen=True, slots=True)
class TenantTable:
    """One VRF of one switch, and the ports in it."""

    switch: str
    vrf: str
    vni: int
    imports: tuple[str, ...]
    exports: tuple[str, ...]
    ports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """What the statement on reach counts."""

    connected_pairs: int
    foreign_pairs: int
    switch_pairs: int
    further_addresses: int
    longest: int
    """Switches on the longest path."""
