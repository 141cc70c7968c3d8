"""What is wrong with a discovered fabric beyond its cabling: addresses, slow links, islands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weftline.adopt.cables import Cable
from weftline.formats.lid import MAX_UNICAST, PERMISSIVE
from weftline.formats.text import ProblemLog
from weftline.model.discovery import NodeRecord

BASE_GBPS = 10.0
"""4xSDR, what a link runs at that nothing is known of."""


@dataclass(frozen=True, slots=True)
class _Holder:
    """A port that answers to LIDs, and its line."""

    title: str
    line: int


def check_lids(records: Sequence[NodeRecord], log: ProblemLog) -> None:
    """Report LIDs that are not assigned, impossible, or held by two ports."""
    owner: dict[int, _Holder] = {}
    for record in records:
        if record.kind == "switch":
            entries = [(record.lid, 0, record.title, record.line)]
        else:
            entries = [
                (port.lid, port.lmc, f"port {port.number} of {record.title}", port.line) for port in record.ports
            ]
        for lid, lmc, title, line in entries:
            if lid in {0, PERMISSIVE}:
                hint = "the subnet manager has not reached it; no table leads to it"
                log.add("artifact.unassigned-lid", f"{title} has LID {lid}: none is assigned", hint, line, 1, "warning")
            elif lid > MAX_UNICAST:
                hint = f"unicast LIDs are 1 to {MAX_UNICAST}"
                log.add("artifact.bad-lid", f"{title} has LID {lid}, which is not a unicast LID", hint, line)
            elif lid > 0:
                _hold(owner, range(lid, min(lid + (1 << lmc), MAX_UNICAST + 1)), _Holder(title, line), log)


def _hold(owner: dict[int, _Holder], lids: Iterable[int], holder: _Holder, log: ProblemLog) -> None:
    """Note who has which LID, and report the first that is taken."""
    for lid in lids:
        first = owner.setdefault(lid, holder)
        if first is not holder:
            message = f"{holder.title} has LID {lid}, which is that of {first.title} on line {first.line}"
            log.add("artifact.duplicate-lid", message, "traffic reaches only one of the two", holder.line)
            return


def usual_rates(
    cables: Sequence[Cable], pairs: Sequence[tuple[str, str]], records: Sequence[NodeRecord], log: ProblemLog
) -> list[float]:
    """Return the rate of each cable, the usual one where none is printed, and report slower ones.

    ``pairs`` names what each cable joins, as (``leaf``, ``host``); the usual rate is the commonest of a pair.
    """
    counts: dict[tuple[str, str], Counter[float]] = defaultdict(Counter)
    words: dict[float, str] = {}
    for cable, pair in zip(cables, pairs, strict=True):
        if cable.rate_gbps:
            counts[pair][cable.rate_gbps] += 1
            words.setdefault(cable.rate_gbps, cable.words)
    usual = {pair: max(rates.items(), key=lambda item: (item[1], item[0]))[0] for pair, rates in counts.items()}
    rates: list[float] = []
    silent = [cable for cable in cables if not cable.rate_gbps]
    for cable, pair in zip(cables, pairs, strict=True):
        normal = usual.get(pair, BASE_GBPS)
        rates.append(cable.rate_gbps or normal)
        if cable.ends_differ:
            message = f"the ends of the link {_say(records, cable)} run at unlike rates; the slower is {cable.words}"
            hint = "check the line of the other end; the link trained badly or the dump was edited"
            log.add("artifact.slow-link", message, hint, cable.line, 1, "warning")
        elif cable.rate_gbps and cable.rate_gbps < normal:
            message = (
                f"the link {_say(records, cable)} runs at {cable.words} ({cable.rate_gbps:g} Gb/s), "
                f"while {pair[0]}-{pair[1]} links usually run at {words[normal]} ({normal:g} Gb/s)"
            )
            hint = "reseat or replace the cable, or check the port's enabled speed and width"
            log.add("artifact.slow-link", message, hint, cable.line, 1, "warning")
    if silent:
        message = f"{len(silent)} of {len(cables)} links state no width or speed known here"
        hint = f"the usual rate of their tier is taken, {BASE_GBPS:g} Gb/s where no link of it states one"
        log.add("artifact.unknown-speed", message, hint, silent[0].line, 1, "note")
    return rates


def _say(records: Sequence[NodeRecord], cable: Cable) -> str:
    """Name a link by its ports."""
    return " to ".join(f"port {number} of {records[at].title}" for at, number in (cable.a, cable.b))


def check_islands(
    parts: Sequence[int], host_parts: Sequence[frozenset[int]], lines: Sequence[int], log: ProblemLog
) -> None:
    """Report parts that no link and no host joins to the first.

    ``parts`` is the connected part of each switch, ``host_parts`` those that each host reaches, ``lines`` where each
    switch stands.
    """
    joined: dict[int, int] = {part: part for part in parts}

    def find(part: int) -> int:
        while joined[part] != part:
            part = joined[part]
        return part

    for reached in host_parts:
        members = sorted(reached)
        for other in members[1:]:
            first, second = find(members[0]), find(other)
            joined[max(first, second)] = min(first, second)
    first_line: dict[int, int] = {}
    size: Counter[int] = Counter()
    for part, line in zip(parts, lines, strict=True):
        root = find(part)
        size[root] += 1
        first_line.setdefault(root, line)
    roots = sorted(size)
    for root in roots[1:]:
        message = (
            f"{size[root]} of the switches, the first on this line, cannot be reached from the {size[roots[0]]} "
            "of the first part"
        )
        hint = "lines are missing, or the file joins several subnets; adopt one subnet at a time"
        log.add("artifact.island", message, hint, first_line[root])
