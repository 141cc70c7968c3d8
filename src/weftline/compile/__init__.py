"""Declarations become fabrics: plans by arithmetic, Clos wiring, cabling lists."""

from weftline.compile.build import build_fabric
from weftline.compile.cabling import CablingList, CablingRow, list_cables, write_cabling
from weftline.compile.count import count_fabric, plan_counts
from weftline.compile.expect import check_expect
from weftline.compile.reading import read_cabling

__all__ = [
    "CablingList",
    "CablingRow",
    "build_fabric",
    "check_expect",
    "count_fabric",
    "list_cables",
    "plan_counts",
    "read_cabling",
    "write_cabling",
]
