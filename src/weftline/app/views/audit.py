"""The JSON of an audit."""

from __future__ import annotations

from weftline.app.audit import Audited
from weftline.app.views.engines import view_each
from weftline.app.views.failure import view_place
from weftline.app.views.proof import view_report
from weftline.model.audit import Judged
from weftline.model.finding import Control, Finding, Topic


def view_audit(audited: Audited) -> dict[str, object]:
    """Show every topic with its verdict, findings and open questions, every control, and the proofs behind them."""
    source = audited.source
    adoption = source.adoption
    return {
        "schema": "weftline/audit/1",
        "place": str(audited.place),
        "fabric": None if adoption is None else {"name": adoption.fabric.name, "digest": adoption.fabric.digest},
        "verdicts": {topic.key: topic.verdict for topic in audited.topics},
        "files": [
            {"file": item.file, "form": item.form or None, "sha256": item.digest} for item in source.survey.sources
        ],
        "topology_from": source.survey.discovery_file or None,
        "topics": [_view_topic(topic) for topic in audited.topics],
        "controls": [_view_control(control) for control in audited.controls],
        "programmed": _view_judged(source.programmed),
        "proposed": _view_judged(source.proposed),
        "engines": view_each(audited.engines),
    }


def _view_topic(topic: Topic) -> dict[str, object]:
    return {
        "key": topic.key,
        "title": topic.title,
        "verdict": topic.verdict,
        "summary": topic.summary,
        "figures": dict(topic.figures),
        "findings": [view_finding(finding) for finding in topic.findings],
        "unjudged": [
            {"question": item.question, "needs": item.needs, "controls": list(item.controls)} for item in topic.unjudged
        ],
        "good_controls": list(topic.good_controls),
    }


def view_finding(finding: Finding) -> dict[str, object]:
    """Show one finding with its places."""
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "subject": finding.subject,
        "message": finding.message,
        "next_step": finding.next_step,
        "where": [view_place(place) for place in finding.where],
        "controls": list(finding.controls),
    }


def _view_control(control: Control) -> dict[str, object]:
    return {"id": control.key, "text": control.text, "verdict": control.verdict, "reason": control.reason}


def _view_judged(judged: Judged | None) -> dict[str, object] | None:
    if judged is None:
        return None
    return {
        "engine": judged.routes.engine,
        "reason": judged.reason,
        "digest": judged.routes.digest,
        "proofs": view_report(judged.report)["proofs"],
    }
