"""Subnet managers: one master, a standby behind it, and nobody else."""

from __future__ import annotations

from dataclasses import replace

from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL
from weftline.model.audit import AuditInput
from weftline.model.finding import Finding, Topic, Unjudged
from weftline.model.survey import ManagerFact
from weftline.technologies.infiniband.audit.verdicts import count, join, settle

NEEDS = "ibdiagnet2.sm or ibdiagnet2.db_csv (SM_INFO); sminfo names the master alone"
WHOLE = frozenset({"ibdiagnet-csv", "opensm-smdb", "ibdiagnet-sm"})
"""Forms that list every manager, not only the one that answers."""


def judge(source: AuditInput) -> Topic:
    """Name the managers that answer, and hold them against those that are declared."""
    title = "Subnet managers"
    found = _gather(source)
    if not found:
        open_question = Unjudged("Who manages the subnet, and who would take over?", NEEDS, ("IBS-05",))
        words = "No file names a subnet manager."
        return Topic("managers", title, "unknown", words, unjudged=(open_question,))
    findings = [*_count_masters(found), *_hold_declared(source, found)]
    unjudged: list[Unjudged] = []
    forms = {item.form for item, part in zip(source.survey.sources, source.survey.parts, strict=True) if part.managers}
    if not forms & WHOLE:
        unjudged.append(Unjudged("Does a manager answer that nobody expects?", NEEDS, ("IBS-05",)))
    elif not any(manager.state == "standby" for manager in found):
        findings.append(
            Finding(
                rule="managers.no-standby",
                severity="warning",
                subject=_name(source, found[0]),
                message="no standby manager answers: when the master fails nobody repairs the subnet",
                next_step="run a second subnet manager of lower priority with the same files and keys",
                where=(found[0].where,),
                controls=("IBS-05",),
            )
        )
    if not any(manager.state == "master" for manager in found):
        unjudged.append(Unjudged("Which manager is the master?", NEEDS, ("IBS-05",)))
    if source.declared is None or not source.declared.managers:
        unjudged.append(Unjudged("Are these the managers that should be there?", "--against DECLARATION", ("IBS-05",)))
    figures = tuple((_name(source, manager), _describe(manager)) for manager in found)
    masters = [_name(source, manager) for manager in found if manager.state == "master"]
    standbys = sum(manager.state == "standby" for manager in found)
    summary = f"master: {join(masters) or 'unknown'}; {count(standbys, 'standby', 'standbys')}"
    if findings:
        summary = f"{findings[0].message}; {summary}"
    verdict = settle(findings, unjudged)
    good = ("IBS-05",) if verdict == "good" else ()
    return Topic("managers", title, verdict, summary, tuple(findings), tuple(unjudged), figures, good)


def _gather(source: AuditInput) -> list[ManagerFact]:
    """Join what several files say of one manager, by its port GUID, else by its LID."""
    guid_of = {fact.lid: fact.port_guid for part in source.survey.parts for fact in part.managers if fact.port_guid}
    if source.adoption is not None:
        addresses = source.adoption.addresses
        pairs = zip(addresses.port_address.tolist(), addresses.port_id.tolist(), strict=True)
        guid_of.update({int(lid): int(guid) for lid, guid in pairs if lid > 0 and guid})
    known: dict[tuple[int, int], ManagerFact] = {}
    for part in source.survey.parts:
        for fact in part.managers:
            guid = fact.port_guid or (guid_of.get(fact.lid, 0) if fact.lid != NIL else 0)
            key = (guid, 0) if guid else (0, fact.lid)
            first = known.get(key)
            known[key] = replace(fact, port_guid=guid) if first is None else _merge(first, fact)
    order = {"master": 0, "standby": 1}
    return sorted(known.values(), key=lambda fact: (order.get(fact.state, 2), fact.port_guid, fact.lid))


def _merge(first: ManagerFact, second: ManagerFact) -> ManagerFact:
    return replace(
        first,
        lid=first.lid if first.lid != NIL else second.lid,
        priority=first.priority if first.priority is not None else second.priority,
        state=first.state if first.state != "unknown" else second.state,
        name=first.name or second.name,
    )


def _count_masters(found: list[ManagerFact]) -> list[Finding]:
    masters = [manager for manager in found if manager.state == "master"]
    findings: list[Finding] = []
    if len(masters) > 1:
        findings.append(
            Finding(
                rule="managers.two-masters",
                severity="critical",
                subject=join(_guid(manager) for manager in masters),
                message=f"{len(masters)} managers call themselves master: they will program over each other",
                next_step="find out which one is meant, stop the others, and see whether the subnet was split",
                where=tuple(manager.where for manager in masters),
                controls=("IBS-05",),
            )
        )
    equal = [manager for manager in found if manager.priority is not None and manager.state in {"master", "standby"}]
    if len(equal) > 1 and len({manager.priority for manager in equal}) == 1:
        findings.append(
            Finding(
                rule="managers.same-priority",
                severity="note",
                subject=join(_guid(manager) for manager in equal),
                message=f"all have priority {equal[0].priority}, so that the lowest GUID becomes master",
                next_step="give the manager that is meant to be master a higher priority",
                where=tuple(manager.where for manager in equal),
                controls=("IBS-05",),
            )
        )
    return findings


def _hold_declared(source: AuditInput, found: list[ManagerFact]) -> list[Finding]:
    declared = source.declared
    if declared is None or not declared.managers:
        return []
    return [
        Finding(
            rule="managers.undeclared",
            severity="critical",
            subject=_name(source, manager),
            message=f"a subnet manager ({_describe(manager)}) answers at a port where none is declared",
            next_step="stop it, or add its port to infiniband.managers; with a management key it could not take over",
            where=(manager.where,),
            controls=("IBS-05",),
        )
        for manager in found
        if manager.port_guid not in declared.managers and manager.state != "not-active"
    ]


def _name(source: AuditInput, manager: ManagerFact) -> str:
    """Name a manager by its port as the fabric calls it, else by what its file says."""
    if source.adoption is not None and manager.port_guid:
        fabric, addresses = source.adoption.fabric, source.adoption.addresses
        for port in fabric.endpoint_port.tolist():
            if int(addresses.port_id[port]) == manager.port_guid:
                return fabric.port_name(port)
    return manager.name or _guid(manager)


def _guid(manager: ManagerFact) -> str:
    return format_guid(manager.port_guid) if manager.port_guid else f"LID {manager.lid}"


def _describe(manager: ManagerFact) -> str:
    priority = "" if manager.priority is None else f", priority {manager.priority}"
    return f"{manager.state}{priority}"
