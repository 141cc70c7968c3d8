"""The report of an audit: the answers first, then what should be otherwise, then every detail."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import jinja2
import numpy as np

from weftline import __version__
from weftline.app.audit import Audited
from weftline.app.files import write_text
from weftline.app.pipeline import Progress, silent
from weftline.app.report.bundles import gather_picture
from weftline.app.report.figures import draw_topology
from weftline.app.report.loop import draw_loop
from weftline.app.views.engines import summarise
from weftline.model.audit import Judged
from weftline.model.fabric import Fabric
from weftline.model.finding import Finding, Topic
from weftline.model.proof import Proof, Verdict

FOLDER = Path("out")
MAX_ALIKE = 200
"""Findings of one rule that the page lists; the JSON has them all."""
ON_LOOP = 2.0
"""A load above one is drawn in red."""


def write_audit(audited: Audited, out: Path | None, progress: Progress = silent) -> Path:
    """Write ``audit.html`` outside the folder that was read; the same dumps give the same bytes."""
    progress("drawing the report", None)
    folder = out or FOLDER / f"{audited.place.resolve().stem or 'fabric'}-audit"
    path = folder / "audit.html"
    write_text(path, render_audit(audited))
    return path


def render_audit(audited: Audited) -> str:
    """Render the page."""
    loader = jinja2.PackageLoader("weftline.app", "report")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("audit.html.j2").render(_context(audited))


def _context(audited: Audited) -> dict[str, object]:
    source = audited.source
    adoption = source.adoption
    severities = [finding.severity for finding in audited.findings]
    return {
        "version": __version__,
        "name": audited.place.name or str(audited.place.resolve().name),
        "fabric": None if adoption is None else adoption.fabric.name,
        "verdicts": {
            name: sum(topic.verdict == name for topic in audited.topics) for name in ("bad", "unknown", "good")
        },
        "critical": severities.count("critical"),
        "warnings": severities.count("warning"),
        "topics": [_topic(topic) for topic in audited.topics],
        "topology": "" if adoption is None else _picture(adoption.fabric, source.programmed),
        "loop": _loop(source.programmed),
        "judged": [_judged(name, item) for name, item in _named(audited)],
        "engines": [{**summarise(one), "reason": one.reason} for one in audited.engines],
        "controls": [asdict(control) for control in audited.controls],
        "files": [
            {"file": item.file, "form": item.form or "not known", "digest": item.digest}
            for item in source.survey.sources
        ],
        "topology_from": source.survey.discovery_file,
        "declared": source.declared.file if source.declared else "",
    }


def _topic(topic: Topic) -> dict[str, object]:
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in topic.findings:
        groups.setdefault((finding.severity, finding.rule), []).append(finding)
    return {
        "key": topic.key,
        "title": topic.title,
        "verdict": topic.verdict,
        "summary": topic.summary,
        "figures": topic.figures,
        "unjudged": [{"question": item.question, "needs": item.needs} for item in topic.unjudged],
        "groups": [
            {
                "severity": severity,
                "rule": rule,
                "count": f"{len(alike):,}",
                "next_step": alike[0].next_step,
                "controls": ", ".join(alike[0].controls),
                "rest": f"{len(alike) - MAX_ALIKE:,}" if len(alike) > MAX_ALIKE else "",
                "findings": [
                    {"subject": f.subject, "message": f.message, "where": str(f.where[0]) if f.where else ""}
                    for f in alike[:MAX_ALIKE]
                ],
            }
            for (severity, rule), alike in sorted(groups.items(), key=lambda item: _ORDER[item[0][0]])
        ],
    }


_ORDER = {"critical": 0, "warning": 1, "note": 2}


def _named(audited: Audited) -> list[tuple[str, Judged]]:
    pairs = (("Tables that run", audited.source.programmed), ("Tables to compare with", audited.source.proposed))
    return [(name, judged) for name, judged in pairs if judged is not None]


def _judged(name: str, judged: Judged) -> dict[str, object]:
    return {
        "name": name,
        "engine": judged.routes.engine,
        "reason": judged.reason,
        "digest": judged.routes.digest,
        "proofs": [
            {
                "claim": proof.claim,
                "verdict": str(proof.verdict),
                "bound": proof.bound_text,
                "statement": proof.statement,
                "witness": proof.witness.summary if proof.witness else "",
            }
            for proof in judged.report.proofs
        ],
    }


def _cycle(judged: Judged | None) -> list[str]:
    proof = _refuted(judged)
    return list(proof.witness.detail.get("cycle", ())) if proof is not None and proof.witness is not None else []


def _refuted(judged: Judged | None) -> Proof | None:
    proofs = judged.report.proofs if judged is not None else ()
    return next((p for p in proofs if p.claim == "deadlock" and p.verdict is Verdict.REFUTED), None)


def _loop(judged: Judged | None) -> str:
    return draw_loop(_cycle(judged))


def _picture(fabric: Fabric, judged: Judged | None) -> str:
    """Draw the fabric; the links of a credit loop stand out."""
    load = np.zeros(fabric.port_count)
    cycle = set(_cycle(judged))
    if cycle:
        for port in range(fabric.port_count):
            if fabric.link_name(port) in cycle:
                load[port] = ON_LOOP
    return draw_topology(gather_picture(fabric, load))
