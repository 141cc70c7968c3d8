"""Lossless: no packet of a declared class is dropped for want of room, on any link, by what the files say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from weftline.headroom.kinds import PortKinds
from weftline.kernels.column import I64, digest_parts
from weftline.model.lossless import LosslessClass, LosslessLink, LosslessSource
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.proof import Certificate, Proof, Verdict, Witness
from weftline.prove.lossless_device import count_at_once, judge_devices, judge_marks_first, list_open
from weftline.prove.lossless_way import Flaw, WayVerdict, find_place, judge_way

CLAIM = "lossless"
MAX_WITNESSES = 20
PREMISE = (
    "It rests on the cable lengths of the declaration, on ports that obey the standard's response time, and on chips "
    "that do what their files say."
)


_End: TypeAlias = tuple[ObservedDevice, ObservedPort]


@dataclass(frozen=True, slots=True)
class _Found:
    """One flaw where it is."""

    link: LosslessLink
    what: str
    device: str
    port: ObservedPort
    flaw: Flaw

    def say(self) -> str:
        where = find_place(self.port, self.flaw.field)
        inside = f" {where.path}" if where.path else ""
        return f"{self.device}/{self.port.name}: {self.flaw.words} (class {self.what}; {where}{inside})"


def prove_lossless(source: LosslessSource, *, required: bool) -> Proof:
    """Prove or refute that declared classes lose nothing; what the files do not say leaves it unknown.

    Ports that are configured alike are judged once: the work grows with the links and the kinds of ports.
    """
    ports = _index_ports(source)
    refuted: list[_Found] = []
    open_: list[_Found] = []
    have: list[int] = []
    need: list[int] = []
    missing: list[str] = []
    judge = _Judge(source)
    for link in source.demand.links:
        a = ports.get((link.a_device, link.a_number))
        b = ports.get((link.b_device, link.b_number))
        if a is None or b is None:
            missing.append(f"{link.a_device}/{link.a_number}" if a is None else f"{link.b_device}/{link.b_number}")
            continue
        for sender, receiver in ((a, b), (b, a)):
            for what in source.demand.classes:
                verdict = judge.judge(link, sender, receiver, what)
                have.append(verdict.have)
                need.append(verdict.need)
                for flaw in verdict.flaws:
                    device, port = sender if flaw.end == "sender" else receiver
                    (refuted if flaw.is_known else open_).append(_Found(link, what.name, device.name, port, flaw))
    return _conclude(source, required, refuted, open_, missing, (have, need))


class _Judge:
    """Judges ways, those of one kind once."""

    def __init__(self, source: LosslessSource) -> None:
        self.source = source
        self.judged: dict[tuple[int, int, LosslessClass, float | None], WayVerdict] = {}
        self.kinds = PortKinds()

    def judge(self, link: LosslessLink, sender: _End, receiver: _End, what: LosslessClass) -> WayVerdict:
        key = (self.kinds.sign(*sender), self.kinds.sign(*receiver), what, link.length_m)
        if key not in self.judged:
            need = self.source.demand.find_need(receiver[0], receiver[1], link.length_m)
            self.judged[key] = judge_way(sender, receiver, what, need)
        return self.judged[key]


def _index_ports(source: LosslessSource) -> dict[tuple[str, int], _End]:
    return {
        (name, port.number.value): (device, port)
        for name, device in source.devices.items()
        for port in device.ports
        if port.number is not None
    }


def _conclude(
    source: LosslessSource,
    required: bool,  # noqa: FBT001
    refuted: list[_Found],
    open_: list[_Found],
    missing: list[str],
    room: tuple[list[int], list[int]],
) -> Proof:
    faults = [*(found.say() for found in refuted), *judge_devices(source)]
    at_once, at_device = count_at_once(source)
    names = ", ".join(f"{what.name} (DSCP {', '.join(map(str, what.dscps))})" for what in source.demand.classes)
    detail: dict[str, Any] = {
        "links": len(source.demand.links),
        "classes": [what.name for what in source.demand.classes],
        "faults": _list_first(faults),
        "not_known": _list_first(found.say() for found in open_),
        "groups_at_once": at_once,
        "marks": judge_marks_first(source),
    }
    statement = (
        f"By the files of {len(source.devices):,} devices, no packet of {names} is dropped for want of room on any of "
        f"{len(source.demand.links):,} links{_say_at_once(at_once, at_device)}. {PREMISE}"
    )
    bound = (at_once, "groups that pause at once") if at_once is not None else (None, "")
    if faults:
        first = refuted[0] if refuted else None
        where: dict[str, Any] = {"faults": len(faults)}
        if first is not None:
            where |= {"link": _name_link(first.link), "class": first.what, "device": first.device}
        witness = Witness("loss", faults[0], where)
        return Proof(CLAIM, required, Verdict.REFUTED, statement, source.of, *bound, witness, detail=detail)
    unsaid = list(list_open(source))
    doubts = [found.say() for found in open_[:1]] + [f"no file of {name}" for name in missing[:1]] + unsaid[:1]
    if not source.demand.classes:
        doubts.append("no class is declared lossless")
    if not source.demand.links:
        doubts.append("no link is known")
    if doubts:
        count = len(open_) + len(missing) + len(unsaid)
        words = f"{statement} Not decided: {'; '.join(doubts)}{f' (one of {count:,})' if count > 1 else ''}."
        return Proof(CLAIM, required, Verdict.UNKNOWN, words, source.of, *bound, detail=detail)
    certificate = _certify(room)
    return Proof(CLAIM, required, Verdict.PROVED, statement, source.of, *bound, certificate=certificate, detail=detail)


def _list_first(words: Iterable[str]) -> list[str]:
    """List the first that differ."""
    found: dict[str, None] = {}
    for one in words:
        found[one] = None
        if len(found) == MAX_WITNESSES:
            break
    return list(found)


def _say_at_once(at_once: int | None, device: str) -> str:
    if at_once is None:
        return ""
    return f" as long as no more than {at_once:,} groups of one switch ({device} first) pause at once"


def _name_link(link: LosslessLink) -> str:
    return f"{link.a_device}/{link.a_number}~{link.b_device}/{link.b_number}"


def _certify(room: tuple[list[int], list[int]]) -> Certificate:
    """List headroom and need of each way and class: enough to see again that none is short."""
    columns = {"have": np.array(room[0], dtype=np.int64), "need": np.array(room[1], dtype=np.int64)}
    statement = "the headroom of each receiver is at least what it needs, for each way of a link and each class"
    return Certificate(CLAIM, statement, columns, digest_parts((CLAIM, *columns, *columns.values())))


def check_lossless(proof: Proof) -> bool:
    """Check a proved claim by its certificate; False where it does not hold, or has none."""
    certificate = proof.certificate
    if proof.claim != CLAIM or proof.verdict is not Verdict.PROVED or certificate is None:
        return False
    columns = certificate.columns
    if certificate.digest != digest_parts((CLAIM, *columns, *columns.values())):
        return False
    have: I64 = columns["have"].astype(np.int64)
    need: I64 = columns["need"].astype(np.int64)
    return len(have) == len(need) > 0 and bool(np.all(need >= 0)) and bool(np.all(have >= need))
