"""Partitions: who can reach whom, and why: the host's table, the table of the switch port before it, enforcement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from weftline.adopt import match_nodes
from weftline.kernels.column import NIL
from weftline.model.audit import AuditInput, Declared
from weftline.model.finding import Finding, Topic, Unjudged
from weftline.model.isolation import MANAGEMENT, NOBODY, IsolatedEnd, IsolationTables, Owners
from weftline.model.partitions import DEFAULT_KEY, FULL, KEY
from weftline.model.proof import Proof, Verdict
from weftline.prove.isolate import prove_isolation
from weftline.technologies.infiniband.audit.groups import TABLES, ask_groups, judge_groups
from weftline.technologies.infiniband.audit.keyed import Keyed, gather, places, read_groups, say
from weftline.technologies.infiniband.audit.verdicts import count, settle

TITLE = "Partitions: who can reach whom"
ENFORCEMENT = "opensm.conf, or smpquery portinfo of the switch ports that face hosts"
PREMISE = "It rests on a management key that protects the tables; see the topic on keys."
NAMES_FILE = "partition_config_file"
MOST = 50
FAMILY = "partition."


def judge(source: AuditInput) -> Topic:
    """Judge partitions by what was read from ports, and by what the configuration would program where nothing was."""
    findings = [finding for finding in source.configured if finding.rule.startswith(FAMILY)]
    findings += _judge_log(source)
    keyed = gather(source)
    if keyed is None:
        asked = [Unjudged("Which ports are there to be kept apart?", "ibnetdiscover", ("TEN-01",))]
        asked += ask_for_file(source)
        words = findings[0].message if findings else "No file describes the fabric that partitions are made for."
        return Topic("partitions", TITLE, settle(findings, asked), words, tuple(findings), tuple(asked))
    findings += [
        *_judge_default(source, keyed),
        *_judge_everybody(source, keyed),
        *_judge_walls(keyed),
        *_judge_tables(keyed),
        *_judge_hosts(keyed),
    ]
    findings += judge_groups(source, keyed)
    proof = _prove(source, keyed)
    if proof is not None and proof.verdict is Verdict.REFUTED and proof.witness is not None:
        findings.insert(0, _tell(proof))
    unjudged = list(_list_open(source, keyed, proof))
    good = _list_good(findings, unjudged, keyed)
    figures = tuple(_list_figures(keyed))
    return Topic(
        "partitions", TITLE, settle(findings, unjudged), _sum_up(findings, keyed, proof), tuple(findings),
        tuple(unjudged), figures, good,
    )  # fmt: skip


def _sum_up(findings: list[Finding], keyed: Keyed, proof: Proof | None) -> str:
    worst = next((finding for finding in findings if finding.severity == "critical"), None)
    if worst is not None:
        return worst.message
    if not keyed.tables and not keyed.predicted:
        return "No file says which partitions a port is in."
    known = f"the tables of {count(sum(port in keyed.tables for port, _ in keyed.facing()), 'host port')} were read"
    if not keyed.tables:
        known = "what the partition file would program was judged"
    if proof is not None and proof.verdict is Verdict.PROVED:
        return f"tenants meet in no partition; {known}"
    return f"partition tables: {known}"


def _tell(proof: Proof) -> Finding:
    assert proof.witness is not None  # noqa: S101  (the caller looked)
    return Finding(
        rule="partition.tenants-meet",
        severity="critical",
        subject=f"{proof.witness.detail['a_owner']} and {proof.witness.detail['b_owner']}",
        message=proof.witness.summary,
        next_step="take one of them out of the partition, and close the switch ports: part_enforce both",
        controls=("TEN-01",),
    )


def _prove(source: AuditInput, keyed: Keyed) -> Proof | None:
    """Prove isolation where a declaration says who owns what."""
    declared, adoption = source.declared, source.adoption
    if declared is None or adoption is None or declared.owners is None or not declared.owners.are_many:
        return None
    matched = match_nodes(declared.fabric, adoption.fabric, declared.addresses, adoption.addresses)
    owner: dict[int, str] = {}
    for port, whose in declared.owners.of_port.items():
        found = matched.get(int(declared.fabric.port_node[port]))
        if found is not None and whose != MANAGEMENT:
            owner.setdefault(found, whose)
    seats = {keyed.names.of_guid.get(guid, NIL) for guid in _managers(source)}
    ends = tuple(_describe_end(keyed, port, peer, owner, seats) for port, peer in keyed.facing())
    doubts = tuple(_doubt_owners(declared, declared.owners, keyed, matched))
    source_words, digest = "the tables of the dumps", keyed.fabric.digest
    tables = IsolationTables(ends, declared.owners.sharings, digest, source_words, PREMISE, doubts)
    return prove_isolation(tables, required=True)


def _doubt_owners(declared: Declared, owners: Owners, keyed: Keyed, matched: dict[int, int]) -> Iterator[str]:
    """Say where a host that was found may be a tenant's: one that is not declared, while a declared one is missing."""
    port_node = declared.fabric.port_node
    lost = {
        int(port_node[port]): owner
        for port, owner in owners.of_port.items()
        if owner not in {MANAGEMENT, NOBODY} and int(port_node[port]) not in matched
    }
    known = set(matched.values())
    strange = {int(keyed.fabric.port_node[port]) for port, _ in keyed.facing()} - known
    if lost and strange:
        node, owner = next(iter(lost.items()))
        yield (
            f"{declared.fabric.node_name[node]} of {owner} was not found, one of {len(lost):,}, and "
            f"{keyed.fabric.node_name[min(strange)]} is not declared, one of {len(strange):,}"
        )


