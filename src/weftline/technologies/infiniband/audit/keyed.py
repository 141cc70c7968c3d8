"""The partition table of every port as files say it, put to the ports of the fabric, with enforcement beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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
    """Tables that were read from ports; of several the one that is whole."""
    predicted: dict[int, KeyFact]
    """Tables that the manager would program from its configuration."""
    ports: dict[int, PortFact]
    options: dict[str, OptionFact]
    cleared: frozenset[int]
    """Switch ports that no longer enforce by the log."""
    is_agreed: bool = True
    """Whether all option files say the same of enforcement."""
    strangers: tuple[KeyFact, ...] = ()
    """Tables of ports that the fabric does not have."""
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
    tables: dict[int, KeyFact] = {}
    strangers: list[KeyFact] = []
    ports: dict[int, PortFact] = {}
    cleared: set[int] = set()
    for part in source.survey.parts:
        for fact in part.keys:
            port = names.find(fact.node, fact.number, fact.port_guid, fact.lid)
            if port == NIL:
                strangers.append(fact)
            elif port not in tables or _rank(fact) > _rank(tables[port]):
                tables[port] = fact
        for found in part.ports:
            port = names.find(found.node, found.number, found.port_guid, found.lid)
            if port != NIL and (found.enforces_in is not None or port not in ports):
                ports[port] = found
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
    return Keyed(
        source.adoption.fabric, names, tables, predicted, ports, options, frozenset(cleared - {NIL}), len(said) < 2,
        tuple(strangers),
    )  # fmt: skip


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
