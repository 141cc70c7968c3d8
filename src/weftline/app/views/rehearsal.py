"""The JSON of a rehearsal and of an answer."""

from __future__ import annotations

import math

from weftline.model.rehearsal import Answer, Limits, Rehearsal, State

SCHEMA = "weftline/rehearsal/1"


def view_rehearsal(rehearsal: Rehearsal) -> dict[str, object]:
    """Show the worst states first, and whether every state is allowed."""
    return {
        "schema": SCHEMA,
        "states": rehearsal.states,
        "worst": [view_state(state) for state in rehearsal.worst],
        "verdict": {"proved": "yes", "refuted": "no", "unknown": "unknown"}[rehearsal.verdict.value],
        "of": rehearsal.of,
        "what": rehearsal.what,
        "not_allowed": rehearsal.broken,
        "from_scratch": rehearsal.whole,
        "limits": view_limits(rehearsal.limits),
        "load": rehearsal.load,
        "kinds": [
            {
                "kind": kind.kind,
                "states": kind.states,
                "not_allowed": kind.broken,
                "most_job_loss": None if math.isnan(kind.most_lost) else kind.most_lost,
                "most_leaving": kind.most_leaving,
                "most_lost_endpoints": kind.most_endpoints,
                "not_connected": kind.apart,
            }
            for kind in rehearsal.kinds
        ],
    }


def view_state(state: State) -> dict[str, object]:
    """Show one state; ranks are those of all jobs in their order, and ``leave_of`` says of which job."""
    return {
        "fault": state.fault,
        "connected": state.connected,
        "deadlock": state.deadlock.value,
        "job_loss": dict(state.job_loss),
        "leave": [rank for _, ranks in state.leave for rank in ranks],
        "leave_of": {job: list(ranks) for job, ranks in state.leave if ranks},
        "kind": state.kind,
        "made_anew": state.is_anew,
        "lost_endpoints": state.lost_endpoints,
        "lost_pairs": state.lost_pairs,
        "undelivered_pairs": None if state.undelivered < 0 else state.undelivered,
        "worst_link": dict(state.worst_link),
        "not_allowed": list(state.breaks),
    }


def view_limits(limits: Limits) -> dict[str, object]:
    """Show what is allowed; null where it is told and not judged."""
    return {
        "max_job_loss": limits.max_job_loss,
        "max_lost_endpoints": limits.max_lost_endpoints,
        "max_leaving_ranks": limits.max_leaving_ranks,
    }


def view_answer(answer: Answer) -> dict[str, object]:
    """Show an answer as a rehearsal of one state, with the commands beside it."""
    return {
        "schema": SCHEMA,
        "states": 1,
        "worst": [view_state(answer.state)],
        "verdict": "yes" if answer.is_yes else "no",
        "of": answer.of,
        "what": answer.question,
        "limits": view_limits(answer.limits),
        "load": answer.load,
        "commands": [
            {"port": one.port, "where": one.where, "do": list(one.do), "undo": list(one.undo)}
            for one in answer.commands
        ],
    }
