"""The JSON of what a lab that is kept went through."""

from __future__ import annotations

from weftline.app.keep_event import Counts, KeepEvent


def view_event(event: KeepEvent) -> dict[str, object]:
    """Show one change and what was done about it."""
    return {
        "schema": "weftline/lab-kept-event/1",
        "kind": event.kind,
        "gone": list(event.gone),
        "back": list(event.back),
        "down": list(event.down),
        "wrong": list(event.wrong),
        "changed": event.changed,
        "destinations": event.columns,
        "anew": event.is_anew,
        "stages": list(event.stages),
        "proofs": [
            {"claim": proof.claim, "verdict": proof.verdict.value, "statement": proof.statement}
            for proof in event.proofs
        ],
        "seconds": {name: round(value, 4) for name, value in event.seconds.items()},
        "ours": round(event.ours, 4),
        "why": event.why,
        "told_more": event.is_told_more,
        "cut_off": list(event.cut_off),
    }


def view_counts(counts: Counts) -> dict[str, object]:
    """Show what a run came to."""
    return {
        "schema": "weftline/lab-keep/1",
        "changes": counts.changes,
        "refused": counts.refused,
        "failed": counts.failed,
        "wrong": counts.wrong,
        "cut_off": list(counts.cut_off),
    }
