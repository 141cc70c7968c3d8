"""What to do about what was found: links judged against the declaration, and tables for what is left."""

from weftline.heal.decide import Decision, is_urgent, judge_repair
from weftline.heal.links import Ground, LinkState, judge_links, list_ports, name_links
from weftline.heal.running import blank_rows, count_unlike, list_blocks, read_running

__all__ = [
    "Decision",
    "Ground",
    "LinkState",
    "blank_rows",
    "count_unlike",
    "is_urgent",
    "judge_links",
    "judge_repair",
    "list_blocks",
    "list_ports",
    "name_links",
    "read_running",
]
