"""Keys: whether anybody can rewrite tables, what protects them, and who may ask the subnet administrator."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.kernels.column import NIL
from weftline.model.audit import AuditInput
from weftline.model.fabric import NodeKind
from weftline.model.finding import Finding, Topic, Unjudged
from weftline.model.survey import PortFact
from weftline.technologies.infiniband.audit.names import PortNames, name_ports
from weftline.technologies.infiniband.audit.verdicts import count, settle

TITLE = "Management keys"
FAMILY = "keys."
OPTIONS = "opensm.conf"
PORTS = "smpquery portinfo LID PORT, or ibdiagnet2.db_csv"
NVIDIA = "the options of NVIDIA's manager"
RESIDUAL = (
    "upstream OpenSM has one management key for the whole subnet and trusts whoever has the SA_Key: root on a host "
    "that learns one of them is held back by nothing, and management packets know no partition"
)
ALWAYS_OPEN = (
    Unjudged("Are vendor, congestion-control and aggregation keys set?", NVIDIA, ("IBS-03",)),
    Unjudged("Does the subnet administrator trust no port by itself?", NVIDIA, ("IBS-04",)),
    Unjudged("Who can read the files that hold keys?", "ls -l of the manager's folder: mode 0600", ("IBS-08",)),
)
REMAINS = Finding(
    rule="keys.residual-risk",
    severity="note",
    subject="the subnet",
    message=RESIDUAL,
    next_step="accept it in writing, or use a manager with keys per port and enhanced trust",
    controls=("IBS-01", "IBS-04", "TEN-12"),
)


def judge(source: AuditInput) -> Topic:
    """Judge keys by the options of the manager and by what ports say; a key itself is never read."""
    findings = [finding for finding in source.configured if finding.rule.startswith(FAMILY)]
    options = {option.name: option.value for part in source.survey.parts for option in part.options}
    ports = [fact for part in source.survey.parts for fact in part.ports if fact.protection is not None]
    findings += _judge_ports(source, ports)
    unjudged: list[Unjudged] = []
    if not options and not ports:
        question = "Is a management key set, and does it protect?"
        unjudged.append(Unjudged(question, f"{OPTIONS}, or {PORTS}", ("IBS-01",)))
    if options and not ports:
        unjudged.append(Unjudged("Do the ports hold what the options say?", PORTS, ("IBS-01",)))
    if not options:
        unjudged.append(Unjudged("Are SM_Key and SA_Key set?", OPTIONS, ("IBS-02",)))
        unjudged += _list_open(source, ports)
    unjudged += ALWAYS_OPEN
    findings.append(REMAINS)
    worst = [finding for finding in findings if finding.severity != "note"]
    summary = worst[0].message if worst else _sum_up(options, ports)
    broken = {control for finding in worst for control in finding.controls}
    asked = {control for question in unjudged for control in question.controls}
    good = tuple(control for control in ("IBS-01", "IBS-02") if control not in broken | asked)
    named = sorted(name for name in options if name.endswith("_key") or name.startswith("m_key"))
    figures = tuple((name, options[name]) for name in named)
    return Topic("keys", TITLE, settle(findings, unjudged), summary, tuple(findings), tuple(unjudged), figures, good)


def _list_open(source: AuditInput, ports: list[PortFact]) -> Iterator[Unjudged]:
    """Say what ports alone do not: whether a lease outlasts a sweep, and how the ports fare that nobody asked."""
    if not ports:
        return
    if any(fact.has_management_key is None for fact in ports):
        yield Unjudged("Is there a key behind the protection level? Ports do not show it.", OPTIONS, ("IBS-01",))
    if any(fact.lease_s != 0 for fact in ports):
        yield Unjudged("Does the lease of the management key outlast a sweep and a fail-over?", OPTIONS, ("IBS-01",))
    if source.adoption is None:
        return
    fabric, names = source.adoption.fabric, name_ports(source.adoption)
    seen = {names.find(fact.node, fact.number, fact.port_guid, fact.lid) for fact in ports}
    lit = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL].tolist()
    known = {fact.node or names.switch_of_lid.get(fact.lid, 0) for fact in ports if fact.number == 0}
    switches = set(source.adoption.addresses.node_id[fabric.switch_node].tolist())
    rest = [count(len(set(lit) - seen), "host port"), count(len(switches - known), "switch", "switches")]
    if set(lit) - seen or switches - known:
        yield Unjudged(f"Are {' and '.join(rest)} protected, of which no file speaks?", PORTS, ("IBS-01",))


def _sum_up(options: dict[str, str], ports: list[PortFact]) -> str:
    if options:
        return "a management key is set and protects; other keys cannot be judged from these files"
    return f"{count(len(ports), 'port')} are protected" if ports else "No file says anything of keys."


def _judge_ports(source: AuditInput, ports: list[PortFact]) -> list[Finding]:
    """Name ports whose protection level lets anybody read their key, or that have none."""
    names = name_ports(source.adoption)
    open_ports = [
        fact
        for fact in ports
        if ((fact.protection or 0) < 2 or fact.has_management_key is False) and not _is_outer(source, names, fact)
    ]
    if not open_ports:
        return []
    first = open_ports[0]
    return [
        Finding(
            rule="keys.protection-level",
            severity="critical",
            subject=names.say(first.node, first.number, first.port_guid, first.lid),
            message=f"{count(len(open_ports), 'port')} have a protection level below 2 or no management key: "
            "root on any host can rewrite their tables",
            next_step="set m_key from a file of mode 0600, and m_key_protection_level 2",
            where=(first.where,),
            controls=("IBS-01",),
        )
    ]


def _is_outer(source: AuditInput, names: PortNames, fact: PortFact) -> bool:
    """Say whether it is a port of a switch other than 0: those have no key of their own. IBTA vol 1, 14.2.5.6."""
    if source.adoption is None:
        return False
    port = names.find(fact.node, fact.number, fact.port_guid, fact.lid)
    fabric = source.adoption.fabric
    return port != NIL and fact.number != 0 and fabric.node_kind[fabric.port_node[port]] == NodeKind.SWITCH
