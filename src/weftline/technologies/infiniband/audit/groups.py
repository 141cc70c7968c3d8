"""Multicast groups: whether their members are members of the partition too, and what arrived from another one."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.kernels.column import NIL
from weftline.model.audit import AuditInput
from weftline.model.finding import Finding, Unjudged
from weftline.model.partitions import KEY
from weftline.technologies.infiniband.audit.keyed import Keyed, read_groups
from weftline.technologies.infiniband.audit.verdicts import count

TABLES = "smpquery pkeys LID PORT of every host port and of the switch port before it, or saquery --smkey KEY PKTR LID"


def judge_groups(source: AuditInput, keyed: Keyed) -> Iterator[Finding]:
    """Hold the members of each multicast group against its partition, and count what arrived from another one."""
    for part in source.survey.parts:
        for group in part.groups:
            if group.key is None:
                continue
            for guid in group.members:
                fact = keyed.tables.get(keyed.names.of_guid.get(guid, NIL))
                if fact is not None and fact.is_whole and group.key & KEY not in {key & KEY for key in fact.keys}:
                    yield Finding(
                        rule="partition.multicast-stranger",
                        severity="warning",
                        subject=f"group {group.mgid}",
                        message=f"{keyed.names.say(0, NIL, guid)} is a member, and does not hold {group.key:#06x}",
                        next_step="see how it joined; the manager should have refused",
                        where=(group.where, fact.where),
                        controls=("TEN-10",),
                    )
    violations = [(port, fact) for port, fact in keyed.ports.items() if fact.key_violations]
    if violations:
        port, fact = max(violations, key=lambda item: item[1].key_violations or 0)
        yield Finding(
            rule="partition.violations",
            severity="note",
            subject=keyed.fabric.port_name(port),
            message=f"{count(len(violations), 'port')} counted packets of other partitions; "
            f"here {fact.key_violations:,}",
            next_step="find the sender by traps 256 to 258 in the manager's log; counters stay until they are reset",
            where=(fact.where,),
        )


def ask_groups(source: AuditInput, keyed: Keyed) -> Iterator[Unjudged]:
    """Ask who is in the multicast groups, where files do not say it of every member."""
    groups = [group for part in source.survey.parts for group in part.groups]
    if not groups or not all(group.lists_members for group in groups):
        yield Unjudged("Which multicast groups are there, and who is in them?", "saquery MCMR", ("TEN-10",))
    blind = [group for group in groups if group.key is None or any(_is_blind(keyed, guid) for guid in group.members)]
    if blind:
        words = f"Do the members of {count(len(blind), 'multicast group')}, such as {blind[0].mgid}, hold its key?"
        yield Unjudged(words, f"saquery MCMR, and {TABLES}", ("TEN-10",))


def _is_blind(keyed: Keyed, guid: int) -> bool:
    """Tell whether the keys of a port are not known."""
    return read_groups(keyed.tables.get(keyed.names.of_guid.get(guid, NIL))) is None
