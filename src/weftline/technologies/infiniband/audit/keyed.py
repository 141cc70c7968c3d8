"""The partition table of every port as files say it, put to the ports of the fabric, with enforcement beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from weftline.errors import Place
from weftline.kernels.column import NIL
from weftline.model.audit import AuditInput
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.isolation import Groups
from weftline.model.partitions import FULL, KEY
from weftline.model.survey import KeyFact, OptionFact, PortFact
from weftline.technologies.infiniband.audit.names import PortNames, name_ports

ENFORCEMENT = frozenset({"part_enforce", "no_partition_enforcement"})
"""Options that say whether switch ports enforce."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """Everything that files say of partitions, by port of the fabric."""

    fabric: Fabric
    names: PortNames
    tables: dict[int, KeyFact]
    """Tables that were read from ports; where several say otherwise, the keys of all of them."""
    predicted: dict[int, KeyFact]
    """Tables that the manager would program from its configuration."""
    ports: dict[int, PortFact]
    options: dict[str, OptionFact]
    cleared: frozenset[int]
    """Switch ports that no longer enforce by the log."""
    is_agreed: bool = True
    """Whether all option files say the same of enforcement."""
    strangers: tuple[KeyFact, ...] = ()
    """Tables of ports of nodes that the fabric does not have."""
    disputed: dict[int, tuple[KeyFact, KeyFact]] = field(default_factory=dict[int, tuple[KeyFact, KeyFact]])
    """Ports of which two files say otherwise."""
    directions: dict[str, tuple[bool, bool]] = field(
        default_factory=lambda: {"both": (True, True), "in": (True, False), "out": (False, True), "off": (False, False)}
    )

    def facing(self) -> Iterator[tuple[int, int]]:
        """Yield every endpoint with a cable and the switch port that it is cabled to."""
        for port in self.fabric.endpoint_port.tolist():
            peer = int(self.fabric.port_peer[port])
            if peer != NIL and self.fabric.node_kind[self.fabric.port_node[peer]] == NodeKind.SWITCH:
                yield port, peer

    def table(self, port: int) -> KeyFact | None:
        """Return the table of a port: as it was read, else as it would be programmed."""
        return self.tables.get(port) or self.predicted.get(port)

    def enforcement(self, port: int) -> tuple[bool | None, bool | None]:
        """Say whether a switch port enforces, in and out: by the port itself, else by the options."""
        if port in self.cleared:
            return False, False
        fact = self.ports.get(port)
        if fact is not None and (fact.enforces_in is not None or fact.enforces_out is not None):
            return fact.enforces_in, fact.enforces_out
        if not self.is_agreed:
            return None, None
        old, word = self.options.get("no_partition_enforcement"), self.options.get("part_enforce")
        if old is not None and old.value == "TRUE":
            return False, False
        return (None, None) if word is None else self.directions.get(word.value, (True, True))


def gather(source: AuditInput) -> Keyed | None:
    """Put tables and options to the ports of the fabric; None without a fabric."""
    if source.adoption is None:
        return None
    names = name_ports(source.adoption)
    discovery = source.survey.discovery
    nodes = {node.guid for node in (() if discovery is None else discovery.nodes) if node.guid}
    found_keys: dict[int, list[KeyFact]] = {}
    strangers: list[KeyFact] = []
    ports: dict[int, PortFact] = {}
    cleared: set[int] = set()
    for part in source.survey.parts:
        for fact in part.keys:
            port = names.find(fact.node, fact.number, fact.port_guid, fact.lid)
            if port == NIL:
                strangers += [] if fact.node in nodes else [fact]
            else:
                found_keys.setdefault(port, []).append(fact)
        for found in part.ports:
            port = names.find(found.node, found.number, found.port_guid, found.lid)
            if port != NIL:
                ports[port] = _join_enforcement(ports.get(port), found)
        for line in part.log or ():
            if line.kind == "enforcement-cleared":
                cleared.add(names.find(line.node, line.number))
    predicted = {
        port: fact
        for fact in source.predicted or ()
        if (port := names.find(fact.node, fact.number, fact.port_guid)) != NIL
    }
    options = {option.name: option for part in source.survey.parts for option in part.options}
    said = {
        frozenset((one.name, one.value) for one in part.options if one.name in ENFORCEMENT)
        for part in source.survey.parts
        if part.options
    }
    merged = {port: _merge(facts) for port, facts in found_keys.items()}
    tables = {port: fact for port, (fact, _) in merged.items()}
    disputed = {port: pair for port, (_, pair) in merged.items() if pair is not None}
    return Keyed(
        source.adoption.fabric, names, tables, predicted, ports, options, frozenset(cleared - {NIL}), len(said) < 2,
        tuple(strangers), disputed,
    )  # fmt: skip


def _merge(facts: list[KeyFact]) -> tuple[KeyFact, tuple[KeyFact, KeyFact] | None]:
    """Join what files say of one port; where they contradict each other it may hold any of these keys."""
    best = max(facts, key=_rank)
    held = _hold(best)
    other = next(
        (fact for fact in facts if best.is_whole and (_hold(fact) - held or (fact.is_whole and _hold(fact) != held))),
        None,
    )
    if other is None:
        return best, None
    more = sorted({key for fact in facts for key in _hold(fact)} - held)
    return replace(best, keys=(*best.keys, *more)), (best, other)


def _hold(fact: KeyFact) -> set[int]:
    return {key for key in fact.keys if key & KEY}


def _join_enforcement(first: PortFact | None, second: PortFact) -> PortFact:
    """Join what files say of one port: what one of them calls open is open."""
    if first is None:
        return second
    base = first if first.enforces_in is not None or second.enforces_in is None else second
    return replace(
        base,
        enforces_in=_both(first.enforces_in, second.enforces_in),
        enforces_out=_both(first.enforces_out, second.enforces_out),
        key_violations=max((n for n in (first.key_violations, second.key_violations) if n is not None), default=None),
    )


def _both(first: bool | None, second: bool | None) -> bool | None:  # noqa: FBT001
    return (first and second) if first is not None and second is not None else first if second is None else second


def _rank(fact: KeyFact) -> tuple[bool, bool]:
    return fact.is_whole, fact.is_ordered


def read_groups(fact: KeyFact | None) -> Groups | None:
    """Split the keys of a table; one that may lack keys is not known."""
    if fact is None or not fact.is_whole:
        return None
    full = frozenset(key & KEY for key in fact.keys if key & FULL and key & KEY)
    return Groups(full, frozenset(key & KEY for key in fact.keys if key & KEY) - full)


def say(keys: tuple[int, ...]) -> str:
    """Write keys as people read them."""
    return " ".join(f"{key:#06x}" for key in keys if key & KEY) or "none"


def places(*facts: KeyFact | None) -> tuple[Place, ...]:
    """List where tables were read."""
    return tuple(fact.where for fact in facts if fact is not None)
