"""The JSON of a plan held against a dump."""

from __future__ import annotations

from weftline.app.plan import Held
from weftline.app.views.failure import view_problem


def view_held(held: Held) -> dict[str, object]:
    """Show the counts and every difference."""
    verdict = held.verdict
    return {
        "schema": "weftline/plan/1",
        "plan": str(held.plan),
        "dump": str(held.dump),
        "accepted": held.is_accepted,
        "planned": verdict.planned,
        "as_planned": verdict.as_planned,
        "miswired": verdict.miswired,
        "missing": verdict.missing,
        "not_judged": verdict.unknown,
        "unplanned": verdict.unplanned,
        "excused": verdict.excused,
        "outside": verdict.outside,
        "devices": verdict.devices,
        "absent": list(verdict.absent),
        "problems": [view_problem(problem) for problem in held.problems],
        "differences": [
            {
                "kind": "not-judged" if item.kind == "unknown" else item.kind,
                "subject": item.subject,
                "message": item.message,
                "device": item.device,
                "found": list(item.found),
                "where": str(item.where) if item.where else "",
            }
            for item in verdict.differences
        ],
    }
