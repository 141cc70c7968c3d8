"""The JSON of a linted configuration."""

from __future__ import annotations

from weftline.app.lint import LintedPlace
from weftline.app.views.audit import view_finding
from weftline.model.lint import PredictedTable


def view_lint(linted: LintedPlace) -> dict[str, object]:
    """Show the outcome, every finding, and every table that is predicted."""
    predicted = linted.linted.predicted
    return {
        "schema": "weftline/lint/1",
        "place": str(linted.place),
        "files": list(linted.files),
        "outcome": linted.linted.outcome,
        "findings": [view_finding(finding) for finding in linted.findings],
        "counts": {severity: linted.count(severity) for severity in ("critical", "warning", "note")},
        "predicted": None if predicted is None else [_view_table(one) for one in predicted],
    }


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