def _describe_end(keyed: Keyed, port: int, peer: int, owner: dict[int, str], seats: set[int]) -> IsolatedEnd:
    nobody = MANAGEMENT if port in seats else NOBODY
    enforces_in, enforces_out = keyed.enforcement(peer)
    return IsolatedEnd(
        name=keyed.fabric.port_name(port),
        owner=owner.get(int(keyed.fabric.port_node[port]), nobody),
        own=read_groups(keyed.table(port)),
        wall=read_groups(keyed.table(peer)),
        enforces_in=enforces_in,
        enforces_out=enforces_out,
        facing=keyed.fabric.port_name(peer),
    )


def _managers(source: AuditInput) -> set[int]:
    """List the port GUIDs at which managers run, as files say or as is declared."""
    found = {fact.port_guid for part in source.survey.parts for fact in part.managers if fact.port_guid}
    return found | set(source.declared.managers if source.declared is not None else ())


def _judge_log(source: AuditInput) -> Iterator[Finding]:
    rules = {
        "given-up": ("partition.given-up", ("TEN-01", "TEN-02"), "weftline lint partitions.conf names the line"),
        "key-lost": ("partition.overflow", ("TEN-05",), "put fewer partitions on this port"),
        "enforcement-cleared": ("partition.switch-overflow", ("TEN-03",), "put fewer partitions on the host behind it"),
    }
    for part in source.survey.parts:
        for line in (part.log or ())[:MOST]:
            rule, controls, step = rules[line.kind]
            yield Finding(rule, "critical", line.where.file, line.text, step, (line.where,), controls)


def _judge_default(source: AuditInput, keyed: Keyed) -> Iterator[Finding]:
    """Find hosts that are full members of the default partition."""
    seats = {keyed.names.of_guid.get(guid, NIL) for guid in _managers(source)}
    full = [
        port
        for port, _ in keyed.facing()
        if port not in seats and (fact := keyed.tables.get(port)) is not None and DEFAULT_KEY | FULL in fact.keys
    ]
    if full:
        yield Finding(
            rule="partition.default-full",
            severity="critical",
            subject="partition 0x7fff",
            message=f"{count(len(full), 'host port')}, such as {keyed.fabric.port_name(full[0])}, hold the default "
            "partition as full members: each reaches every port",
            next_step="write Default=0x7fff : ALL=limited, ALL_SWITCHES=full, SELF=full ;",
            where=places(keyed.tables.get(full[0])),
            controls=("TEN-02",),
        )


def _judge_everybody(source: AuditInput, keyed: Keyed) -> Iterator[Finding]:
    """Find partitions of which every host is a full member while others keep some of them apart."""
    seats = {keyed.names.of_guid.get(guid, NIL) for guid in _managers(source)}
    read = [(port, keyed.tables[port]) for port, _ in keyed.facing() if port in keyed.tables and port not in seats]
    held = Counter(key & KEY for _, fact in read for key in set(fact.keys) if key & FULL and key & KEY != DEFAULT_KEY)
    held.pop(0, None)
    common = sorted(key for key, number in held.items() if number == len(read) > 1)
    if len(held) == len(common):
        return
    for key in common[:MOST]:
        yield Finding(
            rule="partition.everybody-full",
            severity="critical",
            subject=f"partition {key:#06x}",
            message=f"all {len(read):,} host ports that were read are full members: each reaches every one of them",
            next_step="for a service that is shared, make the hosts limited members and the ports of the service full",
            where=places(read[0][1]),
            controls=("TEN-01", "TEN-06"),
        )


