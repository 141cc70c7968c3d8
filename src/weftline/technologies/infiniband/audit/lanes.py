"""Lanes: service levels that are dropped, that differ from port to port, or that get no share of a port."""

from __future__ import annotations

from collections import Counter

from weftline.model.audit import AuditInput
from weftline.model.finding import Finding, Topic, Unjudged
from weftline.model.survey import ArbitrationFact, LaneFact
from weftline.technologies.infiniband.audit.verdicts import count, settle

DROPPED = 15
"""VL15 is for management: a service level that is mapped to it is dropped. IBTA vol 1, 7.6.6."""
NEEDS = "opensm-sl2vl.dump, ibdiagnet2.slvl and ibdiagnet2.db_csv (VL_ARBITRATION_TABLE)"


def judge(source: AuditInput) -> Topic:
    """Hold the lanes of all ports against each other."""
    lanes = [fact for part in source.survey.parts for fact in part.lanes]
    shares = [fact for part in source.survey.parts for fact in part.arbitration]
    title = "Lanes"
    if not lanes and not shares:
        question = Unjudged("Does every service level have a lane, and every lane a share?", NEEDS, ("TEN-13",))
        words = "No file says how service levels become lanes."
        return Topic("lanes", title, "unknown", words, unjudged=(question,))
    findings = [*_maps(lanes), *_starved(shares)]
    unjudged: list[Unjudged] = []
    if not lanes:
        unjudged.append(Unjudged("Does every service level have a lane?", NEEDS))
    if not shares:
        unjudged.append(Unjudged("Can one lane starve another?", NEEDS, ("TEN-13",)))
    maps = Counter(fact.lanes for fact in lanes)
    figures = (("Maps from service level to lane", f"{len(maps):,} of {len(lanes):,} pairs of ports"),) if maps else ()
    used = sorted({lane for lanes_of in maps for lane in lanes_of if lane != DROPPED})
    summary = f"{count(len(used), 'lane')} in use" if used else "Arbitration alone is known"
    if findings:
        summary = f"{findings[0].message}; {summary}"
    return Topic("lanes", title, settle(findings, unjudged), summary, tuple(findings), tuple(unjudged), figures)


def _maps(facts: list[LaneFact]) -> list[Finding]:
    if not facts:
        return []
    usual, _ = Counter(fact.lanes for fact in facts).most_common(1)[0]
    odd = [fact for fact in facts if fact.lanes != usual]
    findings: list[Finding] = []
    if odd:
        findings.append(
            Finding(
                rule="lanes.uneven",
                severity="warning",
                subject=", ".join(f"{fact.node:#018x} {fact.port_in}>{fact.port_out}" for fact in odd[:3]),
                message=f"{count(len(odd), 'pair of ports maps', 'pairs of ports map')} service levels to lanes unlike "
                f"the other {len(facts) - len(odd):,}",
                next_step="lanes that change on the way can close a circle that no single lane shows: make them alike",
                where=tuple(fact.where for fact in odd[:10]),
            )
        )
    dropped = [level for level, lane in enumerate(usual) if lane == DROPPED]
    if 0 in dropped:
        findings.append(
            Finding(
                rule="lanes.dropped",
                severity="critical",
                subject=f"SL {', '.join(map(str, dropped))}",
                message="service level 0, which everybody uses who asks for no other, is mapped to VL15 and dropped",
                next_step="map it to a data lane (qos_sl2vl)",
                where=(facts[0].where,),
            )
        )
    return findings


def _starved(facts: list[ArbitrationFact]) -> list[Finding]:
    """Find ports where a lane that is listed has no weight at all."""
    starved: list[tuple[ArbitrationFact, int]] = []
    for fact in facts:
        weights: Counter[int] = Counter()
        for lane, weight in (*fact.high, *fact.low):
            weights[lane] += weight
        starved += [(fact, lane) for lane, weight in sorted(weights.items()) if not weight and lane == 0]
    if not starved:
        return []
    return [
        Finding(
            rule="lanes.starved",
            severity="critical",
            subject=", ".join(f"{fact.node:#018x}/{fact.number}" for fact, _ in starved[:3]),
            message=f"VL{starved[0][1]} has no weight in the arbitration of {count(len(starved), 'port')}",
            next_step="give every lane that carries data a weight (qos_vlarb_low)",
            where=tuple(fact.where for fact, _ in starved[:10]),
            controls=("TEN-13",),
        )
    ]
