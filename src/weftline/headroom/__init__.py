"""Headroom, pools, marks and watchdogs: the arithmetic that rendering, proofs and the linter share."""

from __future__ import annotations

from weftline.headroom.chip import find_asic, headroom_asic, list_reserved
from weftline.headroom.floor import find_floor, judge_rows
from weftline.headroom.marks import alpha_of, equal_share, find_limit, judge_marks, mark_limit
from weftline.headroom.nic import nic_headroom
from weftline.headroom.pool import count_fitting, plan_pools
from weftline.headroom.switch import HALF_SMALL, ONLY_SMALL, peer_response, switch_headroom
from weftline.headroom.watchdog import judge_watchdog, longest_pause, share_weights

__all__ = [
    "HALF_SMALL",
    "ONLY_SMALL",
    "alpha_of",
    "count_fitting",
    "equal_share",
    "find_asic",
    "find_floor",
    "find_limit",
    "headroom_asic",
    "judge_marks",
    "judge_rows",
    "judge_watchdog",
    "list_reserved",
    "longest_pause",
    "mark_limit",
    "nic_headroom",
    "peer_response",
    "plan_pools",
    "share_weights",
    "switch_headroom",
]
