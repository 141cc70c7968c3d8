"""What a rule is: what it judges, what it says when it fires, and the documented case behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from weftline.errors import Place
from weftline.headroom.sorting import find_paused_classes, find_priorities
from weftline.lint.pairing import Link, pair_ports
from weftline.model.finding import Finding, FindingSeverity
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort

MOST_HITS = 1_000
"""Findings of one rule; more say nothing new."""
SHOWN_PORTS = 4


@dataclass(frozen=True)
class LintSource:
    """Everything that the rules may look at: the devices whose files were given, and what is known besides."""

    devices: tuple[ObservedDevice, ...]
    dscps: frozenset[int] | None = None
    """DSCPs that must not lose packets, where somebody says so; else those that the hosts send."""

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Links both of whose ends are given."""
        return pair_ports(self.devices)

    @cached_property
    def switches(self) -> tuple[ObservedDevice, ...]:
        """The switches."""
        return tuple(device for device in self.devices if device.role == "switch")

    @cached_property
    def hosts(self) -> tuple[ObservedDevice, ...]:
        """The hosts."""
        return tuple(device for device in self.devices if device.role == "host")

    @cached_property
    def kept(self) -> frozenset[int]:
        """DSCPs that some switch sorts into a class that pauses."""
        found: set[int] = set()
        for device in self.switches:
            for port in device.ports:
                if port.class_of_dscp is not None and find_priorities(port) and is_used(port):
                    paused = find_paused_classes(port)
                    found |= {dscp for dscp, number in port.class_of_dscp.value.items() if number in paused}
        return frozenset(found)

    def is_of_host(self, dscp: int) -> bool:
        """Tell whether a DSCP that no switch keeps is a fault of its sender: it is 0, or others send what is kept."""
        if self.dscps is not None or not self.kept or dscp in self.kept:
            return False
        return dscp == 0 or bool(self.kept & set(self.wanted))

    @cached_property
    def wanted(self) -> Mapping[int, str]:
        """DSCPs that must not lose packets, each with who says so."""
        if self.dscps is not None:
            return dict.fromkeys(sorted(self.dscps), "that is declared")
        return {
            port.nic.traffic_class.value >> 2: f"{host.name} sends so"
            for host in reversed(self.hosts)
            for port in reversed(host.ports)
            if port.nic is not None and port.nic.traffic_class is not None
        }


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a rule fires."""

    device: str
    message: str
    where: Place
    right: str
    ports: tuple[str, ...] = ()
    """Ports that all have the same fault; empty where it is of the device."""
    severity: FindingSeverity | None = None
    """Where it is not that of the rule."""


Judge = Callable[[LintSource], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    key: str
    severity: FindingSeverity
    judge: Judge
    case: str = ""
    """Where people met it: a report, a paper, a measurement of our own."""
    controls: tuple[str, ...] = field(default=())


def judge_rule(rule: Rule, source: LintSource) -> Iterator[Finding]:
    """List what a rule finds."""
    for number, hit in enumerate(rule.judge(source)):
        if number == MOST_HITS:
            return
        yield Finding(
            rule=rule.key,
            severity=hit.severity or rule.severity,
            subject=f"{hit.device}{'/' if hit.ports else ''}{name_ports(hit.ports)}",
            message=hit.message,
            next_step=hit.right,
            where=(hit.where,),
            controls=rule.controls,
            case=rule.case,
        )


def name_ports(ports: Sequence[str]) -> str:
    """Name a few ports, and count the others."""
    if len(ports) <= SHOWN_PORTS:
        return ", ".join(ports)
    return f"{', '.join(ports[: SHOWN_PORTS - 1])} and {len(ports) - SHOWN_PORTS + 1:,} more"


def show_place(where: Place) -> str:
    """Write a place with its path in the file, as findings do that speak of two places."""
    return f"{where} {where.path}".rstrip()


def gather(hits: Iterable[tuple[ObservedPort, str, Place, str]], device: str) -> Iterator[Hit]:
    """Put the ports of a device together at which the same is wrong with the same right value.

    Takes (port, message, place, right value); the place is that of the first port.
    """
    found: dict[tuple[str, str], list[tuple[str, Place]]] = {}
    for port, message, where, right in hits:
        found.setdefault((message, right), []).append((port.name, where))
    for (message, right), places in found.items():
        yield Hit(device, message, places[0][1], right, tuple(name for name, _ in places))


def name_table(device: ObservedDevice, matter: str) -> str:
    """Say in which table of the device a matter is said, as `` (BUFFER_PG)``; empty where it has no such tables."""
    table = dict(device.tables).get(matter)
    return f" ({table})" if table else ""


def is_used(port: ObservedPort) -> bool:
    """Tell whether a port carries traffic: one that is shut loses nothing."""
    return port.is_up is None or port.is_up.value
