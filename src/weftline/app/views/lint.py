"""The JSON of linted configuration."""

from __future__ import annotations

from weftline.app.lint import WORDS, LintedPlace
from weftline.errors import Place
from weftline.model.finding import Finding
from weftline.model.lint import PredictedTable


def view_lint(linted: LintedPlace) -> dict[str, object]:
    """Show every finding, what could not be judged, and what a subnet manager makes of its files."""
    manager = linted.manager
    predicted = None if manager is None else manager.predicted
    return {
        "schema": "weftline/lint/1",
        "places": [str(place) for place in linted.places],
        "files": len(linted.files),
        "judged": len(linted.judged),
        "forms": [{"file": file, "form": form or None} for file, form in linted.files],
        "devices": [
            {"name": device.name, "role": device.role, "vendor": device.vendor, "ports": len(device.ports)}
            for device in linted.devices
        ],
        "outcome": None if manager is None else manager.outcome,
        "evidence": linted.evidence or None,
        "findings": [_view_finding(finding) for finding in linted.findings],
        "counts": {word: linted.count(severity) for severity, word in WORDS.items()},
        "unknown": [{"question": item.question, "needs": item.needs} for item in linted.unjudged],
        "predicted": None if predicted is None else [_view_table(one) for one in predicted],
    }


def _view_finding(finding: Finding) -> dict[str, object]:
    first = finding.where[0] if finding.where else None
    return {
        "rule": finding.rule,
        "severity": WORDS[finding.severity],
        "file": None if first is None else first.file,
        "where": None if first is None else _view_inside(first),
        "subject": finding.subject,
        "message": finding.message,
        "right": finding.next_step,
        "case": finding.case or None,
        "controls": list(finding.controls),
    }


def _view_inside(place: Place) -> str | None:
    """Write where in its file something stands: the path in it, or line and column."""
    line = "" if place.line is None else f"{place.line}{'' if place.column is None else f':{place.column}'}"
    return " ".join(word for word in (line, place.path) if word) or None


def _view_table(one: PredictedTable) -> dict[str, object]:
    return {
        "port": one.name,
        "node": f"{one.node:#018x}",
        "number": one.number,
        "guid": f"{one.guid:#018x}" if one.guid else None,
        "keys": [f"{key:#06x}" for key in one.table.keys],
        "enforces_in": one.table.enforces_in,
        "enforces_out": one.table.enforces_out,
    }