def _judge_walls(keyed: Keyed) -> Iterator[Finding]:
    """Hold the table of each switch port against that of the host before it, and look whether it enforces."""
    differing = [
        (port, peer)
        for port, peer in keyed.facing()
        if (own := keyed.tables.get(port)) is not None
        and (wall := keyed.tables.get(peer)) is not None
        and own.is_whole
        and {key for key in wall.keys if key & KEY} - {key for key in own.keys if key & KEY}
    ]
    for port, peer in differing[:MOST]:
        own, wall = keyed.tables[port], keyed.tables[peer]
        yield Finding(
            rule="partition.wall-differs",
            severity="critical",
            subject=keyed.fabric.port_name(peer),
            message=f"it lets {say(wall.keys)} through, and {keyed.fabric.port_name(port)} holds {say(own.keys)}",
            next_step="part_enforce both; after that restart the manager on tables that were emptied",
            where=places(wall, own),
            controls=("TEN-03",),
        )
    opened = [peer for _, peer in keyed.facing() if False in keyed.enforcement(peer)]
    if opened:
        yield Finding(
            rule="partition.enforcement-off",
            severity="critical",
            subject=keyed.fabric.port_name(opened[0]),
            message=f"{count(len(opened), 'switch port')} that face hosts do not enforce in both directions",
            next_step="write part_enforce both, and see the log of OpenSM for ERR 0507",
            controls=("TEN-03",),
        )


def _judge_tables(keyed: Keyed) -> Iterator[Finding]:
    """Look into each host's table: memberships, index 0, and what the configuration would make of it."""
    for port, (first, second) in list(keyed.disputed.items())[:MOST]:
        yield Finding(
            rule="partition.tables-disagree",
            severity="warning",
            subject=keyed.fabric.port_name(port),
            message=f"{first.where} says {say(first.keys)}, and {second.where} says {say(second.keys)}; judged as if "
            "the port held all of them",
            next_step="take the tables again, all at one time, and put no older ones beside them",
            where=places(first, second),
        )
    both = [port for port, _ in keyed.facing() if _has_both(keyed, port)]
    if both:
        yield Finding(
            rule="partition.both-membership",
            severity="warning",
            subject=keyed.fabric.port_name(both[0]),
            message=f"{count(len(both), 'host port')} are full and limited members of one partition",
            next_step="keep one membership, unless the service needs both and that is declared",
            where=places(keyed.tables[both[0]]),
            controls=("TEN-04",),
        )
    lacking = [port for port, _ in keyed.facing() if _lacks_first(keyed, port)]
    if lacking:
        yield Finding(
            rule="partition.no-index0",
            severity="warning",
            subject=keyed.fabric.port_name(lacking[0]),
            message=f"{count(len(lacking), 'host port')} hold the default partition at index 0, as limited "
            "members, and a partition of their own behind it: NCCL uses index 0",
            next_step="write indx0 behind the P_Key of the partition in which these hosts compute",
            where=places(keyed.tables[lacking[0]]),
        )
    other = [
        port
        for port, wanted in keyed.predicted.items()
        if (held := keyed.tables.get(port)) is not None and held.is_whole and set(held.keys) != set(wanted.keys)
    ]
    if other:
        port = other[0]
        yield Finding(
            rule="partition.not-as-configured",
            severity="critical",
            subject=keyed.fabric.port_name(port),
            message=f"{count(len(other), 'port')} hold other keys than the partition file gives them; this one holds "
            f"{say(keyed.tables[port].keys)}, and should hold {say(keyed.predicted[port].keys)}",
            next_step="see whether the manager runs on this file, and who else may write tables",
            where=places(keyed.tables[port]),
            controls=("CFG-01",),
        )


def _has_both(keyed: Keyed, port: int) -> bool:
    fact = keyed.tables.get(port)
    return fact is not None and any(key & FULL and key & KEY in fact.keys for key in fact.keys if key & KEY)


def _lacks_first(keyed: Keyed, port: int) -> bool:
    fact = keyed.tables.get(port)
    if fact is None or not fact.is_ordered or not fact.keys:
        return False
    return fact.keys[0] & KEY in {0, DEFAULT_KEY} and not fact.keys[0] & FULL and any(key & FULL for key in fact.keys)


