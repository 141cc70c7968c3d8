"""What is wrong with OpenSM's partition file and the options about it, by what OpenSM will make of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from weftline.errors import Problem
from weftline.model.finding import Finding, FindingSeverity
from weftline.model.lint import Linted, LintInput, PredictedTable
from weftline.model.partitions import DEFAULT_KEY, KeySubnet, PartitionFile
from weftline.model.survey import OptionFact
from weftline.vendors.opensm.lint_options import judge_options
from weftline.vendors.opensm.lint_rules import judge_rules
from weftline.vendors.opensm.prediction import Overflow, PartitionOptions, Prediction, predict
from weftline.vendors.opensm.subnet import describe_discovered, describe_subnet, name_ends

NAMES_FILE = "partition_config_file"
NO_FILE = "partition.no-file"
MOST = 100
"""Findings of one rule that are listed; the rest is counted in the last."""
_SEVERITY: dict[str, FindingSeverity] = {"error": "critical", "warning": "warning", "note": "note"}
_CONTROLS = {
    "partition.syntax-error": ("TEN-01", "TEN-02"),
    "partition.loose-key": ("TEN-01",),
    "partition.loose-word": ("TEN-01",),
    "partition.lost-text": ("TEN-01",),
}


def lint(source: LintInput) -> Linted:
    """Judge a partition file, an option file, or both together, against a fabric where one is known."""
    values = {option.name: option.value for option in source.options or ()}
    options = PartitionOptions.read(values)
    findings = [*judge_options(source.options or ()), *judge_absence(source)]
    file = source.partitions
    if file is None or any(finding.rule == NO_FILE for finding in findings):
        if file is not None:  # it is there, but not under the name by which OpenSM looks for it
            findings += [*_from_file(file), *judge_rules(file, allows_both=options.allows_both)]
        return _without_file(source, findings, options)
    findings += _from_file(file)
    findings += judge_rules(file, allows_both=options.allows_both)
    prediction: Prediction | None = None
    subnet = describe(source)
    if subnet is not None:
        prediction = predict(file, subnet, options)
        findings += judge_guids(file, subnet)
        findings += _judge_tables(prediction, subnet)
        if not any(finding.rule == "partition.default-full" for finding in findings):
            findings += _judge_default(file, prediction, subnet)
    outcome = _say(file, prediction)
    tables = None
    if prediction is not None and subnet is not None and prediction.is_certain:
        tables = tuple(_list_tables(prediction, subnet))
    return Linted(_sort(findings), outcome, tables)


def _without_file(source: LintInput, findings: list[Finding], options: PartitionOptions) -> Linted:
    """Judge options alone: where the folder of the manager lacks its partition file, OpenSM opens everything."""
    if not any(finding.rule == NO_FILE for finding in findings):
        words = "There is no partition file to judge."
        return Linted(_sort(findings), f"{words} Without one every port would be a full member of 0x7fff.", None)
    subnet = describe(source)
    tables = None if subnet is None else tuple(_list_tables(predict(None, subnet, options), subnet))
    outcome = "OpenSM finds no partition file: every port becomes a full member of partition 0x7fff, and it says "
    return Linted(_sort(findings), f"{outcome}SUBNET UP.", tables)


def judge_absence(source: LintInput) -> Iterator[Finding]:
    """Find that the partition file is not there, where all files were given; the log of OpenSM does not tell."""
    if not source.has_all or source.options is None:
        return
    named = find_named(source.options)
    name = "partitions.conf" if named is None else named.value
    given = "" if source.partitions is None else source.partitions.file
    if given and (named is None or PurePosixPath(given).name == PurePosixPath(name).name):
        return
    says = "no option names a partition file" if named is None else f"the partition file that it names is {name[:80]}"
    there = f", and {given}, which is there, is not read" if given else ""
    yield Finding(
        rule=NO_FILE,
        severity="critical",
        subject="opensm.conf" if named is None else f"option {named.name}",
        message=f"{says}, and none of that name is in the folder{there}; without it OpenSM makes every port a full "
        "member of the default partition 0x7fff and says SUBNET UP",
        next_step=f"put the partition file into the folder as {PurePosixPath(name).name}, and lint again",
        where=() if named is None else (named.where,),
        controls=("TEN-01", "TEN-02"),
    )


def find_named(options: Sequence[OptionFact]) -> OptionFact | None:
    """Find the option that names the partition file; ``(null)`` is how OpenSM writes that nothing is named."""
    return next((one for one in options if one.name == NAMES_FILE and one.value not in {"", "(null)"}), None)


def describe(source: LintInput) -> KeySubnet | None:
    """Describe the subnet by the dump where it lists nodes by GUID, else by the fabric; None without either."""
    if source.fabric is None or source.addresses is None:
        return None
    if source.discovery is not None and all(node.guid for node in source.discovery.nodes):
        names = name_ends(source.fabric, source.addresses)
        return describe_discovered(source.discovery, names, source.manager, source.capacities)
    return describe_subnet(source.fabric, source.addresses, None, source.manager, source.capacities)


def _sort(findings: list[Finding]) -> tuple[Finding, ...]:
    order = {"critical": 0, "warning": 1, "note": 2}
    return tuple(sorted(findings, key=lambda finding: order[finding.severity]))


def _say(file: PartitionFile, prediction: Prediction | None) -> str:
    if file.fault is not None:
        return "OpenSM gives the file up: every port becomes a full member of partition 0x7fff, and it says SUBNET UP."
    if file.doubt is not None:
        return f"What OpenSM makes of the file cannot be predicted: {file.doubt.message}."
    keys = {rule.key for rule in file.rules if rule.key and rule.key != DEFAULT_KEY}
    rules = "1 rule" if len(file.rules) == 1 else f"{len(file.rules):,} rules"
    partitions = "1 partition" if len(keys) == 1 else f"{len(keys):,} partitions"
    words = f"OpenSM takes the file: {rules} for {partitions} and the default"
    if prediction is None:
        return f"{words}; give --fabric to see what each port will hold."
    return f"{words}, {len(prediction.tables):,} tables."


def _from_file(file: PartitionFile) -> Iterator[Finding]:
    found = [problem for problem in (file.fault, file.doubt) if problem is not None]
    for problem in [*found, *file.remarks]:
        yield _from_problem(problem)


def _from_problem(problem: Problem) -> Finding:
    is_fault = problem.code == "partition.syntax-error"
    tail = "; OpenSM gives the whole file up, and every port joins one partition as a full member" if is_fault else ""
    return Finding(
        rule=problem.code,
        severity=_SEVERITY[problem.severity],
        subject=problem.where.file if problem.where else "",
        message=problem.message + tail,
        next_step=problem.hint,
        where=(problem.where,) if problem.where else (),
        controls=_CONTROLS.get(problem.code, ()),
    )


def judge_guids(file: PartitionFile, subnet: KeySubnet) -> Iterator[Finding]:
    """Name the members that are no port of the fabric: OpenSM passes over them without a word."""
    known = {end.guid for end in subnet.ends} | {subnet.manager}
    of_node: dict[int, list[str]] = {}
    for end in subnet.ends:
        if end.kind != "switch" and end.place[0] != end.guid:
            of_node.setdefault(end.place[0], []).append(f"{end.guid:#018x}")
    seen: set[int] = set()
    for rule in file.rules:
        for member in rule.members:
            if member.kind != "port" or member.guid in known or member.guid in seen:
                continue
            seen.add(member.guid)
            if len(seen) > MOST:
                continue
            ports = of_node.get(member.guid)
            is_node = ports is not None or member.guid in subnet.nodes
            what = "the GUID of an adapter" if is_node else "no port of the fabric"
            step = f"write the GUID of its port{': ' + ' or '.join(ports) if ports else ''}" if is_node else (
                "correct it, or take it out; a host that is down is found again when it is up"
            )  # fmt: skip
            yield Finding(
                rule="partition.node-guid" if is_node else "partition.unknown-guid",
                severity="critical",
                subject=f"partition {rule.name or f'{rule.key:#06x}'}",
                message=f"{member.guid:#018x} is {what}, so OpenSM passes over it and the port does not join",
                next_step=step,
                where=(member.where,),
                controls=("TEN-05",),
            )


def _judge_tables(prediction: Prediction, subnet: KeySubnet) -> Iterator[Finding]:
    for overflow in prediction.overflows[:MOST]:
        lost = ", ".join(f"{key:#06x}" for key in overflow.lost[:4])
        yield _overflow(
            "partition.overflow",
            subnet,
            overflow,
            f"{overflow.wanted} keys for a table of {overflow.capacity}: {lost} are not programmed (ERR 0512)",
        )
    for overflow in prediction.cleared[:MOST]:
        yield _overflow(
            "partition.switch-overflow",
            subnet,
            overflow,
            f"{overflow.wanted} keys for the table of the switch port that faces it, of {overflow.capacity} places: "
            "OpenSM clears enforcement there, and may not even log it",
        )


def _overflow(rule: str, subnet: KeySubnet, overflow: Overflow, message: str) -> Finding:
    return Finding(
        rule=rule,
        severity="critical",
        subject=subnet.name(overflow.guid),
        message=message,
        next_step="put fewer partitions on this port: merge them, or spread its services over ports",
        controls=("TEN-03",),
    )


def _judge_default(file: PartitionFile, prediction: Prediction, subnet: KeySubnet) -> Iterator[Finding]:
    """Count who is a full member of the default partition without being named for it."""
    default = prediction.memberships.partitions[DEFAULT_KEY]
    named = {
        member.guid
        for rule in file.rules
        if rule.key == DEFAULT_KEY
        for member in rule.members
        if member.kind == "port" and member.membership != "limited"
    }
    adapters = {end.guid for end in subnet.ends if end.kind != "switch"}
    joined = sorted(guid for guid in default.full & adapters if guid != subnet.manager and guid not in named)
    if joined and file.fault is None:
        yield Finding(
            rule="partition.default-full",
            severity="critical",
            subject="partition 0x7fff",
            message=f"{len(joined):,} ports, such as {subnet.name(joined[0])}, are full members of the default "
            "partition: each of them reaches every port",
            next_step="write Default=0x7fff : ALL=limited, ALL_SWITCHES=full, SELF=full ;",
            controls=("TEN-02",),
        )


def _list_tables(prediction: Prediction, subnet: KeySubnet) -> Iterator[PredictedTable]:
    of_place = {end.place: end.guid for end in subnet.ends}
    facing = {end.facing: end.guid for end in subnet.ends if end.facing is not None}
    for place, table in prediction.tables.items():
        guid = of_place.get(place, 0)
        name = subnet.name(guid) if guid else f"the switch port that faces {subnet.name(facing[place])}"
        yield PredictedTable(name, place[0], place[1], guid, table)
