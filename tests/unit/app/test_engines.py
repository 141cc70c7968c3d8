"""What is said of engines that ended in other ways than by tables of their own."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

from tests.designs import render_design
from weftline.app.engines import EnginesJudged, Judged
from weftline.cli.engines import show_engines
from weftline.formats import opensm_log
from weftline.model.lab import EngineOutcome, EngineRun, EngineTrial

LOG = b"""\
Nov 30 14:48:57 100000 [BB6766C0] 0x02 -> osm_vendor_init: 1000 pending umads specified
Nov 30 14:48:58 227690 [BB6766C0] 0x01 -> fabric_validate: ERR AB09: Different number of upward port groups
Nov 30 14:48:58 227700 [BB6766C0] 0x01 -> fabric_validate_topology: ERR AB0D: Fabric topology is none
Nov 30 14:48:58 241243 [BB6766C0] 0x02 -> osm_ucast_mgr_process: minhop tables configured on all switches
Nov 30 14:48:59 000000 [BB6766C0] 0x01 -> later: ERR 1234: Something else
Nov 30 14:48:59 455147 [BB6766C0] 0x02 -> SUBNET UP
"""


def test_the_log_says_which_engine_and_why_not_the_other() -> None:
    facts = opensm_log.parse(LOG)
    assert (facts.programmed, facts.is_up, facts.has_tables, facts.error_count) == ("minhop", True, False, 3)
    first, last = facts.reason.split("; ")
    assert first.startswith("fabric_validate: ERR AB09")
    assert last.startswith("fabric_validate_topology: ERR AB0D")
    assert opensm_log.parse(b"").programmed == opensm_log.parse(b"").reason == ""


def judged(outcome: EngineOutcome, reason: str = "") -> Judged:
    trial = EngineTrial("lash", "lash", {}, {}, 5.0)
    return Judged("lash", EngineRun(trial, outcome, "", reason, (), 5.0), None, None, (), reason, 5.0)


def test_engines_without_tables() -> None:
    fabric = render_design("infiniband", "fat-tree", hosts=4, unit_size=4).fabric
    own = Judged("weftline", None, None, None, (), "computed by hand", 0.1)
    told = EnginesJudged(
        Path("x"), fabric, with_lanes=False, own=own, engines=(judged("late"), judged("no-tables", "why"))
    )
    with redirect_stdout(io.StringIO()) as out:
        assert show_engines(told, as_json=False, no_color=True) == 0
    said = out.getvalue()
    assert "lash: it was not done in time, and was stopped\n" in said
    assert "lash: no tables were programmed: why\n" in said
    assert "weftline: computed by hand" in said
