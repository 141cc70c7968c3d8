"""What the manager's own configuration comes to, for an audit of the fabric that it manages."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Place
from weftline.model.adoption import Adoption
from weftline.model.finding import Finding
from weftline.model.lint import LintInput
from weftline.model.partitions import PartitionFile
from weftline.model.survey import KeyFact, Survey
from weftline.vendors import VENDORS


def judge_configuration(
    survey: Survey, adoption: Adoption | None
) -> tuple[tuple[KeyFact, ...] | None, tuple[Finding, ...]]:
    """Predict the tables that the configuration among the files would give, and say what is wrong with it."""
    files = [part.partitions for part in survey.parts if part.partitions is not None]
    partitions = next(iter(files), None)
    options = next((part.options for part in survey.parts if part.options), None)
    lint = next((vendor.lint for vendor in VENDORS.values() if vendor.lint is not None), None)
    if lint is None or (partitions is None and options is None):
        return None, ()
    source = LintInput(
        partitions,
        options,
        None if adoption is None else adoption.fabric,
        None if adoption is None else adoption.addresses,
        survey.discovery,
        manager=_find_manager(survey),
        capacities=_find_capacities(survey),
    )
    linted = lint(source)
    # which of several option files the manager runs on is not known, so each must be in order
    others = [part.options for part in survey.parts if part.options and part.options is not options]
    more = [finding for one in others for finding in lint(LintInput(None, one, None, None)).findings]
    odd = tuple(_compare_files(files))
    findings = tuple(dict.fromkeys((*linted.findings, *more, *odd)))
    if linted.predicted is None or partitions is None or odd:
        return None, findings
    where = Place(partitions.file)
    facts = tuple(KeyFact(one.node, one.number, where, one.guid, keys=one.table.keys) for one in linted.predicted)
    return facts, findings


def _compare_files(files: list[PartitionFile]) -> Iterator[Finding]:
    """Name partition files that say otherwise than the first: nobody knows by which of them the manager runs."""
    for other in files[1:]:
        first = files[0]
        if _tell(other) != _tell(first):
            yield Finding(
                rule="partition.several-files",
                severity="warning",
                subject=other.file,
                message=f"{other.file} says otherwise than {first.file}, and which of them counts is not known",
                next_step="leave only the file that the manager runs on in the folder",
                where=(Place(other.file), Place(first.file)),
            )


def _tell(file: PartitionFile) -> tuple[object, ...]:
    """Say what a file says, without its places."""
    rules = (
        (rule.name, rule.key, rule.is_first, *((one.kind, one.membership, one.guid) for one in rule.members))
        for rule in file.rules
    )
    return file.fault is None, *rules


def _find_manager(survey: Survey) -> int:
    """Find the port of the master, where a file says it."""
    masters = (fact for part in survey.parts for fact in part.managers if fact.state == "master")
    return next((fact.port_guid for fact in masters if fact.port_guid), 0)


def _find_capacities(survey: Survey) -> tuple[int, int] | None:
    """Find the smallest tables of adapters and of switches, where files say both."""
    facts = [fact for part in survey.parts for fact in part.nodes]
    adapters = [fact.key_capacity for fact in facts if fact.key_capacity and fact.kind != "switch"]
    switches = [fact.switch_key_capacity for fact in facts if fact.switch_key_capacity]
    return (min(adapters), min(switches)) if adapters and switches else None
