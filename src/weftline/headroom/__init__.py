"""Headroom, pools, marks and watchdogs: the arithmetic that rendering, proofs and the linter share."""

from __future__ import annotations

from weftline.headroom.floor import find_floor, judge_rows
from weftline.headroom.switch import HALF_SMALL, ONLY_SMALL, peer_response, switch_headroom

__all__ = ["HALF_SMALL", "ONLY_SMALL", "find_floor", "judge_rows", "peer_response", "switch_headroom"]
