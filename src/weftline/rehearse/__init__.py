"""Failures rehearsed before they happen: what each leaves of the fabric and of the jobs, and what may be disabled."""

from weftline.rehearse.crews import gather_crews
from weftline.rehearse.faults import (
    check_risks,
    gather,
    join,
    list_groups,
    list_links,
    list_switches,
    read_lines,
    sample_pairs,
)
from weftline.rehearse.ground import find_ways
from weftline.rehearse.names import Index, name_links, name_ports
from weftline.rehearse.quick import Bench
from weftline.rehearse.sweep import close_tally, digest_rehearsal, open_tally, reopen_tally, sweep
from weftline.rehearse.verdicts import conclude, list_bases, say_load, spread_losses, tell
from weftline.rehearse.whole import Plan, judge_whole

__all__ = [
    "Bench",
    "Index",
    "Plan",
    "check_risks",
    "close_tally",
    "conclude",
    "digest_rehearsal",
    "find_ways",
    "gather",
    "gather_crews",
    "join",
    "judge_whole",
    "list_bases",
    "list_groups",
    "list_links",
    "list_switches",
    "name_links",
    "name_ports",
    "open_tally",
    "read_lines",
    "reopen_tally",
    "sample_pairs",
    "say_load",
    "spread_losses",
    "sweep",
    "tell",
]
