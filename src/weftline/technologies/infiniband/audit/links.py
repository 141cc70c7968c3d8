"""Speeds and widths: links slower than they should be, ports that are not up, frames that do not fit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from weftline.formats.speed import LANE_GBPS
from weftline.kernels.column import I64, NIL
from weftline.model.audit import AuditInput
from weftline.model.fabric import Fabric
from weftline.model.finding import Finding, Topic, Unjudged
from weftline.model.survey import PortFact
from weftline.technologies.infiniband.audit.names import PortNames, name_ports
from weftline.technologies.infiniband.audit.verdicts import count, from_problem, settle

CAPABILITIES = "ibdiagnet2.db_csv (section PORTS), or smpquery portinfo"
ACTIVE = 4
"""PortState of a port that carries data. IBTA vol 1, 14.2.5.6."""
LINK_UP = 5

_JOINED = ("width", "width_supported", "speed", "speed_supported", "mtu", "mtu_supported", "state", "physical")


def judge(source: AuditInput) -> Topic:
    """Name the links that run below what both ends can, or below what their kind usually runs at."""
    title = "Speeds and widths"
    adoption = source.adoption
    if adoption is None:
        question = Unjudged("Does every link run at its full rate?", CAPABILITIES)
        return Topic("links", title, "unknown", "No file says how fast the links run.", unjudged=(question,))
    slow = [from_problem(item) for item in adoption.problems if item.code == "artifact.slow-link"]
    blind = [item for item in adoption.problems if item.code == "artifact.unknown-speed"]
    names, facts = name_ports(adoption), _gather(source)
    found = {names.find(fact.node, fact.number, fact.port_guid, fact.lid): fact for fact in facts}
    findings = [*slow, *_reduced(adoption.fabric, found), *_idle(facts, names), *_mtu(facts, names)]
    unjudged = [Unjudged(item.message, "ibnetdiscover prints it; see its line") for item in blind]
    if not any(fact.width_supported or fact.speed_supported for fact in facts):
        unjudged.append(Unjudged("Does a whole tier run slower than its ports can?", CAPABILITIES))
    elif blank := _count_blank(adoption.fabric, found):
        words = f"What can {blank:,} of {count(len(_ends(adoption.fabric)), 'link')} do at most?"
        unjudged.append(Unjudged(words, CAPABILITIES))
    figures = tuple(
        (f"{rate:g} Gb/s", count(number, "link")) for rate, number in sorted(_rates(adoption.fabric), reverse=True)
    )
    if findings:
        summary = f"{count(len(findings), 'link or port', 'links and ports')} below what they could be"
    else:
        summary = "No link runs slower than the others of its kind"
        summary += "; what the ports could do at most is not in the files." if unjudged else " or than its ports can."
    return Topic("links", title, settle(findings, unjudged), summary, tuple(findings), tuple(unjudged), figures)


def _gather(source: AuditInput) -> list[PortFact]:
    """Join what the files say of each port; the first file that says something counts."""
    facts: dict[tuple[int, int], PortFact] = {}
    for part in source.survey.parts:
        for fact in part.ports:
            key = (fact.node or fact.port_guid, fact.number)
            first = facts.get(key)
            facts[key] = fact if first is None else _fill(first, fact)
    return list(facts.values())


def _fill(first: PortFact, second: PortFact) -> PortFact:
    missing = {name: value for name in _JOINED if not getattr(first, name) and (value := getattr(second, name))}
    return replace(first, **missing) if missing else first


def _reduced(fabric: Fabric, found: dict[int, PortFact]) -> list[Finding]:
    """Find links that run below what both of their ends can."""
    findings: list[Finding] = []
    for port, peer in enumerate(fabric.port_peer.tolist()):
        near, far = found.get(port), found.get(peer)
        if peer <= port or near is None or far is None:
            continue
        name = fabric.link_name(port)
        width = min(near.width_supported or 0, far.width_supported or 0)
        used = min(near.width or 0, far.width or 0)
        if used and used < width:
            findings.append(_finding("links.narrow", name, f"runs {used} lanes wide, both ends can {width}", near))
        speed = min(_rate(near.speed_supported), _rate(far.speed_supported))
        runs = min(_rate(near.speed), _rate(far.speed))
        if runs and runs < speed:
            message = f"runs at {runs:g} Gb/s a lane, both ends can {speed:g} Gb/s"
            findings.append(_finding("links.slow", name, message, near))
    return findings


def _count_blank(fabric: Fabric, found: dict[int, PortFact]) -> int:
    """Count the links of which no file says what both ends can."""
    known = [port for port, fact in found.items() if port != NIL and fact.width_supported and fact.speed_supported]
    is_known = np.zeros(fabric.port_count, dtype=np.bool_)
    is_known[known] = True
    near = _ends(fabric)
    return int(np.count_nonzero(~(is_known[near] & is_known[fabric.port_peer[near]])))


def _ends(fabric: Fabric) -> I64:
    """List one end of every link."""
    return np.flatnonzero(fabric.port_peer > np.arange(fabric.port_count)).astype(np.int64)


def _rate(word: str) -> float:
    return LANE_GBPS.get(word, 0.0)


def _finding(rule: str, name: str, message: str, fact: PortFact) -> Finding:
    step = "reseat or replace the cable, then look at the enabled widths and speeds of both ports"
    return Finding(rule, "warning", name, message, step, (fact.where,))


def _idle(facts: list[PortFact], names: PortNames) -> list[Finding]:
    """Find ports whose cable is up but that carry no data."""
    return [
        Finding(
            rule="links.not-active",
            severity="warning",
            subject=names.say(fact.node, fact.number, fact.port_guid, fact.lid),
            message=f"the cable is up, but the port is in state {fact.state} and not active (4)",
            next_step="the subnet manager did not bring it up: look for its port in the log of the manager",
            where=(fact.where,),
        )
        for fact in facts
        if fact.physical == LINK_UP and fact.state is not None and fact.state != ACTIVE and fact.number > 0
    ]


def _mtu(facts: list[PortFact], names: PortNames) -> list[Finding]:
    """Find active ports whose MTU is below that of the most."""
    active = [(fact, fact.mtu) for fact in facts if fact.mtu and fact.state in {None, ACTIVE} and fact.number > 0]
    if not active:
        return []
    normal = Counter(mtu for _, mtu in active).most_common(1)[0][0]
    return [
        Finding(
            rule="links.small-mtu",
            severity="warning",
            subject=names.say(fact.node, fact.number, fact.port_guid, fact.lid),
            message=f"has an MTU of {mtu} bytes, most ports have {normal}",
            next_step="paths over it carry smaller packets: set the MTU of both ends alike",
            where=(fact.where,),
        )
        for fact, mtu in active
        if mtu < normal
    ]


def _rates(fabric: Fabric) -> list[tuple[float, int]]:
    rates, numbers = np.unique(fabric.port_rate_gbps[_ends(fabric)], return_counts=True)
    return list(zip(rates.tolist(), numbers.tolist(), strict=True))
