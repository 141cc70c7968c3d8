"""What the rules of a partition file say to somebody who knows what OpenSM and the hosts make of them."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.model.finding import Finding
from weftline.model.partitions import DEFAULT_KEY, PartitionFile, Rule

EVERYBODY = frozenset({"all", "adapters", "routers"})
"""Kinds of members that hold ports of hosts."""
MOST = 100


def judge_rules(file: PartitionFile, *, allows_both: bool) -> Iterator[Finding]:
    """Judge a file by itself, without the fabric."""
    yield from _judge_default(file)
    yield from _judge_everybody(file)
    yield from _judge_both(file, allows_both=allows_both)
    yield from _judge_names(file)
    yield from _judge_first(file)
    yield from _judge_hubs(file)


def _call(rule: Rule) -> str:
    return rule.name or f"{rule.key:#06x}"


def _judge_default(file: PartitionFile) -> Iterator[Finding]:
    rules = [rule for rule in file.rules if rule.key == DEFAULT_KEY]
    if not rules and file.fault is None:
        yield Finding(
            rule="partition.missing-default",
            severity="note",
            subject=file.file,
            message="no rule names partition 0x7fff: OpenSM makes every port a limited member and itself a full one, "
            "which keeps ports apart, but no reader of the file can see it",
            next_step="write Default=0x7fff : ALL=limited, ALL_SWITCHES=full, SELF=full ;",
            controls=("TEN-02",),
        )
    last: dict[str, tuple[str, Rule, int]] = {}
    for rule in rules:
        for index, member in enumerate(rule.members):
            if member.kind in EVERYBODY:
                last[member.kind] = (member.membership, rule, index)
    if last.get("all", ("limited",))[0] == "limited" and last.get("adapters", ("limited",))[0] == "limited":
        return
    _, rule, index = next(found for kind, found in last.items() if kind != "routers" and found[0] != "limited")
    yield Finding(
        rule="partition.default-full",
        severity="critical",
        subject="partition 0x7fff",
        message="every port is a full member of the default partition: all reach all, whatever other rules say",
        next_step="write ALL=limited, ALL_SWITCHES=full, SELF=full, and name the ports of other managers as full",
        where=(rule.members[index].where,),
        controls=("TEN-01", "TEN-02"),
    )


def _judge_everybody(file: PartitionFile) -> Iterator[Finding]:
    """Find partitions beside the default one in which every port is a full member: there all reach all as well."""
    own = {rule.key for rule in file.rules if rule.key != DEFAULT_KEY}
    told: set[int] = set()
    for rule in file.rules:
        # As in the default partition, the last word on a kind of members counts.
        last = {member.kind: member for member in rule.members if member.kind in {"all", "adapters"}}
        full = next((member for member in last.values() if member.membership != "limited"), None)
        if full is None or rule.key == DEFAULT_KEY or (rule.key and rule.key in told):
            continue
        told.add(rule.key)
        is_alone = len(own) == 1 and rule.key != 0
        yield Finding(
            rule="partition.everybody-full",
            severity="warning" if is_alone else "critical",
            subject=f"partition {_call(rule)}",
            message="every port is a full member: all reach all here, whatever other rules say",
            next_step="name the ports that belong to it; for a service that is shared, make ALL=limited and the ports "
            "of the service full",
            where=(full.where,),
            controls=("TEN-01", "TEN-06"),
        )


def _judge_both(file: PartitionFile, *, allows_both: bool) -> Iterator[Finding]:
    found = [(rule, member) for rule in file.rules for member in rule.members if member.membership == "both"]
    for rule, member in found[:MOST]:
        if allows_both:
            message = "the port is a full and a limited member: as the full one it meets all limited members"
            step = "keep one of the two, unless the service needs both and that is declared"
        else:
            message = "without allow_both_pkeys, both means full"
            step = "write full or limited; allow_both_pkeys TRUE in opensm.conf makes both possible"
        yield Finding(
            rule="partition.both-membership",
            severity="warning",
            subject=f"partition {_call(rule)}",
            message=message,
            next_step=step,
            where=(member.where,),
            controls=("TEN-04",),
        )


def _judge_names(file: PartitionFile) -> Iterator[Finding]:
    by_key: dict[int, Rule] = {}
    by_name: dict[str, Rule] = {}
    for rule in file.rules:
        first = by_key.setdefault(rule.key, rule) if rule.key else rule
        if rule.name and first.name and first.name != rule.name:
            yield Finding(
                rule="partition.shared-key",
                severity="warning" if rule.key == DEFAULT_KEY else "critical",
                subject=f"partition {rule.key:#06x}",
                message=f"{first.name} and {rule.name} have one P_Key, so OpenSM makes them one partition",
                next_step="give each partition a P_Key of its own, or all its rules one name",
                where=(rule.where, first.where),
                controls=("TEN-01",),
            )
        named = by_name.setdefault(rule.name, rule)
        if rule.name and rule.key and named.key and named.key != rule.key:
            yield Finding(
                rule="partition.duplicate-name",
                severity="warning",
                subject=f"partition {rule.name}",
                message=f"the name stands for P_Key {named.key:#06x} and {rule.key:#06x}: these are two partitions",
                next_step="correct the P_Key, or give the second one another name",
                where=(rule.where, named.where),
                controls=("TEN-01",),
            )


def _judge_first(file: PartitionFile) -> Iterator[Finding]:
    """Find full members whose index 0 holds the default partition, in which they are limited."""
    first: set[int] = set()
    full: dict[int, list[Rule]] = {}
    for rule in file.rules:
        for member in rule.members:
            if member.kind != "port" or rule.key == DEFAULT_KEY:
                continue
            if rule.is_first:
                first.add(member.guid)
            elif member.membership != "limited":
                full.setdefault(member.guid, []).append(rule)
    lacking = [guid for guid in full if guid not in first]
    if lacking:
        rules = full[lacking[0]]
        yield Finding(
            rule="partition.no-index0",
            severity="warning",
            subject=f"partition {_call(rules[0])}",
            message=f"{len(lacking):,} full {'member has' if len(lacking) == 1 else 'members have'} no partition with "
            "indx0: index 0, which NCCL and others use, holds the default partition, in which hosts are limited and do "
            "not hear each other",
            next_step="write indx0 behind the P_Key of the partition in which these hosts compute",
            where=(rules[0].where,),
        )


def _judge_hubs(file: PartitionFile) -> Iterator[Finding]:
    """Find partitions by which full members of different partitions meet: a shared one has limited spokes."""
    homes: dict[int, set[int]] = {}
    members: dict[int, dict[int, Rule]] = {}
    for rule in file.rules:
        for member in rule.members:
            if member.kind == "port" and rule.key not in {0, DEFAULT_KEY} and member.membership != "limited":
                homes.setdefault(member.guid, set()).add(rule.key)
                members.setdefault(rule.key, {}).setdefault(member.guid, rule)
    for key, found in members.items():
        others = [(guid, homes[guid] - {key}) for guid in found if homes[guid] - {key}]
        if not others:
            continue
        guid, home = others[0]
        stranger = next(((two, its) for two, its in others[1:] if not its & home), None)
        if stranger is None:
            continue
        rule = found[guid]
        yield Finding(
            rule="partition.storage-not-hub-and-spoke",
            severity="critical",
            subject=f"partition {_call(rule)}",
            message=f"{guid:#018x} (of {min(home):#06x}) and {stranger[0]:#018x} (of {min(stranger[1]):#06x}) are both "
            "full members, so members of different partitions meet here",
            next_step="make those who share limited members, and only the ports of the shared service full",
            where=(rule.where, found[stranger[0]].where),
            controls=("TEN-01", "TEN-06"),
        )
