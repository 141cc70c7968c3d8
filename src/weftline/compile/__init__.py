"""Declarations become fabrics: plans by arithmetic, Clos wiring, cabling lists."""

from weftline.compile.build import build_fabric
from weftline.compile.cabling import CablingList, CablingRow, list_cables, write_cabling
from weftline.compile.count import count_fabric, plan_counts
from weftline.compile.expect import check_expect
from weftline.compile.planned import plan_direct
from weftline.compile.reading import read_cabling
from weftline.compile.telling import promised_load, tell_direct

__all__ = [
    "CablingList",
    "CablingRow",
    "build_fabric",
    "check_expect",
    "count_fabric",
    "list_cables",
    "plan_counts",
    "plan_direct",
    "promised_load",
    "read_cabling",
    "tell_direct",
    "write_cabling",
]