def _judge_hosts(keyed: Keyed) -> Iterator[Finding]:
    """Find hosts whose ports are full members of partitions that have nothing in common."""
    homes: dict[int, list[tuple[int, frozenset[int]]]] = {}
    for port, _ in keyed.facing():
        fact = keyed.tables.get(port)
        if fact is not None and fact.is_whole:
            own = frozenset(key & KEY for key in fact.keys if key & FULL) - {DEFAULT_KEY}
            if own:
                homes.setdefault(int(keyed.fabric.port_node[port]), []).append((port, own))
    for node, held in list(homes.items()):
        stranger = next((port for port, own in held[1:] if not own & held[0][1]), None)
        if stranger is not None:
            yield Finding(
                rule="partition.host-in-two",
                severity="warning",
                subject=keyed.fabric.node_name[node],
                message=f"{keyed.fabric.port_name(held[0][0])} and {keyed.fabric.port_name(stranger)} are in "
                "partitions that have nothing in common: a host belongs to one tenant",
                next_step="give all ports of the host the partition of its tenant",
                where=places(keyed.tables[held[0][0]], keyed.tables[stranger]),
                controls=("TEN-11",),
            )


def _list_open(source: AuditInput, keyed: Keyed, proof: Proof | None) -> Iterator[Unjudged]:
    pairs = list(keyed.facing())
    unknown = sum(read_groups(keyed.tables.get(port)) is None for port, _ in pairs)
    walls = sum(read_groups(keyed.tables.get(peer)) is None for _, peer in pairs)
    if unknown or walls:
        words = f"Which keys do {unknown:,} of {len(pairs):,} host ports hold, and {walls:,} switch ports before them?"
        if keyed.predicted:
            words += " The partition file says what they should hold."
        controls = ("TEN-01", "TEN-02", "TEN-04", *(("TEN-03",) if walls else ()), *(("TEN-11",) if unknown else ()))
        yield Unjudged(words, TABLES, controls)
        if unknown:
            yield from ask_for_file(source)
    if any(None in keyed.enforcement(peer) for _, peer in pairs):
        yield Unjudged("Do the switch ports that face hosts enforce partitions?", ENFORCEMENT, ("TEN-03",))
    if proof is None:
        yield Unjudged("Which hosts belong to which tenant?", "--against DECLARATION", ("TEN-01", "TEN-11"))
    elif proof.verdict is Verdict.UNKNOWN:
        yield Unjudged("Are the tenants kept apart?", proof.statement.partition("Not decided: ")[2], ("TEN-01",))
    yield from ask_groups(source, keyed)
    lost = [fact for fact in keyed.strangers if fact.is_whole and not fact.name]
    if lost:
        words = (
            f"Whose are {count(len(lost), 'partition table')} of ports that the topology lacks, as at {lost[0].where}?"
        )
        yield Unjudged(words, "the topology and the tables of one moment", ("TEN-01",))
    if not any(part.log is not None for part in source.survey.parts):
        yield Unjudged(
            "Did the manager give its partition file up, or lose keys?", "opensm.log of the manager", ("TEN-05",)
        )


def ask_for_file(source: AuditInput) -> Iterator[Unjudged]:
    """Ask for the partition file where the options name one and none was given: without it OpenSM opens everything."""
    if any(part.partitions is not None for part in source.survey.parts):
        return
    for part in source.survey.parts:
        for option in part.options:
            if option.name == NAMES_FILE and option.value not in {"", "(null)"}:
                words = (
                    f"Is {option.value[:80]}, the partition file that {option.where.file} names, there? Without it "
                    "every port is a full member of the default partition, and the log says SUBNET UP."
                )
                needs = f"{option.value[:80]}, or the partition tables of all ports"
                yield Unjudged(words, needs, ("TEN-01", "TEN-02"))
                return


def _list_good(findings: list[Finding], unjudged: list[Unjudged], keyed: Keyed) -> tuple[str, ...]:
    """List the controls that were judged and are broken by nothing."""
    spoken = {control for finding in findings if finding.severity != "note" for control in finding.controls}
    spoken |= {control for question in unjudged for control in question.controls}
    judged = ("TEN-01", "TEN-02", "TEN-03", "TEN-04", "TEN-10", "TEN-11") if keyed.tables else ()
    return tuple(control for control in judged if control not in spoken)


def _list_figures(keyed: Keyed) -> Iterator[tuple[str, str]]:
    full: Counter[int] = Counter()
    limited: Counter[int] = Counter()
    for port, _ in keyed.facing():
        fact = keyed.table(port)
        for key in set(fact.keys) if fact is not None else ():
            if key & KEY:
                (full if key & FULL else limited)[key & KEY] += 1
    for key in sorted(full.keys() | limited.keys())[:MOST]:
        yield f"partition {key:#06x}", f"{full[key]:,} full, {limited[key]:,} limited"
