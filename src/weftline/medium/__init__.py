"""What every medium has, whatever carries RDMA: rates, cables, latencies, and figures in force with their sources."""

from __future__ import annotations

from weftline.medium.carry import Kind, make_carriage
from weftline.medium.columns import LIGHT_M_PER_S, Columns, NodeDefaults, find_lengths, find_tier, lay_columns
from weftline.medium.figures import Entry, Note, Profiles, cite, list_parameters

__all__ = [
    "LIGHT_M_PER_S",
    "Columns",
    "Entry",
    "Kind",
    "NodeDefaults",
    "Note",
    "Profiles",
    "cite",
    "find_lengths",
    "find_tier",
    "lay_columns",
    "list_parameters",
    "make_carriage",
]
