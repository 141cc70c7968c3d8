"""What stands there: nodes, links and addresses, and where the dump contradicts itself."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import NIL
from weftline.model.audit import AuditInput
from weftline.model.fabric import NodeKind
from weftline.model.finding import Finding, Topic, Unjudged
from weftline.technologies.infiniband.audit.strays import find_strays
from weftline.technologies.infiniband.audit.uplinks import find_few
from weftline.technologies.infiniband.audit.verdicts import count, from_problem, join, settle

OF_LINKS = frozenset({"artifact.slow-link", "artifact.unknown-speed"})
"""Problems of adoption that the topic of links shows."""
COUNTED = "artifact.dump-repeated"
"""Stands for further problems of one code; its message begins with their number."""
TOPOLOGY = "ibnetdiscover > ibnetdiscover.txt, or the ibdiagnet2 output folder"


def judge(source: AuditInput) -> Topic:
    """Count what was found, and list what cannot be so."""
    adoption = source.adoption
    if adoption is None:
        unjudged = (Unjudged("What is wired to what?", TOPOLOGY),)
        words = "No file that could be read says what is wired to what, so that most questions stay open."
        return Topic("fabric", "Fabric", "unknown", words, unjudged=unjudged)
    fabric = adoption.fabric
    kinds = {kind: int(np.count_nonzero(fabric.node_kind == kind)) for kind in NodeKind}
    links = int(np.count_nonzero(fabric.port_peer != NIL)) // 2
    read = {problem for part in source.survey.parts for problem in part.problems}
    findings = [
        from_problem(problem) for problem in adoption.problems if problem.code not in OF_LINKS and problem not in read
    ]
    figures = [
        ("Hosts", f"{kinds[NodeKind.HOST]:,}"),
        ("Endpoints", f"{int(np.count_nonzero(fabric.port_peer[fabric.endpoint_port] != NIL)):,}"),
        ("Switches", f"{kinds[NodeKind.SWITCH]:,}"),
        ("Links", f"{links:,}"),
        ("Shape", fabric.shape),
    ]
    if kinds[NodeKind.EXTRA]:
        figures.insert(1, ("Other endpoints", f"{kinds[NodeKind.EXTRA]:,}"))
    summary = f"{fabric.shape}: {adoption.shape_reason}"
    summary = _count_wrong(findings) + summary
    unjudged: tuple[Unjudged, ...] = ()
    if source.survey.is_planned:
        summary = f"as planned, not as discovered: {summary}"
        unjudged = (Unjudged(f"Is it built as {source.survey.discovery_file} plans it?", TOPOLOGY),)
    findings += [*find_few(fabric), *find_strays(fabric)]
    verdict = settle(findings, unjudged)
    return Topic("fabric", "Fabric", verdict, summary, tuple(findings), unjudged, tuple(figures))


def _count_wrong(findings: list[Finding]) -> str:
    """Say how many lines of the dump are to be looked at, those that were only counted included."""
    wrong = [finding for finding in findings if finding.severity != "note"]
    counted = [int(finding.message.split()[0]) for finding in wrong if finding.rule == COUNTED]
    total = sum(counted) + len(wrong) - len(counted)
    rules = dict.fromkeys(finding.rule for finding in wrong if finding.rule != COUNTED)
    return f"{count(total, 'place')} of the dump to look at ({join(rules)}); " if wrong else ""
